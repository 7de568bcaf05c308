"""The search for the orders of several rings that share the hardware: of each in turn, while the others stay."""

from dataclasses import dataclass, field, replace

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.ring import Ring, find_rings
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derive
from tiger.model.tasks import TaskGraph
from tiger.solvers.rings.ring_order import RingOrder, RingParams

# Rings looked at in a search, those of the slowest hops: with three tasks each they take a second.
RINGS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class RingSet:
    """Order rings of interchangeable tasks by their `slowest` hop, of which a lower bound is given, then by the sum.

    One ring is ordered by itself. Several share out the `params`, and what each has at hand are its own places and
    those that are free: which ring is where, their start decides.
    """

    slowest: float
    params: RingParams = field(default_factory=RingParams)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a feasible mapping at least as good as the feasible `start[n]`, `proved` for one ring up to 16 slots.

        Rings whose tasks are not alike, and those of problems with terms for some tasks, stay where they are.
        """
        rings = find_rings(problem)
        if len(rings) == 1:
            return RingOrder(slowest=self.slowest, params=self.params).search(
                problem, start, effort=effort, seed=seed, stop=stop
            )
        if problem.rule == "levels" or problem.pinned or problem.forbidden:
            return Assignment(places=start.copy())
        places, reached, params = start.copy(), self.slowest, self._share(len(rings))
        rings.sort(key=lambda ring: -_time_hops(problem, ring, start).max())
        for number, ring in enumerate(rings[:RINGS]):
            if stop():
                break
            # What a hop takes up to the slowest so far is of no consequence.
            order = RingOrder(slowest=reached, params=params)
            part, begun = _isolate_ring(problem, places, ring), places[ring.order]
            found = order.search(part, begun, effort=effort, seed=derive(seed, number), stop=stop)
            places[ring.order] = found.places
            reached = max(reached, float(_time_hops(problem, ring, places).max()))
        return Assignment(places=places)

    def _share(self, count: int) -> RingParams:
        """Return the part of the work for each of `count` rings: a table takes twice the work with every slot more."""
        params = self.params
        return replace(
            params,
            slots=params.slots - (count - 1).bit_length(),
            kicks=max(params.kicks // count, 1),
            work=params.work / count,
        )


def _isolate_ring(problem: Problem, places: IntArray, ring: Ring) -> Problem:
    """Return the problem of one ring with what the others leave of the hardware."""
    tasks, topology = problem.tasks, problem.topology
    others = np.ones(tasks.size, bool)
    others[ring.order] = False
    slots = topology.slots if not problem.groups else np.minimum(topology.slots, 1)
    slots = slots - np.bincount(places[others], minlength=topology.size)
    memory, need = topology.memory, tasks.memory
    if memory is not None and need is not None and not problem.groups:
        memory = memory.copy()
        np.subtract.at(memory, places[others], need[others])
    part = TaskGraph(
        names=tuple(tasks.names[k] for k in ring.order.tolist()),
        traffic=tasks.traffic[ring.order][:, ring.order],
        work=tasks.work[ring.order],
        memory=None if need is None else need[ring.order],
    )
    return Problem(tasks=part, topology=replace(topology, slots=slots, memory=memory), rule="capacity")


def _time_hops(problem: Problem, ring: Ring, places: IntArray) -> FloatArray:
    """Return the longer time of every hop there and back."""
    here = places[ring.order]
    ahead = np.roll(here, -1)
    metric = problem.metric
    return np.maximum(ring.there * metric.between(here, ahead), ring.back * metric.between(ahead, here))
