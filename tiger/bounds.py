"""What placing one task can cost at least and at most: lower bounds on the cost, and the scale of penalties.

Both come from rearrangement: tasks of one exclusivity group lie on different nodes, so the traffic between a task and a
group costs at least the products of its volumes, largest first, with the distances from the task's node, smallest
first, and at most the products with the distances largest first.
"""

import math
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.problem import Problem
from tiger.model.window import Window, fold, whole

DENSE_CELLS = 1 << 20
SLOT_CELLS = 1 << 20
EXACT = 2.0**50


def lower_bound(problem: Problem, places: IntArray) -> float:
    r"""Return a lower bound on the cost of every feasible mapping; `places[n]` gives the nodes of the pinned tasks.

    Up to about a million task-node pairs this is the Gilmore-Lawler bound, taken per exclusivity group: with
    :math:`l_{tp}` the least cost of task t at node p, half of its traffic counted, it is the sum over the groups of a
    linear assignment (without groups, of a transport onto the free slots), O(n m deg + n^2 m) time and O(n m) memory.
    Above that only each task's cheapest node counts, and distances are the smallest that any node has.

    Source: P. C. Gilmore, SIAM J. Appl. Math. 10 (1962), doi:10.1137/0110022.
    """
    hosts = problem.topology.hosts
    large = hosts.size * max(problem.tasks.size, hosts.size // 8) > DENSE_CELLS
    bound = _sparse_bound(problem) if large else _dense_bound(problem, places)
    if bound < EXACT and _integral(problem):
        return float(math.ceil(bound - 0.25))
    return bound * (1 - 1e-12)


def _dense_bound(problem: Problem, places: IntArray) -> float:
    """Return the Gilmore-Lawler bound of the whole problem."""
    window = fold(problem, whole(problem), places)
    if not window.block.tasks.size:
        return window.constant
    least = window.linear + rearranged(window, worst=False) / 2
    if window.groups:
        return window.constant + sum(_assignment(least[group]) for group in window.groups)
    room = np.minimum(window.capacities[0].room, len(least))
    if len(least) * int(room.sum()) <= SLOT_CELLS:
        return window.constant + _assignment(np.repeat(least, room, axis=1))
    return window.constant + float(least.min(axis=1).sum())


def _assignment(costs: FloatArray) -> float:
    """Return the value of the linear assignment of rows to columns."""
    rows, columns = linear_sum_assignment(costs)
    return float(costs[rows, columns].sum())


def _sparse_bound(problem: Problem) -> float:
    """Return the sum over tasks of the cheapest node and half of the traffic over the least distances of any node."""
    compute = problem.tasks.work.sum() * problem.topology.cost[problem.topology.hosts].min()
    volumes = problem.tasks.traffic + problem.inflow
    volumes = sp.csr_array(volumes - sp.diags_array(volumes.diagonal()))
    degree = int(np.diff(volumes.indptr).max(initial=0))
    if problem.rule == "levels" or not degree:
        return float(compute)
    nearest = _nearest(problem, degree)
    order = np.lexsort((-volumes.data, np.repeat(np.arange(problem.tasks.size), np.diff(volumes.indptr))))
    rank = np.arange(volumes.nnz) - np.repeat(volumes.indptr[:-1], np.diff(volumes.indptr))
    return float(compute + (volumes.data[order] * nearest[rank]).sum() / 2)


def _nearest(problem: Problem, count: int) -> FloatArray:
    """Return nearest[c], the smallest distance at which any node can have its c-th nearest other task.

    O(m^2) on a dense metric. On a torus or tree one node stands for all, on a grid a node of the torus of its shape.
    """
    seats = 1 if problem.groups else int(problem.topology.slots.max())
    away = _profile(problem)
    if problem.groups or (away[:, 0] <= away.min(axis=1)).all():
        own = np.repeat(away[:, :1], seats - 1, axis=1)
    else:
        own = np.repeat(away[:, :1], seats, axis=1)
    others = min(count // seats + 1, away.shape[1] - 1)
    close = np.sort(np.partition(away[:, 1:], others - 1, axis=1)[:, :others], axis=1) if others else away[:, :0]
    ranked = np.sort(np.hstack([own, np.repeat(close, seats, axis=1)]), axis=1).min(axis=0)[:count]
    return np.pad(ranked, (0, count - len(ranked)))


def _profile(problem: Problem) -> FloatArray:
    """Return the distances from nodes to all hosts, the smaller of both directions, each node itself first."""
    metric, hosts = problem.metric, problem.topology.hosts
    if not isinstance(metric, DenseMetric):
        if isinstance(metric, GridMetric):
            metric = replace(metric, wrap=(True,) * len(metric.dims))
        return metric.between(np.zeros(1, np.int64)[:, None], np.arange(metric.size)[None, :])
    table = metric.table[np.ix_(hosts, hosts)]
    table = np.minimum(table, table.T)
    return np.hstack([table.diagonal()[:, None], _others(table)])


def _integral(problem: Problem) -> bool:
    """Tell whether every possible cost is a whole number."""
    table = problem.metric.arrays()
    parts = (problem.tasks.traffic.data, problem.tasks.work, problem.topology.cost, table.table, table.steps)
    return all(bool((part == np.floor(part)).all()) for part in parts)


def rearranged(window: Window, *, worst: bool) -> FloatArray:
    """Return bound[k, q] on the cost of a task's traffic inside the window when it lies at a node.

    The smallest possible cost, or with `worst` the largest. Without groups any node may hold any number of tasks when
    the largest cost is asked for, and as many as its slots when the smallest is.
    """
    tasks, nodes = window.shape
    both = (window.distance == window.distance.T).all()
    pulls = (
        [(window.traffic + window.traffic.T, window.distance)]
        if both
        else [(window.traffic, window.distance), (sp.csr_array(window.traffic.T), window.distance.T)]
    )
    bound = np.zeros((tasks, nodes))
    for traffic, distance in pulls:
        bound += _direction(window, sp.csr_array(traffic), distance, worst=worst)
    return bound


def _direction(window: Window, traffic: sp.csr_array, distance: FloatArray, *, worst: bool) -> FloatArray:
    """Return the rearrangement bound of traffic in one direction."""
    tasks, nodes = window.shape
    if not window.groups:
        return _ungrouped(window, traffic, distance, worst=worst)
    group_of = np.zeros(tasks, np.int64)
    for number, group in enumerate(window.groups):
        group_of[group] = number
    edges = traffic.tocoo()
    own = group_of[edges.row] == group_of[edges.col]
    bound = np.zeros((tasks, nodes))
    for same, reach in ((True, _others(distance)), (False, distance)):
        ranked = -np.sort(-reach, axis=1) if worst else np.sort(reach, axis=1)
        keep = own == same
        bound += _products(edges.row[keep], group_of[edges.col[keep]], edges.data[keep], ranked, tasks)
    return bound


def _others(distance: FloatArray) -> FloatArray:
    """Return distances[q, q - 1] from every node to the other nodes."""
    size = len(distance)
    return distance[~np.eye(size, dtype=bool)].reshape(size, size - 1)


def _products(row: IntArray, group: IntArray, volume: FloatArray, ranked: FloatArray, tasks: int) -> FloatArray:
    """Return the sums of volumes, largest first within each (task, group), with ranked distances per node."""
    bound = np.zeros((tasks, len(ranked)))
    if not len(row):
        return bound
    order = np.lexsort((-volume, group, row))
    row, group, volume = row[order], group[order], volume[order]
    starts = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | (group[1:] != group[:-1])])
    lengths = np.diff(np.r_[starts, len(row)])
    rank = np.arange(len(row)) - np.repeat(starts, lengths)
    keep = rank < ranked.shape[1]
    volumes = sp.csr_array((volume[keep], (row[keep], rank[keep])), shape=(tasks, ranked.shape[1]))
    return np.asarray(volumes @ ranked.T)


def _ungrouped(window: Window, traffic: sp.csr_array, distance: FloatArray, *, worst: bool) -> FloatArray:
    """Return the bound where nodes are shared: the farthest node at most, the nearest free slots at least."""
    tasks, nodes = window.shape
    if worst:
        return np.outer(traffic.sum(axis=1), distance.max(axis=1))
    edges, room = traffic.tocoo(), window.capacities[0].room
    degree = int(np.bincount(edges.row, minlength=1).max())
    ranked = np.zeros((nodes, degree))
    for node in range(nodes):
        seats = np.minimum(room, degree)
        seats[node] = min(max(int(room[node]) - 1, 0), degree)
        order = np.argsort(distance[node], kind="stable")
        near = np.repeat(distance[node][order], seats[order])[:degree]
        ranked[node, : len(near)] = near
    return _products(edges.row, np.zeros(len(edges.row), np.int64), edges.data, ranked, tasks)
