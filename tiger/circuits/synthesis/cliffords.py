"""Clifford blocks, written with few CX gates and SWAPs."""

from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from qiskit.circuit import QuantumCircuit
from qiskit.dagcircuit import DAGOpNode
from qiskit.exceptions import QiskitError
from qiskit.quantum_info import Clifford
from qiskit.synthesis import synth_clifford_greedy

from tiger.circuits.synthesis.blocks import GateFilter, count_entangling, is_matrix
from tiger.circuits.synthesis.linear import list_transpositions
from tiger.model.arrays import BoolArray, FloatArray

ENTANGLING = frozenset({"cx", "cz", "cy", "iswap", "ecr", "dcx", "unitary"})
NAMES = ENTANGLING - {"unitary"} | {"swap", "h", "s", "sdg", "x", "y", "z", "sx", "sxdg"}
# Widest block of the greedy reduction: for random operators on more qubits the other synthesis finds fewer gates.
MOST_QUBITS = 16
# Share by which the overlap of a gate with a Clifford operator may be below one: that of angles off by 1e-6.
ROUNDING = 1e-13
# Matrices whose operators are kept: a circuit has the same ones over and over, and each takes 5 ms.
KNOWN = 256
# Last gates that a reduction does not take again.
TABU = 8
# Paulis by their parts of X and Z, and what turns each into a Z, and into an X.
PAULIS = np.array([[1, 0], [1, 1], [0, 1]], np.bool_)
TO_Z, TO_X = (("h",), ("sx",), ()), ((), ("s",), ("h",))
INVERSE = {"h": "h", "s": "sdg", "sx": "sxdg"}
IntTable = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]


class _Rotation(NamedTuple):
    """Hold a gate that applies a Pauli of its second qubit where one of its first is -1, by number in `PAULIS`."""

    qubits: tuple[int, int]
    paulis: tuple[int, int]


def find_cliffords() -> GateFilter:
    """Return which gates on one or two qubits are Clifford operators, by name or by matrix."""
    known = dict[tuple[str, tuple[float, ...]], bool]()

    def belongs(node: DAGOpNode) -> bool:
        """Return whether a gate is one, looked up where one of its angles was seen before."""
        if len(node.qargs) > 2 or node.is_control_flow() or node.is_directive():
            return False
        if not node.is_standard_gate():
            return is_matrix(node) and read_clifford(node.matrix) is not None
        if node.name in NAMES:
            return True
        if node.is_parameterized():
            return False
        key = node.name, tuple(node.params)
        if key not in known:
            known[key] = read_clifford(node.matrix) is not None
        return known[key]

    return belongs


def read_clifford(matrix: ComplexArray) -> Clifford | None:
    """Return the operator of a matrix that takes Paulis to Paulis, up to rounding, which Qiskit is generous with."""
    return _read_matrix(np.asarray(matrix, np.complex128).tobytes(), len(matrix))


@lru_cache(maxsize=KNOWN)
def _read_matrix(values: bytes, size: int) -> Clifford | None:
    """Return what `read_clifford` does of the values of a matrix."""
    matrix = np.frombuffer(values, np.complex128).reshape(size, size)
    try:
        found = Clifford.from_matrix(matrix)
    except QiskitError:
        return None
    overlap = abs(np.vdot(found.to_matrix(), matrix)) / size
    return found if overlap > 1 - ROUNDING else None


def synthesize_clifford(block: QuantumCircuit) -> QuantumCircuit | None:
    """Return a circuit with fewer gates on two qubits, SWAPs apart, for the Clifford operator of a block.

    None where none is found. The phase of all states may be another one.
    """
    best = write_clifford(Clifford(block))
    return best if best is not None and count_entangling(best) < count_entangling(block) else None


def write_clifford(whole: Clifford) -> QuantumCircuit | None:
    """Return the circuit of a Clifford operator that has the fewest gates on two qubits, SWAPs apart; None if none.

    That of the greedy synthesis of Bravyi, Hu, Maslov and Shaydulin (2021, arXiv:2105.02291), or of a greedy reduction
    to a permutation.
    """
    found = [synth_clifford_greedy(whole)]
    if whole.num_qubits <= MOST_QUBITS:
        found.append(_reduce_greedily(whole))
    right = [each for each in found if Clifford(each) == whole]
    return min(right, key=lambda each: (count_entangling(each), each.size()), default=None)


def _reduce_greedily(whole: Clifford) -> QuantumCircuit:
    """Return a circuit by gates that bring the ranks of a tableau's blocks down, until it is one of single qubits.

    Blocks are those of an input and an output qubit, and a gate is chosen by the sum of the logarithms of the ranks by
    input and by output, as for linear functions. No circuit of the operator where that takes more than n^2 gates.
    """
    count = whole.num_qubits
    table = np.stack([whole.symplectic_matrix[:, :count], whole.symplectic_matrix[:, count:]], axis=-1)
    parts = table.reshape(2, count, count, 2).transpose(2, 1, 0, 3).copy()
    chosen = list[_Rotation]()
    while _list_ranks(parts).sum() > 2 * count:
        if len(chosen) == count**2:
            return QuantumCircuit(count)
        found = _choose(parts, chosen[-TABU:])
        chosen.append(found)
        _apply(parts, found)
    return _write(whole, chosen)


def _list_ranks(parts: BoolArray) -> IntTable:
    """Return the ranks of tables of two rows and two columns, which are the last two axes."""
    full = (parts[..., 0, 0] & parts[..., 1, 1]) ^ (parts[..., 0, 1] & parts[..., 1, 0])
    ranks: IntTable = parts.any(axis=(-1, -2)).astype(np.int64) + full
    return ranks


def _list_signs(parts: BoolArray) -> BoolArray:
    """Return which rows `[n, 3, n, 2]` of the blocks of each output qubit anticommute with each of its Paulis."""
    x, z = parts[:, None, :, :, 0], parts[:, None, :, :, 1]
    signs: BoolArray = (x & PAULIS[:, 1, None, None]) ^ (z & PAULIS[:, 0, None, None])
    return signs


def _choose(parts: BoolArray, last: list[_Rotation]) -> _Rotation:
    """Return the gate that brings the ranks down most, none of the last ones, as each undoes itself."""
    ranks, signs = _list_ranks(parts), _list_signs(parts)
    # Blocks of qubit a with Pauli P, where qubit b has Pauli Q: [a, P, b, Q, input, row, column].
    added = signs[None, None, :, :, :, :, None] & PAULIS[None, :, None, None, None, None, :]
    new = _list_ranks(parts[:, None, None, None] ^ added)
    change = new - ranks[:, None, None, None]
    both = change + change.transpose(2, 3, 0, 1, 4)
    inputs = ranks.sum(axis=0)
    outputs = np.log(np.maximum(new.sum(axis=-1), 1)) - np.log(ranks.sum(axis=1))[:, None, None, None]
    loss: FloatArray = (
        np.log(np.maximum(inputs + both, 1) / inputs).sum(axis=-1) + outputs + outputs.transpose(2, 3, 0, 1)
    )
    same = np.arange(len(parts))
    loss[same, :, same, :] = np.inf
    for (a, b), (p, q) in last:
        loss[a, p, b, q] = loss[b, q, a, p] = np.inf
    a, p, b, q = (int(each) for each in np.unravel_index(np.argmin(loss), loss.shape))
    return _Rotation((a, b), (p, q))


def _apply(parts: BoolArray, gate: _Rotation) -> None:
    """Apply a gate to the outputs of a tableau."""
    (a, b), (p, q) = gate
    signs = _list_signs(parts)
    first, second = signs[b, q], signs[a, p]
    parts[a] ^= first[..., None] & PAULIS[p]
    parts[b] ^= second[..., None] & PAULIS[q]


def _write(whole: Clifford, chosen: list[_Rotation]) -> QuantumCircuit:
    """Return the circuit of gates that reduce a tableau to one of single qubits, which come first, SWAPs at the end."""
    count = whole.num_qubits
    reducing = QuantumCircuit(count)
    for gate in chosen:
        _add(reducing, gate, range(count))
    left = whole.compose(Clifford(reducing))
    symplectic = left.symplectic_matrix
    source = [
        next(k for k, row in product(range(count), (0, count)) if symplectic[row + k, [place, count + place]].any())
        for place in range(count)
    ]
    back = QuantumCircuit(count)
    swaps = list_transpositions(source)
    for pair in reversed(swaps):
        back.swap(*pair)
    made = synth_clifford_greedy(left.compose(Clifford(back)))
    for gate in reversed(chosen):
        _add(made, gate, source)
    for pair in swaps:
        made.swap(*pair)
    return made


def _add(circuit: QuantumCircuit, gate: _Rotation, places: range | list[int]) -> None:
    """Append a gate, its qubits by place, as a CX between gates on one qubit."""
    control, target = (places[qubit] for qubit in gate.qubits)
    turns = [(name, control) for name in TO_Z[gate.paulis[0]]] + [(name, target) for name in TO_X[gate.paulis[1]]]
    for name, qubit in turns:
        getattr(circuit, name)(qubit)
    circuit.cx(control, target)
    for name, qubit in turns:
        getattr(circuit, INVERSE[name])(qubit)
