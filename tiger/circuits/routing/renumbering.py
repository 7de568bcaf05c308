"""The nodes of a skeleton in order of levels, so that those under way at one time have numbers close to each other."""

from dataclasses import replace

import numpy as np

from tiger.circuits.coupling import IndexArray
from tiger.circuits.skeleton import Skeleton


def by_level(skeleton: Skeleton) -> IndexArray:
    """Return the nodes by how long a chain leads to them, gates of a qubit in circuit order; O(g + order)."""
    level = [0] * len(skeleton.pairs)
    busy = [0] * (skeleton.qubits + 1)
    first, after = skeleton.first.tolist(), skeleton.after.tolist()
    for v, (a, b) in enumerate(skeleton.pairs.tolist()):
        here = max(level[v], busy[a], busy[b]) if a >= 0 else level[v]
        level[v] = here
        if a >= 0:
            busy[a] = busy[b] = here + 1
        for e in range(first[v], first[v + 1]):
            level[after[e]] = max(level[after[e]], here + 1)
    return np.argsort(level, kind="stable").astype(np.int32)


def renumbered(skeleton: Skeleton, order: IndexArray) -> Skeleton:
    """Return the skeleton with node `order[v]` as node v; the order has to respect dependencies."""
    number = np.argsort(order).astype(np.int32)
    heads = np.repeat(number, np.diff(skeleton.first))
    tails = number[skeleton.after]
    sort = np.lexsort((tails, heads))
    first = np.searchsorted(heads[sort], np.arange(len(order) + 1)).astype(np.int32)
    inner = skeleton.inner.copy()
    inner[:, 0] = number[inner[:, 0]]
    pairs, bridge = skeleton.pairs[order], skeleton.bridge[order]
    return replace(skeleton, pairs=pairs, first=first, after=tails[sort], bridge=bridge, inner=inner)
