"""Tiers of a machine: nodes that are closer to each other than to others, in domains within domains."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.problem import Problem

# Hosts up to which all distances are clustered, in O(m^2).
LIMIT = 1024
# How many times farther apart the domains of a tier are than those of the tier below.
JUMP = 2.0


def tiers_of(problem: Problem) -> IntArray:
    """Return `label[k, m]`, the domain of every node in k tiers: the nodes themselves first, then wider domains.

    A domain holds the hosts that steps of a limited distance connect; one tier follows another where that distance has
    to grow at least twofold. O(m^2) time; machines with more than 1,024 hosts have one tier, unless they are trees, and
    so has a grid.
    """
    hosts, size = problem.topology.hosts, problem.topology.size
    own = np.arange(size)
    if isinstance(problem.metric, TreeMetric) and len(hosts) > LIMIT:
        return _subtrees(problem.metric)
    if isinstance(problem.metric, GridMetric) or not 2 < len(hosts) <= LIMIT:
        return own[None]
    distances = problem.metric.between(hosts[:, None], hosts[None, :])
    tree = linkage(squareform(np.maximum(distances, distances.T), checks=False), "single")
    # Single linkage: domains at a height are the components of the graph of all shorter steps.
    tiers, last = [own], tree[0, 2]
    for height in np.unique(tree[:, 2]):
        if height >= JUMP * last and height > 0:
            label = own.copy()
            label[hosts] = hosts[first_of(fcluster(tree, (last + height) / 2, "distance"))]
            tiers.append(label)
            last = height
        last = max(last, 0.0)
    return np.stack(tiers)


def _subtrees(metric: TreeMetric) -> IntArray:
    """Return the tiers of a tree: the subtrees of every level that is twice as far apart as the one within."""
    own = np.arange(metric.size)
    # A level of which every subtree has one within tells nothing apart.
    levels = zip(metric.leaves, metric.fanouts[::-1], metric.distances, strict=True)
    (_, last), *wider = [(leaves, distance) for leaves, fanout, distance in levels if fanout > 1]
    tiers = [own]
    for leaves, distance in wider:
        if distance >= JUMP * last and distance > 0:
            tiers.append(own // leaves * leaves)
            last = distance
    return np.stack(tiers)


def first_of(cluster: IntArray) -> IntArray:
    """Return the position of the first member of each one's cluster."""
    _, first, inverse = np.unique(cluster, return_index=True, return_inverse=True)
    return first[inverse]
