"""Tests of what is said of placements."""

from dataclasses import replace

import pytest

from tests.reports import PLACEMENT
from tiger.placement.entry.explanation import explain_placement
from tiger.placement.entry.report import PlacementReport

PROVED = replace(PLACEMENT, iteration_bound_s=0.4)


def test_the_figures_of_a_placement_are_those_of_the_report() -> None:
    """Seconds, the uniform split, and the bound."""
    told = explain_placement(PLACEMENT)
    assert told.found == (
        "4 layers in 2 stages.",
        "An iteration of 8 microbatches by the schedule 1f1b takes 400 ms.",
        "The slowest device takes 50 ms for a microbatch.",
    )
    assert told.quality == (
        "With as many layers in every stage the iteration is 600 ms: 1.50 times as long.",
        "The iteration is never below 300 ms, so that at most 25% can still be gained.",
        "Of what the search gained, stages contributed: order 100%.",
    )


def test_a_split_as_good_as_the_uniform_one_is_called_so() -> None:
    """Nobody reads "1.00 times"."""
    told = explain_placement(replace(PLACEMENT, uniform_iteration_s=0.4))
    assert told.quality[0] == "With as many layers in every stage the iteration is 400 ms: as long."


def test_what_stands_in_the_way_of_a_placement_is_named() -> None:
    """The slowest stage, the bubble, the busiest pair and the fullest device."""
    assert explain_placement(PLACEMENT).limits == (
        "The slowest stage is on g1: 50 ms, 20% of it communication.",
        "Devices wait for 25% of an iteration, the bubble of the pipeline.",
        "The most bytes go between g0 and g1: 2 GB an iteration.",
        "Memory is fullest on g1: 95% of 10 GB.",
    )


@pytest.mark.parametrize(
    ("report", "advice"),
    [
        (PLACEMENT, "Search on with a larger --effort, and try other seeds than --seed 5."),
        (PLACEMENT, "--microbatches 16"),
        (PLACEMENT, "zero-bubble"),
        (PLACEMENT, "tiger plan"),
        (PROVED, "More effort cannot help"),
        (replace(PLACEMENT, schedule=None, bubble=None, microbatches=None), "--schedule 1f1b"),
    ],
)
def test_advice_for_a_placement_follows_from_it(report: PlacementReport, advice: str) -> None:
    """Each where its reason holds."""
    assert any(advice in text for text in explain_placement(report).advice)


@pytest.mark.parametrize(
    ("report", "advice"),
    [
        (PROVED, "--effort"),
        (replace(PLACEMENT, bubble=0.01), "--microbatches"),
        (replace(PLACEMENT, schedule="zero-bubble"), "zero-bubble"),
        (replace(PLACEMENT, mode="dag", objective="throughput"), "tiger plan"),
    ],
)
def test_advice_for_a_placement_without_a_reason_is_not_given(report: PlacementReport, advice: str) -> None:
    """What would not help this report is left out."""
    assert not any(advice in text for text in explain_placement(report).advice)


def test_operators_are_judged_by_their_objective() -> None:
    """The latency and its bound, without a schedule."""
    operators = replace(PLACEMENT, mode="dag", objective="latency", schedule=None, latency_s=0.2, latency_bound_s=0.1)
    told = explain_placement(operators)
    assert told.found[0] == "4 operators on 2 devices."
    assert "The latency is never below 100 ms, so that at most 50% can still be gained." in told.quality
