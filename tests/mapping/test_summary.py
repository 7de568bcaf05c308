"""Tests of a report as a person reads it."""

from dataclasses import replace

import pytest

from tiger.mapping.summary import summary
from tiger.model.violation import Violation
from tiger.objectives.shortest_paths import LinkLoad
from tiger.run.report import Baselines, Objective, Report
from tiger.run.stage import Stage
from tiger.run.summary import describe_unmet

SOLVED = Report(
    mapping={"t0": "[red]a[/]", "t1": "b"},
    cost=12.0,
    compute_cost=2.0,
    communication_cost=10.0,
    baseline_cost=24.0,
    baselines=Baselines(block=24.0, cyclic=16.0, random=18.5),
    lower_bound=9.0,
    optimal=False,
    feasible=True,
    violations=(),
    solver="auto",
    rule="one-to-one",
    seed=7,
    stages=(Stage(name="anneal", cost=12.0, seconds=0.25, detail={"sweeps": 30, "ratio": 0.5, "parts": (1, 2)}),),
    seconds=0.5,
    metrics={"max_link_load": 4.0},
    links=tuple(LinkLoad(a=f"n{k}", b="[b]s", load=4.0 - k / 2, share=1 - k / 8, before=1.5) for k in range(6)),
    warnings=("the penalty sits at its bound",),
)
FAILED = replace(
    SOLVED,
    mapping={},
    cost=None,
    compute_cost=None,
    communication_cost=None,
    feasible=False,
    violations=(Violation(kind="slots", message="3 tasks need 3 nodes and there are 2"),),
)


def lines(report: Report) -> list[str]:
    """Return the lines of a summary with single blanks."""
    return [" ".join(line.split()) for line in summary(report).splitlines()]


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        "solved: cost 12, 25.0% below the 16 of the cyclic order",
        "cost 12",
        "of compute 2",
        "of communication 10",
        "block order 24",
        "cyclic order 16",
        "random order 18.5",
        "lower bound 9",
        "gap 25.00%",
        "optimal not proved",
        "feasible yes",
        "rule one-to-one",
        "solver auto, seed 7",
        "seconds 0.500",
        "max link load 4",
        "busiest links load of largest in block order",
        "n0 - [b]s 4 100% 1.5",
        "n4 - [b]s 2 50% 1.5",
        "anneal 12 0.250 sweeps 30, ratio 0.5",
        "warning: the penalty sits at its bound",
        "t1 b",
    ],
)
def test_every_figure_has_its_line(line: str) -> None:
    """Outcome, stages, metrics, warnings and mapping are all there."""
    assert line in lines(SOLVED)


def test_names_are_not_read_as_markup() -> None:
    """What looks like a colour stays as it is."""
    assert "t0 [red]a[/]" in lines(SOLVED)


def test_names_cannot_break_lines() -> None:
    """A line break or an escape in a name is shown and not obeyed."""
    assert "a\\nb x\\x1b[2J" in lines(replace(SOLVED, mapping={"a\nb": "x\x1b[2J"}))


def test_an_infeasible_problem_says_what_cannot_be_met() -> None:
    """The violations stand first, and no mapping is shown."""
    assert lines(FAILED)[:2] == ["infeasible: no mapping meets", "slots: 3 tasks need 3 nodes and there are 2"]
    assert "feasible no" in lines(FAILED)
    assert "task node" not in lines(FAILED)


def test_a_report_without_stages_has_no_empty_table() -> None:
    """Nothing ran, so nothing is listed."""
    assert not any("best cost" in line for line in lines(replace(FAILED, stages=())))


def test_nothing_is_divided_by_a_baseline_of_zero() -> None:
    """A cost of zero can only be that of the baseline."""
    report = replace(SOLVED, cost=0.0, baselines=Baselines(block=0.0, cyclic=3.0), lower_bound=0.0, optimal=True)
    assert lines(report)[0] == "solved: cost 0, as in the block order"
    assert {"gap 0.00%", "optimal yes"} <= set(lines(report))


def test_bug_the_best_simple_order_is_what_a_cost_is_compared_with() -> None:
    """A cost that a simple order undercuts is said to be above it, however bad the launcher's order is."""
    report = replace(SOLVED, baselines=Baselines(block=48.0, cyclic=10.0, random=60.0))
    assert lines(report)[0] == "solved: cost 12, 20.0% above the 10 of the cyclic order"
    free = replace(SOLVED, baselines=Baselines(block=48.0, cyclic=0.0))
    assert lines(free)[0] == "solved: cost 12, above the 0 of the cyclic order"


def test_a_report_that_compares_with_nothing() -> None:
    """The cost is said all the same, and orders that are not known are dashes."""
    shown = lines(replace(SOLVED, baselines=Baselines()))
    assert shown[0] == "solved: cost 12"
    assert "cyclic order -" in shown


def test_bug_a_bound_of_zero_is_called_useless() -> None:
    """A bound that says nothing is no gap of 100 %, and without a bound there is a dash."""
    assert "gap no useful bound" in lines(replace(SOLVED, lower_bound=0.0))
    assert "gap -" in lines(replace(SOLVED, lower_bound=None))
    load = Objective(name="max-link-load", value=3.0, baseline=9.0, bound=0.0)
    assert "lower bound 0, no useful bound" in lines(replace(SOLVED, objective=load))


def test_a_selected_objective_is_shown() -> None:
    """Another objective comes first, and stands beside the cost, which may have risen for it."""
    objective = Objective(name="makespan", value=3.5, baseline=4.0, bound=None)
    shown = lines(replace(SOLVED, cost=17.0, objective=objective))
    assert shown[0] == "solved: makespan 3.5, 12.5% below the 4 of the block order"
    start = shown.index("objective makespan 3.5")
    assert shown[start + 1 : start + 4] == ["block order 4", "cyclic order -", "lower bound -"]
    assert "cost 17" in shown


def test_a_long_mapping_is_cut() -> None:
    """Forty tasks are shown, and where the others are is told."""
    shown = lines(replace(SOLVED, mapping={f"t{k}": "a" for k in range(45)}))
    assert shown[-2:] == ["t39 a", "and 5 more tasks; --json has them all"]


def test_what_cannot_be_met_is_said_alone() -> None:
    """The sentence of a report without a solution, for what has no report."""
    assert summary(FAILED).startswith(describe_unmet(FAILED.violations))
