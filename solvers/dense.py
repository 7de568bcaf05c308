"""Native search for dense one-to-one problems: memetic annealing on local fields."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.solvers.memetic import MemeticParams, evolve
from tiger.solvers.quadratic import applies, quadratic

DEFAULT = MemeticParams()

__all__ = ["Dense", "applies"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Dense:
    """Anneal on the field matrix of a one-to-one problem, from chance and from what it found before.

    `elites[k, n]` are mappings that an earlier search of the same problem returned.
    """

    params: MemeticParams = DEFAULT
    elites: IntArray | None = None

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
        return Assignment(places=elites[0], elites=elites)
