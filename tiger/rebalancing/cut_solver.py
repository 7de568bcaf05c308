"""The exact cuts of layers in a row over devices in a row: the least bottleneck, or the cheapest moves below one."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import allocating_kernel

NO_PRICES = np.empty((0, 0))


class CutProgram(NamedTuple):
    """State the loads of runs of L layers on each of p positions, in seconds for one microbatch.

    `ahead_s[L + 1]` are the seconds of the first layers at speed 1, which a position multiplies by its `slowdown[p]`;
    `received_s[p, L + 1]` and `sent_s[p, L + 1]` come on top by the boundary before and behind a run, and `last[p, L +
    1]` is the largest end of a run, by its start, that fits.
    """

    ahead_s: FloatArray
    slowdown: FloatArray
    received_s: FloatArray
    sent_s: FloatArray
    last: IntArray

    def loads_s(self, cuts: tuple[int, ...]) -> FloatArray:
        """Return the load [p] of each position."""
        at, ends = np.arange(len(self.slowdown)), np.array(cuts)
        passes = np.diff(self.ahead_s[ends]) * self.slowdown
        return np.asarray(passes + self.sent_s[at, ends[1:]] + self.received_s[at, ends[:-1]])

    def least_bottleneck(self, below_s: float = np.inf) -> tuple[float, tuple[int, ...]] | None:
        """Return the least largest load and cuts that have it, None where no cuts are below a limit. Exact."""
        value, cuts = solve_cuts(*self, NO_PRICES, below_s)
        return (float(value), tuple(cuts.tolist())) if value < below_s else None

    def cheapest_moves(self, prices_s: FloatArray, limit_s: float) -> tuple[float, tuple[int, ...]] | None:
        """Return the least price of moves, and cuts that have it, None where no cuts have all loads within a limit.

        `prices_s[p, L + 1]` are the seconds to move the first layers to a position. Exact; an infinite load is within
        no limit.
        """
        value, cuts = solve_cuts(*self, prices_s, np.nextafter(limit_s, np.inf))
        return (float(value), tuple(cuts.tolist())) if np.isfinite(value) else None


@allocating_kernel
def solve_cuts(
    ahead_s: FloatArray,
    slowdown: FloatArray,
    received_s: FloatArray,
    sent_s: FloatArray,
    last: IntArray,
    prices_s: FloatArray,
    below_s: float,
) -> tuple[float, IntArray]:
    """Return the least price of moves of cuts whose loads are below a limit, infinite if none are, and the cuts.

    There are p + 1 cuts. Without prices it is the largest load that is least. O(p L w) for stages of up to w layers
    below the limit.
    """
    count, size = len(slowdown), len(ahead_s) - 1
    # reach[j, i]: the least value of the first j stages when they hold the first i layers (Bellman's recursion).
    reach = np.full((count + 1, size + 1), np.inf)
    start = np.zeros((count + 1, size + 1), np.int64)
    reach[0, 0] = 0.0
    for j in range(count):
        for i in range(j + 1, size - (count - 1 - j) + 1):
            limit = below_s
            for k in range(i - 1, j - 1, -1):
                load = (ahead_s[i] - ahead_s[k]) * slowdown[j] + sent_s[j, i]
                # The stage only gets longer from here on.
                if load >= limit:
                    break
                load += received_s[j, k]
                if load >= limit or last[j, k] < i:
                    continue
                value = reach[j, k] + prices_s[j, i] - prices_s[j, k] if prices_s.size else max(load, reach[j, k])
                if value < reach[j + 1, i]:
                    reach[j + 1, i], start[j + 1, i] = value, k
                    if not prices_s.size:
                        limit = value
    # Backtrace from the last layer; cuts mean nothing where none are below the limit.
    cuts = np.full(count + 1, size)
    for j in range(count, 0, -1):
        cuts[j - 1] = start[j, cuts[j]]
    return reach[count, size], cuts
