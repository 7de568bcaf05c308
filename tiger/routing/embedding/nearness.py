"""Complete a layout: what has no place yet goes near the qubits it has gates with."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.routing.coupling import Coupling, IndexArray


def place_near_partners(place: IndexArray, attraction: FloatArray, coupling: Coupling, part: IndexArray) -> IndexArray:
    """Return a layout `place[N]` that keeps `place[n]` where it is not -1 and puts the others near their partners.

    `attraction[n, n]` is symmetric; `part[n]` is the part of the device that a qubit has to be in, -1 for any. Always
    next comes the qubit most attracted by those that have a place, on the free qubit of least weighted distance, those
    that may be anywhere last; spare qubits fill the rest in order. O(n N (n + N)); not optimal.
    """
    n, whole = len(place), np.full(coupling.size, -1, np.int32)
    whole[:n] = place
    hops, free = coupling.hops.astype(np.float64), np.ones(coupling.size, np.bool_)
    free[place[place >= 0]] = False
    settled = place >= 0
    # First the qubits that have to be in a part of the device, as the others can go anywhere.
    for bound in (True, False):
        todo = (place < 0) & ((part >= 0) == bound)
        pull = np.where(todo, attraction[:, settled].sum(axis=1), -np.inf)
        for _ in range(int(todo.sum())):
            v = int(np.argmax(pull))
            partners = np.flatnonzero(settled & (attraction[v] > 0))
            open_places = free & (coupling.part == part[v]) if bound else free
            # Greedy construction for the quadratic assignment problem: the next qubit goes where it costs least now.
            costs = attraction[v, partners] @ hops[whole[partners]]
            whole[v] = np.where(open_places, costs, np.inf).argmin()
            free[whole[v]], settled[v] = False, True
            pull += attraction[:, v]
            pull[v] = -np.inf
    # Spare qubits have no gates: any order does.
    whole[n:] = np.flatnonzero(free)
    return whole
