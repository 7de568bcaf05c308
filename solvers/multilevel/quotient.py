"""The quotient graph: blocks of tasks and the traffic between them, and which block lies in which place."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import kernel


class Quotient(NamedTuple):
    """Hold k blocks with symmetric traffic in CSR form, and k places.

    Places are `away[k, k]` apart, symmetric, with `near[k, c]` close ones each. Blocks change places only where these
    are of the same `sort[k]`, and none where it is -1.
    """

    indptr: IntArray
    indices: IntArray
    flow: FloatArray
    away: FloatArray
    near: IntArray
    sort: IntArray


@kernel
def arrange(quotient: Quotient, place: IntArray, holder: IntArray, heats: FloatArray, seed: int) -> float:
    """Anneal swaps of blocks, one try a block at each of the temperatures, and return the cost change.

    `place[k]` of a block and `holder[k]` of a place are changed together. O(heats k degree) time.
    """
    np.random.seed(seed)
    total, size = 0.0, len(place)
    for heat in heats:
        for _ in range(size):
            a = np.random.randint(size)
            b = holder[draw_place(quotient, place, a)]
            if a == b or quotient.sort[place[a]] < 0 or quotient.sort[place[a]] != quotient.sort[place[b]]:
                continue
            change = swap_change(quotient, place, a, b) + swap_change(quotient, place, b, a)
            if change < 0.0 or np.random.random() < np.exp(-change / heat):
                place[a], place[b] = place[b], place[a]
                holder[place[a]], holder[place[b]] = a, b
                total += change
    return total


@kernel
def draw_place(quotient: Quotient, place: IntArray, a: int) -> int:
    """Draw a place for block a: mostly close to a block that it exchanges traffic with."""
    degree = quotient.indptr[a + 1] - quotient.indptr[a]
    if degree > 0 and np.random.random() < 0.75:
        b = quotient.indices[quotient.indptr[a] + np.random.randint(degree)]
        return int(quotient.near[place[b], np.random.randint(quotient.near.shape[1])])
    return int(np.random.randint(len(place)))


@kernel
def swap_change(quotient: Quotient, place: IntArray, a: int, b: int) -> float:
    """Return the cost change of block a going to the place of b, traffic with b left out; O(degree)."""
    change, p, q = 0.0, place[a], place[b]
    for e in range(quotient.indptr[a], quotient.indptr[a + 1]):
        c = quotient.indices[e]
        if c != b:
            change += quotient.flow[e] * (quotient.away[q, place[c]] - quotient.away[p, place[c]])
    return float(change)
