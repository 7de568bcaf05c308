"""Windows of related tasks, with the nodes they occupy and those close by."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from tiger.model.arrays import FloatArray, IntArray, entries_of
from tiger.model.problem import Problem
from tiger.model.window import Block
from tiger.partition.nodes import nodes_near

TaskOrder = Literal["traffic", "nodes", "cost", "none"]


@dataclass(frozen=True, slots=True)
class TaskWindows:
    """Cut a problem into runs of at most `width` tasks along an order with randomness from the seed.

    By "traffic" the order is breadth-first over it, by "nodes" it walks from node to nearest node, by "cost" the tasks
    that cost most come first, and by "none" it is random.
    """

    width: int = 12
    order_by: TaskOrder = "traffic"

    def split(self, problem: Problem, start: IntArray, *, max_size: int, seed: int) -> Iterator[Block]:
        """Yield the runs as blocks; different seeds cut differently."""
        width = max(min(self.width, int(max_size**0.5)), 1)
        rng = np.random.default_rng(seed)
        if self.order_by == "traffic":
            order = _breadth_first_order(problem, rng)
        elif self.order_by == "nodes":
            order = _nearest_node_order(problem, start, rng)
        else:
            # Random factors on the costs, so that different seeds still cut differently.
            order = rng.permutation(problem.free)
            if self.order_by == "cost":
                order = order[np.argsort(-_traffic_costs(problem, start)[order] * rng.uniform(0.5, 1.0, len(order)))]
        for chunk in np.array_split(order, -(-len(order) // width)) if len(order) else []:
            yield Block(tasks=np.sort(chunk), nodes=nodes_near(problem, start, chunk, max_size // len(chunk)))


def _nearest_node_order(problem: Problem, start: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the tasks without a pin by a walk over their nodes, from a random one always on to the nearest."""
    tasks = rng.permutation(problem.free)
    nodes, at = np.unique(start[tasks], return_inverse=True)
    rank, here, left = np.zeros(len(nodes), np.int64), int(rng.integers(max(len(nodes), 1))), np.ones(len(nodes), bool)
    # Nearest neighbours: windows then hold tasks on nodes side by side, which can change places.
    for step in range(len(nodes)):
        rank[here], left[here] = step, False
        others = np.flatnonzero(left)
        if len(others):
            here = int(others[problem.metric.between(nodes[here], nodes[others]).argmin()])
    return tasks[np.argsort(rank[at], kind="stable")]


def _traffic_costs(problem: Problem, start: IntArray) -> FloatArray:
    """Return cost[n], what the traffic of every task costs."""
    edges = entries_of(problem.tasks.traffic)
    cost = edges.data * problem.metric.between(start[edges.row], start[edges.col])
    ends, size = np.concatenate([edges.row, edges.col]), problem.tasks.size
    return np.asarray(np.bincount(ends, np.concatenate([cost, cost]), size), np.float64)


def _breadth_first_order(problem: Problem, rng: np.random.Generator) -> IntArray:
    """Return the tasks without a pin in breadth-first order, the components of the traffic one after another.

    One search from an extra root, tied to a task of every component, visits each of them as one from that task would.
    """
    size, free = problem.tasks.size, problem.pins < 0
    label = connected_components(problem.tasks.traffic, directed=False)[1]
    # The task of each component that is drawn first stands for it, and ranks it by when it was drawn.
    drawn = rng.permutation(size)
    drawn = drawn[free[drawn]]
    first = np.sort(np.unique(label[drawn], return_index=True)[1])
    rank = np.zeros(size, np.int64)
    rank[label[drawn[first]]] = np.arange(len(first))
    # An extra root with an edge to each of these makes one search of all components.
    ties = sp.csr_array((np.ones(len(first)), (np.zeros(len(first), np.int64), drawn[first])), shape=(1, size))
    linked = sp.block_array([[sp.csr_array(problem.tasks.traffic + problem.inflow), ties.T], [ties, None]]).tocsr()
    reached = breadth_first_order(linked, size, directed=False, return_predecessors=False)
    order: IntArray = reached[np.append(free, False)[reached]].astype(np.int64)
    # The search goes through components side by side: bring each of them together.
    return order[np.argsort(rank[label[order]], kind="stable")]
