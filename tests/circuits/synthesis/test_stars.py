"""Tests of epochs and of runs of stars."""

from itertools import combinations

from qiskit import QuantumCircuit
from qiskit.synthesis import synth_qft_full

from tiger.circuits.synthesis.epochs import Epochs
from tiger.circuits.synthesis.stars import find_run


def test_a_qubit_is_in_a_new_epoch_where_it_is_turned_after_it_met_another() -> None:
    """Phases stay in the epoch, and a turn before any diagonal gate is its beginning."""
    block = QuantumCircuit(2)
    block.h(0)
    block.cz(0, 1)
    block.s(0)
    block.h(0)
    block.cz(0, 1)
    epochs = Epochs(block)
    assert [[gate.name for gate in epoch.entry] for epoch in epochs.of_qubit[0]] == [["h", "s"], ["h"]]
    assert len(epochs.of_qubit[1]) == 1
    assert epochs.advance(0) is None
    assert [*epochs.list_ready()] == [(0, 1)]
    assert [gate.name for gate in epochs.take(0, 1)] == ["cz"]
    assert epochs.advance(0) is epochs.of_qubit[0][1]


def test_a_fourier_transform_is_one_run() -> None:
    """Its centres come in the order of their Hadamard gates, and each meets all behind it."""
    run = find_run(Epochs(synth_qft_full(5, do_swaps=False)))
    assert run is not None
    assert run.line == [4, 3, 2, 1, 0]
    assert [sorted(star) for star in run.leaves] == [[0, 1, 2, 3], [0, 1, 2], [0, 1], [0]]
    assert [run.reach(k) for k in range(4)] == [4, 4, 4, 4]


def test_an_approximate_transform_has_shorter_stars() -> None:
    """The leaves of a star are next to it on the line."""
    run = find_run(Epochs(synth_qft_full(8, do_swaps=False, approximation_degree=3)))
    assert run is not None
    assert run.line == [*range(7, -1, -1)]
    assert [run.reach(k) - k for k in range(7)] == [4, 4, 4, 4, 3, 2, 1]


def test_sparse_blocks_have_no_run() -> None:
    """A lone star and a ring take fewer gates with SWAPs."""
    star, ring = QuantumCircuit(6), QuantumCircuit(6)
    for k in range(1, 6):
        star.cp(0.1, 0, k)
    for k in range(6):
        ring.cp(0.1, k, (k + 1) % 6)
    assert find_run(Epochs(star)) is None
    assert find_run(Epochs(ring)) is None


def test_all_pairs_are_a_run() -> None:
    """Diagonal gates on all pairs can come in any order."""
    block = QuantumCircuit(5)
    for a, b in combinations(range(5), 2):
        block.rzz(0.1, a, b)
    run = find_run(Epochs(block))
    assert run is not None
    assert sum(map(len, run.leaves)) == 10
