"""When the two-qubit gates of a circuit can run, and which of its qubits they bring together how much."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, lock
from tiger.routing.coupling import IndexArray
from tiger.routing.gate_dag import GateDag


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateTimeline:
    """Hold the k two-qubit gates of a circuit in the order of their levels.

    `node[k]` is a gate's node, `pairs[k, 2]` its qubits, `level[k]` ascending. No level has a qubit twice.
    """

    node: IndexArray
    pairs: IndexArray
    level: IndexArray


def build_timeline(dag: GateDag) -> GateTimeline:
    """Return the gates at their earliest levels, those that commute one after another in circuit order."""
    level = assign_levels(dag)
    gates = np.flatnonzero(dag.pairs[:, 0] >= 0)
    order = gates[np.argsort(level[gates], kind="stable")].astype(np.int32)
    return GateTimeline(node=lock(order), pairs=lock(dag.pairs[order]), level=lock(level[order]))


def assign_levels(dag: GateDag) -> IndexArray:
    """Return level[g]: the first after all that a node waits for at which its qubits are free.

    A node without qubits of its own takes no level, except that a block of control flow with gates inside takes one.
    """
    ready, level = [0] * len(dag.pairs), np.zeros(len(dag.pairs), np.int32)
    busy: list[dict[int, int]] = [{} for _ in range(dag.qubits)]
    blocks = set(dag.inner[:, 0].tolist())
    bounds, after = dag.first.tolist(), dag.after.tolist()
    for node, (a, b) in enumerate(dag.pairs.tolist()):
        at = ready[node]
        if a >= 0:
            # As soon as possible: the first level at which both qubits are free.
            while at in busy[a] or at in busy[b]:
                at = _first_free_level(busy[b], _first_free_level(busy[a], at))
            busy[a][at] = busy[b][at] = at + 1
        level[node] = at
        done = at + (a >= 0 or node in blocks)
        for later in after[bounds[node] : bounds[node + 1]]:
            ready[later] = max(ready[later], done)
    return level


def _first_free_level(busy: dict[int, int], at: int) -> int:
    """Return the first level from one on that is not busy; what is leads to a later level, by ever shorter paths."""
    # Union-find with path compression: a busy level points to a later one that was free when it was taken.
    level = at
    while level in busy:
        level = busy[level]
    while at in busy:
        busy[at], at = level, busy[at]
    return level


def weigh_interactions(dag: GateDag, half: float | None = None, around: int = 0) -> sp.csr_array:
    """Return weight[n, n] above the diagonal: the gates of two qubits, fading with their levels from `around`.

    A gate on level L counts 0.5 ** (abs(L - around) / half), or 1 where `half`, in levels, is None. Gates inside blocks
    of control flow count on the level of the block.
    """
    level = assign_levels(dag)
    gates = np.flatnonzero(dag.pairs[:, 0] >= 0)
    ends = np.concatenate([dag.pairs[gates], dag.inner[:, 1:]])
    weight = fade_weights(np.concatenate([level[gates], level[dag.inner[:, 0]]]) - around, half)
    ends = np.sort(ends, axis=1)
    return sp.coo_array((weight, (ends[:, 0], ends[:, 1])), shape=(dag.qubits, dag.qubits)).tocsr()


def fade_weights(level_gaps: IndexArray, half: float | None) -> FloatArray:
    """Return the weight of gates by their distance in levels, halved every `half` levels, to a millionth at least."""
    if half is None:
        return np.ones(len(level_gaps))
    return np.asarray(np.maximum(0.5 ** (np.abs(level_gaps) / half), 1e-6))
