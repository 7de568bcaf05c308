"""Graphs onto graphs with as many edges: vertices of one colour go to vertices of that colour, once each has its own.

Individualisation and refinement as in B. D. McKay, A. Piperno, Practical graph isomorphism II
(doi:10.1016/j.jsc.2013.09.003), but for the tree of choices: one that both graphs refine alike by is never taken back.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiger.model.arrays import IntArray
from tiger.solvers.matching.neighbourhoods import Neighbourhoods

# Ends of edges that refinements read, at 10 ns: the graphs of `benchmarks/embeddings.py`, of up to 2,064 vertices, take
# two million at most.
WORK = 20_000_000

HashArray = NDArray[np.uint64]


class GraphUnion(NamedTuple):
    """Hold two graphs of k vertices with edges as one: those beside vertex v are `indices[indptr[v] : indptr[v + 1]]`.

    The vertices of the first come first; `vertices[2, k]` are their numbers in either graph.
    """

    indptr: IntArray
    indices: IntArray
    vertices: IntArray

    @classmethod
    def of(cls, first: Neighbourhoods, second: Neighbourhoods) -> "GraphUnion | None":
        """Return two graphs as one, None where they have not as many edges, or vertices with edges."""
        graphs = first, second
        vertices = [np.flatnonzero(graph.degrees) for graph in graphs]
        k = len(vertices[0])
        if k != len(vertices[1]) or len(first.indices) != len(second.indices):
            return None
        number = [np.cumsum(graph.degrees > 0) - 1 + k * side for side, graph in enumerate(graphs)]
        degrees = np.concatenate([graph.degrees[own] for graph, own in zip(graphs, vertices, strict=True)])
        indices = np.concatenate([own[graph.indices] for graph, own in zip(graphs, number, strict=True)])
        return cls(np.concatenate([[0], np.cumsum(degrees)]), indices, np.stack(vertices))

    def refine(self, colours: IntArray, codes: HashArray, work: int) -> tuple[IntArray | None, int]:
        """Return the coarsest colours within those given that tell apart how many of each are beside a vertex.

        None where the graphs differ in them or the work is used up; and the work that is left.
        """
        k, number = self.vertices.shape[1], 0
        while True:
            before, number = number, int(colours.max()) + 1
            ours, theirs = (np.bincount(half, minlength=number) for half in (colours[:k], colours[k:]))
            if work <= 0 or not np.array_equal(ours, theirs):
                return None, work
            if number == before:
                return colours, work
            beside = np.add.reduceat(codes[colours][self.indices], self.indptr[:-1])
            colours = np.unique(codes[colours] * codes[-1] + beside, return_inverse=True)[1]
            work -= len(self.indices)


def find_isomorphism(guest: Neighbourhoods, target: Neighbourhoods) -> IntArray | None:
    """Return place[n], by which the edges of a guest lie on all those of a target; None where none is found.

    Vertices without edges have the place -1. That none is found does not say that there is none.
    """
    union = GraphUnion.of(guest, target)
    if union is None:
        return None
    k = union.vertices.shape[1]
    # Odd, so that no product loses a bit. Equal sums of codes by chance would show in the edges.
    codes = np.random.default_rng(0).integers(1 << 63, size=2 * k + 2, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    # Vertices of regular graphs differ in how many others are around them.
    around = np.concatenate([graph.within[own] for graph, own in zip((guest, target), union.vertices, strict=True)])
    begun = np.unique(around, axis=0, return_inverse=True)[1].ravel()
    colours, work = union.refine(begun, codes, WORK)
    while colours is not None and (number := int(colours.max()) + 1) < k:
        colours, work = _tell_apart(union, colours, number, codes, work)
    if colours is None:
        return None
    place = np.full(len(guest.degrees), -1)
    place[union.vertices[0][np.argsort(colours[:k])]] = union.vertices[1][np.argsort(colours[k:])]
    return place if _keeps_edges(guest, target, place) else None


def _tell_apart(
    union: GraphUnion, colours: IntArray, number: int, codes: HashArray, work: int
) -> tuple[IntArray | None, int]:
    """Return colours with one of its own for a vertex of the first graph, and for the first of the other that fits.

    The vertex has the colour of fewest vertices, of two at least.
    """
    k = union.vertices.shape[1]
    counts = np.bincount(colours[:k])
    cell = int(np.where(counts > 1, counts, k + 1).argmin())
    first, *_ = np.flatnonzero(colours[:k] == cell).tolist()
    for second in np.flatnonzero(colours[k:] == cell).tolist():
        chosen = colours.copy()
        chosen[[first, k + second]] = number
        refined, work = union.refine(chosen, codes, work)
        if refined is not None or work <= 0:
            return refined, work
    return None, work


def _keeps_edges(guest: Neighbourhoods, target: Neighbourhoods, place: IntArray) -> bool:
    """Return whether every edge of a guest lies on one of a target."""
    row = place[np.repeat(np.arange(len(guest.degrees)), guest.degrees)]
    return bool((target.hops[row, place[guest.indices]] == 1).all())
