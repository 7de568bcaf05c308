"""Tests of reports that were sent: what JSON carries comes back as it was."""

import json
import math

import networkx as nx
import pytest

import tiger
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.use import CIRCUITS
from tiger.client import reports
from tiger.client.errors import ServiceError
from tiger.objectives.cost import Violation
from tiger.placement.entry.report import PlacementReport
from tiger.routing.ising.movement import DataMovement
from tiger.run.report import Report, Stage

ROW = {"forward_s": 0.001, "backward_s": 0.002, "parameter_bytes": 1e9, "activation_bytes": 1e6}
LAYERS = [{"name": f"op{k}", **ROW} for k in range(4)]
CLUSTER = {"devices": [{"name": "x"}, {"name": "y"}], "uniform_bandwidth": 1e9}
ROUTED = CircuitReport(
    feasible=True,
    solver="auto",
    level=1,
    objective="cx",
    seed=3,
    seconds=0.5,
    initial_layout={0: 4, 1: 2},
    final_layout={0: 2, 1: 4},
    qasm="OPENQASM 2.0;",
    swaps=1,
    bridges=0,
    extra_cx=3,
    depth=9,
    data_movement=DataMovement(trivial=4, static_qubo=None, levels=2, routed=3),
    baseline_extra_cx=6,
    placement_extra_cx={"trivial": 6, "levels": None},
    stages=(Stage(name="start", cost=math.inf, seconds=0.1, detail={"tries": (1, 2), "share": {"native": 0.5}}),),
)
UNMET = Report(
    feasible=False,
    solver="auto",
    rule="one-to-one",
    seed=0,
    seconds=0.1,
    violations=(Violation(kind="slots", message="too many"),),
    warnings=("odd",),
)


def send(report: Report | CircuitReport | PlacementReport) -> "reports.AnyReport":
    """Return a report as it comes out of JSON."""
    return reports.read_report(json.loads(json.dumps(report.to_dict(), allow_nan=False)))


@pytest.mark.parametrize("report", [UNMET, ROUTED])
def test_a_report_comes_back_as_it_was(report: Report | CircuitReport) -> None:
    """Every field of it, infinite costs among them."""
    assert send(report) == report


@pytest.mark.long
def test_a_mapping_comes_back_as_it_was() -> None:
    """With stages whose figures are nested, and an objective of its own."""
    report = tiger.assign(nx.path_graph(4), "grid:2x2", solver="search", objective="max-link-load")
    assert send(report) == report
    assert report.objective is not None


@pytest.mark.parametrize("schedule", [None, "1f1b"])
def test_a_placement_comes_back_as_it_was(schedule: str | None) -> None:
    """But for the deployment, which no JSON has."""
    report = tiger.place(LAYERS, CLUSTER, schedule=schedule)
    again = send(report)
    assert again == report
    assert (again.deployment, again.optimal, again.to_dict()) == (None, report.optimal, report.to_dict())


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"schema": "tiger.report/2"},
        {"schema": "tiger.report/1"},
        {**UNMET.to_dict(), "stages": [{"name": "x"}]},
        {**UNMET.to_dict(), "mapping": None},
        {**ROUTED.to_dict(), "initial_layout": {"x": 1}},
    ],
)
def test_what_is_no_report(document: dict[str, object]) -> None:
    """The service is of another version, or none."""
    with pytest.raises(ServiceError, match="expected a report in "):
        reports.read_report(document)


def test_a_report_of_another_kind_than_asked_for() -> None:
    """A mapping is no circuit."""
    with pytest.raises(ServiceError, match=r"tiger\.circuit/1"):
        reports.read_as(CIRCUITS, UNMET.to_dict())
