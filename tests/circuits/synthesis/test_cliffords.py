"""Tests of Clifford blocks written with few gates."""

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter
from qiskit.circuit.library import UnitaryGate
from qiskit.converters import circuit_to_dag
from qiskit.quantum_info import Clifford, Operator, random_clifford
from qiskit.synthesis import synth_clifford_greedy

from tiger.circuits.synthesis.blocks import count_entangling
from tiger.circuits.synthesis.cliffords import MOST_QUBITS, find_cliffords, synthesize_clifford


def draw_block(qubits: int, gates: int, seed: int) -> QuantumCircuit:
    """Return CX gates on random pairs, each with a gate on its control."""
    rng, block = np.random.default_rng(seed), QuantumCircuit(qubits)
    for _ in range(gates):
        pair = rng.choice(qubits, 2, replace=False).tolist()
        block.cx(*pair)
        getattr(block, str(rng.choice(["h", "s", "sx"])))(pair[0])
    return block


@pytest.mark.parametrize("qubits", [2, 3, 5, 9, MOST_QUBITS, MOST_QUBITS + 4])
def test_the_operator_stays(qubits: int) -> None:
    """Signs of Paulis included, with fewer gates."""
    for seed in range(3):
        block = draw_block(qubits, qubits**2, seed)
        made = synthesize_clifford(block)
        assert made is not None
        assert Clifford(made) == Clifford(block)
        assert count_entangling(made) < count_entangling(block)


def test_random_operators_take_fewer_gates_than_greedy_synthesis() -> None:
    """A fifth less where a permutation is free, on ten operators of eight qubits."""
    counts = np.zeros(2)
    for seed in range(10):
        block = synth_clifford_greedy(random_clifford(8, seed=seed))
        made = synthesize_clifford(block)
        counts += count_entangling(block if made is None else made), count_entangling(block)
    assert counts[0] < 0.8 * counts[1]


def test_what_cannot_be_less_stays() -> None:
    """As a single CX."""
    block = QuantumCircuit(2)
    block.h(0)
    block.cx(0, 1)
    assert synthesize_clifford(block) is None


def test_bug_a_rotation_close_to_a_quarter_turn_was_taken_for_one() -> None:
    """Qiskit reads a tableau from an angle that is off by 0.001."""
    circuit, belongs = QuantumCircuit(2), find_cliffords()
    for off in (1e-3, 1e-5, 1e-12):
        circuit.rxx(np.pi / 2 + off, 0, 1)
        circuit.rz(np.pi / 2 + off, 0)
    found = [belongs(node) for node in circuit_to_dag(circuit).op_nodes()]
    assert found == [False] * 4 + [True] * 2


def test_clifford_gates_are_known_by_their_matrices() -> None:
    """Quarter turns and unitaries of Clifford gates are some, other angles, free ones and gates on three are not."""
    circuit, bell = QuantumCircuit(3), QuantumCircuit(2)
    bell.h(0)
    bell.cx(0, 1)
    circuit.rz(np.pi / 2, 0)
    circuit.append(UnitaryGate(Operator(bell)), [0, 1])
    circuit.rzz(np.pi / 2, 1, 2)
    circuit.cx(0, 1)
    circuit.rz(0.1, 0)
    circuit.rz(Parameter("a"), 0)
    circuit.append(UnitaryGate(np.diag([1, 1, 1, 1j])), [0, 1])
    circuit.ccx(0, 1, 2)
    circuit.barrier(0)
    circuit.append(bell.to_gate(), [0, 1])
    belongs = find_cliffords()
    assert [belongs(node) for node in circuit_to_dag(circuit).op_nodes()] == [True] * 4 + [False] * 6
