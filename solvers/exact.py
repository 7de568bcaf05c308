"""Exact search by branch and bound, which proves its answer or says that it could not."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.rounding import ROUNDING, TIE, relative_error
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.window import Window, fold, whole
from tiger.solvers import branch_and_bound

# Visits of a call that can't be stopped, times tasks and nodes, of which a visit looks at most once at each pair.
SLICE = 1 << 22
# Entries of the largest array, 128 MB.
MEMORY_CELLS = 1 << 24


@dataclass(frozen=True, slots=True)
class Exact:
    """Place tasks one by one, most traffic first, and drop every branch that cannot beat the best.

    `visits` is the number of partial placements at effort 1. Exponential in n; meant for about a dozen tasks, more
    where nodes differ much in cost.
    """

    visits: int = 5_000_000
    usage: ClassVar[Usage] = Usage(seeded=False)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest mapping seen from the feasible `start[n]`, `proved` if the search ended by itself.

        Deterministic, so the seed plays no part. O((k^2 + q) q) memory for k free tasks on q nodes; a problem that
        needs more than 128 MB for one array comes back as it is.
        """
        block = whole(problem)
        tasks, nodes = len(block.tasks), len(block.nodes)
        if not tasks:
            return Assignment(places=start.copy(), proved=True)
        if max((tasks + 1) * tasks, nodes) * nodes > MEMORY_CELLS:
            return Assignment(places=start.copy())
        window = fold(problem, block, start)
        local, proved = _search(window, window.local(start), self.visits * effort, stop)
        return Assignment(places=window.place(start, local), proved=proved and _is_certain(problem.tasks.size, tasks))


def _is_certain(tasks: int, free: int) -> bool:
    """Return whether what is dropped unseen costs too much beyond doubt, for `tasks` of which some are free.

    A cost is a sum of terms >= 0, none of which is rounded more often than once for each task that it is added to.
    """
    return TIE + relative_error(2 * tasks + 6 * free + 16) <= ROUNDING


def _search(window: Window, start: IntArray, visits: int, stop: Stop) -> tuple[IntArray, bool]:
    """Run branch and bound, asking `stop` now and then; return local places and whether they are proved."""
    order = _order(window)
    tree = _tree(window, order)
    count, nodes = window.shape
    progress = branch_and_bound.SearchProgress(
        fields=np.zeros((count + 1, count, nodes)),
        local=np.zeros(count, np.int64),
        ranked=np.zeros((count, nodes), np.int64),
        spent=np.zeros(count + 1),
        cursor=np.zeros(count + 1, np.int64),
        best=start[order].copy(),
    )
    progress.fields[0] = tree.linear
    least = window.linear.min(axis=1)
    bound = replace(window, constant=0.0, linear=window.linear - least[:, None]).cost(start)
    ended = False
    while visits > 0 and not ended and not stop():
        limit = max(1, min(visits, SLICE // (count * nodes)))
        bound, done, ended = branch_and_bound.branch(tree, progress, bound, limit, TIE)
        visits -= max(done, 1)
    local = np.empty(count, np.int64)
    local[order] = progress.best
    return local, ended


def _order(window: Window) -> IntArray:
    """Return the tasks with most traffic to those before them first."""
    volume = window.traffic.toarray() / (window.traffic.max() or 1.0)
    volume += volume.T
    order = [int(volume.sum(axis=1).argmax())]
    pull = volume[order[0]].copy()
    waiting = np.ones(len(volume), bool)
    waiting[order[0]] = False
    while waiting.any():
        rank = np.where(waiting, pull * len(volume) + volume.sum(axis=1) / (1.0 + volume.sum()), -1.0)
        order.append(int(rank.argmax()))
        waiting[order[-1]] = False
        pull += volume[order[-1]]
    return np.array(order, np.int64)


def _tree(window: Window, order: IntArray) -> branch_and_bound.SearchTree:
    """Return the window's arrays in placing order."""
    traffic = window.traffic.toarray()[np.ix_(order, order)]
    group_of = np.full(len(order), -1, np.int64)
    for number, group in enumerate(window.groups):
        group_of[group] = number
    empty = np.zeros((0, len(order)), np.int64), np.zeros((0, window.shape[1]), np.int64)
    loads = [capacity.load[order] for capacity in window.capacities]
    rooms = [capacity.room for capacity in window.capacities]
    return branch_and_bound.SearchTree(
        linear=np.ascontiguousarray((window.linear - window.linear.min(axis=1)[:, None])[order]),
        out=np.ascontiguousarray(traffic),
        back=np.ascontiguousarray(traffic.T),
        distances=np.ascontiguousarray(window.distance),
        group_of=group_of[order],
        load=np.array(loads, np.int64) if loads else empty[0],
        room=np.array(rooms, np.int64) if rooms else empty[1],
    )
