"""Exact sweeps over single levels: with all others fixed, a level is a linear assignment problem."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.rounding import TIE
from tiger.model.seams import Stop
from tiger.model.window import Block, allowed_pairs

# Rounds end by themselves when no level gains; costs fall each time, so that this only guards against very slow ends.
ROUNDS = 50


class ExclusiveTasks(NamedTuple):
    """Hold k tasks that exclude each other: `own[k, m]` is what they cost on the hosts alone, inf where not allowed.

    `ends[e]` are the tasks they exchange traffic with, `out[k, e]` and `back[k, e]` the volumes to and from them, and
    `near` the levels of these.
    """

    tasks: IntArray
    own: FloatArray
    ends: IntArray
    out: sp.csr_array
    back: sp.csr_array
    near: IntArray


class Sweeps:
    """Hold the levels of a problem, so that many mappings of it can be swept."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._levels = [level for number in range(len(problem.groups)) if (level := _level(problem, number))]
        known = {int(problem.group_of[level.tasks[0]]): number for number, level in enumerate(self._levels)}
        self._near = [[known[group] for group in level.near.tolist() if group in known] for level in self._levels]

    def improve(self, places: IntArray, stop: Stop) -> IntArray:
        """Return a mapping at most as costly as the feasible `places[n]`, each level optimal given the others.

        Levels are solved forward, then backward, those with a changed neighbour again, until none gains; O(m k^2) a
        level of k tasks on m nodes. A group whose tasks exchange traffic among themselves is left alone.
        """
        places = places.copy()
        stale = np.ones(len(self._levels), bool)
        order = [*range(len(self._levels)), *reversed(range(len(self._levels)))]
        for _ in range(ROUNDS):
            for number in order:
                if stale[number] and not stop():
                    stale[number] = False
                    if self._solve(self._levels[number], places):
                        stale[self._near[number]] = True
            if not stale.any() or stop():
                break
        return places

    def _solve(self, level: ExclusiveTasks, places: IntArray) -> bool:
        """Assign one level at least cost (in place) and return whether that gained."""
        metric, hosts = self._problem.metric, self._problem.topology.hosts
        here, there = hosts[None, :], places[level.ends][:, None]
        # With all other levels fixed, traffic is linear in the nodes of this one.
        cost = level.own + level.out @ metric.between(here, there) + level.back @ metric.between(there, here)
        rows, columns = linear_sum_assignment(cost)
        now = np.searchsorted(hosts, places[level.tasks])
        before, after = float(cost[rows, now].sum()), float(cost[rows, columns].sum())
        if after >= before - TIE * before:
            return False
        places[level.tasks] = hosts[columns]
        return True


def _level(problem: Problem, number: int) -> ExclusiveTasks | None:
    """Return a level by its number, None where nothing may move or its tasks exchange traffic among themselves."""
    group = problem.groups[number]
    tasks, hosts = group[problem.pins[group] < 0], problem.topology.hosts
    out, back = problem.tasks.traffic[tasks], problem.inflow[tasks]
    loops = problem.tasks.traffic.diagonal()[tasks]
    if not len(tasks) or out[:, tasks].nnz > np.count_nonzero(loops):
        return None
    own = np.outer(problem.tasks.work[tasks], problem.topology.cost[hosts])
    own += np.outer(loops, problem.metric.between(hosts, hosts))
    # Only pinned tasks of the same level can be in the way, wherever the others are.
    own[~allowed_pairs(problem, Block(tasks=tasks, nodes=hosts), np.maximum(problem.pins, 0))] = np.inf
    ends = np.setdiff1d(np.union1d(out.indices, back.indices), tasks)
    near = np.unique(problem.group_of[ends])
    return ExclusiveTasks(tasks, own, ends, sp.csr_array(out[:, ends]), sp.csr_array(back[:, ends]), near)
