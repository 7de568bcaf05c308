"""Tasks whose traffic forms rings, such as those of collective operations."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem


class Ring(NamedTuple):
    """Hold the tasks of a ring in `order[n]`, and the volumes from each to the next one, `there[n]`, and `back[n]`."""

    order: IntArray
    there: FloatArray
    back: FloatArray


def find_ring(problem: Problem) -> Ring | None:
    """Return the ring that the traffic forms through all tasks, three or more, None where it is another graph; O(n)."""
    rings = find_rings(problem)
    return rings[0] if len(rings) == 1 else None


def find_rings(problem: Problem) -> list[Ring]:
    """Return the rings that the traffic forms, every task being in one; none where it is another graph; O(n)."""
    size, traffic = problem.tasks.size, problem.tasks.traffic
    if size < 3 or traffic.nnz > 3 * size:
        return []
    both = sp.csr_array(traffic + problem.inflow)
    both.setdiag(0)
    both.eliminate_zeros()
    if (np.diff(both.indptr) != 2).any():
        return []
    orders = _trace_cycles(both.indices.reshape(size, 2).tolist())
    tasks = np.concatenate(orders)
    ahead = np.concatenate([np.roll(order, -1) for order in orders])
    ends = np.cumsum([len(order) for order in orders])[:-1]
    there, back = (np.split(np.asarray(each).ravel(), ends) for each in (traffic[tasks, ahead], traffic[ahead, tasks]))
    return [Ring(*ring) for ring in zip(orders, there, back, strict=True)]


def _trace_cycles(near: list[list[int]]) -> list[IntArray]:
    """Return the cycles of a graph in which every node has two neighbours `near[n][2]`."""
    orders, seen = list[IntArray](), [False] * len(near)
    for first in range(len(near)):
        if seen[first]:
            continue
        order = [first]
        before, task = first, near[first][0]
        while task != first:
            order.append(task)
            left, right = near[task]
            before, task = task, left if right == before else right
        for task in order:
            seen[task] = True
        orders.append(np.array(order))
    return orders
