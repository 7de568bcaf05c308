"""Tests of linear functions written with few CX gates."""

import numpy as np
import pytest
from qiskit import QuantumCircuit

from tiger.circuits.synthesis.linear import MOST_QUBITS, find_matrix, list_transpositions, synthesize_linear


def draw_block(qubits: int, gates: int, seed: int) -> QuantumCircuit:
    """Return CX and SWAP gates on random pairs."""
    rng, block = np.random.default_rng(seed), QuantumCircuit(qubits)
    for _ in range(gates):
        pair = rng.choice(qubits, 2, replace=False).tolist()
        if rng.random() < 0.9:
            block.cx(*pair)
        else:
            block.swap(*pair)
    return block


def count_cx(circuit: QuantumCircuit) -> int:
    """Return the CX gates of a circuit."""
    return int(circuit.count_ops().get("cx", 0))


def test_a_matrix_has_the_input_bits_of_each_qubit() -> None:
    """A CX adds its control's bits to its target's, and a SWAP changes places."""
    block = QuantumCircuit(3)
    block.cx(0, 1)
    block.swap(1, 2)
    assert find_matrix(block).astype(int).tolist() == [[1, 0, 0], [0, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize("qubits", [2, 3, 6, 12])
def test_the_function_stays_and_swaps_come_last(qubits: int) -> None:
    """Whatever the block, its matrix is the same, with fewer CX gates."""
    for seed in range(10):
        block = draw_block(qubits, 6 * qubits, seed)
        made = synthesize_linear(block)
        if made is None:
            continue
        assert (find_matrix(made) == find_matrix(block)).all()
        assert count_cx(made) < count_cx(block)
        names = [each.name for each in made.data]
        assert names == sorted(names)


def test_full_entanglement_is_a_chain() -> None:
    """CX gates on all pairs in order, with the first qubit as the control, are n - 1 CX gates."""
    block = QuantumCircuit(9)
    for a in range(9):
        for b in range(a + 1, 9):
            block.cx(a, b)
    made = synthesize_linear(block)
    assert made is not None
    assert made.count_ops() == {"cx": 8}


def test_three_cx_that_swap_are_a_permutation() -> None:
    """No CX is left of them."""
    block = QuantumCircuit(2)
    for a, b in ((0, 1), (1, 0), (0, 1)):
        block.cx(a, b)
    made = synthesize_linear(block)
    assert made is not None
    assert made.count_ops() == {"swap": 1}


def test_what_cannot_be_less_stays() -> None:
    """A single CX and a block that is too wide are left alone."""
    block = QuantumCircuit(2)
    block.cx(0, 1)
    assert synthesize_linear(block) is None
    assert synthesize_linear(draw_block(MOST_QUBITS + 1, 2, 0)) is None


def test_transpositions_bring_what_is_wanted() -> None:
    """After the SWAPs place k holds what was in place `source[k]`."""
    source, holds = [2, 0, 3, 1], [*range(4)]
    for a, b in list_transpositions(source):
        holds[a], holds[b] = holds[b], holds[a]
    assert holds == source
