"""Greedy construction: tasks in order of their traffic, each to the cheapest node that is left."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop
from tiger.model.window import Window, fold, whole

CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class Greedy:
    """Place the task with most traffic to those already placed on the node where it costs least; no promise of quality."""

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the greedy mapping, or `start[n]` where that is cheaper or tight constraints stop the construction.

        O(n m + edges m) time and memory; deterministic, so effort and seed play no part. Problems of more than 2**24
        task-node pairs come back as they are.
        """
        block = whole(problem)
        if not len(block.tasks) or len(block.tasks) * len(block.nodes) > CELLS:
            return Assignment(places=start.copy())
        window = fold(problem, block, start)
        local = _construct(window, stop)
        if local is None or window.cost(local) >= window.cost(window.local(start)):
            return Assignment(places=start.copy())
        return Assignment(places=window.placed(start, local))


def _construct(window: Window, stop: Stop) -> IntArray | None:
    """Return local places, None when a task finds no node left or time is up."""
    cost = window.linear.copy()
    inflow = sp.csr_array(window.traffic.T)
    pull = np.zeros(len(cost))
    weight = np.asarray((window.traffic + inflow).sum(axis=1)).ravel()
    group_of = np.full(len(cost), -1, np.int64)
    for number, group in enumerate(window.groups):
        group_of[group] = number
    room = [capacity.room.copy() for capacity in window.capacities]
    local = np.full(len(cost), -1, np.int64)
    for _ in range(len(cost)):
        waiting = np.flatnonzero(local < 0)
        task = int(waiting[np.lexsort((-weight[waiting], -pull[waiting]))[0]])
        open_ = np.isfinite(cost[task])
        for capacity, left in zip(window.capacities, room, strict=True):
            open_ &= capacity.load[task] <= left
        if not open_.any() or stop():
            return None
        node = int(np.argmin(np.where(open_, cost[task], np.inf)))
        local[task] = node
        for capacity, left in zip(window.capacities, room, strict=True):
            left[node] -= capacity.load[task]
        _spread(window.traffic, window.distance.T, task, node, cost, pull)
        _spread(inflow, window.distance, task, node, cost, pull)
        if group_of[task] >= 0:
            cost[_others(group_of, task), node] = np.inf
    return local


def _spread(traffic: sp.csr_array, away: FloatArray, task: int, node: int, cost: FloatArray, pull: FloatArray) -> None:
    """Add the traffic of a placed task to the costs of its neighbours (in place)."""
    row = slice(traffic.indptr[task], traffic.indptr[task + 1])
    near, volume = traffic.indices[row], traffic.data[row]
    cost[near] += volume[:, None] * away[:, node][None, :]
    pull[near] += volume


def _others(group_of: IntArray, task: int) -> BoolArray:
    """Return which other tasks share the task's group."""
    others: BoolArray = group_of == group_of[task]
    others[task] = False
    return others
