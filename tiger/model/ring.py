"""Tasks whose traffic forms one ring, such as that of a collective operation."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem


class Ring(NamedTuple):
    """Hold the tasks of a ring in `order[n]`, and the volumes from each to the next one, `there[n]`, and `back[n]`."""

    order: IntArray
    there: FloatArray
    back: FloatArray


def find_ring(problem: Problem) -> Ring | None:
    """Return the ring that the traffic forms through all tasks, three or more, None where it is another graph; O(n)."""
    size, traffic = problem.tasks.size, problem.tasks.traffic
    if size < 3 or traffic.nnz > 3 * size:
        return None
    both = sp.csr_array(traffic + problem.inflow)
    both.setdiag(0)
    both.eliminate_zeros()
    if (np.diff(both.indptr) != 2).any() or connected_components(both, directed=False)[0] != 1:
        return None
    near = both.indices.reshape(size, 2).tolist()
    order = [0, near[0][0]]
    while len(order) < size:
        first, second = near[order[-1]]
        order.append(first if second == order[-2] else second)
    tasks = np.array(order)
    ahead = np.roll(tasks, -1)
    return Ring(tasks, np.asarray(traffic[tasks, ahead]).ravel(), np.asarray(traffic[ahead, tasks]).ravel())
