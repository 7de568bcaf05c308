"""Tests of searchers in threads."""

import threading

import pytest

from tiger.routing.swaps.threads import run_searchers


@pytest.mark.parametrize("threads", [1, 2, 9])
def test_every_lane_is_called_once(threads: int) -> None:
    """All numbers come, with fewer threads than searchers or more."""
    seen: list[int] = []
    with run_searchers(4, threads) as everywhere:
        everywhere(seen.append)
    assert sorted(seen) == [0, 1, 2, 3]


def assert_two(meeting: threading.Barrier) -> None:
    """Wait for another thread."""
    assert meeting.wait() in (0, 1)


def test_searchers_run_at_the_same_time() -> None:
    """Two searchers that wait for each other both go on."""
    meeting = threading.Barrier(2, timeout=300)
    with run_searchers(2, 2) as everywhere:
        everywhere(lambda _: assert_two(meeting))


def test_an_error_in_a_lane_is_raised() -> None:
    """What fails in a thread fails for the caller."""
    seen: list[int] = []
    with run_searchers(3, 2) as everywhere, pytest.raises(ZeroDivisionError):
        everywhere(lambda number: seen.append(1 // number))
