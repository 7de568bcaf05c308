"""The slowest hop of rings as an objective, for collectives whose every step waits for it; then the sum of all hops.

A hop takes the volume from a task to the next one times the distance, so that time is in units of cost.
"""

from dataclasses import dataclass, replace

import numpy as np

from tiger.bounds.ring import bound_ring
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import RingHops
from tiger.model.problem import Problem
from tiger.model.ring import find_ring


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlowestHop:
    """Evaluate and bound the slowest hop as an objective."""

    problem: Problem

    def value(self, places: IntArray) -> float:
        """Return the slowest hop for node indices `places[n]`; O(n)."""
        return float(self._hops(places).max())

    def stress(self, places: IntArray) -> FloatArray:
        """Return every traffic entry's hop, the slowest 1."""
        hops = self._hops(places)
        return np.asarray(hops / (float(hops.max()) or 1.0))

    def surrogate(self, weights: FloatArray) -> Problem | None:
        """Return the problem with every traffic entry multiplied by its weight, None for one ring without terms.

        There hops of more weight are no different from others.
        """
        tasks = self.problem.tasks
        if not self.problem.pinned and not self.problem.forbidden and find_ring(self.problem) is not None:
            return None
        traffic = tasks.traffic.copy()
        traffic.data = traffic.data * weights
        return replace(self.problem, tasks=replace(tasks, traffic=traffic))

    def bound(self) -> float:
        """Return the bound by components of the hosts; products of the same two numbers round alike."""
        return bound_ring(self.problem).slowest

    def arrays(self) -> RingHops:
        """Return the objective of the search for the orders of rings."""
        return RingHops(self.bound())

    def _hops(self, places: IntArray) -> FloatArray:
        """Return volume times distance of every traffic entry, those of tasks to themselves as 0."""
        edges = self.problem.tasks.traffic.tocoo()
        hops = edges.data * self.problem.metric.between(places[edges.row], places[edges.col])
        return np.where(edges.row == edges.col, 0.0, hops)
