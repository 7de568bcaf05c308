"""Repair of sampled placements: groups without a device, or without memory there, go where both are to be had."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.operators.terms import Terms
from tiger.training.costs.tolerances import MEMORY


def repair(terms: Terms, place: IntArray) -> IntArray:
    """Return a device for every group: `place[C]` where it fits there, another one otherwise, or for -1.

    Groups that hold most come first; each of the others goes where there is room, else where least is missing, and
    among those where the work done is least. What is sent is left out. O(C k).
    """
    work = np.array([np.bincount(terms.group_of, row, terms.groups) for row in terms.work])
    repaired, room, load = np.full(terms.groups, -1), terms.capacity * (1 + MEMORY), np.zeros(terms.devices)
    order = np.argsort(-terms.memory, kind="stable")
    placed = place[order] >= 0
    waiting = []
    for c in order[placed].tolist():
        d = place[c]
        if terms.allowed[c, d] and terms.memory[c] <= room[d]:
            _put(repaired, (c, d), (room, load), (terms.memory[c], work[d, c]))
        else:
            waiting.append(c)
    for c in sorted([*waiting, *order[~placed].tolist()], key=lambda c: (-terms.memory[c], -work[:, c].min())):
        missing = np.where(terms.allowed[c], np.maximum(terms.memory[c] - room, 0.0), np.inf)
        d = int(np.lexsort((load + work[:, c], missing))[0])
        _put(repaired, (c, d), (room, load), (terms.memory[c], work[d, c]))
    return repaired


def _put(
    repaired: IntArray, where: tuple[int, int], left: tuple[FloatArray, FloatArray], needs: tuple[float, float]
) -> None:
    """Put a group on a device, and update memory left and load."""
    repaired[where[0]] = where[1]
    left[0][where[1]] -= needs[0]
    left[1][where[1]] += needs[1]
