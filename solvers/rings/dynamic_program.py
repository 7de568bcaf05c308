"""The best ring through a few slots, by dynamic programming over sets of slots.

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
    """Fill `table[2**s, s]`: the best path from the first slot of a set of slots over all of it to its slot e.

    A path measures the `TOTAL` of its hops, or the `LONGEST` one. `hop[s, s]` is inf where there is
    none. O(2^s s^2).
    """
    size = len(hop)
    table[:] = np.inf
    # In the order of their numbers, all subsets of a set of slots come before it.
    for slots in range(1, 1 << size):
        # A ring has no beginning, so its path may begin at the lowest slot of the set.
        first = 0
        while not slots >> first & 1:
            first += 1
        if slots == 1 << first:
            table[slots, first] = 0.0
        for last in range(first, size):
            so_far = table[slots, last]
            if so_far == np.inf:
                continue
            # Held and Karp 1962: how a path can go on depends on its set and its last slot alone.
            for after in range(first + 1, size):
                if not slots >> after & 1:
                    length = extend(measure, so_far, hop[last, after])
                    extended = slots | 1 << after
                    table[extended, after] = min(table[extended, after], length)


@kernel
def trace_ring(hop: FloatArray, measure: int, table: FloatArray, ring: IntArray) -> float:
    """Write the best ring of `len(ring)` slots into `ring[n]` by the filled table, and return its length."""
    size, best, chosen = len(hop), np.inf, 0
    for slots in range(1, 1 << size):
        count, rest = 0, slots
        # Only sets of as many slots as the ring has tasks can hold it.
        while rest:
            rest &= rest - 1
            count += 1
        if count != len(ring):
            continue
        first = 0
        while not slots >> first & 1:
            first += 1
        # Close the best path to every last slot by the hop back to the first one.
        for last in range(size):
            closed = (
                table[slots, last] + hop[last, first] if measure == TOTAL else max(table[slots, last], hop[last, first])
            )
            if closed < best:
                best, chosen, ring[-1] = closed, slots, last
    if best == np.inf:
        return best
    # Backtrack: the slot before is the one that the best path over the rest of the set ends at.
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
