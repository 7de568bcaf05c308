"""Quantum programs of the kinds that compilers are compared on, which need SWAPs on lines and on lattices."""

from collections.abc import Iterator

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit.library import (
    CDKMRippleCarryAdder,
    HRSCumulativeMultiplier,
    MCXGate,
    PhaseEstimation,
    QFTGate,
    efficient_su2,
    quantum_volume,
)


def programs(seed: int) -> Iterator[tuple[str, QuantumCircuit]]:
    """Yield 25 circuits of 6 to 83 qubits, whose qubits are all measured in the end.

    Every circuit has partners that fit neither a line nor a grid nor a heavy-hexagon lattice, so that each needs a SWAP
    on all of them. Kinds and sizes are those that QASMBench (arXiv:2005.13018) and RevLib have.
    """
    rng = np.random.default_rng(seed)
    for width in (8, 16, 24):
        yield f"QFT {width}", _measure(_apply(QFTGate(width)))
    for width in (12, 20, 50):
        yield f"QAOA {width}", _measure(_qaoa(width, rng))
    for width in (25, 83):
        yield f"swap test {width}", _measure(_swap_test(width))
    for width in (12, 30):
        yield f"random {width}", _measure(_random(width, 4 * width, rng))
    for width in (10, 16):
        yield f"quantum volume {width}", _measure(quantum_volume(width, width, seed=seed))
    for bits in (6, 10):
        yield f"adder {2 * bits + 2}", _measure(_apply(CDKMRippleCarryAdder(bits).to_gate()))
    for width in (8, 14):
        ansatz = efficient_su2(width, entanglement="full", reps=2)
        yield f"full ansatz {width}", _measure(ansatz.assign_parameters(rng.random(ansatz.num_parameters)))
    for width in (9, 25):
        yield f"triangles {width}", _measure(_triangles(int(width**0.5), rng))
    yield "hwb 6", _measure(_hidden_weighted_bit(6))
    yield "QuGAN 39", _measure(_generative(39, rng))
    yield "QRAM 20", _measure(_memory(3, rng))
    yield "multiplier 13", _measure(_apply(HRSCumulativeMultiplier(3).to_gate()))
    yield "phase estimation 12", _measure(PhaseEstimation(11, _apply(QFTGate(1))))
    yield "Grover 9", _measure(_grover(9, 3))
    yield "star 20", _measure(_star(20, rng))


def _measure(circuit: QuantumCircuit) -> QuantumCircuit:
    """Return the gates of a circuit, with every qubit measured in the end."""
    measured = QuantumCircuit(circuit.num_qubits, circuit.num_qubits)
    measured.compose(circuit, inplace=True)
    measured.measure(range(circuit.num_qubits), range(circuit.num_qubits))
    return measured


def _apply(gate: QFTGate) -> QuantumCircuit:
    """Return a circuit of one gate."""
    circuit = QuantumCircuit(gate.num_qubits)
    circuit.append(gate, range(gate.num_qubits))
    return circuit


def _qaoa(width: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return two layers of QAOA for a random cubic graph."""
    edges = [pair for _ in range(3) for pair in rng.permutation(width).reshape(-1, 2).tolist()]
    circuit = QuantumCircuit(width)
    circuit.h(range(width))
    for angle in (0.7, 0.4):
        for a, b in edges:
            circuit.rzz(angle, a, b)
        circuit.rx(2 * angle, range(width))
    return circuit


def _swap_test(width: int) -> QuantumCircuit:
    """Return the swap test of two states of (width - 1) / 2 qubits."""
    circuit, half = QuantumCircuit(width), width // 2
    circuit.ry(0.3, range(1, width))
    circuit.h(0)
    for k in range(half):
        circuit.cswap(0, 1 + k, 1 + half + k)
    circuit.h(0)
    return circuit


def _random(width: int, gates: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return CX gates on random pairs, each after rotations."""
    circuit = QuantumCircuit(width)
    for _ in range(gates):
        a, b = rng.choice(width, 2, replace=False).tolist()
        circuit.u(*rng.random(3).tolist(), a)
        circuit.u(*rng.random(3).tolist(), b)
        circuit.cx(a, b)
    return circuit


def _triangles(side: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return two Trotter steps of the Ising model on a triangular lattice of side x side."""
    circuit = QuantumCircuit(side**2)
    spots = [(row, column) for row in range(side) for column in range(side)]
    for _ in range(2):
        for down, right in ((0, 1), (1, 0), (1, 1)):
            for row, column in spots:
                if row + down < side and column + right < side:
                    circuit.rzz(float(rng.random()), row * side + column, (row + down) * side + column + right)
        circuit.rx(0.4, range(side**2))
    return circuit


def _hidden_weighted_bit(width: int) -> QuantumCircuit:
    """Return the permutation that turns a word by the number of its ones, synthesized by transformations.

    Miller, Maslov, Dueck (2003), the basic algorithm: gates are put at the output until the table is the identity.
    """
    table = [_turn(word, word.bit_count() % width, width) for word in range(2**width)]
    gates = list[tuple[int, int]]()

    def flip(target: int, controls: int) -> None:
        gates.append((controls & ~target, target))
        for word, out in enumerate(table):
            table[word] = out ^ target if out & controls & ~target == controls & ~target else out

    for word in range(2**width):
        # First the ones that the output lacks, then those that it has too many; smaller words are not touched.
        for target in (1 << k for k in range(width) if word & ~table[word] & 1 << k):
            flip(target, table[word])
        for target in (1 << k for k in range(width) if table[word] & ~word & 1 << k):
            flip(target, word)
    circuit = QuantumCircuit(width)
    for controls, target in reversed(gates):
        wires = [k for k in range(width) if controls >> k & 1] + [target.bit_length() - 1]
        circuit.append(MCXGate(len(wires) - 1), wires) if len(wires) > 1 else circuit.x(wires[0])
    return circuit


def _turn(word: int, by: int, width: int) -> int:
    """Return a word with its bits turned by so many places."""
    return (word << by | word >> (width - by)) & (2**width - 1)


def _generative(width: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return a generator and a discriminator, ladders of rotations, which a swap test compares."""
    circuit, half = QuantumCircuit(width), width // 2
    for k in range(1, width):
        circuit.ry(float(rng.random()), k)
    for first in (1, 1 + half):
        for k in range(first, first + half - 1):
            circuit.ryy(float(rng.random()), k, k + 1)
            circuit.cry(float(rng.random()), k, k + 1)
    circuit.h(0)
    for k in range(half):
        circuit.cswap(0, 1 + k, 1 + half + k)
    circuit.h(0)
    return circuit


def _memory(bits: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return a look-up in a quantum memory of 2^bits cells by a bucket brigade (Arunachalam et al. 2015)."""
    cells = 2**bits
    rout, ram, out = bits, bits + cells, bits + 2 * cells
    routing = QuantumCircuit(out + 1)
    routing.x(rout + cells - 1)
    for level in range(bits):
        step = cells >> (level + 1)
        for top in range(2 * step - 1, cells, 2 * step):
            routing.ccx(level, rout + top, rout + top - step)
            routing.cx(rout + top - step, rout + top)
    circuit = QuantumCircuit(out + 1)
    circuit.h(range(bits))
    circuit.x([ram + k for k in range(cells) if rng.random() < 0.5])
    circuit.compose(routing, inplace=True)
    for k in reversed(range(cells)):
        circuit.ccx(rout + k, ram + k, out)
    circuit.compose(routing.inverse(), inplace=True)
    return circuit


def _grover(width: int, marked: int) -> QuantumCircuit:
    """Return one step of Grover's search for a word."""
    circuit = QuantumCircuit(width)
    circuit.h(range(width))
    for flipped in ([k for k in range(width) if not marked >> k & 1], [*range(width)]):
        if len(flipped) == width:
            circuit.h(range(width))
        circuit.x(flipped)
        circuit.h(width - 1)
        circuit.append(MCXGate(width - 1), range(width))
        circuit.h(width - 1)
        circuit.x(flipped)
        if len(flipped) == width:
            circuit.h(range(width))
    return circuit


def _star(width: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return CX gates from half of the qubits on the last one, each after a rotation."""
    circuit = QuantumCircuit(width)
    for k in rng.permutation(width - 1)[::2].tolist():
        circuit.u(0.3, 0.2, 0.1, k)
        circuit.cx(k, width - 1)
    return circuit
