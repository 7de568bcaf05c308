"""Windows of tasks that exchange traffic, with the nodes they occupy and those close by."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

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
    """Return the tasks without a pin in breadth-first order, the components of the traffic one after another.

    One search from an extra root, tied to a task of every component, visits each of them as one from that task would.
    """
    size, free = problem.tasks.size, problem.pins < 0
    label = connected_components(problem.tasks.traffic, directed=False)[1]
    drawn = rng.permutation(size)
    drawn = drawn[free[drawn]]
    first = np.sort(np.unique(label[drawn], return_index=True)[1])
    rank = np.zeros(size, np.int64)
    rank[label[drawn[first]]] = np.arange(len(first))
    ties = sp.csr_array((np.ones(len(first)), (np.zeros(len(first), np.int64), drawn[first])), shape=(1, size))
    linked = sp.block_array([[sp.csr_array(problem.tasks.traffic + problem.inflow), ties.T], [ties, None]]).tocsr()
    reached = breadth_first_order(linked, size, directed=False, return_predecessors=False)
    order: IntArray = reached[np.append(free, False)[reached]].astype(np.int64)
    return order[np.argsort(rank[label[order]], kind="stable")]
