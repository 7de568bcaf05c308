"""Tests of other ways to write a circuit."""

import pytest
from hypothesis import given
from qiskit import QuantumCircuit
from qiskit.circuit import Gate
from qiskit.circuit.library import efficient_su2
from qiskit.converters import circuit_to_dag, dag_to_circuit
from qiskit.quantum_info import Clifford, Operator
from qiskit.synthesis import synth_qft_full

from tests.circuits.strategies import gate_circuits
from tiger.circuits.synthesis import variants
from tiger.circuits.synthesis.variants import MOVING, list_variants


def test_an_ansatz_has_one_with_a_chain() -> None:
    """Its layers of CX gates on all pairs are n - 1 gates each, and its parameters are the same."""
    ansatz = efficient_su2(6, entanglement="full", reps=2)
    (chain,) = list_variants(circuit_to_dag(ansatz))
    assert chain.count_ops()["cx"] == 10
    assert dag_to_circuit(chain).parameters == ansatz.parameters


def test_a_fourier_transform_has_some_of_more_gates_and_less_depth() -> None:
    """Each is another one, none is the transform as it was; that by its rotations has the fewest gates."""
    rotated, *ladders = list_variants(circuit_to_dag(synth_qft_full(7, do_swaps=False)))
    counts = [each.count_ops()["cx"] for each in ladders]
    assert rotated.count_ops()["cx"] < 42
    assert counts == sorted(set(counts))
    assert len(counts) <= len(MOVING)
    assert counts[0] == 52


@given(gate_circuits(gates=20))
def test_every_variant_is_the_same(circuit: QuantumCircuit) -> None:
    """The unitary of a circuit is that of all up to a phase, over the barriers that it has."""
    for each in list_variants(circuit_to_dag(circuit)):
        made = dag_to_circuit(each)
        assert Operator(made).equiv(Operator(circuit))
        assert made.count_ops().get("barrier", 0) == circuit.count_ops().get("barrier", 0)


def test_a_gate_that_is_called_like_a_matrix_is_in_no_block() -> None:
    """It has none; what is around it is written anew."""
    own = Gate("unitary", 2, [])
    own.definition = QuantumCircuit(2)
    own.definition.ryy(0.4, 0, 1)
    circuit = QuantumCircuit(3)
    for _ in range(8):
        circuit.cx(0, 1)
    circuit.append(own, [1, 2])
    found = list_variants(circuit_to_dag(circuit))
    assert found
    assert all(made.count_ops() == {"unitary": 1} for made in found)


def test_wide_circuits_of_cx_gates_are_the_same() -> None:
    """By their tableau."""
    circuit = QuantumCircuit(30)
    for a in range(30):
        for b in range(a % 4, 30, 4):
            if a != b:
                circuit.cx(a, b)
    found = list_variants(circuit_to_dag(circuit))
    assert found
    assert all(Clifford(dag_to_circuit(made)) == Clifford(circuit) for made in found)


def test_long_circuits_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no variant."""
    monkeypatch.setattr(variants, "MOST_OPERATIONS", 5)
    assert list_variants(circuit_to_dag(efficient_su2(4, entanglement="full"))) == []
