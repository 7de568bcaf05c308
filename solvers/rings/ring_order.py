"""The search for the order of a ring: exact through a few slots, by iterated local search through more."""

import math
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.ring import find_ring
from tiger.model.seams import Assignment, Stop
from tiger.model.seeds import derive
from tiger.solvers.instance import uniform
from tiger.solvers.rings.dynamic_program import LONGEST, TOTAL, fill_table, trace_ring
from tiger.solvers.rings.local_search import RingState, improve_ring

# Tables of hops between this many hosts take 32 MB each, and a descent of this many tasks seconds.
HOSTS, TASKS = 2048, 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class RingParams:
    """Set the search: exact up to `slots` slots, else `kicks` of the local search at effort 1, or those of `work`.

    `work` counts the hops that are looked at. The search for the slowest hop takes the share `steps` of the kicks for
    each time. A hop slower than allowed counts as `penalty` times the longest one more. Gains below `least` of the
    longest hop are rounding.
    """

    slots: int = 16
    kicks: int = 3000
    work: float = 2e8
    steps: float = 0.125
    penalty: float = 8.0
    least: float = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Hops:
    """Hold the hosts of a ring's `order[n]`, their free `slots[h]`, and hops between them by `length` and by `time`."""

    order: IntArray
    hosts: IntArray
    slots: IntArray
    length: FloatArray
    time: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RingOrder:
    """Order a ring of interchangeable tasks around the hardware.

    A hop is the volume between a task and the next one times the distance. With a lower bound on the `slowest` hop,
    that counts first, and the sum of all hops second.
    """

    slowest: float | None = None
    params: RingParams = RingParams()

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a feasible mapping at least as good as the feasible `start[n]`, `proved` up to 16 slots.

        O(n + h) time for a look at the moves of one task, O(h^2) memory for h hosts. Where the tasks form no ring, or
        one of tasks that are not alike, `start[n]` comes back.
        """
        hops = hops_of(problem)
        if hops is None:
            return Assignment(places=start.copy())
        if int(hops.slots.sum()) <= self.params.slots:
            return Assignment(places=_solve_exactly(hops, self.slowest), proved=True)
        kicks = effort * max(int(min(self.params.kicks, self.params.work / (len(start) * len(start)))), 1)
        if self.slowest is None:
            return Assignment(places=self._improve(hops, start, math.inf, kicks, seed, stop))
        return Assignment(places=self._lower_slowest(hops, start, self.slowest, kicks, seed, stop))

    def _lower_slowest(self, hops: Hops, start: IntArray, bound: float, kicks: int, seed: int, stop: Stop) -> IntArray:
        """Return the ring with the least slowest hop that a binary search over their times finds."""
        best = start
        times = np.unique(hops.time)
        low, high = int(np.searchsorted(times, bound * (1 - self.params.least))), self._rank(hops, times, best)
        number = 0
        # Most rings reach the bound, so that it comes first.
        middle = low
        while low < high and not stop():
            few = math.ceil(kicks * self.params.steps)
            found = self._improve(hops, best, float(times[middle]), few, derive(seed, number), stop)
            reached = self._rank(hops, times, found)
            if reached <= middle:
                best, high = found, reached
            else:
                low = middle + 1
            middle, number = (low + high) // 2, number + 1
        return self._improve(hops, best, float(times[high]), kicks, derive(seed, number), stop)

    def _rank(self, hops: Hops, times: FloatArray, places: IntArray) -> int:
        """Return the position of the slowest hop among all times."""
        hosts = np.searchsorted(hops.hosts, places[hops.order])
        return int(np.searchsorted(times, hops.time[hosts, np.roll(hosts, -1)].max()))

    def _improve(self, hops: Hops, start: IntArray, limit: float, kicks: int, seed: int, stop: Stop) -> IntArray:
        """Return the shortest ring that local search finds with as few hops over the time limit as can be."""
        longest = float(hops.length.max()) or 1.0
        hop = hops.length + self.params.penalty * longest * (hops.time > limit)
        size = len(start)
        host = np.searchsorted(hops.hosts, start[hops.order])
        spare = hops.slots - np.bincount(host, minlength=len(hops.slots))
        empty = np.zeros(size, np.int64)
        best = np.arange(size), host.copy(), spare.copy()
        portions = max(min(kicks * size * size // 10**8, kicks), 1)
        for portion in range(portions):
            if stop():
                break
            state = RingState(
                ring=best[0].copy(),
                where=empty.copy(),
                host=best[1].copy(),
                spare=best[2].copy(),
                hop=uniform(hop),
                ahead=np.zeros(size),
                behind=np.zeros(size),
                waiting=empty.copy(),
                waits=np.zeros(size, np.bool_),
                height=np.zeros(1, np.int64),
                scratch=empty.copy(),
                move=np.zeros(4, np.int64),
            )
            improve_ring(state, *best, -(-kicks // portions), self.params.least * longest, derive(seed, portion))
        places = np.empty(size, np.int64)
        places[hops.order] = hops.hosts[best[1][best[0]]]
        return places


def applies(problem: Problem) -> bool:
    """Return whether the tasks form a ring that the search can improve."""
    return hops_of(problem) is not None


def _solve_exactly(hops: Hops, slowest: float | None) -> IntArray:
    """Return the best ring through slots that are few enough for a table of all sets of them.

    Where hops up to `slowest` are as good as each other, the least slowest hop above that counts first.
    """
    host = np.repeat(np.arange(len(hops.hosts)), hops.slots)
    slots = np.ix_(host, host)
    length, ring = hops.length[slots], np.empty(len(hops.order), np.int64)
    table = np.empty((1 << len(host), len(host)))
    if slowest is not None:
        time = uniform(hops.time[slots])
        fill_table(time, LONGEST, table)
        length = np.where(time <= max(trace_ring(time, LONGEST, table, ring), slowest), length, np.inf)
    fill_table(uniform(length), TOTAL, table)
    trace_ring(uniform(length), TOTAL, table, ring)
    places = np.empty(len(ring), np.int64)
    places[hops.order] = hops.hosts[host[ring]]
    return places


def hops_of(problem: Problem) -> Hops | None:
    """Return the hops of a ring of tasks that are alike, None for any other problem.

    Alike are tasks that may all be on any node and send the same volumes ahead and back, if not each of its two, and
    for which what they send to themselves costs nothing.
    """
    hosts = problem.topology.hosts
    ring = find_ring(problem) if hosts.size <= HOSTS and problem.tasks.size <= TASKS else None
    if ring is None or problem.rule == "levels" or len(problem.banned) or (problem.pins >= 0).any():
        return None
    memory, cost = problem.tasks.memory, problem.topology.cost[hosts]
    if (cost != cost[0]).any() or (memory is not None and (memory != memory[0]).any()):
        return None
    distances = problem.metric.between(hosts[:, None], hosts[None, :])
    if distances.diagonal().any() and problem.tasks.traffic.diagonal().any():
        return None
    there, back = ring.there, ring.back
    if not (distances == distances.T).all() and ((there != there[0]).any() or (back != back[0]).any()):
        return None
    if (there + back != there[0] + back[0]).any() or (np.maximum(there, back) != max(there[0], back[0])).any():
        return None
    slots = np.ones(hosts.size, np.int64) if problem.groups else problem.topology.slots[hosts]
    if memory is not None and memory[0] and problem.topology.memory is not None:
        slots = np.minimum(slots, problem.topology.memory[hosts] // memory[0])
    return Hops(
        order=ring.order,
        hosts=hosts,
        slots=np.minimum(slots, problem.tasks.size),
        length=there[0] * distances + back[0] * distances.T,
        time=np.maximum(there[0] * distances, back[0] * distances.T),
    )
