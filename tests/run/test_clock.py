"""Tests of the time that an answer takes."""

from tiger.run.clock import measure_time


def test_a_limit_that_is_reached_is_told() -> None:
    """And what stops a search says so."""
    with measure_time(1e-9) as clock:
        assert clock.stop()
    assert clock.seconds > 0
    assert clock.remarks == ("ended by the time limit of 1e-09 s: the same seed may end elsewhere",)


def test_nothing_is_told_without_one() -> None:
    """Or long before."""
    for limit in (None, 1e6):
        with measure_time(limit) as clock:
            assert not clock.stop()
        assert clock.remarks == ()
