"""Blocks of gates on two qubits, as the later optimization fuses them, and what a SWAP beside one adds in a basis.

The coordinates of a block in the Weyl chamber, pi/4 >= a >= b >= |c|, decide how many gates of a basis it takes (Zhang,
Vala, Sastry, Whaley 2003, doi:10.1103/PhysRevA.67.042313; Vatan, Williams 2004, doi:10.1103/PhysRevA.69.032315).
"""

from collections.abc import Iterator
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from qiskit.dagcircuit import DAGOpNode
from qiskit.synthesis import TwoQubitWeylDecomposition
from qiskit.transpiler import CouplingMap, Target

from tiger.circuits.transpiler.model import CircuitModel
from tiger.model.arrays import lock
from tiger.routing.coupling import IndexArray

Matrix = NDArray[np.complex128]
# The second coordinate of gates of which any three make every block, and those that rotate by any angle.
FIXED = {**dict.fromkeys(("cx", "cz", "ecr", "cy"), 0.0), "iswap": pi / 4}
ROTATING = frozenset({"rzz", "rxx", "ryy", "rzx", "cp", "crz", "crx", "cry"})
# Gates of a SWAP. Prices are in so many parts of a gate, and one part more: of routes with as many gates the one with
# fewer SWAPs is taken.
SWAP, PARTS = 3, 4
# Coordinates that differ by less are equal: Qiskit leaves out what changes the fidelity by 1e-9, about their square.
ROUNDING = 1e-5


class Coordinates(NamedTuple):
    """Hold where a block is in the Weyl chamber, the third coordinate without its sign."""

    a: float
    b: float
    c: float

    def mirror(self) -> "Coordinates":
        """Return where the block with a SWAP is (Cross, Bishop, Sheldon, Nation, Gambetta 2019)."""
        return Coordinates(pi / 4 - self.c, pi / 4 - self.b, pi / 4 - self.a)


def basis_of(device: Target | CouplingMap) -> tuple[str, ...]:
    """Return the two-qubit gates of a device in which the number of gates of a block is known."""
    names = () if isinstance(device, CouplingMap) else device.operation_names
    return tuple(sorted(name for name in names if name in FIXED or name in ROTATING))


def count_gates(block: Coordinates, basis: tuple[str, ...]) -> int:
    """Return how many gates of a basis a block takes at least, with any gates on one qubit between them."""
    zeros = sum(value < ROUNDING for value in block)
    counts = [len(block) - zeros] if ROTATING & set(basis) else []
    for second in {FIXED[name] for name in basis if name in FIXED}:
        single = abs(block.a - pi / 4) < ROUNDING and abs(block.b - second) < ROUNDING and block.c < ROUNDING
        counts.append(0 if zeros == len(block) else 1 if single else 2 if block.c < ROUNDING else SWAP)
    return min(counts)


def price_swaps(model: CircuitModel, basis: tuple[str, ...]) -> tuple[IndexArray, IndexArray]:
    """Return the prices [g + 1] of SWAPs beside each node of a circuit and elsewhere, and gates [g] of the nodes.

    Nodes of one block have its price, as no SWAP comes between them, and share its gates. O(operations).
    """
    price = np.full(len(model.gate_dag.pairs) + 1, 1 + PARTS * SWAP, np.int32)
    layers = np.ones(len(model.gate_dag.pairs), np.int32)
    known = dict[tuple[str, tuple[float, ...]], tuple[int, int]]()
    for block in list_blocks(model):
        first = model.operations[block[0]]
        key = first.name, tuple(first.params) if len(block) == 1 and first.is_standard_gate() else ()
        if len(block) > 1 or not first.is_standard_gate():
            own, extra = _count(_locate(model, block), basis)
        else:
            own, extra = known[key] if key in known else known.setdefault(key, _count(_locate(model, block), basis))
        nodes = [model.build.node[i] for i in block if len(model.qubits[i]) == 2]
        price[nodes] = 1 + PARTS * extra
        layers[nodes] = [(own + k) // len(nodes) for k in range(len(nodes))]
    return lock(price), lock(layers)


def list_blocks(model: CircuitModel) -> list[list[int]]:
    """Return the operations of every block: two-qubit gates in a row on one pair, and gates on one qubit between."""
    blocks, current = list[list[int]](), dict[int, int]()
    waiting = dict[int, list[int]]()
    for i, (node, qubits) in enumerate(zip(model.operations, model.qubits, strict=True)):
        if not _has_matrix(node) or len(qubits) not in (1, 2):
            for qubit in qubits:
                current.pop(qubit, None)
        elif len(qubits) == 1:
            waiting.setdefault(qubits[0], []).append(i)
        else:
            a, b = qubits
            number = current.get(a, -1)
            if number < 0 or number != current.get(b, -1):
                number = current[a] = current[b] = len(blocks)
                blocks.append([])
            else:
                blocks[number] += waiting.get(a, []) + waiting.get(b, [])
            blocks[number].append(i)
            waiting.pop(a, None)
            waiting.pop(b, None)
    return blocks


def _has_matrix(node: DAGOpNode) -> bool:
    """Return whether an operation is a gate with numbers for parameters."""
    return not node.is_control_flow() and not node.is_directive() and node.matrix is not None


def _count(block: Coordinates, basis: tuple[str, ...]) -> tuple[int, int]:
    """Return how many gates a block takes, and how many a SWAP adds to it, none where it takes some away."""
    own = count_gates(block, basis)
    return own, max(count_gates(block.mirror(), basis) - own, 0)


def _locate(model: CircuitModel, block: list[int]) -> Coordinates:
    """Return the coordinates of a block."""
    pair = model.qubits[block[0]]
    whole = np.eye(4, dtype=np.complex128)
    for factor in _list_factors(model, block, pair):
        whole = factor @ whole
    found = TwoQubitWeylDecomposition(whole)
    return Coordinates(found.a, found.b, abs(found.c))


def _list_factors(model: CircuitModel, block: list[int], pair: tuple[int, ...]) -> Iterator[Matrix]:
    """Yield the matrices of a block's operations on its pair, of which the first qubit is the low one as in Qiskit."""
    for i in block:
        own, matrix = model.qubits[i], model.operations[i].matrix
        if len(own) == 1:
            yield np.kron(np.eye(2), matrix) if own[0] == pair[0] else np.kron(matrix, np.eye(2))
        else:
            yield matrix if own == pair else matrix[np.ix_((0, 2, 1, 3), (0, 2, 1, 3))]
