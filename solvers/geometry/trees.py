"""Trees: hardware known by its distances alone whose hosts are the leaves of a regular tree, as those of a fat tree."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import TreeMetric
from tiger.model.problem import Problem

# Hosts up to which all distances are compared, and the most levels of a tree.
LIMIT, LEVELS = 2048, 8


def tree_of(problem: Problem) -> tuple[IntArray, TreeMetric] | None:
    """Return the hosts as the leaves of a regular tree that has their distances, None where there is none; O(k^2)."""
    hosts = problem.topology.hosts
    if not 2 < len(hosts) <= LIMIT:
        return None
    distances = _distances(problem, hosts)
    steps = np.unique(distances[0, 1:])
    if len(steps) > LEVELS:
        return None
    # Hosts of one cluster share their first member, so sorting by first members, widest clusters first, sorts them.
    first = [np.argmax(distances <= step, axis=1) for step in steps[::-1]]
    order = np.lexsort((np.arange(len(hosts)), *first[::-1]))
    sizes = [int((distances[0] <= step).sum()) for step in steps]
    if any(size % smaller for size, smaller in zip(sizes, [1, *sizes], strict=False)):
        return None
    fanouts = tuple(size // smaller for size, smaller in zip(sizes, [1, *sizes], strict=False))[::-1]
    metric = TreeMetric(fanouts, tuple(map(float, steps)))
    leaves = np.arange(len(hosts))
    alike = metric.between(leaves[:, None], leaves[None, :]) == distances[np.ix_(order, order)]
    return (hosts[order], metric) if alike.all() else None


def _distances(problem: Problem, hosts: IntArray) -> FloatArray:
    """Return the mean distance there and back between hosts, 0 from a host to itself."""
    distances = problem.metric.between(hosts[:, None], hosts[None, :])
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0.0)
    return distances
