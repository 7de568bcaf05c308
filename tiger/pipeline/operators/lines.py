"""Linear orders of the classes: every operator behind what it reads, each class a position."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import IntArray
from tiger.pipeline.operators.terms import Terms
from tiger.solvers.kernel import kernel


def draw_line(terms: Terms, seed: int) -> IntArray:
    """Return a position from 0 for every class [C], along which all arcs go forwards.

    Classes on a cycle of arcs share a position. Depth-first from the last classes, ties at random by seed: what is
    read once comes right before its reader. O(C log C + e log e).
    """
    part, source, target = components(terms)
    count = int(part.max()) + 1
    rank = np.random.default_rng(seed).permutation(count)
    # Those that each part reads, the one to be laid out first last.
    by_target = np.lexsort((rank[source], target))
    start = np.searchsorted(target[by_target], np.arange(count + 1))
    waiting = np.bincount(source, minlength=count)
    last = np.flatnonzero(waiting == 0)
    stack, position = np.empty(count, np.int64), np.empty(count, np.int64)
    stack[: len(last)] = last[np.argsort(rank[last])]
    _lay_out(start, source[by_target], waiting, stack, len(last), position)
    return position[part]


def components(terms: Terms) -> tuple[IntArray, IntArray, IntArray]:
    """Return the part of every class [C], classes on a cycle being one, and the arcs between parts, each once."""
    source, target = arcs(terms)
    count, part = _strong(terms.classes, source, target)
    key = np.unique(part[source] * count + part[target])
    key = key[key // count != key % count]
    return part, key // count, key % count


def arcs(terms: Terms) -> tuple[IntArray, IntArray]:
    """Return the pairs of classes, the first of which may be in no later stage than the second.

    Edges between forward operators go forwards; those between backward operators backwards, or all forwards where
    that leaves fewer classes on cycles, as in files that list the backward pass in the order of the forward one.
    """
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    a, b = terms.of[producer], terms.of[terms.consumer]
    behind = terms.backward[producer] & terms.backward[terms.consumer]
    ahead = ~terms.backward[producer] & ~terms.backward[terms.consumer]
    turned = np.append(a[ahead], b[behind]), np.append(b[ahead], a[behind])
    straight = np.append(a[ahead], a[behind]), np.append(b[ahead], b[behind])
    if not behind.any() or _strong(terms.classes, *turned)[0] >= _strong(terms.classes, *straight)[0]:
        return turned
    return straight


def _strong(size: int, source: IntArray, target: IntArray) -> tuple[int, IntArray]:
    """Return how many strong components a graph has, and that of every node."""
    graph = sp.csr_array((np.ones(len(source), np.int8), (source, target)), shape=(size, size))
    count, part = connected_components(graph, connection="strong")
    return int(count), part.astype(np.int64)


@kernel
def _lay_out(
    start: IntArray, source: IntArray, waiting: IntArray, stack: IntArray, high: int, position: IntArray
) -> None:
    """Give positions from the last to the first; `stack[:high]` are the nodes that nothing reads."""
    for place in range(len(position) - 1, -1, -1):
        high -= 1
        node = stack[high]
        position[node] = place
        for e in range(start[node], start[node + 1]):
            waiting[source[e]] -= 1
            if waiting[source[e]] == 0:
                stack[high] = source[e]
                high += 1
