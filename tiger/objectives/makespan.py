r"""The makespan: when the last task ends if every task starts as soon as it can.

A task t lasts :math:`w_t\, k_{p(t)}`, and what task u sends it arrives :math:`c_{ut}\, d_{p(u),p(t)}` after u ends, so
that time is in units of cost. A node runs one task at a time, those of earlier levels first and those of one level in
input order; with :math:`v` the task before t on its node, t ends at

.. math:: f_t = \max\bigl(f_v,\ \max_{u \to t} f_u + c_{ut}\, d_{p(u),p(t)}\bigr) + w_t\, k_{p(t)}

and the makespan is :math:`\max_t f_t`, at most the cost. Transfers do not wait for each other, and a node may send and
receive while it works. Levels are the exclusivity groups under the levels rule and longest-path depths under any other.
Only directed task graphs without cycles have a makespan.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.levels import levels
from tiger.model.objective_arrays import TaskOrder
from tiger.model.problem import Problem
from tiger.model.rounding import TIE
from tiger.model.window import allowed_pairs, whole

# The bound takes this many steps at most; tables of a portion of the edges take 8 MB.
CELLS, PORTION = 1 << 26, 1 << 20


class Times(NamedTuple):
    """Hold how long each task lasts (`tasks[n]`) and each traffic entry travels (`travels[e]`, in CSR order)."""

    tasks: FloatArray
    travels: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LevelSchedule:
    """Hold a problem, the tasks of each level, and the traffic entries (`row[e]` to `col[e]`) that lead into it."""

    problem: Problem
    levels: tuple[IntArray, ...]
    inputs: tuple[IntArray, ...]
    row: IntArray
    col: IntArray

    @property
    def order(self) -> IntArray:
        """Return all tasks in the order in which a node runs them."""
        return np.concatenate(self.levels)

    def times(self, places: IntArray) -> Times:
        """Return how long everything takes for node indices `places[n]`."""
        problem = self.problem
        distances = problem.metric.between(places[self.row], places[self.col])
        return Times(problem.tasks.work * problem.topology.cost[places], problem.tasks.traffic.data * distances)

    def finish(self, places: IntArray, times: Times) -> FloatArray:
        """Return when each task ends, finish[n]; O(n + edges), vectorised by level."""
        finish, free = np.zeros(len(places)), np.zeros(self.problem.topology.size)
        for level, inputs in zip(self.levels, self.inputs, strict=True):
            np.maximum.at(finish, self.col[inputs], finish[self.row[inputs]] + times.travels[inputs])
            for turn in _turns(level, places):
                finish[turn] = np.maximum(finish[turn], free[places[turn]]) + times.tasks[turn]
                free[places[turn]] = finish[turn]
        return finish

    def rest(self, places: IntArray, times: Times) -> FloatArray:
        """Return how long it takes at least from the end of each task to the end of all, rest[n]."""
        rest, queue = np.zeros(len(places)), np.zeros(self.problem.topology.size)
        for level, inputs in zip(self.levels[::-1], self.inputs[::-1], strict=True):
            for turn in _turns(level, places)[::-1]:
                rest[turn] = np.maximum(rest[turn], queue[places[turn]])
                queue[places[turn]] = times.tasks[turn] + rest[turn]
            target = self.col[inputs]
            np.maximum.at(rest, self.row[inputs], times.travels[inputs] + times.tasks[target] + rest[target])
        return rest


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Makespan:
    """Evaluate and bound the makespan as an objective."""

    schedule: LevelSchedule

    def value(self, places: IntArray) -> float:
        """Return the makespan for node indices `places[n]`."""
        return float(self.schedule.finish(places, self.schedule.times(places)).max())

    def stress(self, places: IntArray) -> FloatArray:
        """Return the longest way through every task, then through every traffic entry, the longest of all 1."""
        schedule, times = self.schedule, self.schedule.times(places)
        finish, rest = schedule.finish(places, times), schedule.rest(places, times)
        through = finish[schedule.row] + times.travels + times.tasks[schedule.col] + rest[schedule.col]
        return np.concatenate([finish + rest, through]) / (float(finish.max()) or 1.0)

    def surrogate(self, weights: FloatArray) -> Problem:
        """Return the problem with the work of every task and the traffic scaled by `weights[n + e]`."""
        problem, tasks = self.schedule.problem, self.schedule.problem.tasks
        traffic = tasks.traffic.copy()
        traffic.data = traffic.data * weights[tasks.size :]
        return replace(problem, tasks=replace(tasks, work=tasks.work * weights[: tasks.size], traffic=traffic))

    def bound(self) -> float:
        """Return a lower bound, the largest of three.

        The longest path where each task on each of its nodes has all inputs from the nodes that suit them best, in
        O(edges m^2) time; beyond 2**26 steps each task lasts as on the cheapest node and nothing travels. The longest
        task of a level on as many different nodes. All work at the speed of all nodes together.
        """
        problem, cost = self.schedule.problem, np.sort(self.schedule.problem.topology.cost[self._hosts])
        ranked = [np.sort(problem.tasks.work[group])[::-1] for group in problem.groups]
        with np.errstate(divide="ignore"):
            together = float(problem.tasks.work.sum() / (1 / cost).sum()) * (1 - TIE)
        return max([self._path(), together, *(float((work * cost[: len(work)]).max()) for work in ranked)])

    def arrays(self) -> TaskOrder:
        """Return the order of the tasks for compiled code."""
        return TaskOrder(self.schedule.order)

    @property
    def _hosts(self) -> IntArray:
        """Return the nodes that can hold a task."""
        return self.schedule.problem.topology.hosts

    def _path(self) -> float:
        """Return the longest path over the best nodes."""
        schedule, volumes = self.schedule, self.schedule.problem.tasks.traffic.data
        lasts, distances = self._relax()
        early = np.zeros(lasts.shape)
        for level, inputs in zip(schedule.levels, schedule.inputs, strict=True):
            for part in np.array_split(inputs, -(-len(inputs) * distances.size // PORTION) or 1):
                arrives = early[schedule.row[part], :, None] + volumes[part, None, None] * distances
                np.maximum.at(early, schedule.col[part], arrives.min(axis=1))
            early[level] += lasts[level]
        return float(early.min(axis=1).max())

    def _relax(self) -> tuple[FloatArray, FloatArray]:
        """Return how long each task lasts on each host, infinite where it may not be, and distances between hosts."""
        problem, hosts = self.schedule.problem, self._hosts
        work, cost = problem.tasks.work[:, None], problem.topology.cost[None, hosts]
        if (problem.tasks.size + problem.tasks.traffic.nnz * hosts.size) * hosts.size > CELLS:
            return work * cost.min(), np.zeros((1, 1))
        lasts = work * cost
        block, pinned = whole(problem), np.flatnonzero(problem.pins >= 0)
        lasts[block.tasks] = np.where(allowed_pairs(problem, block, problem.pins), lasts[block.tasks], np.inf)
        lasts[pinned] = np.where(problem.pins[pinned, None] == hosts, lasts[pinned], np.inf)
        distances = problem.metric.between(hosts[:, None], hosts[None, :]).copy()
        if problem.rule == "one-to-one" or (not problem.groups and problem.topology.slots.max() == 1):
            np.fill_diagonal(distances, np.inf)
        return lasts, distances


def makespan(problem: Problem, places: IntArray) -> float | None:
    """Return the makespan for node indices `places[n]`, None where the task graph has none."""
    schedule = schedule_of(problem)
    return None if schedule is None else float(schedule.finish(places, schedule.times(places)).max())


def schedule_of(problem: Problem) -> LevelSchedule | None:
    """Return the schedule of a problem's tasks, None for an undirected graph or one with a cycle; O(n + edges)."""
    groups = problem.groups if problem.rule == "levels" else _depths(problem)
    if not groups:
        return None
    number = np.empty(problem.tasks.size, np.int64)
    for k, level in enumerate(groups):
        number[level] = k
    edges = problem.tasks.traffic.tocoo()
    order = np.argsort(number[edges.col], kind="stable")
    inputs = np.split(order, np.searchsorted(number[edges.col][order], np.arange(1, len(groups))))
    return LevelSchedule(
        problem=problem,
        levels=tuple(map(np.sort, groups)),
        inputs=tuple(inputs),
        row=edges.row.astype(np.int64),
        col=edges.col.astype(np.int64),
    )


def _depths(problem: Problem) -> tuple[IntArray, ...]:
    """Return the tasks of each longest-path depth, nothing for an undirected graph or one with a cycle."""
    try:
        return levels(problem.tasks, problem.tasks.size)
    except InputError:
        return ()


def _turns(level: IntArray, places: IntArray) -> list[IntArray]:
    """Return the tasks of a level that run first on their nodes, second, and so on."""
    order = level[np.argsort(places[level], kind="stable")]
    node = places[order]
    begins = np.flatnonzero(np.r_[True, node[1:] != node[:-1]])
    turn = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    return [order[turn == k] for k in range(int(turn.max()) + 1)]
