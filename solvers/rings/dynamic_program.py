"""The best ring through a few seats, by dynamic programming over sets of seats.

Source: M. Held, R. M. Karp, J. SIAM 10 (1962), doi:10.1137/0110015.
"""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# What a path measures.
TOTAL, LONGEST = 0, 1


@inner_kernel
def extend(measure: int, path: float, hop: float) -> float:
    """Return how long a path is with another hop."""
    return path + hop if measure == TOTAL else max(path, hop)


@kernel
def fill_table(hop: FloatArray, measure: int, table: FloatArray) -> None:
    """Fill `table[2**s, s]`: the best path from the first seat of a set of seats over all of it to its seat e.

    A path measures the `TOTAL` of its hops, or the `LONGEST` one. `hop[s, s]` is inf where there is
    none. O(2^s s^2).
    """
    size = len(hop)
    table[:] = np.inf
    # In the order of their numbers, all subsets of a set of seats come before it.
    for seats in range(1, 1 << size):
        # A ring has no beginning, so its path may begin at the lowest seat of the set.
        first = 0
        while not seats >> first & 1:
            first += 1
        if seats == 1 << first:
            table[seats, first] = 0.0
        for last in range(first, size):
            so_far = table[seats, last]
            if so_far == np.inf:
                continue
            # Held and Karp 1962: how a path can go on depends on its set and its last seat alone.
            for after in range(first + 1, size):
                if not seats >> after & 1:
                    length = extend(measure, so_far, hop[last, after])
                    extended = seats | 1 << after
                    table[extended, after] = min(table[extended, after], length)


@kernel
def trace_ring(hop: FloatArray, measure: int, table: FloatArray, ring: IntArray) -> float:
    """Write the best ring of `len(ring)` seats into `ring[n]` by the filled table, and return its length."""
    size, best, chosen = len(hop), np.inf, 0
    for seats in range(1, 1 << size):
        count, rest = 0, seats
        # Only sets of as many seats as the ring has tasks can hold it.
        while rest:
            rest &= rest - 1
            count += 1
        if count != len(ring):
            continue
        first = 0
        while not seats >> first & 1:
            first += 1
        # Close the best path to every last seat by the hop back to the first one.
        for last in range(size):
            closed = (
                table[seats, last] + hop[last, first] if measure == TOTAL else max(table[seats, last], hop[last, first])
            )
            if closed < best:
                best, chosen, ring[-1] = closed, seats, last
    if best == np.inf:
        return best
    # Backtrack: the seat before is the one that the best path over the rest of the set ends at.
    for position in range(len(ring) - 1, 0, -1):
        last = ring[position]
        chosen ^= 1 << last
        length, ring[position - 1] = np.inf, -1
        for before in range(size):
            if chosen >> before & 1 and table[chosen, before] < np.inf:
                through = extend(measure, table[chosen, before], hop[before, last])
                if through < length:
                    length, ring[position - 1] = through, before
    return best
