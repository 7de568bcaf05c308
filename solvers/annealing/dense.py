"""Native search for dense one-to-one problems: memetic annealing on local fields."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.window import whole
from tiger.solvers.annealing.local import Annealing, Polish
from tiger.solvers.annealing.memetic import MemeticParams, evolve
from tiger.solvers.annealing.quadratic import applies, quadratic

DEFAULT = MemeticParams()
# Fields count gains down to 1e-10 units, which matters to costs below this many units.
FINE = 100.0

__all__ = ["Dense", "applies"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dense:
    """Anneal on the field matrix of a one-to-one problem, from random mappings and from those it found before.

    `elites[k, n]` are mappings that an earlier search of the same problem returned.
    """

    params: MemeticParams = DEFAULT
    elites: IntArray | None = None
    usage: ClassVar[Usage] = Usage(parts=2)

    def resume(self, elites: IntArray) -> "Dense":
        """Return the search that goes on from `elites[k, n]`."""
        return replace(self, elites=elites)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest mapping found from the feasible `start[n]`, and the elites; no optimum is promised.

        Problems to which it does not apply come back as they are. O(effort m^2) time and O(m^2) memory.
        """
        if not applies(problem):
            return Assignment(places=start.copy(), elites=self.elites)
        model = quadratic(problem, start)
        orders = [model.order(places) for places in (start, *(() if self.elites is None else self.elites))]
        known = [order for order in orders if order is not None]
        if not known:
            return Assignment(places=start.copy(), elites=self.elites)
        found = evolve(model, known, (effort, seed), self.params, stop)
        elites = np.stack([model.places(elite.order) for elite in found])
        best = elites[0]
        if 0.0 < found[0].cost < model.unit:
            # Fields and temperatures follow the largest single cost, which a good mapping avoids.
            best = Annealing().search(problem, best, effort=effort, seed=seed, stop=stop).places
        elif 0.0 < found[0].cost < FINE * model.unit:
            best = Polish(problem).improve(best, whole(problem), stop)
        elites[0] = best
        return Assignment(places=best, elites=elites)
