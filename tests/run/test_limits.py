"""Values that seed, effort and time limit may have."""

import pytest

from tiger.errors import InputError
from tiger.run.limits import check_limits


def test_both_ends_are_allowed() -> None:
    """And no effort or time limit at all."""
    check_limits(0, None, None)
    check_limits(2**63 - 1, 1, 1e9)
    check_limits(0, 2**63 - 1, 1e-300)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((-1, None, None), "seed"),
        ((True, None, None), "seed"),
        ((0, 0, None), "effort"),
        ((0, 2**63, None), "effort"),
        ((0, 1, 0), "time_limit_s"),
        ((0, 1, True), "time_limit_s"),
        ((0, 1, float("nan")), "time_limit_s"),
    ],
)
def test_others_are_refused(values: tuple[object, object, object], field: str) -> None:
    """By their name."""
    with pytest.raises(InputError, match="expected") as caught:
        check_limits(*values)
    assert caught.value.field == field


def test_a_time_limit_is_a_number() -> None:
    """Another type is an error of the caller's code."""
    with pytest.raises(TypeError, match="time_limit_s: expected a number of seconds, got str"):
        check_limits(0, None, "5")
