"""Circuits that are written anew before they are mapped."""

from typing import Any

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit.random import random_clifford_circuit
from qiskit.quantum_info import Operator

import tests.circuits.entry.test_layout as layouts
import tiger
from tests.circuits.brief import shorten_levels
from tiger.circuits.entry.reading import read_circuit
from tiger.circuits.summary import circuit_summary
from tiger.errors import InputError

LINE = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every level search for a moment only."""
    shorten_levels(monkeypatch, 1000)


def entangle(qubits: int) -> QuantumCircuit:
    """Return a circuit in which all qubits meet, and that a few CX between neighbours do as well."""
    circuit = QuantumCircuit(qubits)
    for a in range(qubits):
        circuit.ry(0.1 + a, a)
    for a in range(qubits):
        for b in range(a + 1, qubits):
            circuit.cx(a, b)
    return circuit


@pytest.mark.parametrize(
    "options", [{}, {"initial_layout": [5, 0, 3, 1]}, {"objective": "depth"}, {"time_limit_s": 60.0}], ids=str
)
@pytest.mark.parametrize("seed", range(4))
def test_the_circuit_stays_the_same(seed: int, options: dict[str, Any]) -> None:
    """Where its qubits change places, too: a permutation of three is not its own inverse."""
    circuit = random_clifford_circuit(4, 30, gates=["cx", "h", "s", "swap"], seed=seed)
    report = tiger.layout(circuit, LINE, seed=seed, level=1, optimize=True, **options)
    detail = report.stages[-1].detail
    assert report.optimized_qasm is not None
    assert Operator(read_circuit(report.optimized_qasm)).equiv(Operator(circuit))
    assert layouts.is_same(circuit, report)
    assert layouts.on_edges(report, LINE)
    assert report.stages[-1].name == "synthesis"
    if "objective" not in options:
        assert detail["two_qubit_gates"] < detail["given_two_qubit_gates"]
    assert report.circuit.layout.final_index_layout() == [report.final_layout[k] for k in range(4)]


def test_gates_that_are_not_needed_go() -> None:
    """Two CX for every qubit but the first do what fifteen do; figures are above these."""
    plain, report = (tiger.layout(entangle(6), LINE, level=1, optimize=each) for each in (False, True))
    detail = report.stages[-1].detail
    assert plain.optimized_qasm is None
    assert report.circuit.count_ops()["cx"] + 3 * report.circuit.count_ops().get("swap", 0) <= 10
    assert report.extra_cx == report.circuit.count_ops()["cx"] - read_circuit(report.optimized_qasm).count_ops()["cx"]
    assert f"{detail['two_qubit_gates']} two-qubit gates at the end" in circuit_summary(report)
    assert "written anew" not in circuit_summary(plain)


@pytest.mark.parametrize("limit", [None, 1e-6])
def test_a_circuit_that_is_no_better_anew_is_as_it_was_given(limit: float | None) -> None:
    """Nor is one for which there was no time to try that."""
    circuit = entangle(2) if limit is None else entangle(6)
    report = tiger.layout(circuit, LINE, level=1, optimize=True, time_limit_s=limit)
    assert report.optimized_qasm is None
    assert "synthesis" not in [stage.name for stage in report.stages]
    assert layouts.is_same(circuit, report)


def test_gates_in_their_order_are_not_written_anew() -> None:
    """Both cannot be had."""
    with pytest.raises(InputError, match="optimize: expected commute with it"):
        tiger.layout(entangle(3), LINE, optimize=True, commute=False)


def test_a_circuit_written_anew_that_cannot_be_mapped_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search in full may refuse what a quick one took."""
    monkeypatch.setattr("tiger.circuits.entry.optimization._map_variant", lambda *_: None)
    report = tiger.layout(entangle(6), LINE, level=1, optimize=True)
    assert (report.optimized_qasm, report.feasible) == (None, True)
