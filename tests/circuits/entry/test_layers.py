"""Tests of the gates of a circuit in layers."""

from hypothesis import given
from hypothesis import strategies as st
from qiskit import QuantumCircuit
from qiskit.circuit.random import random_circuit

from tiger.circuits.entry.layers import list_gates


def test_gates_are_as_early_as_their_qubits_are_free():
    """Tests a gate that waits for another, one behind a barrier, and a measurement."""
    circuit = QuantumCircuit(2, 1)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.barrier(0, 1)
    circuit.x(0)
    circuit.measure(1, 0)
    gates = list_gates(circuit)
    assert gates.name == ("h", "cx", "x", "measure")
    assert gates.layer.tolist() == [0, 1, 2, 2]
    assert list(zip(gates.first.tolist(), gates.second.tolist(), strict=True)) == [(0, -1), (0, 1), (0, -1), (1, -1)]


def test_a_circuit_without_gates_has_no_layers():
    """Tests barriers alone."""
    circuit = QuantumCircuit(2)
    circuit.barrier()
    assert list_gates(circuit).layers == 0


@given(st.integers(1, 5), st.integers(0, 8), st.integers(0, 2**32 - 1))
def test_layers_are_the_depth_that_qiskit_counts(width, depth, seed):
    """Tests random circuits with measurements, resets and conditions."""
    circuit = random_circuit(width, depth, max_operands=2, measure=True, reset=True, conditional=True, seed=seed)
    gates = list_gates(circuit)
    assert gates.layers == circuit.depth()
    assert len(gates.name) == circuit.size()
    assert sorted(gates.layer.tolist()) == gates.layer.tolist()
