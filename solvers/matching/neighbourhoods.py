"""What is around the vertices of a graph: hops to all others, those nearest, and how many there are at each hop."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiger.model.arrays import BoolArray, IntArray
from tiger.solvers.kernel import kernel

HopArray = NDArray[np.int16]
# Hops between parts that are not connected, above all real ones.
FAR = 32_000
# Vertices listed as nearest to another one: all within two or three hops in most sparse graphs. With 24 or 32 of them a
# 3-regular graph of 2,000 vertices with a twentieth of its edges moved ends at 2.6 times the cost of its place, with 48
# at that cost.
NEAREST = 48
# Hops up to which vertices around another one are counted.
REACH = 32


class Neighbourhoods(NamedTuple):
    """Hold a graph of n vertices: those beside vertex v are `indices[indptr[v] : indptr[v + 1]]`.

    `hops[n, n]` are those between vertices, `nearest[n, c]` the closest vertices of each, closest first, -1 where there
    are fewer. `within[n, REACH]` are how many other vertices are within 1, 2, .. hops of each.
    """

    indptr: IntArray
    indices: IntArray
    hops: HopArray
    nearest: IntArray
    within: IntArray

    @classmethod
    def of(cls, ends: IntArray, size: int) -> "Neighbourhoods":
        """Return the graph of `size` vertices with the edges `ends[e, 2]`, each stated once; O(n edges) time."""
        row, col = np.concatenate([ends, ends[:, ::-1]]).T
        graph = sp.csr_array((np.ones(len(row)), (row, col)), shape=(size, size))
        graph.sort_indices()
        indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        hops, nearest = np.full((size, size), FAR, np.int16), np.full((size, NEAREST), -1)
        within = np.zeros((size, REACH), np.int64)
        measure_hops(indptr, indices, hops, nearest, within, np.empty(size, np.int64))
        return cls(indptr, indices, hops, nearest, within.cumsum(axis=1))

    @property
    def degrees(self) -> IntArray:
        """Return how many vertices are beside each, [n]."""
        return np.diff(self.indptr)


@kernel
def measure_hops(
    indptr: IntArray, indices: IntArray, hops: HopArray, nearest: IntArray, at: IntArray, queue: IntArray
) -> None:
    """Enter hops, the nearest vertices, and how many are `at[n, REACH]` 1, 2, .. hops, breadth first from each."""
    for start in range(len(hops)):
        hops[start, start], queue[0] = 0, start
        head, tail = 0, 1
        while head < tail:
            v = queue[head]
            head += 1
            for e in range(indptr[v], indptr[v + 1]):
                u = indices[e]
                if hops[start, u] == FAR:
                    hops[start, u] = hops[start, v] + 1
                    queue[tail] = u
                    tail += 1
        for k in range(1, tail):
            if hops[start, queue[k]] <= at.shape[1]:
                at[start, hops[start, queue[k]] - 1] += 1
        for k in range(1, min(tail, nearest.shape[1] + 1)):
            nearest[start, k - 1] = queue[k]


@kernel
def rule_out(within: IntArray, others: IntArray, allowed: BoolArray) -> None:
    """Forbid a vertex [n] the nodes [N] that have fewer others within some number of hops than it has.

    An embedding takes all that is within so many hops of a vertex to what is within as many of its node.
    """
    for v in range(len(within)):
        for q in range(len(others)):
            for hop in range(within.shape[1] if allowed[v, q] else 0):
                if within[v, hop] > others[q, hop]:
                    allowed[v, q] = False
                    break
