"""Contract what sparse graphs have most of: dead ends and chains, along which a cut may be moved at no cost.

Roads and trees shrink to their junctions in one step, where matchings halve every chain again and again. Source: D.
Delling, A. V. Goldberg, I. Razenshteyn, R. F. Werneck, doi:10.1109/IPDPS.2011.108 (tiny cuts of road networks).
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel
from tiger.solvers.multilevel.coarsening import Graph, contract
from tiger.solvers.multilevel.label_propagation import CoarseLevel

# The share of vertices that a contraction must leave behind at most, and how many clusters of the largest size there
# are at least: with 1,024 random trees of 65,536 vertices cost 6 % more than with 4,096, roads of 16,384 3 % less.
SHRINK, PARTS = 0.5, 2048


class Peeling(NamedTuple):
    """Hold trees that hang on a graph: `into[n]`, which neighbour a vertex has joined, -1 for none.

    `peeled[: joined[0]]` are those that have, leaves before roots; the others have `mass[n]` with what has joined them,
    and `degree[n]` neighbours left.
    """

    into: IntArray
    peeled: IntArray
    joined: IntArray
    mass: IntArray
    degree: IntArray


@allocating_kernel
def contract_chains(graph: Graph) -> CoarseLevel:
    """Return the graph of junctions, each with the dead ends and the chains around it; O(entries).

    Where chains are too few the graph comes back as it is.
    """
    size, weight, low = len(graph.weight), 0, 0
    for t in range(size):
        weight += graph.weight[t]
        low += graph.indptr[t + 1] - graph.indptr[t] <= 2
    if size - low > SHRINK * size:
        return CoarseLevel(graph, np.arange(size))
    label = np.empty(size, np.int64)
    count = join_chains(graph, max(weight // PARTS, 1), label)
    if count > SHRINK * size:
        return CoarseLevel(graph, np.arange(size))
    return CoarseLevel(contract(graph, label, count), label)


@inner_allocating_kernel
def join_chains(graph: Graph, cap: int, label: IntArray) -> int:
    """Put clusters of a weight of at most `cap` into `label[n]`, and return how many there are."""
    size, peeling = len(label), peel(graph, cap)
    mass, queue, filled, count = np.empty(size, np.int64), np.empty(size, np.int64), 0, 0
    # Clusters grow from junctions and roots of trees, one step along every chain after another.
    label[:] = -1
    for t in range(size):
        if peeling.into[t] < 0 and peeling.degree[t] != 2:
            label[t], mass[count], queue[filled] = count, peeling.mass[t], t
            filled, count = filled + 1, count + 1
    grow_clusters(graph, peeling, cap, (label, mass, queue, filled))
    # What is left are the middles of long chains, and rings.
    for t in range(size):
        if label[t] < 0 and peeling.into[t] < 0:
            label[t], mass[count], queue[0] = count, peeling.mass[t], t
            grow_clusters(graph, peeling, cap, (label, mass, queue, 1))
            count += 1
    for k in range(peeling.joined[0] - 1, -1, -1):
        label[peeling.peeled[k]] = label[peeling.into[peeling.peeled[k]]]
    return count


@inner_allocating_kernel
def peel(graph: Graph, cap: int) -> Peeling:
    """Let vertices with one neighbour join it, leaves first, as long as they weigh at most `cap` together."""
    size = len(graph.weight)
    into, queue, ended, count = np.full(size, -1, np.int64), np.empty(size, np.int64), 0, 0
    mass, degree = graph.weight.copy(), graph.indptr[1:] - graph.indptr[:-1]
    for t in range(size):
        if degree[t] == 1:
            queue[ended] = t
            ended += 1
    at = 0
    while at < ended:
        t = queue[at]
        at += 1
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            u = graph.indices[e]
            # The one neighbour that has not joined another, itself perhaps a leaf by now.
            if into[u] < 0:
                if degree[t] == 1 and mass[u] + mass[t] <= cap:
                    into[t] = u
                    mass[u] += mass[t]
                    degree[u] -= 1
                    queue[count] = t
                    count += 1
                    if degree[u] == 1:
                        queue[ended] = u
                        ended += 1
                break
    return Peeling(into, queue, np.array([count]), mass, degree)


@inner_kernel
def grow_clusters(graph: Graph, peeling: Peeling, cap: int, growth: tuple[IntArray, IntArray, IntArray, int]) -> None:
    """Let clusters take in vertices with two neighbours next to them, in place, while they weigh at most `cap`.

    The growth holds `label[n]`, -1 outside of clusters, their `mass[c]`, and a queue of vertices and its length.
    """
    label, mass, queue, filled = growth
    at = 0
    while at < filled:
        t = queue[at]
        at += 1
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            u, c = graph.indices[e], label[t]
            if label[u] < 0 and peeling.into[u] < 0 and mass[c] + peeling.mass[u] <= cap:
                label[u] = c
                mass[c] += peeling.mass[u]
                queue[filled] = u
                filled += 1
