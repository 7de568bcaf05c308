r"""Lower bounds for tasks whose traffic forms rings, such as those of collective operations.

Take the hosts in components whose distances are at most t. A ring that visits k >= 2 components leaves each of them, so
that at least k of its hops are longer than t, and k is at least the number K(t) of the largest components that have a
slot for every task together. With :math:`t_0 = 0 < t_1 < \ldots` the distances of a minimum spanning tree of the hosts,
and volumes :math:`c_1 \le c_2 \le \ldots` of the hops,

.. math::
    \max_e c_e d_e \ge \max_i\ t_{i+1}\, c_{K(t_i)}, \qquad
    \sum_e c_e d_e \ge \sum_i (t_{i+1} - t_i) \sum_{j \le K(t_i)} c_j.

Of several rings, each keeps its bounds: the largest one holds for the slowest hop, and their sum for the sum.

Where no host has more than one slot, the ring also keeps to hosts that no single one separates: those of one
biconnected component of the hosts at most t apart. Both bounds are met on trees whose leaves are all used, by the order
of the leaves.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tiger.bounds.capacity import count_slots
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.ring import Ring, find_rings

# A table of the distances between this many hosts takes 32 MB, and the tree 0.1 s.
HOSTS = 2048
# This many pairs of hosts take networkx 0.5 s to look for what separates them.
PAIRS = 1 << 16
# This many rings take 0.5 s.
RINGS = 1 << 12


class RingBounds(NamedTuple):
    """Hold lower bounds on the slowest hop and on the sum of all hops, each its volume times its distance."""

    slowest: float
    total: float


def bound_ring(problem: Problem) -> RingBounds:
    """Return bounds for every feasible mapping, 0 where the tasks form no rings or more than 2,048 nodes hold them.

    O(m^2 + r m) for m hosts and r rings, of which there may be 4,096. They err by what the sum of n products does.
    """
    hosts = problem.topology.hosts
    rings = find_rings(problem) if 0 < hosts.size <= HOSTS else []
    if not 0 < len(rings) <= RINGS:
        return RingBounds(0.0, 0.0)
    slots, lengths = _count_slots(problem), np.unique([len(ring.order) for ring in rings])
    distances = problem.metric.between(hosts[:, None], hosts[None, :])
    distances = np.minimum(distances, distances.T)
    steps, counts = _count_components(distances, slots, lengths)
    each = [_bound_one(ring, steps, counts[:, np.searchsorted(lengths, len(ring.order))]) for ring in rings]
    slowest = max(bounds.slowest for bounds in each)
    if slots.max() == 1:
        longest = max(rings, key=lambda ring: len(ring.order))
        least = np.maximum(longest.there, longest.back).min()
        slowest = max(slowest, _find_separating_distance(distances, len(longest.order)) * float(least))
    return RingBounds(slowest, sum(bounds.total for bounds in each))


def _bound_one(ring: Ring, steps: FloatArray, counts: IntArray) -> RingBounds:
    """Return the bounds of a ring that visits `counts[s]` components of hosts below each distance `steps[s]`."""
    larger, sums = np.sort(np.maximum(ring.there, ring.back)), np.r_[0.0, np.cumsum(np.sort(ring.there + ring.back))]
    # From some distance on, which may be infinite, the ring may lie inside one component.
    apart = int((counts > 1).sum())
    steps, visited = steps[:apart], np.minimum(counts[:apart], len(ring.order))
    slowest = (steps * larger[visited - 1]).max(initial=0.0)
    return RingBounds(float(slowest), float((np.diff(steps, prepend=0.0) * sums[visited]).sum()))


def _count_slots(problem: Problem) -> IntArray:
    """Return how many tasks each host holds at most."""
    if problem.groups:
        grouped = len(problem.groups) + int((problem.group_of < 0).sum())
        return np.full(problem.topology.hosts.size, grouped)
    return count_slots(problem)


def _count_components(distances: FloatArray, slots: IntArray, tasks: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the rising distances `steps[s]` of the minimum spanning tree, and components visited, `counts[s, l]`.

    Those are the components below each distance that a ring of `tasks[l]` visits at least. They end where one component
    has a slot for every task of the longest ring.
    """
    length, left, right = _span(distances)
    steps, counts, label = list[float](), list[IntArray](), np.arange(len(slots))
    order = np.argsort(length, kind="stable")
    for edge, begins in zip(order, np.diff(length[order], prepend=0.0) > 0, strict=True):
        if begins:
            largest = np.sort(np.bincount(label, slots))[::-1]
            count = np.searchsorted(np.cumsum(largest), tasks) + 1
            if count.max() < 2:
                break
            steps.append(float(length[edge]))
            counts.append(count)
        label[label == label[right[edge]]] = label[left[edge]]
    return np.array(steps), np.array(counts, np.int64).reshape(len(steps), len(tasks))


def _span(distances: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the lengths and the ends of the edges of a minimum spanning tree, by Prim's algorithm."""
    size = len(distances)
    nearest, near = distances[0].copy(), np.zeros(size, np.int64)
    nearest[0] = np.inf
    outside = np.ones(size, np.bool_)
    outside[0] = False
    length, left, right = np.zeros(size - 1), np.zeros(size - 1, np.int64), np.zeros(size - 1, np.int64)
    for k in range(size - 1):
        node = int(np.where(outside, nearest, np.inf).argmin())
        length[k], left[k], right[k] = nearest[node], near[node], node
        outside[node] = False
        closer = outside & (distances[node] < nearest)
        nearest[closer], near[closer] = distances[node][closer], node
    return length, left, right


def _find_separating_distance(distances: FloatArray, tasks: int) -> float:
    """Return a distance below which no biconnected component has a host for every task, the largest that is found.

    Each host needs two others near by, which gives the first one; the next follow in steps that double, then halve.
    """
    import networkx as nx  # here, since other graphs have no use for it

    apart = distances + np.diag(np.full(len(distances), np.inf))
    second = np.partition(apart, 1, axis=1)[:, 1]
    least = float(np.partition(second, tasks - 1)[tasks - 1])
    steps = np.unique(apart[(apart >= least) & np.isfinite(apart)])
    low, high, stride = 0, len(steps) - 1, 0
    while low < high:
        middle = min(low + stride, (low + high) // 2)
        if (apart <= steps[middle]).sum() > 2 * PAIRS:
            break
        graph = nx.from_scipy_sparse_array(sp.csr_array(apart <= steps[middle]))
        if max(map(len, nx.biconnected_components(graph)), default=0) >= tasks:
            high = middle
        else:
            low, stride = middle + 1, 2 * stride + 1
    return float(steps[low])
