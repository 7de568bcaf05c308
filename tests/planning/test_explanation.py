"""Tests of what is said of plans, and of the placements in them."""

from dataclasses import replace

import pytest

from tests.reports import BEST, PLACEMENT, PLAN
from tiger.model.violation import Violation
from tiger.placement.entry.explanation import HELP, explain_placement
from tiger.planning.explanation import explain_plan
from tiger.planning.report import PlanReport, RuledOut
from tiger.training.schedules.pass_orders import Schedule

QUICK = replace(BEST, memory_share=0.5, breakdown=replace(BEST.breakdown, waiting_s=0.0, gradients_s=0.0))


def test_bug_a_search_that_time_ended_is_to_have_more_time() -> None:
    """More effort does nothing within the same time."""
    ended = ("ended by the time limit of 1 s: the same seed may end elsewhere",)
    for told in (explain_placement(replace(PLACEMENT, warnings=ended)), explain_plan(replace(PLAN, warnings=ended))):
        assert any("--time-limit" in text for text in told.advice)
        assert not any("--effort" in text for text in told.advice)


def test_bug_choices_left_out_are_not_called_ruled_out() -> None:
    """What the time limit left out is under no bound."""
    left = RuledOut(reason="budget", choices=7, closest=None, bound_s=None, need_bytes=None, why="")
    told = explain_plan(replace(PLAN, pruned=(*PLAN.pruned, left)))
    words = "Of 40 choices bounds ruled out 30, 7 were left out as the search ended, and the others were simulated."
    assert words in told.quality


def test_the_figures_of_a_plan_are_those_of_the_report() -> None:
    """The degrees, the usual plan, and the bound."""
    told = explain_plan(PLAN)
    assert told.found[0].startswith("The best plan is pipeline 2 x tensor 1 x data 4 by the schedule 1f1b")
    assert "takes 2.00 times as long" in told.quality[0]
    assert told.quality[2] == "Of 40 choices bounds ruled out 30, and the others were simulated."
    assert told.limits[0] == (
        "Devices compute for 70% of an iteration; beside it, waiting 20%, all-reduces of gradients 8.0%."
    )


@pytest.mark.parametrize(
    ("report", "texts"),
    [
        (PLAN, {"--emit": True, "--batch": True, "nearly full": True, "--effort": True}),
        (replace(PLAN, ranked=(QUICK,)), {"--emit": True, "--batch": False, "nearly full": False}),
        (replace(PLAN, lower_bound_s=1.0), {"--effort": False}),
    ],
)
def test_advice_for_a_plan_follows_from_it(report: PlanReport, texts: dict[str, bool]) -> None:
    """And what would not help is left out."""
    advice = " ".join(explain_plan(report).advice)
    assert {text: text in advice for text in texts} == texts


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("interleaved", "Print it for a framework with --emit megatron, or place it with `tiger place"),
        ("zb-v", "Print it for a framework with --emit torch, or place it with `tiger place"),
        ("zero-bubble", "Place it with `tiger place"),
    ],
)
def test_a_plan_is_printed_for_a_framework_that_runs_it(schedule: Schedule, words: str) -> None:
    """If there is one."""
    best = replace(BEST, degrees=replace(BEST.degrees, schedule=schedule))
    assert any(each.startswith(words) for each in explain_plan(replace(PLAN, ranked=(best,))).advice)


@pytest.mark.parametrize("kind", [*HELP])
def test_what_cannot_be_met_comes_with_help(kind: str) -> None:
    """For placements and for plans."""
    unmet = (Violation(kind=kind, message="too much"),)
    placement = explain_placement(replace(PLACEMENT, feasible=False, violations=unmet))
    plan = explain_plan(replace(PLAN, ranked=(), feasible=False, violations=unmet))
    assert placement.advice == plan.advice == (HELP[kind],)
