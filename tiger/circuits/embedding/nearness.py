"""Complete a layout: what has no place yet goes near the qubits it has gates with."""

import numpy as np

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.model.arrays import BoolArray, FloatArray


def near_partners(place: IndexArray, attraction: FloatArray, coupling: Coupling, part: IndexArray) -> IndexArray:
    """Return a layout `place[N]` that keeps `place[n]` where it is not -1 and puts the others near their partners.

    `attraction[n, n]` is symmetric; `part[n]` is the part of the device that a qubit has to be in, -1 for any. Always
    next comes the qubit most attracted by those that have a place, on the free qubit of least weighted distance, those
    that may be anywhere last; spare qubits fill the rest in order. O(n N (n + N)); not optimal.
    """
    n, whole = len(place), np.full(coupling.size, -1, np.int32)
    whole[:n] = place
    free = np.ones(coupling.size, np.bool_)
    free[place[place >= 0]] = False
    for bound in (True, False):
        todo = np.flatnonzero((place < 0) & ((part >= 0) == bound))
        pull = attraction[:, whole[:n] >= 0].sum(axis=1)
        while len(todo):
            v = int(todo[np.argmax(pull[todo])])
            todo = todo[todo != v]
            whole[v] = _nearest(
                attraction[v], whole[:n], free & (coupling.part == part[v]) if bound else free, coupling
            )
            free[whole[v]] = False
            pull += attraction[:, v]
    whole[n:] = np.flatnonzero(free)
    return whole


def _nearest(weights: FloatArray, place: IndexArray, free: BoolArray, coupling: Coupling) -> int:
    """Return the free qubit of least weighted distance from partners; the lowest of several."""
    partners = np.flatnonzero((weights > 0) & (place >= 0))
    spots = np.flatnonzero(free)
    return int(spots[np.argmin(weights[partners] @ coupling.hops[np.ix_(place[partners], spots)].astype(np.float64))])
