"""Tests of whether a plan is to be kept."""

import pytest

from tiger.training.verdict import weigh_plans


@pytest.mark.parametrize(
    ("own_s", "keep", "words"),
    [
        (98.1, True, "keep yours: TIGER's is 1.9% quicker"),
        (98.0, False, "change it: TIGER's is 2.0% quicker, 98 s instead of 100 s; so"),
        (100.0, True, "keep yours: no quicker plan was found"),
        (101.0, True, "keep yours: no quicker plan was found"),
        (None, True, "keep yours: none was found of what may be searched"),
    ],
)
def test_less_than_two_percent_is_not_worth_a_change(own_s: float | None, keep: object, words: str) -> None:
    """Of the time of the plan given; without another plan it stays, too."""
    found = weigh_plans(100.0, own_s, "; so", fits=True)
    assert (found.keep, found.verdict) == (keep, words)
    assert found.saved == (None if own_s is None else pytest.approx(1 - own_s / 100))


def test_a_plan_that_does_not_fit_is_never_kept() -> None:
    """However quick it would be."""
    other, none = weigh_plans(1.0, 98.0, "; so", fits=False), weigh_plans(1.0, None, fits=False)
    assert other == (False, None, "yours does not fit: TIGER's does in 98 s; so")
    assert none == (False, None, "yours does not fit, and none was found that does")
