"""The cuts that move the least among those whose iterations stay below a limit: an exact dynamic program."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement.chain.limited_cuts import StageCosts, cheapest_cuts, costs_of_cuts
from tiger.rebalancing.line_costs import Cuts, LineCosts

# Limits that are tried, as shares over the least: closely spaced where iterations are shortest, as one that is little
# longer may take far fewer moves. Further ones only pay where moves take long.
LIMITS = (0.0, 0.005, 0.01, 0.02, 0.035, 0.06, 0.1, 0.2, 0.5, 1.0, 2.5)
# How closely the least limit is found, as a share of it: below the first of those steps.
CLOSE = 0.004
# Rounding must not exclude cuts that meet a limit.
SLACK = 1e-12


def propose_cuts(costs: LineCosts, price_s: FloatArray) -> list[Cuts]:
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
        line, ahead_s = costs.line, costs.ahead_s.sum(axis=0)
        none = np.zeros((1, line.layers.size + 1))
        # Waiting for the layers before a stage counts once an iteration; on unlike devices at their mean slowdown.
        mean = line.positions / float((1 / costs.slowdown).sum())
        self._stages = StageCosts(
            ahead_s=ahead_s * costs.slowdown[:, None],
            received_s=np.vstack([none, 2 * line.sent_s]) + ahead_s * mean / line.microbatches,
            sent_s=np.vstack([2 * line.sent_s, none]),
            last=line.last,
        )
        self._prices_s = np.zeros((price_s.shape[0], price_s.shape[1] + 1))
        np.cumsum(price_s, axis=1, out=self._prices_s[:, 1:])
        self.moving_s = np.inf

    def limit_of(self, cuts: Cuts) -> float:
        """Return the least limit that cuts stay below."""
        return costs_of_cuts(self._stages, cuts).bottleneck_s * (1 + SLACK)

    def solve(self, limit_s: float) -> Cuts | None:
        """Return the cuts with the least seconds of moves below a limit, None if there are none."""
        count, size = self._prices_s.shape
        anywhere = np.array([[s, size - 1 - count + s] for s in range(count)], np.int64)
        anywhere[0] = 0
        self.moving_s, cuts = cheapest_cuts(self._stages, (self._prices_s, self._prices_s), limit_s, anywhere)
        return tuple(cuts.tolist()) if np.isfinite(self.moving_s) else None
