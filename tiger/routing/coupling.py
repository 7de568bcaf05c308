"""The coupling map of a device, as routing reads it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, shortest_path

from tiger.errors import InputError
from tiger.model.arrays import Int32Array, lock

IndexArray = Int32Array
HopArray = NDArray[np.int16]
# Hops between parts that are not connected: above all real distances, and twice it fits 16 bits.
FAR = 16_000
# Devices kept with all that is derived from them.
KEPT = 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coupling:
    """Hold an undirected coupling map of N device qubits.

    `edges[e, 2]`: each pair once, the lower qubit first, sorted. `neighbours[N, d]`: ascending, padded by -1.
    `hops[N, N]`: edges on a shortest path, FAR between parts. `part[N]`: number of the connected part of a qubit.
    """

    size: int
    edges: IndexArray
    neighbours: IndexArray = field(init=False)
    hops: HopArray = field(init=False)
    part: IndexArray = field(init=False)

    def __post_init__(self) -> None:
        """Derive neighbours, distances and parts; O(N e)."""
        ends = np.concatenate([self.edges, self.edges[:, ::-1]]) if len(self.edges) else np.empty((0, 2), np.int32)
        graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(self.size, self.size)).tocsr()
        hops = shortest_path(graph, unweighted=True)
        object.__setattr__(self, "neighbours", lock(_pad_neighbours(ends, self.size)))
        object.__setattr__(self, "hops", lock(np.where(np.isinf(hops), FAR, hops).astype(np.int16)))
        object.__setattr__(self, "part", lock(connected_components(graph, directed=False)[1].astype(np.int32)))

    @classmethod
    def of(cls, size: int, pairs: Iterable[tuple[int, int]]) -> "Coupling":
        """Return the coupling map of pairs of qubits, in any direction and order; self loops do not count."""
        return _coupling(size, _sort_pairs(size, tuple((a, b) for a, b in pairs)))


@lru_cache(maxsize=KEPT)
def _sort_pairs(size: int, pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the edges that pairs in some order are."""
    edges = sorted({(min(a, b), max(a, b)) for a, b in pairs if a != b})
    if edges and (edges[0][0] < 0 or max(b for _, b in edges) >= size):
        raise InputError("topology", f"expected qubits from 0 to {size - 1} in the coupling map, got others")
    return tuple(edges)


@lru_cache(maxsize=KEPT)
def _coupling(size: int, edges: tuple[tuple[int, int], ...]) -> Coupling:
    """Return a coupling map, the same for the same device: it cannot change, and many circuits go on one device."""
    return Coupling(size=size, edges=lock(np.array(edges, np.int32).reshape(-1, 2)))


def _pad_neighbours(ends: IndexArray, size: int) -> IndexArray:
    """Return the ascending neighbours of every qubit from both directions of every edge."""
    degree = np.bincount(ends[:, 0], minlength=size)
    table = np.full((size, max(int(degree.max(initial=0)), 1)), -1, np.int32)
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    column = np.arange(len(ends)) - np.repeat(np.cumsum(degree) - degree, degree)
    table[ends[:, 0], column] = ends[:, 1]
    return table
