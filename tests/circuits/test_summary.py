"""Tests of the summary of a routed circuit."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.summary import circuit_summary
from tiger.model.violation import Violation
from tiger.routing.ising.movement import DataMovement
from tiger.run.stage import Stage

REPORT = CircuitReport(
    feasible=True,
    solver="auto",
    level=3,
    objective="cx",
    seed=7,
    seconds=1.25,
    initial_layout={0: 4, 1: 2},
    final_layout={0: 2, 1: 4},
    swaps=2,
    bridges=1,
    extra_cx=9,
    depth=11,
    data_movement=DataMovement(trivial=8, static_qubo=4, levels=None, routed=3),
    baseline_extra_cx=12,
    placement_extra_cx={"trivial": 21, "static_qubo": 15, "levels": None, "routed": 9},
    stages=(
        Stage(name="embedding", cost=inf, seconds=0),
        Stage(name="search", cost=9, seconds=1, detail={"routes": 5}),
    ),
    warnings=("mind the gap",),
)


@pytest.mark.parametrize(
    ("baseline", "headline"),
    [
        (12, "solved: 9 extra CX, 25.0% below the 12 of Qiskit's own layout and routing\n"),
        (6, "solved: 9 extra CX, 50.0% above the 6 of Qiskit's own layout and routing\n"),
        (9, "solved: 9 extra CX, as with Qiskit's own layout and routing\n"),
        (0, "solved: 9 extra CX, where Qiskit's own layout and routing add none\n"),
        (None, "solved: 9 extra CX\n"),
    ],
)
def test_the_headline_compares_with_qiskit(baseline: int | None, headline: str) -> None:
    """In per cent where that is a number."""
    assert circuit_summary(replace(REPORT, baseline_extra_cx=baseline)).startswith(headline)


@pytest.mark.parametrize(
    ("bound", "gap", "proof"),
    [(9, "0.00%", "yes"), (6, "33.33%", "not proved"), (0, "no useful bound", "not proved")],
)
def test_the_bound_is_stated(bound: int, gap: str, proof: str) -> None:
    """With the gap that it leaves, as for mappings."""
    text = " ".join(circuit_summary(replace(REPORT, lower_bound=bound)).split())
    assert f"lower bound {bound} gap {gap} optimal {proof}" in text


@pytest.mark.parametrize(
    ("figures", "headline"),
    [
        ({"objective": "depth"}, "solved: depth 11\n"),
        ({"objective": "depth", "baseline_depth": 11}, "solved: depth 11, as with Qiskit's own layout and routing\n"),
        (
            {"objective": "depth", "baseline_depth": 22},
            "solved: depth 11, 50.0% below the 22 of Qiskit's own layout and routing\n",
        ),
        (
            {"objective": "success", "success_probability": 0.6, "baseline_success_probability": 0.5},
            "solved: success 0.6, 20.0% above the 0.5 of Qiskit's own layout and routing\n",
        ),
        (
            {"objective": "success", "success_probability": 0.6, "baseline_success_probability": 0.0},
            "solved: success 0.6, above the 0 of Qiskit's own layout and routing\n",
        ),
    ],
)
def test_the_headline_is_about_the_objective(figures: dict[str, Any], headline: str) -> None:
    """Its value, and Qiskit's where that is known."""
    assert circuit_summary(replace(REPORT, **figures)).startswith(headline)


def test_every_figure_is_there() -> None:
    """One a line, those that are not known left out or dashes."""
    text = circuit_summary(REPORT)
    for line in (
        "  SWAPs              2",
        "depth                11",
        "  Qiskit's extra CX  12",
        "static qubo             4              15",
        "levels                  -              -",
    ):
        assert f"{line}\n" in text
    assert "success" not in text
    assert "embedding  -              0.000\n" in text
    assert "success              0.5\n" in circuit_summary(replace(REPORT, success_probability=0.5))
    assert all(
        part in text for part in ("warning: mind the gap\n", "best extra CX", "routes 5", "1      2          4\n")
    )


def test_at_most_forty_qubits_are_listed() -> None:
    """The rest is counted."""
    many = {k: k for k in range(50)}
    text = circuit_summary(replace(REPORT, initial_layout=many, final_layout=many))
    assert text.endswith("39     39         39\nand 10 more qubits; --json has them all\n")


def test_what_cannot_be_met_is_said() -> None:
    """With its kind."""
    bare = CircuitReport(feasible=False, solver="auto", level=3, objective="cx", seed=0, seconds=0)
    text = circuit_summary(replace(bare, violations=(Violation(kind="qubits", message="too many"),)))
    assert text == "infeasible: no layout meets\n  qubits: too many\n\n"
