"""The verdict on a mapping."""

from dataclasses import asdict

import pytest

from tiger.run.verdict import Minimized, judge


def test_a_gain_is_told_beside_the_best_simple_order_and_the_bound() -> None:
    """Of 20 in blocks and 16 in turns, 12 saves a quarter, where at best a half could be saved."""
    verdict = judge(Minimized("cost", 12.0, 8.0), {"block": 20.0, "cyclic": 16.0})
    assert verdict is not None
    assert asdict(verdict) == {
        "metric": "cost",
        "order": "cyclic",
        "before": 16.0,
        "after": 12.0,
        "bound": 8.0,
        "gain": 0.25,
        "best_gain": 0.5,
        "keep": False,
        "advice": "use this order: the cost found is 25.0% below that of the cyclic order, "
        "and none is more than 50.0% below",
    }


@pytest.mark.parametrize(("after", "keep"), [(97.9, False), (98.0, False), (98.1, True), (100.0, True), (101.0, True)])
def test_small_gains_keep_the_order(after, keep) -> None:
    """Below 2 % of the value."""
    verdict = judge(Minimized("cost", after, None), {"block": 100.0})
    assert verdict is not None
    assert verdict.keep is keep
    assert verdict.advice.startswith("keep your order" if keep else "use this order")


def test_equal_values_and_worse_ones_are_named() -> None:
    """As they are, without a bound that says nothing."""
    advice = [judge(Minimized("max-link-load", after, 0.0), {"block": 4.0, "cyclic": None}) for after in (4.0, 5.0)]
    assert [verdict.advice for verdict in advice if verdict] == [
        "keep your order: the max link load found is that of the block order",
        "keep your order: the max link load found is 25.0% above that of the block order",
    ]


def test_nothing_is_saved_of_nothing() -> None:
    """Without traffic between hosts every order is as good, and without an order there is no verdict."""
    verdict = judge(Minimized("cost", 0.0, 0.0), {"block": 0.0, "cyclic": 0.0})
    assert verdict is not None
    assert (verdict.gain, verdict.best_gain, verdict.keep, verdict.order) == (0.0, 0.0, True, "block")
    assert verdict.advice == "keep your order: the cost found is that of the block order, and none is below"
    assert judge(Minimized("cost", 1.0, 0.0), {"block": None, "cyclic": None}) is None


def test_a_launcher_may_have_the_order_that_will_do() -> None:
    """Where ranks in turns are as good but those in blocks, as they are started, are not."""
    found = [judge(Minimized("cost", 99.0, None), {"block": block, "cyclic": 100.0}) for block in (101.0, 200.0)]
    assert [verdict.advice.partition(":")[0] for verdict in found if verdict] == [
        "keep your order",
        "have ranks started in cyclic order",
    ]


def test_the_threshold_says_which_gain_counts() -> None:
    """A tenth is enough or too little; at 0 any gain is enough, and none is not."""
    cases = [(90.0, 0.1), (90.0, 0.11), (99.9, 0.0), (100.0, 0.0)]
    found = [judge(Minimized("cost", after, None), {"block": 100.0}, threshold) for after, threshold in cases]
    assert [verdict.keep for verdict in found if verdict] == [False, True, False, True]
