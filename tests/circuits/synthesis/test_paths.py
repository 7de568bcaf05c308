"""Tests of sums over paths, against unitaries."""

import cmath
from math import pi

import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.quantum_info import Operator

from tiger.circuits.synthesis.paths import DIAGONAL, PHASES, are_equal, split_angle

ANGLE = 0.7


def apply(name: str, *qubits: int, angle: float = ANGLE) -> QuantumCircuit:
    """Return a circuit of one gate on two qubits."""
    circuit = QuantumCircuit(2)
    gate = "cp" if name == "cu1" else "p" if name == "u1" else name
    fixed = name == "cz" or PHASES.get(name) is not None
    getattr(circuit, gate)(*([] if fixed else [angle]), *qubits)
    return circuit


@pytest.mark.parametrize("name", sorted(DIAGONAL))
def test_diagonal_gates_are_phases_of_sums(name: str) -> None:
    """Each is the same as phases of its qubits and of their sum, and not as those of another angle."""
    gate = apply(name, 0, 1)
    angle = pi if name == "cz" else ANGLE
    first, second, both, whole = split_angle(gate.data[0])
    made = QuantumCircuit(2, global_phase=whole * angle)
    made.p(first * angle, 0)
    made.p(second * angle, 1)
    made.cx(0, 1)
    made.p(both * angle, 1)
    made.cx(0, 1)
    assert Operator(made) == Operator(gate)
    assert are_equal(made, gate)
    made.p(0.1, 0)
    assert not are_equal(made, gate)


@pytest.mark.parametrize("name", sorted(PHASES))
def test_phases_of_one_qubit(name: str) -> None:
    """Each is a phase of a one and one of all states."""
    gate = apply(name, 0)
    matrix = Operator(gate).data
    made = QuantumCircuit(2, global_phase=0.0)
    ratio = matrix[1, 1] / matrix[0, 0]
    made.global_phase = cmath.phase(matrix[0, 0])
    made.p(cmath.phase(ratio), 0)
    assert are_equal(made, gate)


def test_gates_that_turn_a_qubit_keep_their_order() -> None:
    """A phase before a turn is not one behind it."""
    before, behind = QuantumCircuit(2), QuantumCircuit(2)
    before.p(ANGLE, 0)
    before.h(0)
    behind.h(0)
    behind.p(ANGLE, 0)
    assert are_equal(before, before)
    assert not are_equal(before, behind)


def test_a_qubit_in_a_sum_cannot_be_turned() -> None:
    """Such circuits are not said to be equal, even to themselves."""
    circuit = QuantumCircuit(2)
    circuit.cx(0, 1)
    circuit.h(0)
    assert not are_equal(circuit, circuit)


def test_places_count() -> None:
    """A SWAP is no identity."""
    swapped = QuantumCircuit(2)
    swapped.swap(0, 1)
    assert not are_equal(swapped, QuantumCircuit(2))


def test_parameters_get_the_same_numbers() -> None:
    """Two halves of an angle are the angle, and another angle is another circuit."""
    angle, other = Parameter("a"), Parameter("b")
    whole, halves, wrong = QuantumCircuit(1), QuantumCircuit(1), QuantumCircuit(1)
    whole.p(angle, 0)
    halves.p(angle / 2, 0)
    halves.p(angle / 2, 0)
    wrong.p(other, 0)
    assert are_equal(whole, halves)
    assert not are_equal(whole, wrong)
