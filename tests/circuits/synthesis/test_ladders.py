"""Tests of stars as ladders of CX gates."""

from itertools import combinations

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import ParameterVector
from qiskit.quantum_info import Operator
from qiskit.synthesis import synth_qft_full

from tiger.circuits.synthesis.ladders import synthesize_stars
from tiger.circuits.synthesis.paths import are_equal


def draw_block(qubits: int, gates: int, seed: int) -> QuantumCircuit:
    """Return diagonal gates on random pairs, and now and then a gate on one qubit."""
    rng, block = np.random.default_rng(seed), QuantumCircuit(qubits)
    for _ in range(gates):
        name, angle = (
            str(rng.choice(["cp", "rzz", "crz", "cz", "rz", "t", "h"], p=[*[0.2] * 3, *[0.1] * 4])),
            rng.random(),
        )
        pair = rng.choice(qubits, 2, replace=False).tolist()
        qubit_count = 2 if name in ("cp", "rzz", "crz", "cz") else 1
        angles = [3 * angle] if name in ("cp", "rzz", "crz", "rz") else []
        getattr(block, name)(*angles, *pair[:qubit_count])
    return block


def is_on_line(circuit: QuantumCircuit) -> bool:
    """Return whether the pairs of the CX gates of a circuit form a path."""
    pairs = {frozenset(circuit.find_bit(bit).index for bit in each.qubits) for each in circuit.get_instructions("cx")}
    ends = [sum(k in pair for pair in pairs) for k in range(circuit.num_qubits)]
    return len(pairs) == circuit.num_qubits - 1 and sorted(ends)[:2] == [1, 1] and max(ends) == 2


@pytest.mark.parametrize("qubits", [4, 5, 8, 16, 24])
def test_a_fourier_transform_takes_two_cx_a_pair(qubits: int) -> None:
    """There are n^2 + n - 4 of them, on a line, and no SWAP."""
    block = synth_qft_full(qubits, do_swaps=False)
    made = synthesize_stars(block)
    assert made is not None
    assert made.count_ops()["cx"] == qubits**2 + qubits - 4
    assert "swap" not in made.count_ops()
    assert is_on_line(made)
    assert are_equal(made, block)


def test_centres_that_move_take_few_layers() -> None:
    """All of them take less than half of the layers, for at most two gates a star more."""
    block = synth_qft_full(16, do_swaps=False)
    still, moving = synthesize_stars(block), synthesize_stars(block, 1.0)
    assert still is not None
    assert moving is not None
    assert moving.count_ops()["cx"] - still.count_ops()["cx"] <= 2 * 15
    layers = [made.depth(lambda each: each.name == "cx") for made in (moving, still)]
    assert 2 * layers[0] < layers[1]
    assert is_on_line(moving)


@pytest.mark.parametrize("moving", [0.0, 0.4, 1.0])
def test_the_unitary_stays(moving: float) -> None:
    """Of a Fourier transform and its inverse, of all pairs, and of random blocks with runs."""
    pairs = QuantumCircuit(5, global_phase=0.3)
    for a, b in combinations(range(5), 2):
        pairs.rzz(0.1 + a + 0.3 * b, b, a)
    transform = synth_qft_full(5, do_swaps=False)
    blocks = [pairs, transform, transform.inverse(), *(draw_block(5, 60, seed) for seed in range(8))]
    found = [(block, synthesize_stars(block, moving)) for block in blocks]
    made = [(block, each) for block, each in found if each is not None]
    assert len(made) > 6
    for block, each in made:
        assert Operator(each) == Operator(block)


def test_parameters_stay_free() -> None:
    """Angles without numbers are split among sums as expressions."""
    block, angles = QuantumCircuit(4), ParameterVector("a", 6)
    for angle, (a, b) in zip(angles, combinations(range(4), 2), strict=True):
        block.cp(angle, a, b)
    made = synthesize_stars(block)
    assert made is not None
    assert set(made.parameters) == set(angles)
    values = dict(zip(angles, np.linspace(0.1, 2.0, 6).tolist(), strict=True))
    assert Operator(made.assign_parameters(values)) == Operator(block.assign_parameters(values))


def test_blocks_without_runs_stay() -> None:
    """A ring of gates is left as it is."""
    ring = QuantumCircuit(6)
    for k in range(6):
        ring.cp(0.1, k, (k + 1) % 6)
    assert synthesize_stars(ring) is None


def test_bug_a_star_began_before_its_centre_had_met_all_in_the_epoch_before() -> None:
    """A qubit that meets another in two epochs has met it in the first of them alone."""
    block = QuantumCircuit(4)
    for at in ((1, 3), (2, 3), (0, 2), (0, 1), (1, 2), (1,), (0, 1), (0,), (0, 3)):
        if len(at) == 1:
            block.h(*at)
        else:
            block.cp(0.3, *at)
    made = synthesize_stars(block)
    assert made is not None
    assert Operator(made) == Operator(block)
