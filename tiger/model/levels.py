"""The levels of a task graph: sets of tasks that run side by side and so may not share a node.

The split of levels wider than the machine follows the original tool (github.com/lbnlcomputerarch/tiger, 2019), because
the proven optima of its example hold for that split.
"""

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.tasks import TaskGraph


def levels(tasks: TaskGraph, width: int) -> tuple[IntArray, ...]:
    """Return the levels of a directed acyclic graph, none wider than `width`, each an array of task indices.

    A task's level is its longest path from a root; O(n + edges). Raises InputError for an undirected graph, a cycle (a
    self-loop is one) or a width below 1.
    """
    if width < 1:
        raise InputError("topology", "expected at least one node with a slot under the levels rule, got none")
    if not tasks.directed:
        raise InputError("tasks", "expected a directed graph under the levels rule, got an undirected one")
    depth = _depths(tasks)
    order = np.argsort(depth, kind="stable")
    natural = [level.tolist() for level in np.split(order, np.cumsum(np.bincount(depth))[:-1])]
    return tuple(np.array(level, np.int64) for level in _fit(natural, width, tasks.traffic))


def _depths(tasks: TaskGraph) -> IntArray:
    """Return every task's longest-path depth by peeling off tasks without unvisited predecessors."""
    bounds, children = tasks.traffic.indptr.tolist(), tasks.traffic.indices.tolist()
    waiting = np.bincount(tasks.traffic.indices, minlength=tasks.size).tolist()
    depth = [0] * tasks.size
    ready = [task for task, count in enumerate(waiting) if count == 0]
    for task in ready:
        for child in children[bounds[task] : bounds[task + 1]]:
            depth[child] = max(depth[child], depth[task] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                ready.append(child)
    if len(ready) < tasks.size:
        stuck = tasks.names[next(task for task, count in enumerate(waiting) if count)]
        raise InputError(
            "tasks", f"expected no cycle under the levels rule, got one that task {stuck!r} is on or behind"
        )
    return np.array(depth, np.int64)


def _fit(natural: list[list[int]], width: int, traffic: sp.csr_array) -> list[list[int]]:
    """Cut levels wider than `width` into chunks; a remainder moves into the next level where that has room.

    A task moves only if it has no edge to a task that was in the next level before any move; edges go to deeper levels.
    """
    queue, fitted = [list(level) for level in natural], []
    for position, level in enumerate(queue):
        if len(level) <= width:
            fitted.append(level)
            continue
        whole = len(level) // width * width
        fitted += [level[k : k + width] for k in range(0, whole, width)]
        following = queue[position + 1] if position + 1 < len(queue) else []
        staying = _move(level[whole:], following, width, traffic) if following else level[whole:]
        if staying:
            fitted.append(staying)
    return fitted


def _move(remainder: list[int], following: list[int], width: int, traffic: sp.csr_array) -> list[int]:
    """Move tasks of the remainder into the following level (in place) while it has room; return those that stay."""
    room, before, staying = width - len(following), set(following), []
    for task in remainder:
        children = traffic.indices[traffic.indptr[task] : traffic.indptr[task + 1]].tolist()
        if room > 0 and before.isdisjoint(children):
            following.append(task)
            room -= 1
        else:
            staying.append(task)
    return staying
