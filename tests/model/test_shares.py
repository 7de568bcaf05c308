"""Even shares in whole numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.model.shares import apportion, share_evenly


@pytest.mark.parametrize(
    ("count", "room", "expected"),
    [
        (13, [4, 4, 4, 4], [4, 3, 3, 3]),
        (16, [16, 16], [8, 8]),
        (6, [8, 4], [4, 2]),
        (0, [3, 3], [0, 0]),
        (0, [0, 0], [0, 0]),
    ],
)
def test_shares_by_hand(count: int, room: list[int], expected: list[int]) -> None:
    """The first of equal remainders are rounded up."""
    assert apportion(count, np.array(room)).tolist() == expected


@given(room=st.lists(st.integers(0, 2**52), min_size=1, max_size=9), part=st.fractions(0, 1))
def test_shares_are_floors_or_ceilings_and_add_up(room: list[int], part) -> None:
    """Whatever the room, none of which is exceeded."""
    count = int(part * sum(room))
    shares = apportion(count, np.array(room)).tolist()
    assert sum(shares) == count
    for share, each in zip(shares, room, strict=True):
        exact, rest = divmod(count * each, sum(room) or 1)
        assert share in (exact, exact + bool(rest))
        assert share <= each


def test_parts_are_filled_evenly_from_the_outermost_on() -> None:
    """Two sockets of two caches of two cores: three of them are on both sockets, and apart in the first."""
    socket, cache = np.repeat([0, 1], 4), np.repeat([0, 1, 2, 3], 2)
    assert share_evenly(3, np.ones(8, np.int64), [socket, cache]).tolist() == [1, 0, 1, 0, 1, 0, 0, 0]
    assert share_evenly(5, np.full(2, 4), []).tolist() == [3, 2]
