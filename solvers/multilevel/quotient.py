"""The quotient graph: blocks of tasks and the traffic between them, and which block lies in which place."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# Share of the proposals that go close to a block with traffic.
CLOSE = 0.75


class Quotient(NamedTuple):
    """Hold k blocks with symmetric traffic in CSR form, and k places.

    Places are `distances[k, k]` apart, symmetric, with `near[k, c]` close ones each. Blocks change places only where
    these are of the same `size_class[k]`, and none where it is -1.
    """

    indptr: IntArray
    indices: IntArray
    flow: FloatArray
    distances: FloatArray
    near: IntArray
    size_class: IntArray


@kernel
def list_near(distances: FloatArray, near: IntArray) -> None:
    """Put the places closest to each by `distances[k, k]` into `near[k, c]`; equals in the order from that place on."""
    count, width = near.shape
    for p in range(count):
        found, last = 0, np.inf
        for step in range(1, count):
            q = p + step if p + step < count else p + step - count
            if found == width and distances[p, q] >= last:
                continue
            # An insertion sort of the closest so far.
            found = min(found + 1, width)
            at = found - 1
            while at > 0 and distances[p, near[p, at - 1]] > distances[p, q]:
                near[p, at] = near[p, at - 1]
                at -= 1
            near[p, at] = q
            last = distances[p, near[p, found - 1]]


@kernel
def anneal_quotient(
    quotient: Quotient, place: IntArray, block_at: IntArray, temperatures: FloatArray, seed: int
) -> float:
    """Anneal swaps of blocks, one try a block at each of the temperatures, and return the cost change.

    `place[k]` of a block and `block_at[k]` of a place are changed together. O(heats k degree) time.
    """
    np.random.seed(seed)
    total, size = 0.0, len(place)
    for temperature in temperatures:
        for _ in range(size):
            # Proposal: a block to a place close to one that it exchanges traffic with.
            a = np.random.randint(size)
            b = block_at[draw_place(quotient, place, a)]
            size_class = quotient.size_class[place[a]]
            if a == b or size_class < 0 or size_class != quotient.size_class[place[b]]:
                continue
            # The quotient graph is a small quadratic assignment problem: swaps of blocks by Metropolis' rule.
            change = swap_change(quotient, place, a, b) + swap_change(quotient, place, b, a)
            if change < 0.0 or np.random.random() < np.exp(-change / temperature):
                place[a], place[b] = place[b], place[a]
                block_at[place[a]], block_at[place[b]] = a, b
                total += change
    return total


@inner_kernel
def draw_place(quotient: Quotient, place: IntArray, a: int) -> int:
    """Draw a place for block a: mostly close to a block that it exchanges traffic with."""
    degree = quotient.indptr[a + 1] - quotient.indptr[a]
    if degree > 0 and np.random.random() < CLOSE:
        b = quotient.indices[quotient.indptr[a] + np.random.randint(degree)]
        return int(quotient.near[place[b], np.random.randint(quotient.near.shape[1])])
    return int(np.random.randint(len(place)))


@inner_kernel
def swap_change(quotient: Quotient, place: IntArray, a: int, b: int) -> float:
    """Return the cost change of block a going to the place of b, traffic with b left out; O(degree)."""
    change, p, q = 0.0, place[a], place[b]
    for e in range(quotient.indptr[a], quotient.indptr[a + 1]):
        c = quotient.indices[e]
        if c != b:
            change += quotient.flow[e] * (quotient.distances[q, place[c]] - quotient.distances[p, place[c]])
    return float(change)
