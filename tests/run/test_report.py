"""The report: its gap, and plain values that serialise to strict JSON."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import tiger
from tiger.errors import InputError
from tiger.model.rounding import meets
from tiger.model.violation import Violation
from tiger.run.report import Baselines, Objective, Origin, Report
from tiger.run.stage import Stage

REPORT = Report(
    mapping={"a": "x", "b": "y"},
    cost=10.0,
    compute_cost=4.0,
    communication_cost=6.0,
    baseline_cost=20.0,
    baselines=Baselines(block=20.0, cyclic=12.5, random=16.0),
    lower_bound=8.0,
    optimal=False,
    feasible=True,
    violations=(),
    solver="auto",
    rule="one-to-one",
    seed=0,
    stages=(Stage(name="polish", cost=10.0, seconds=0.5, detail={"reads": 3}),),
    seconds=0.75,
    metrics={"dilation": 2.0},
)
FIELDS = [
    *("schema", "mapping", "cost", "compute_cost", "communication_cost", "baseline_cost", "baselines"),
    *(
        "baseline_max_link_load",
        "lower_bound",
        "gap",
        "optimal",
        "objective",
        "max_moves",
        "moved",
        "move_cost",
        "moves",
        "threshold",
        "free_cost",
        "verdict",
        "feasible",
        "violations",
        "solver",
        "rule",
        "seed",
        "islands",
        "metrics",
        "links",
        "stages",
        "warnings",
        "sampling",
        "emitted",
    ),
    "seconds",
]


def strict(report):
    """Return what a strict JSON parser reads back."""
    return json.loads(json.dumps(report.to_dict(), allow_nan=False))


def test_fields_and_their_order():
    """The schema is stated first, and nothing is missing."""
    assert list(REPORT.to_dict()) == FIELDS
    assert REPORT.to_dict()["schema"] == "tiger.report/1"


def test_values_survive_json():
    """A strict parser reads back what went in."""
    back = strict(REPORT)
    assert back == REPORT.to_dict()
    assert back["mapping"] == {"a": "x", "b": "y"}
    assert back["gap"] == 0.2
    assert back["baselines"] == {"start": None, "block": 20.0, "cyclic": 12.5, "random": 16.0}
    assert back["objective"] is None
    assert back["stages"] == [{"name": "polish", "cost": 10.0, "seconds": 0.5, "reads": 3}]


@pytest.mark.parametrize(
    ("cost", "bound", "gap"),
    [(10.0, 8.0, 0.2), (10.0, 10.0, 0.0), (0.0, 0.0, 0.0), (10.0, None, None), (None, 8.0, None), (5.0, 0.0, None)],
)
def test_gap(cost, bound, gap):
    """The part of the cost that the bound leaves open, None without a cost or a bound that says anything."""
    assert replace(REPORT, cost=cost, lower_bound=bound).gap == gap


def test_infeasible_reports_have_no_cost():
    """The mapping is empty, and violations say why."""
    nothing = replace(
        REPORT,
        mapping={},
        cost=None,
        compute_cost=None,
        communication_cost=None,
        baseline_cost=None,
        feasible=False,
        violations=(Violation(kind="slots", message="3 tasks and 2 slots"),),
        metrics={},
    )
    back = strict(nothing)
    assert (back["cost"], back["gap"], back["feasible"], back["mapping"]) == (None, None, False, {})
    assert back["violations"] == [{"kind": "slots", "message": "3 tasks and 2 slots"}]


def test_objectives_stand_beside_the_cost():
    """Another objective has its own value, baseline and bound."""
    load = Objective(name="max-link-load", value=3.0, baseline=9.0, bound=None)
    assert strict(replace(REPORT, objective=load))["objective"] == {
        "name": "max-link-load",
        "value": 3.0,
        "baseline": 9.0,
        "cyclic": None,
        "start": None,
        "bound": None,
    }


def test_bug_a_bound_of_zero_is_no_gap_of_all_the_cost():
    """Tests that such a bound gives no gap in JSON either, as it says nothing of the cost."""
    assert strict(replace(REPORT, lower_bound=0.0))["gap"] is None


@pytest.mark.parametrize(
    ("orders", "best"),
    [
        ({"block": 20.0, "cyclic": 12.5, "random": 16.0}, ("cyclic", 12.5)),
        ({"block": 20.0, "random": 16.0}, ("random", 16.0)),
        ({"block": 20.0, "cyclic": 20.0, "random": 20.0}, ("block", 20.0)),
        ({}, None),
    ],
)
def test_the_best_simple_order(orders, best):
    """The cheapest of those that are feasible, the first of equals."""
    assert Baselines(**orders).best == best


def test_what_was_made_small_is_compared_with_the_best_order():
    """The cost with the cheapest order, another objective with that in blocks or in turns, nothing with nothing."""
    load = Objective(name="makespan", value=3.0, baseline=9.0, bound=None)
    assert REPORT.comparison == ("cost", 10.0, "cyclic", 12.5)
    assert replace(REPORT, objective=load).comparison == ("makespan", 3.0, "block", 9.0)
    assert replace(REPORT, objective=replace(load, cyclic=4.0)).comparison == ("makespan", 3.0, "cyclic", 4.0)
    assert replace(REPORT, baselines=Baselines()).comparison is None
    assert replace(REPORT, cost=None).comparison is None


def test_warnings_are_a_list():
    """With the advice in words."""
    assert strict(replace(REPORT, warnings=("raise the effort",)))["warnings"] == ["raise the effort"]


def test_reports_survive_the_way_from_a_worker():
    """Pickling keeps everything."""
    assert pickle.loads(pickle.dumps(REPORT)) == REPORT


@pytest.mark.parametrize(
    ("cost", "bound", "expected"),
    [(10.0, 10.0, True), (1e12 + 1, 1e12, False), (0.5 + 1e-12, 0.5, True), (0.5 + 1e-6, 0.5, False)],
)
def test_meets_is_up_to_rounding(cost, bound, expected):
    """A cost meets a bound within 4e-12 of itself, a whole one exactly."""
    assert meets(cost, bound) is expected


def test_a_mapping_is_reported_with_its_cost_and_measures(path_problem):
    """Tests a, b and c in a row: 3 and 2 over one hop, 1 over two; what a solve adds is open."""
    report = Report.of(path_problem, np.array([0, 1, 2]), Origin("peer", 7, 0.5))
    assert {link.before for link in report.links} == {None}
    assert (report.mapping, report.cost, report.feasible) == ({"a": "x", "b": "y", "c": "z"}, 7, True)
    assert (report.solver, report.seed, report.seconds, report.rule) == ("peer", 7, 0.5, "one-to-one")
    assert report.metrics == {"dilation": 2, "mean_dilation": 7 / 6, "max_link_load": 4}
    assert (report.baseline_cost, report.lower_bound, report.gap, report.stages) == (None, None, None, ())


def test_what_cannot_be_met_is_reported_without_a_mapping(path_problem):
    """Tests the violations, and that there is nothing to show for it."""
    report = Report.unmet(path_problem, (Violation(kind="slots", message="too few"),), Origin("peer", 7, 0.5))
    assert (report.feasible, report.cost, report.mapping, report.metrics) == (False, None, {}, {})
    assert [violation.message for violation in report.violations] == ["too few"]


def test_remarks_of_readers_are_warnings(path_problem):
    """Tests those on tasks, then those on hardware."""
    tasks, line = replace(path_problem.tasks, remarks=("t",)), replace(path_problem.topology, remarks=("h",))
    problem = replace(path_problem, tasks=tasks, topology=line)
    assert Report.of(problem, np.array([0, 1, 2]), Origin("peer", 7, 0.5)).warnings == ("t", "h")


def test_the_verdict_leaves_random_orders_out():
    """It is on what was minimized, beside the orders that a launcher has; reports without a cost have none."""
    load = Objective(name="makespan", value=3.0, baseline=9.0, cyclic=4.0, bound=2.0)
    cost, other = REPORT.verdict, replace(REPORT, objective=load).verdict
    assert (cost.metric, cost.order, cost.gain, cost.keep) == ("cost", "cyclic", 0.2, False)
    assert (other.metric, other.order, other.gain, other.best_gain) == ("makespan", "cyclic", 0.25, 0.5)
    assert replace(REPORT, baselines=Baselines(random=16.0)).verdict is None
    assert replace(REPORT, cost=None).verdict is None


def test_a_report_of_a_solve_emits_rank_orders(path_problem):
    """Tasks are ranks in their order; a name that is not known is refused, and so is a report without nodes."""
    report = Report.of(path_problem, np.array([0, 2, 1]), Origin("peer", 7, 0.5))
    assert report.emit("slurm") == "x\nz\ny\n"
    with pytest.raises(InputError, match=r"^emit: expected cores in the hardware"):
        report.emit("openmpi")
    for other in (replace(report, problem=None), replace(report, feasible=False)):
        with pytest.raises(InputError, match=r"^emit: expected .*, got"):
            other.emit("slurm")


def test_links_of_the_mapping_come_busiest_first():
    """Blocks of two on a ring load every link alike; no report lists more than 256."""
    report = tiger.assign("ring:8", "ring:4", slots=2, solver="identity")
    assert [(link.a, link.b, link.load, link.share) for link in report.links] == [
        ("0", "1", 1.0, 1.0), ("1", "2", 1.0, 1.0), ("2", "3", 1.0, 1.0), ("3", "0", 1.0, 1.0)
    ]  # fmt: skip
    assert Report.from_dict(report.to_dict()).links == report.links
    assert [link.before for link in report.links] == [1.0] * 4
    assert report.baseline_max_link_load == report.metrics["max_link_load"] == 1.0
    assert len(tiger.assign("ring:300", "tree:15x20@1,2", solver="identity").links) == 256
