"""Windows of tasks that exchange traffic, with the nodes they occupy and those close by."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.window import Block
from tiger.partition.nodes import around


@dataclass(frozen=True, slots=True)
class TaskWindows:
    """Cut a problem into runs of at most `width` tasks, in breadth-first order over the traffic from random roots."""

    width: int = 8

    def split(self, problem: Problem, start: IntArray, *, max_size: int, seed: int) -> Iterator[Block]:
        """Yield the runs as blocks; different seeds cut differently."""
        width = max(min(self.width, int(max_size**0.5)), 1)
        order = _order(problem, np.random.default_rng(seed))
        for chunk in np.array_split(order, -(-len(order) // width)) if len(order) else []:
            yield Block(tasks=np.sort(chunk), nodes=around(problem, start, chunk, max_size // len(chunk)))


def _order(problem: Problem, rng: np.random.Generator) -> IntArray:
    """Return the tasks without a pin in breadth-first order, the components of the traffic one after another."""
    linked = sp.csr_array(problem.tasks.traffic + problem.inflow)
    seen = problem.pins >= 0
    order: list[IntArray] = []
    for root in rng.permutation(problem.tasks.size):
        if not seen[root]:
            reached = breadth_first_order(linked, root, directed=False, return_predecessors=False)
            fresh = reached[~seen[reached]]
            seen[fresh] = True
            order.append(fresh.astype(np.int64))
    return np.concatenate(order) if order else np.zeros(0, np.int64)
