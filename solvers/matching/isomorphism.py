"""Graphs onto graphs with as many edges: vertices of one colour go to vertices of that colour, once each has its own.

Individualisation and refinement as in B. D. McKay, A. Piperno, Practical graph isomorphism II
(doi:10.1016/j.jsc.2013.09.003), but for the tree of choices: one that both graphs refine alike by is never taken back.
"""

import numpy as np

from tiger.model.arrays import IntArray
from tiger.solvers.matching.colours import GraphUnion
from tiger.solvers.matching.growth import keeps_all
from tiger.solvers.matching.neighbourhoods import Neighbourhoods

# Ends of edges that refinements read, at 10 ns: the graphs of `benchmarks/embeddings.py`, of up to 2,064 vertices, take
# two million at most.
WORK = 20_000_000


def find_isomorphism(guest: Neighbourhoods, target: Neighbourhoods) -> IntArray | None:
    """Return place[n], by which the edges of a guest lie on all those of a target; None where none is found.

    Vertices without edges have the place -1. That none is found does not say that there is none.
    """
    union = GraphUnion.of(guest, target)
    k = len(union.first)
    if k != len(union.second) or len(guest.indices) != len(target.indices):
        return None
    # Vertices of regular graphs differ in how many others are around them.
    around = np.concatenate([guest.within[union.first], target.within[union.second]])
    begun = np.unique(around, axis=0, return_inverse=True)[1].ravel()
    colours, work = _refine(union, begun, WORK)
    while colours is not None and (number := int(colours.max(initial=-1)) + 1) < k:
        colours, work = _tell_apart(union, colours, number, work)
    if colours is None:
        return None
    place = np.full(len(guest.degrees), -1)
    place[union.first[np.argsort(colours[:k])]] = union.second[np.argsort(colours[k:])]
    # Hashes may be equal by chance.
    return place if keeps_all(guest, target, place) else None


def _refine(union: GraphUnion, colours: IntArray, work: int) -> tuple[IntArray | None, int]:
    """Return the coarsest colours within those given that refine no more, and the work that is left.

    None where the graphs differ in them or the work is used up.
    """
    k, number = len(union.first), 0
    while True:
        before, number = number, int(colours.max(initial=-1)) + 1
        ours, theirs = (np.bincount(half, minlength=number) for half in (colours[:k], colours[k:]))
        if work <= 0 or not np.array_equal(ours, theirs):
            return None, work
        if number == before:
            return colours, work
        colours = union.refine(colours)
        work -= len(union.indices)


def _tell_apart(union: GraphUnion, colours: IntArray, number: int, work: int) -> tuple[IntArray | None, int]:
    """Return colours with one of its own for a vertex of the first graph, and for the first of the other that fits.

    The vertex has the colour of fewest vertices, of two at least.
    """
    k = len(union.first)
    counts = np.bincount(colours[:k])
    cell = int(np.where(counts > 1, counts, k + 1).argmin())
    first, *_ = np.flatnonzero(colours[:k] == cell).tolist()
    for second in np.flatnonzero(colours[k:] == cell).tolist():
        chosen = colours.copy()
        chosen[[first, k + second]] = number
        refined, work = _refine(union, chosen, work)
        if refined is not None or work <= 0:
            return refined, work
    return None, work
