"""Linear functions, the blocks of CX and SWAP gates, written with few CX gates and a permutation at the end."""

from typing import NamedTuple

import numpy as np
from qiskit.circuit import QuantumCircuit
from qiskit.synthesis import synth_cnot_count_full_pmh

from tiger.circuits.synthesis.blocks import count_entangling
from tiger.model.arrays import BoolArray, FloatArray

NAMES = frozenset({"cx", "swap"})
# Widest block: the greedy elimination takes O(n^3) a gate, 1 s for 64 qubits.
MOST_QUBITS = 64
# Sections of Patel, Markov and Hayes, of which none is the best for all matrices.
SECTIONS = (1, 2, 3, 4)


def synthesize_linear(block: QuantumCircuit) -> QuantumCircuit | None:
    """Return a circuit of fewer CX gates, and SWAPs at its end, that is the same linear function of n bits as a block.

    None where there is none. The fewest CX of Patel, Markov and Hayes (2008, arXiv:quant-ph/0302002) on the matrix and
    on its transpose, and greedy elimination to a permutation on both sides (de Brugiere, Baboulin, Valiron, Martiel,
    Allouche 2021, arXiv:2201.06508); of those alike the one with fewer SWAPs.
    """
    if block.num_qubits > MOST_QUBITS:
        return None
    matrix = find_matrix(block)
    found = [*_synthesize_by_sections(matrix), _eliminate_greedily(matrix)]
    right = [each for each in found if (find_matrix(each) == matrix).all()]
    best = min(right, key=lambda each: (count_entangling(each), each.size()))
    return best if count_entangling(best) < count_entangling(block) else None


def find_matrix(circuit: QuantumCircuit) -> BoolArray:
    """Return the matrix [n, n] of CX and SWAP gates: row k has the input bits whose sum qubit k ends as."""
    matrix, index = np.eye(circuit.num_qubits, dtype=np.bool_), {bit: k for k, bit in enumerate(circuit.qubits)}
    for each in circuit.data:
        a, b = (index[bit] for bit in each.qubits)
        if each.name == "swap":
            matrix[[a, b]] = matrix[[b, a]]
        else:
            matrix[b] ^= matrix[a]
    return matrix


def _synthesize_by_sections(matrix: BoolArray) -> list[QuantumCircuit]:
    """Return circuits by sections of several sizes, of the matrix and of its transpose."""
    found = list[QuantumCircuit]()
    for section in SECTIONS[: len(matrix)]:
        found.append(synth_cnot_count_full_pmh(matrix, section_size=section))
        other = synth_cnot_count_full_pmh(matrix.T, section_size=section)
        turned = QuantumCircuit(len(matrix))
        for each in reversed(other.data):
            a, b = (other.find_bit(bit).index for bit in each.qubits)
            turned.cx(b, a)
        found.append(turned)
    return found


class _Addition(NamedTuple):
    """Hold that row (or column) `source` is added to `target`, and what the sum of logarithms then is less by."""

    gain: float
    source: int
    target: int


def _eliminate_greedily(matrix: BoolArray) -> QuantumCircuit:
    """Return a circuit by additions of rows and columns that leave the fewest ones in the matrix and its inverse.

    The rest is a permutation. An unfinished one where the ones do not get fewer, which is no circuit of the matrix.
    """
    count = len(matrix)
    left, inverse = matrix.copy(), _invert(matrix)
    before, after = list[tuple[int, int]](), list[tuple[int, int]]()
    while left.sum() > count:
        rows, columns = _choose_addition(left, inverse.T), _choose_addition(left.T, inverse)
        if max(rows.gain, columns.gain) <= 0:
            break
        if rows.gain >= columns.gain:
            left[rows.target] ^= left[rows.source]
            inverse[:, rows.source] ^= inverse[:, rows.target]
            after.append((rows.source, rows.target))
        else:
            left[:, columns.target] ^= left[:, columns.source]
            inverse[columns.source] ^= inverse[columns.target]
            before.append((columns.target, columns.source))
    return _write(before, left, after)


def _choose_addition(left: BoolArray, inverse: BoolArray) -> _Addition:
    """Return the addition of a row of a matrix to another that saves most, the columns of its inverse in step."""
    own, other = left.astype(np.float64), inverse.astype(np.float64)
    gain = _list_gains(own) + _list_gains(other).T
    source, target = np.unravel_index(np.argmax(gain), gain.shape)
    return _Addition(float(gain[source, target]), int(source), int(target))


def _list_gains(rows: FloatArray) -> FloatArray:
    """Return by how much the logarithm of the ones of row k falls when row i is added to it, as `[i, k]`."""
    ones = rows.sum(axis=1)
    both = ones[:, None] + ones[None, :] - 2 * rows @ rows.T
    np.fill_diagonal(both, np.inf)
    gains: FloatArray = np.log(ones)[None, :] - np.log(both)
    return gains


def _invert(matrix: BoolArray) -> BoolArray:
    """Return the inverse of a matrix over two elements."""
    count = len(matrix)
    both = np.concatenate([matrix, np.eye(count, dtype=np.bool_)], axis=1)
    for k in range(count):
        pivot = k + int(np.argmax(both[k:, k]))
        both[[k, pivot]] = both[[pivot, k]]
        others = both[:, k].copy()
        others[k] = False
        both[others] ^= both[k]
    return both[:, count:]


def _write(before: list[tuple[int, int]], left: BoolArray, after: list[tuple[int, int]]) -> QuantumCircuit:
    """Return the CX gates of additions of columns and of rows around a permutation, which goes to the end."""
    circuit = QuantumCircuit(len(left))
    for pair in before:
        circuit.cx(*pair)
    # Row k of the permutation has its one where qubit k comes from: additions of rows act there, before it.
    source = np.argmax(left, axis=1).tolist()
    for a, b in reversed(after):
        circuit.cx(source[a], source[b])
    for a, b in list_transpositions(source):
        circuit.swap(a, b)
    return circuit


def list_transpositions(source: list[int]) -> list[tuple[int, int]]:
    """Return SWAPs, in order, after which place k holds what was in place `source[k]`."""
    found, holds = list[tuple[int, int]](), list(range(len(source)))
    for k, wanted in enumerate(source):
        here = holds.index(wanted)
        if here != k:
            found.append((k, here))
            holds[k], holds[here] = holds[here], holds[k]
    return found
