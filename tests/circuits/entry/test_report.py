"""The report of a circuit's mapping."""

import json
from dataclasses import replace

from tiger.circuits.entry.report import CircuitReport
from tiger.model.violation import Violation
from tiger.routing.ising.movement import DataMovement
from tiger.run.stage import Stage

KEYS = {
    "schema", "initial_layout", "final_layout", "qasm", "swaps", "bridges", "extra_cx", "depth", "data_movement",
    "baseline_extra_cx", "success_probability", "baseline_depth", "baseline_success_probability",
    "placement_extra_cx", "seed", "islands", "stages", "seconds", "feasible", "violations", "solver",
    "level", "objective", "warnings", "sampling", "lower_bound", "gap", "optimal", "optimized_qasm",
}  # fmt: skip


def test_a_report_is_strict_json() -> None:
    """Layouts are objects by circuit qubit, and stages keep their own figures."""
    report = CircuitReport(
        feasible=True,
        solver="auto",
        level=3,
        objective="cx",
        seed=1,
        seconds=0.5,
        initial_layout={0: 4, 1: 2},
        final_layout={0: 2, 1: 4},
        extra_cx=3,
        data_movement=DataMovement(trivial=4, static_qubo=2, levels=None, routed=1),
        stages=(Stage(name="search", cost=3, seconds=0.1, detail={"routes": 7}),),
    )
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert set(data) == KEYS
    assert (data["schema"], data["initial_layout"], data["final_layout"]["1"]) == (
        "tiger.circuit/1",
        {"0": 4, "1": 2},
        4,
    )
    assert data["data_movement"] == {"trivial": 4, "static_qubo": 2, "levels": None, "routed": 1}
    assert data["stages"] == [{"name": "search", "cost": 3, "seconds": 0.1, "routes": 7}]


def test_what_cannot_be_met_has_no_figures() -> None:
    """All of them are null, and the violations say why."""
    violation = Violation(kind="qubits", message="too many")
    report = CircuitReport(
        feasible=False, solver="auto", level=3, objective="cx", seed=0, seconds=0, violations=(violation,)
    )
    data = report.to_dict()
    assert {data[name] for name in ("qasm", "swaps", "bridges", "extra_cx", "depth", "data_movement")} == {None}
    assert (data["violations"], data["initial_layout"]) == ([{"kind": "qubits", "message": "too many"}], {})


def test_what_meets_the_bound_is_optimal() -> None:
    """Where extra CX are the objective; a bound of 0 leaves the gap open."""
    report = CircuitReport(
        feasible=True, solver="auto", level=3, objective="cx", seed=0, seconds=0, extra_cx=12, lower_bound=9
    )
    met, depth = replace(report, extra_cx=9), replace(report, extra_cx=9, objective="depth")
    assert [(each.gap, each.optimal) for each in (report, met, depth)] == [(0.25, False), (0, True), (0, False)]
    assert replace(report, lower_bound=0).gap is None
