"""Tests of circuits put on device qubits as they are."""

from qiskit import QuantumCircuit
from qiskit.converters import circuit_to_dag, dag_to_circuit

from tiger.circuits.transpiler.relocation import relocate


def test_operations_go_to_the_places_of_their_qubits() -> None:
    """Qubits, bits and what is no gate come along."""
    circuit = QuantumCircuit(2, 1, name="kept")
    circuit.cx(0, 1)
    circuit.measure(1, 0)
    placed = dag_to_circuit(relocate(circuit_to_dag(circuit), [2, 0, 1]))
    expected = QuantumCircuit(3, 1, name="kept")
    expected.cx(2, 0)
    expected.measure(0, 0)
    assert placed == expected
