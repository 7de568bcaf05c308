"""Orders of the hosts of a distance matrix, in which hosts that are close to each other follow each other."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import TreeMetric
from tiger.model.problem import Problem

LIMIT = 2048
LEVELS = 8


class Order(NamedTuple):
    """Hold `hosts[k]` in order, and `middle[low, high]`, where a run of them is best cut in two."""

    hosts: IntArray
    middle: dict[tuple[int, int], int]


def order_of(problem: Problem) -> Order:
    """Return the hosts by average linkage of their distances, in the order of their numbers above 2,048; O(k^2)."""
    # Loading these takes longer than most searches, and grids and trees never need them.
    from scipy.cluster.hierarchy import leaves_list, linkage, to_tree

    hosts = problem.topology.hosts
    if not 2 < len(hosts) <= LIMIT:
        return Order(hosts, {})
    above = np.triu_indices(len(hosts), 1)
    merges = linkage(_distances(problem, hosts)[above], method="average")
    middle: dict[tuple[int, int], int] = {}
    todo = [(to_tree(merges), 0)]
    while todo:
        cluster, low = todo.pop()
        if cluster.is_leaf():
            continue
        left, right = cluster.get_left(), cluster.get_right()
        middle[low, low + cluster.count] = low + left.count
        todo += [(left, low), (right, low + left.count)]
    return Order(hosts[leaves_list(merges)], middle)


def tree_of(problem: Problem) -> tuple[IntArray, TreeMetric] | None:
    """Return the hosts as the leaves of a regular tree that has their distances, None where there is none; O(k^2)."""
    hosts = problem.topology.hosts
    if not 2 < len(hosts) <= LIMIT:
        return None
    away = _distances(problem, hosts)
    steps = np.unique(away[0, 1:])
    if len(steps) > LEVELS:
        return None
    # Hosts of one cluster share their first member, so sorting by first members, widest clusters first, sorts them.
    first = [np.argmax(away <= step, axis=1) for step in steps[::-1]]
    order = np.lexsort((np.arange(len(hosts)), *first[::-1]))
    sizes = [int((away[0] <= step).sum()) for step in steps]
    if any(size % smaller for size, smaller in zip(sizes, [1, *sizes], strict=False)):
        return None
    fanouts = tuple(size // smaller for size, smaller in zip(sizes, [1, *sizes], strict=False))[::-1]
    metric = TreeMetric(fanouts, tuple(map(float, steps)))
    leaves = np.arange(len(hosts))
    alike = metric.between(leaves[:, None], leaves[None, :]) == away[np.ix_(order, order)]
    return (hosts[order], metric) if alike.all() else None


def _distances(problem: Problem, hosts: IntArray) -> FloatArray:
    """Return the mean distance there and back between hosts, 0 from a host to itself."""
    away = problem.metric.between(hosts[:, None], hosts[None, :])
    away = (away + away.T) / 2
    np.fill_diagonal(away, 0.0)
    return away
