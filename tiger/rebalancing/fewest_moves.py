"""The cuts that move the least among those whose iterations stay below a limit: an exact dynamic program."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.rebalancing.line_costs import Cuts, LineCosts
from tiger.solvers.kernel import allocating_kernel

# Limits that are tried, as shares over the least: closely spaced where iterations are shortest, as one that is little
# longer may take far fewer moves. Further ones only pay where moves take long.
LIMITS = (0.0, 0.005, 0.01, 0.02, 0.035, 0.06, 0.1, 0.2, 0.5, 1.0, 2.5)
# How closely the least limit is found, as a share of it: below the first of those steps.
CLOSE = 0.004
# Rounding must not exclude cuts that meet a limit.
SLACK = 1e-12


def cheapest_cuts(costs: LineCosts, price_s: FloatArray) -> list[Cuts]:
    r"""Return, for limits T that rise from the least, the cuts with the least seconds of moves each; none if none fit.

    .. math:: \min \sum_l \tau_{l, s(l)} \quad\text{so that}\quad \sum_{l < k_s} t_l + m \, t_s \le T

    for every stage s that begins at layer k and takes t a microbatch: it waits for the first microbatch to come through
    the layers before it, runs all m, and the last one's gradients go back through them. `price_s[p, L]` are the seconds
    tau to move a layer to a position. Exact for every limit, on devices of equal speeds; the least limit is found by
    bisection.
    """
    least = costs.least_bottleneck()
    if least is None:
        return []
    program = CutProgram(costs, price_s)
    low, high = least[0] * (1 - SLACK), program.limit_of(least[1])
    found = [least[1]]
    # Between the smallest numbers of float64 there may be none.
    while high > low * (1 + CLOSE) and low < (middle := low**0.5 * high**0.5) < high:
        cuts = program.solve(middle)
        if cuts is None:
            low = middle
        else:
            high = middle
            found.append(cuts)
    for share in LIMITS:
        cuts = program.solve(high * (1 + share))
        if cuts is not None:
            found.append(cuts)
        if program.moving_s == 0.0:
            break
    return list(dict.fromkeys(found))


class CutProgram:
    """Hold the arrays of the dynamic program of an interval, in seconds for each microbatch."""

    def __init__(self, costs: LineCosts, price_s: FloatArray) -> None:
        line = costs.line
        self._ahead_s, self._slowdown, self._last = costs.ahead_s.sum(axis=0), costs.slowdown, line.last
        self._sent_s = np.vstack([2 * line.sent_s, np.zeros(line.layers.size + 1)])
        before = np.vstack([np.zeros(line.layers.size + 1), 2 * line.sent_s])
        # Waiting for the layers before a stage counts once an iteration; on unlike devices at their mean slowdown.
        mean = line.positions / float((1 / costs.slowdown).sum())
        self._received_s = before + self._ahead_s * mean / line.microbatches
        self._prices_s = np.zeros((price_s.shape[0], price_s.shape[1] + 1))
        np.cumsum(price_s, axis=1, out=self._prices_s[:, 1:])
        self.moving_s = np.inf

    def limit_of(self, cuts: Cuts) -> float:
        """Return the least limit that cuts stay below."""
        at, ends = np.arange(len(self._slowdown)), np.array(cuts)
        passes = np.diff(self._ahead_s[ends]) * self._slowdown
        loads = passes + self._sent_s[at, ends[1:]] + self._received_s[at, ends[:-1]]
        return float(loads.max()) * (1 + SLACK)

    def solve(self, limit_s: float) -> Cuts | None:
        """Return the cuts with the least seconds of moves below a limit, None if there are none."""
        self.moving_s, cuts = fewest_moves(
            self._ahead_s, self._slowdown, (self._received_s, self._sent_s), self._last, self._prices_s, limit_s
        )
        return tuple(cuts.tolist()) if np.isfinite(self.moving_s) else None


@allocating_kernel
def fewest_moves(
    ahead_s: FloatArray,
    slowdown: FloatArray,
    ends_s: tuple[FloatArray, FloatArray],
    last: IntArray,
    prices_s: FloatArray,
    limit_s: float,
) -> tuple[float, IntArray]:
    """Return the least price of moves, infinite if no cuts are within the limit, and cuts [p + 1] that have it.

    `ahead_s[L + 1]` are the seconds of the first layers and `prices_s[p, L + 1]` those to move the first to a position;
    `ends_s` are two arrays [p, L + 1] of what a stage takes besides by the boundary before and behind it. Exact;
    O(p L w) for stages of up to w layers below the limit.
    """
    count, size = len(slowdown), len(ahead_s) - 1
    received_s, sent_s = ends_s
    # reach[j, i]: the least price of the first j stages when they hold the first i layers (Bellman's recursion).
    reach = np.full((count + 1, size + 1), np.inf)
    start = np.zeros((count + 1, size + 1), np.int64)
    reach[0, 0] = 0.0
    for j in range(count):
        for i in range(j + 1, size - (count - 1 - j) + 1):
            for k in range(i - 1, j - 1, -1):
                load = (ahead_s[i] - ahead_s[k]) * slowdown[j] + sent_s[j, i]
                # The stage only gets longer from here on.
                if load > limit_s:
                    break
                value = reach[j, k] + prices_s[j, i] - prices_s[j, k]
                if load + received_s[j, k] <= limit_s and last[j, k] >= i and value < reach[j + 1, i]:
                    reach[j + 1, i] = value
                    start[j + 1, i] = k
    # Backtrace from the last layer; cuts mean nothing where none is within the limit.
    cuts = np.full(count + 1, size)
    for j in range(count, 0, -1):
        cuts[j - 1] = start[j, cuts[j]]
    return reach[count, size], cuts
