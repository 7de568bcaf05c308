"""Compiled branch and bound over complete placements, for problems small enough to prove."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import allocating_kernel, kernel


class Tree(NamedTuple):
    """Hold a window for branching: k tasks in the order they are placed, on q nodes.

    `linear[k, q]` (inf: not allowed), `out[k, k]` and `back[k, k]` traffic to and from, `away[q, q]` distances,
    `group_of[k]` (-1: nodes are shared), `load[c, k]` against `room[c, q]`.
    """

    linear: FloatArray
    out: FloatArray
    back: FloatArray
    away: FloatArray
    group_of: IntArray
    load: IntArray
    room: IntArray


@kernel
def is_open(tree: Tree, local: IntArray, depth: int, q: int) -> bool:
    """Return whether node q has room for the task placed at `depth` beside those placed before it."""
    for c in range(len(tree.load)):
        need = tree.load[c, depth]
        for d in range(depth):
            if local[d] == q:
                need += tree.load[c, d]
        if need > tree.room[c, q]:
            return False
    return True


@kernel
def push(tree: Tree, fields: FloatArray, depth: int, q: int) -> float:
    """Add the traffic of the task placed at `depth` on q to the costs of those after it; return their least cost.

    `fields[d + 1]` are the costs of tasks after d given the places up to d.
    """
    rest = 0.0
    for u in range(depth + 1, fields.shape[1]):
        out, back = tree.out[depth, u], tree.back[depth, u]
        least = np.inf
        apart = tree.group_of[u] >= 0 and tree.group_of[u] == tree.group_of[depth]
        for r in range(fields.shape[2]):
            value = fields[depth, u, r]
            if out != 0.0:
                value += out * tree.away[q, r]
            if back != 0.0:
                value += back * tree.away[r, q]
            if apart and r == q:
                value = np.inf
            fields[depth + 1, u, r] = value
            least = min(least, value)
        rest += least
    return rest


@allocating_kernel
def branch(
    tree: Tree,
    fields: FloatArray,
    local: IntArray,
    ranked: IntArray,
    spent: FloatArray,
    best: IntArray,
    bound: float,
    limits: tuple[int, float],
    cursor: IntArray,
) -> tuple[float, int, bool]:
    """Search depth first for placements cheaper than `bound`, cheapest nodes first; return (bound, visits, ended).

    All arrays are the search's own memory, so that a later call goes on where this one stopped: `fields[k + 1, k, q]`,
    `local[k]` current nodes, `ranked[k, q]` node order and `cursor[k + 1]` next rank per depth with the depth last,
    `spent[k + 1]` cost so far. `best[k]` receives improvements. `limits` are the visits of this call and the smallest
    gain that counts, relative to the bound of the moment. The bound of a partial placement lets every later task have
    its cheapest node.
    """
    count = len(local)
    visits, ceiling = 0, bound * (1.0 - limits[1])
    depth = cursor[count]
    while depth >= 0 and visits < limits[0]:
        if cursor[depth] == 0:
            ranked[depth] = np.argsort(fields[depth, depth])
        rank = cursor[depth]
        if rank >= ranked.shape[1]:
            cursor[depth] = 0
            depth -= 1
            continue
        cursor[depth] = rank + 1
        q = ranked[depth, rank]
        cost = spent[depth] + fields[depth, depth, q]
        if not cost < ceiling:
            cursor[depth] = 0
            depth -= 1
            continue
        if not is_open(tree, local, depth, q):
            continue
        visits += 1
        local[depth] = q
        if depth == count - 1:
            bound, ceiling = cost, cost * (1.0 - limits[1])
            best[:] = local
        elif cost + push(tree, fields, depth, q) < ceiling:
            spent[depth + 1] = cost
            depth += 1
            cursor[depth] = 0
    cursor[count] = depth
    return bound, visits, depth < 0
