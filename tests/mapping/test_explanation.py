"""Tests of what is said of mappings: every sentence is true of its report."""

from dataclasses import replace

import pytest

from tests.reports import MAPPING
from tiger.feasibility.reasons import MEANING
from tiger.mapping.explanation import HELP, explain_mapping
from tiger.model.violation import Violation
from tiger.objectives.shortest_paths import LinkLoad
from tiger.run.report import Objective, Report

PROVED = replace(MAPPING, lower_bound=12.0, optimal=True)


def test_the_figures_are_those_of_the_report() -> None:
    """Cost, simple order, bound and stages."""
    told = explain_mapping(MAPPING)
    assert told.found == (
        "2 tasks on 2 nodes by the rule one-to-one, at a cost of 12: 9 of communication, 3 of compute.",
    )
    assert told.quality == (
        "That is 25% less than the 16 of the best simple order, cyclic.",
        "No mapping is below 6, so that at most 50% can still be gained.",
        "Of what the search gained, stages contributed: greedy 75%, dense 25%.",
    )


def test_what_stands_in_the_way_is_named() -> None:
    """The busiest link, the distance of traffic, and compute."""
    link, distance, compute = explain_mapping(MAPPING).limits
    assert link == "The link from a to b carries the largest load, 5; in the block order it carries 2."
    assert distance == "Traffic travels a distance of 1.5 in the mean, some of it 3."
    assert compute.startswith("25% of the cost is compute")


def test_bug_links_of_other_bandwidths_are_not_called_less_loaded() -> None:
    """A narrow link is the busiest with less on it than a wide one has."""
    links = (LinkLoad(a="a", b="s", load=3.0, share=1.0), LinkLoad(a="c", b="s", load=20.0, share=0.67))
    wide = replace(MAPPING, links=links, metrics={"max_link_load": 3.0})
    assert explain_mapping(wide).limits[0] == (
        "The link from a to s has the largest load over its bandwidth: it carries 3."
    )


def test_bug_what_is_still_open_is_never_rounded_down() -> None:
    """A ten-thousandth is no 0.0%, and a cost below a bound that rounding raised is no -0.0%."""
    for bound, most in ((11.9995, "at most 0.1%"), (12.0 + 1e-9, "at most 0.0%"), (9.95, "at most 18%")):
        assert most in explain_mapping(replace(MAPPING, lower_bound=bound)).quality[1]


def test_more_effort_is_not_advised_where_it_cannot_help() -> None:
    """A proved optimum is only left by another problem."""
    told = explain_mapping(PROVED)
    assert told.quality[1] == "No mapping is better: the cost is proved to be the least."
    assert not any("--effort" in text or "--seed" in text or "--solver" in text for text in told.advice)


@pytest.mark.parametrize(
    ("report", "advice"),
    [
        (MAPPING, "Search on with --effort 8, and try other seeds than --seed 7."),
        (MAPPING, "--objective max-link-load"),
        (MAPPING, "--slots"),
        (replace(MAPPING, rule="capacity"), "--imbalance"),
        (replace(MAPPING, solver="random"), "The solver random is there to be compared with: take --solver auto."),
        (replace(MAPPING, solver="neal"), "The solver was neal"),
        (replace(MAPPING, solver="decode"), "decode more reads"),
        (replace(MAPPING, warnings=("ended by the time limit of 1 s: the same seed ..",)), "--time-limit"),
        (replace(MAPPING, threshold=0.9), "keep your order"),
    ],
)
def test_advice_follows_from_the_report(report: Report, advice: str) -> None:
    """Each where its reason holds."""
    assert any(advice in text for text in explain_mapping(report).advice)


@pytest.mark.parametrize(
    ("report", "advice"),
    [
        (replace(MAPPING, baseline_max_link_load=5.0), "max-link-load"),
        (replace(MAPPING, communication_cost=0.0), "--slots"),
        (replace(MAPPING, warnings=("ended by the time limit of 1 s: the same seed ..",)), "--effort"),
        (replace(MAPPING, solver="decode"), "--effort"),
        (MAPPING, "keep"),
    ],
)
def test_advice_without_a_reason_is_not_given(report: Report, advice: str) -> None:
    """What would not help this report is left out."""
    assert not any(advice in text for text in explain_mapping(report).advice)


def test_another_objective_is_what_is_judged() -> None:
    """Its value, its bound and what stages made of it."""
    objective = Objective(name="max-link-load", value=5.0, baseline=10.0, cyclic=8.0, bound=0.0)
    stages = (*MAPPING.stages, replace(MAPPING.stages[-1], name="anneal", detail={"value": 5.0}))
    told = explain_mapping(replace(MAPPING, objective=objective, stages=stages))
    assert told.found[1] == "What was minimized is the largest load of a link, which is 5."
    assert told.quality[1].startswith("No useful lower bound is known")
    assert told.quality[2] == "Of what the search gained, stages contributed: anneal 100%."


def test_an_order_as_good_as_a_simple_one_is_called_so() -> None:
    """Nothing has been gained, and no stage is praised."""
    told = explain_mapping(replace(MAPPING, cost=16.0, stages=()))
    assert told.quality[0].startswith("The cyclic order comes to the same")
    assert len(told.quality) == 2


@pytest.mark.parametrize("kind", [*HELP])
def test_what_cannot_be_met_comes_with_help(kind: str) -> None:
    """One sentence for each kind of limit."""
    report = Report(
        feasible=False,
        violations=(Violation(kind=kind, message="too much"),) * 2,
        solver="auto",
        rule="levels",
        seed=0,
        seconds=0.1,
    )
    told = explain_mapping(report)
    assert (told.limits, told.advice) == ((f"{kind}: too much",) * 2, (HELP[kind],))


def test_too_few_nodes_are_shared_where_the_rule_forbids_that() -> None:
    """More slots alone would not help one-to-one."""
    unmet = (Violation(kind="slots", message="16 tasks need 16 nodes"),)
    told = explain_mapping(
        Report(feasible=False, violations=unmet, solver="auto", rule="one-to-one", seed=0, seconds=0.1)
    )
    assert told.advice == (HELP["one-to-one"],)


def test_every_limit_has_a_help() -> None:
    """Those of the sentences about what cannot be met."""
    assert set(MEANING) <= set(HELP)
