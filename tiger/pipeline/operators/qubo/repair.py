"""Places made whole: classes without a device, and those too many for one, put where there is room and little to do."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.costs.tolerances import MEMORY
from tiger.pipeline.operators.terms import Terms


def repair(terms: Terms, place: IntArray) -> IntArray:
    """Return a device for every class, as in `place[C]` where that is one it fits on; -1 there asks for any.

    Classes that hold most come first; each of the others goes where there is room, else where least is missing, and
    among those where the work done is least. What is sent is left out. O(C k).
    """
    work = np.array([np.bincount(terms.of, row, terms.classes) for row in terms.work])
    made, room, load = np.full(terms.classes, -1), terms.capacity * (1 + MEMORY), np.zeros(terms.devices)
    order = np.argsort(-terms.memory, kind="stable")
    wished = place[order] >= 0
    waiting = []
    for c in order[wished].tolist():
        d = place[c]
        if terms.allowed[c, d] and terms.memory[c] <= room[d]:
            _put(made, (c, d), (room, load), (terms.memory[c], work[d, c]))
        else:
            waiting.append(c)
    for c in sorted([*waiting, *order[~wished].tolist()], key=lambda c: (-terms.memory[c], -work[:, c].min())):
        missing = np.where(terms.allowed[c], np.maximum(terms.memory[c] - room, 0.0), np.inf)
        d = int(np.lexsort((load + work[:, c], missing))[0])
        _put(made, (c, d), (room, load), (terms.memory[c], work[d, c]))
    return made


def _put(
    made: IntArray, where: tuple[int, int], left: tuple[FloatArray, FloatArray], needs: tuple[float, float]
) -> None:
    """Put a class on a device, which then has less room and more to do."""
    made[where[0]] = where[1]
    left[0][where[1]] -= needs[0]
    left[1][where[1]] += needs[1]
