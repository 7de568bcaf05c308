"""Tests of what is said of runs in which a pipeline is rebalanced."""

from dataclasses import replace

from tests.reports import KEPT, REBALANCING
from tiger.rebalancing.explanation import explain_rebalancing


def test_the_figures_are_those_of_the_report() -> None:
    """Seconds, moves, what it is compared with, and the bound."""
    told = explain_rebalancing(REBALANCING)
    assert told.found == (
        "4 layers in 2 stages over 2 intervals of 10 iterations by 1f1b.",
        "The plan changes in 1 interval: moves of 1 layer (2 GB) in all.",
        "All intervals take 4.5 s, 500 ms of it moves.",
    )
    assert told.quality[0] == "With uniform cuts they take 6 s: 1.33 times as long."
    assert told.quality[1].endswith("they take 5 s: 1.11 times as long.")
    assert told.quality[2].startswith("Never below 3 s, so that at most 34% can still be gained")


def test_limits_are_whole_layers_moves_and_plans_that_were_left() -> None:
    """And the time in which devices wait: one of nine slots."""
    assert explain_rebalancing(REBALANCING).limits == (
        "Whole layers gain at most 2 times over uniform cuts, embedding and head aside, and the most that an interval "
        "gains is 1.50.",
        "Moves take 11% of the time.",
        "In 1 interval a better plan was left, whose gain is no more than the threshold.",
        "With equal stages devices would still wait for 11% of an iteration.",
    )


def test_advice_follows_from_the_figures() -> None:
    """To move, to measure less often, to pack; or to use cuts that never move, where these are as good."""
    told = " ".join(explain_rebalancing(REBALANCING).advice)
    for words in (
        "tiger.Rebalancer.step",
        "--iterations",
        "--threshold below 0.02",
        "--microbatches 16",
        "1 device of 2",
    ):
        assert words in told
    settled = replace(REBALANCING.intervals[1], decision=replace(KEPT, best_s=0.2), workers=2)
    still = replace(REBALANCING, static_gain=1.001, moving_s=0.0, intervals=(settled,), microbatches=100)
    assert explain_rebalancing(still).advice == (
        "Moving gains next to nothing over the best cuts that never move: use those, with 3 1 layers a stage.",
    )
    assert "--balancer exact" in " ".join(explain_rebalancing(replace(still, balancer="diffusion")).advice)


def test_a_run_without_moves_is_called_so() -> None:
    """With what is not known left out, and warnings."""
    report = replace(REBALANCING, rebalances=0, gain=None, static_gain=None, largest_gain=None, warnings=("w",))
    told = explain_rebalancing(report)
    assert told.found[1] == "The plan never changes, as no other pays for the moves to it."
    assert told.found[-1] == "Beware: w."
    assert len(told.quality) == 1
