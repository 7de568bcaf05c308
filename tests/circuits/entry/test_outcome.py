"""The figures of a routed circuit."""

import pytest
from qiskit import QuantumCircuit

from tiger.circuits.entry.outcome import count_extra_cx, depth_of, success_of
from tiger.circuits.entry.record import target_of

NOISY = {
    "num_qubits": 3,
    "gates": [{"name": "cx", "qubits": [0, 1], "error": 0.1}, {"name": "cx", "qubits": [1, 2], "error": 0.2}],
    "measure": [{"qubit": 0, "error": 0.5}],
}


@pytest.fixture
def plain() -> QuantumCircuit:
    """Return a circuit of depth 3 without SWAPs."""
    circuit = QuantumCircuit(3)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.barrier()
    circuit.cx(1, 2)
    return circuit


@pytest.fixture
def branched(plain: QuantumCircuit) -> QuantumCircuit:
    """Return the circuit with a measurement, and blocks of depth 4 and 1 that depend on it."""
    circuit = plain.copy()
    circuit.add_bits(QuantumCircuit(0, 1).clbits)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)) as other:
        circuit.swap(0, 1)
        circuit.cx(0, 1)
    with other:
        circuit.h(2)
    return circuit


def test_a_swap_is_three_cx(plain: QuantumCircuit, branched: QuantumCircuit) -> None:
    """In blocks as outside."""
    more = plain.copy()
    more.swap(0, 1)
    assert (count_extra_cx(plain, plain), count_extra_cx(more, plain), count_extra_cx(branched, plain)) == (0, 3, 4)


def test_the_depth_counts_a_swap_as_three(plain: QuantumCircuit, branched: QuantumCircuit) -> None:
    """Barriers and measurements take no layer, a block those of its deepest branch."""
    plain.swap(0, 1)
    assert (depth_of(plain), depth_of(branched), depth_of(QuantumCircuit(2))) == (6, 7, 0)


def test_the_success_is_a_product(plain: QuantumCircuit) -> None:
    """Of 1 - error over gates and readout."""
    plain.add_bits(QuantumCircuit(0, 1).clbits)
    plain.measure(0, 0)
    assert success_of(plain, target_of(NOISY, 9)) == pytest.approx(0.9 * 0.8 * 0.5)
