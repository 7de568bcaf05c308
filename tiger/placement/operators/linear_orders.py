"""Linear orders of the groups: every operator behind its producers, each group at a position."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import IntArray, distinct
from tiger.placement.operators.terms import Terms
from tiger.solvers.kernel import kernel


def draw_linear_order(terms: Terms, seed: int) -> IntArray:
    """Return a position from 0 for every group [C], along which all arcs go forwards.

    Groups on a cycle of arcs share a position. Depth-first from the last groups, ties at random by seed, so that
    an operator with one consumer comes right before it. O(C log C + e log e).
    """
    part, source, target = components(terms)
    count = int(part.max()) + 1
    rank = np.random.default_rng(seed).permutation(count)
    # Producers of each part; the one that gets its position first comes last.
    by_target = np.lexsort((rank[source], target))
    start = np.searchsorted(target[by_target], np.arange(count + 1))
    waiting = np.bincount(source, minlength=count)
    last = np.flatnonzero(waiting == 0)
    stack, position = np.empty(count, np.int64), np.empty(count, np.int64)
    stack[: len(last)] = last[np.argsort(rank[last])]
    _lay_out(start, source[by_target], waiting, stack, len(last), position)
    return position[part]


def components(terms: Terms) -> tuple[IntArray, IntArray, IntArray]:
    """Return the strong component of every group [C], and the arcs between components, each once."""
    source, target = arcs(terms)
    count, part = _find_strong(terms.groups, source, target)
    key = distinct(part[source] * count + part[target])
    key = key[key // count != key % count]
    return part, key // count, key % count


def arcs(terms: Terms) -> tuple[IntArray, IntArray]:
    """Return the pairs of groups, the first of which may be in no later stage than the second.

    Edges between forward operators go forwards; those between backward operators backwards, or all forwards where
    that leaves fewer groups on cycles, as in files that list the backward pass in the order of the forward one.
    """
    producer = np.repeat(np.arange(terms.operators), np.diff(terms.consumer_start))
    a, b = terms.group_of[producer], terms.group_of[terms.consumer]
    behind = terms.backward[producer] & terms.backward[terms.consumer]
    ahead = ~terms.backward[producer] & ~terms.backward[terms.consumer]
    turned = np.append(a[ahead], b[behind]), np.append(b[ahead], a[behind])
    straight = np.append(a[ahead], a[behind]), np.append(b[ahead], b[behind])
    if not behind.any() or _find_strong(terms.groups, *turned)[0] >= _find_strong(terms.groups, *straight)[0]:
        return turned
    return straight


def _find_strong(size: int, source: IntArray, target: IntArray) -> tuple[int, IntArray]:
    """Return how many strong components a graph has, and that of every node."""
    graph = sp.csr_array((np.ones(len(source), np.int8), (source, target)), shape=(size, size))
    count, part = connected_components(graph, connection="strong")
    return int(count), part.astype(np.int64)


@kernel
def _lay_out(
    start: IntArray, source: IntArray, waiting: IntArray, stack: IntArray, high: int, position: IntArray
) -> None:
    """Give positions from the last to the first, depth first (A. B. Kahn, CACM 5, 1962, doi:10.1145/368996.369025).

    `stack[:high]` are the nodes all of whose consumers have a position.
    """
    for place in range(len(position) - 1, -1, -1):
        high -= 1
        node = stack[high]
        position[node] = place
        for e in range(start[node], start[node + 1]):
            # A producer is next once its last consumer has a position.
            waiting[source[e]] -= 1
            if waiting[source[e]] == 0:
                stack[high] = source[e]
                high += 1
