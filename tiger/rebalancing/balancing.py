"""The plan of an interval on given devices: the one whose iterations and moves together take least, by simulation."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement.chain.fitting_runs import prefix_sums
from tiger.placement.search.cut_moves import move_cuts
from tiger.rebalancing.diffusion import diffuse_cuts
from tiger.rebalancing.fewest_moves import cheapest_cuts
from tiger.rebalancing.line_costs import Cuts, LineCosts

# Passes that a decision simulates at most, about half a microsecond each, so that it takes milliseconds: 23 simulations
# of 8 stages and 32 microbatches. Of longer schedules so many simulations at least.
PASSES, SIMULATIONS = 6_000, 12
# Cuts looked at by their lower bound, of which few are simulated.
LOOKS = 120
# Of plans within this share of the least total the one with the fewest seconds of moves is taken: differences below it
# are gone by the next interval.
NEAR = 0.01


class Balanced(NamedTuple):
    """Hold cuts, their simulated iteration, and the seconds of the moves that lead there."""

    cuts: Cuts
    iteration_s: float
    moving_s: float


@dataclass(frozen=True, eq=False)
class Interval:
    """Hold the costs of an interval, the seconds [p, L] to move each layer to each position, and its iterations."""

    costs: LineCosts
    price_s: FloatArray
    iterations: int

    @cached_property
    def ahead_s(self) -> list[list[float]]:
        """Return the seconds [p][L + 1] to move the first layers to each position."""
        return [prefix_sums(row).tolist() for row in self.price_s]

    def moving_s(self, cuts: Cuts) -> float:
        """Return the seconds of all moves to a plan."""
        return sum(row[end] - row[start] for row, (start, end) in zip(self.ahead_s, pairwise(cuts), strict=True))

    def total_s(self, cuts: Cuts) -> float:
        """Return the seconds of moves and of all iterations of the interval."""
        return self.iterations * self.costs.iteration_s(cuts) + self.moving_s(cuts)

    def bound_s(self, cuts: Cuts) -> float:
        """Return a lower bound on that, infinite for cuts that do not fit."""
        if not self.costs.line.fits(cuts):
            return np.inf
        return self.iterations * self.costs.bound_s(cuts) + self.moving_s(cuts)

    def judge(self, cuts: Cuts) -> Balanced:
        """Return cuts with what they take."""
        return Balanced(cuts, self.costs.iteration_s(cuts), self.moving_s(cuts))


def balance_exactly(interval: Interval, now: Cuts | None) -> Balanced | None:
    """Return the plan with the least total of iterations and moves that is found, None where none fits.

    The dynamic program proposes the cuts with the fewest seconds of moves for each of some limits of the bottleneck.
    The bottleneck of sums of forward and backward seconds may mislead: where they are mixed unevenly, its optimum can
    take longer than uniform cuts under a schedule. Therefore the simulator of the schedule chooses, and cuts then move
    for as long as that gains.
    """
    proposed = [*cheapest_cuts(interval.costs, interval.price_s), *([] if now is None else [now])]
    proposed.sort(key=interval.bound_s)
    line = interval.costs.line
    budget = max(PASSES // (line.positions * line.microbatches), SIMULATIONS)
    simulated: dict[Cuts, float] = {}
    evaluate = _count_simulations(interval, simulated, budget)
    for cuts in proposed:
        evaluate(cuts)
    if not simulated:
        return None
    move_cuts(min(simulated, key=lambda cuts: simulated[cuts]), evaluate, LOOKS)
    least = min(simulated.values())
    near = [cuts for cuts, total in simulated.items() if total <= least * (1 + NEAR)]
    return interval.judge(min(near, key=lambda cuts: (interval.moving_s(cuts), simulated[cuts], cuts)))


def balance_locally(interval: Interval, now: Cuts | None) -> Balanced | None:
    """Return the plan that diffusion makes of the present one, or of the one with the least bottleneck without it."""
    if now is not None:
        return interval.judge(diffuse_cuts(interval.costs, now))
    least = interval.costs.program.least_bottleneck()
    return interval.judge(least[1]) if least is not None and interval.costs.line.fits(least[1]) else None


def _count_simulations(interval: Interval, simulated: dict[Cuts, float], budget: int) -> Callable[[Cuts], float]:
    """Return a function from cuts to their total, or to its bound where that is above the best, or nothing is left."""

    def total_s(cuts: Cuts) -> float:
        if cuts in simulated:
            return simulated[cuts]
        bound = interval.bound_s(cuts)
        if not np.isfinite(bound) or (simulated and bound >= min(simulated.values()) * (1 + NEAR)):
            return bound
        if len(simulated) >= budget:
            return np.inf
        simulated[cuts] = interval.total_s(cuts)
        return simulated[cuts]

    return total_s
