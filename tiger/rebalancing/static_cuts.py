"""The best cuts that never move, chosen with the times of all intervals known: what rebalancing is compared with."""

from collections.abc import Callable, Sequence

import numpy as np

from tiger.placement.search.cut_moves import move_cuts
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.line_costs import Cuts, LineCosts
from tiger.training.costs.tolerances import MET

# Cuts that searches begin with, and ends of them that are simulated over all intervals and moved on.
STARTS, ENDS = 16, 8
# Cuts that each looks at, by the bound in tenths of a millisecond, and simulated in milliseconds: with more of them no
# static cuts of the table `dynamic` get better by 1 %. Of runs of more than 40 intervals fewer, so that time stays.
BOUNDED, SIMULATED, INTERVALS = 1000, 200, 40
# So many in any case.
LEAST = 20


def best_static_cuts(costs: Sequence[LineCosts], known: Sequence[Cuts]) -> Cuts:
    """Return the cuts with the least sum of simulated iterations over all intervals that are found.

    Searches begin with cuts that are known and those of mean times, and go down to local optima of the sum of lower
    bounds first; then the simulator chooses among these, and cuts move on. Of random runs of up to 13 layers in up to 4
    stages 99 of 100 are optimal.
    """
    bound_s = _bound_all(costs)
    part = max(1.0, len(costs) / INTERVALS)
    bounded, simulated = (max(LEAST, int(looks / part)) for looks in (BOUNDED, SIMULATED))
    starts = sorted(dict.fromkeys([*known, *_cuts_of_means(costs)]), key=bound_s)[:STARTS]
    ends = dict.fromkeys(move_cuts(start, bound_s, bounded).cuts for start in starts)
    evaluate = _simulate_all(costs, bound_s)
    # Starts too, as bounds may lead away from what is better by simulation.
    chosen = sorted([*ends, *(start for start in starts if start not in ends)], key=evaluate)[:ENDS]
    found = (move_cuts(cuts, evaluate, simulated) for cuts in chosen)
    return min(found, key=lambda one: one.value).cuts


def _cuts_of_means(costs: Sequence[LineCosts]) -> list[Cuts]:
    """Return the cuts with the least bottleneck by mean times, none where none fit."""
    mean = LayerTimes(
        forward_s=np.mean([one.times.forward_s for one in costs], axis=0),
        backward_s=np.mean([one.times.backward_s for one in costs], axis=0),
    )
    least = LineCosts(line=costs[0].line, times=mean).program.least_bottleneck()
    return [] if least is None else [least[1]]


def _bound_all(costs: Sequence[LineCosts]) -> Callable[[Cuts], float]:
    """Return a function from cuts to the sum of `LineCosts.bound_s` over all intervals, infinite where none fit."""
    line, slowdown = costs[0].line, costs[0].slowdown
    ahead_s = np.array([one.ahead_s.sum(axis=0) for one in costs])

    def bound_s(cuts: Cuts) -> float:
        if not line.fits(cuts):
            return np.inf
        passes = np.diff(ahead_s[:, list(cuts)], axis=1) * slowdown
        around = np.cumsum(passes, axis=1) - passes
        return float((around + line.microbatches * passes).max(axis=1).sum()) * (1 - MET)

    return bound_s


def _simulate_all(costs: Sequence[LineCosts], bound_s: Callable[[Cuts], float]) -> Callable[[Cuts], float]:
    """Return a function from cuts to the sum of simulated iterations, or to its bound where that is above the best."""
    best_s = np.inf

    def total_s(cuts: Cuts) -> float:
        nonlocal best_s
        bound = bound_s(cuts)
        if bound >= best_s:
            return bound
        total = sum(one.iteration_s(cuts) for one in costs)
        best_s = min(best_s, total)
        return total

    return total_s
