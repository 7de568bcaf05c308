"""Graphs of weighted vertices, and smaller ones that stand for them: clusters of vertices joined into one."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel


class Graph(NamedTuple):
    """Hold n vertices and e neighbour entries, each edge in both rows.

    Row t of `indptr[n + 1]`, `indices[e]` lists neighbours, `flow[e]` is what parting them costs. Vertex t stands for
    `weight[t]` tasks with `memory[t]` bytes and costs `pull[t]` more on side 1 than on side 0 of a cut.
    """

    indptr: IntArray
    indices: IntArray
    flow: FloatArray
    weight: IntArray
    memory: IntArray
    pull: FloatArray


@inner_allocating_kernel
def neighbour_regions(inst: Instance, tasks: IntArray, region: IntArray, seen: IntArray) -> IntArray:
    """Return the regions, without repeats, of the neighbours of `tasks[k]`; O(their neighbour entries).

    `seen[r]` is scratch, 0 before and after.
    """
    # Marks instead of sorting: each region is listed when it is met first.
    found, count = np.empty(len(seen), np.int64), 0
    for t in tasks:
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            r = region[inst.indices[e]]
            if seen[r] == 0:
                seen[r] = 1
                found[count] = r
                count += 1
    for k in range(count):
        seen[found[k]] = 0
    return found[:count].copy()


@inner_allocating_kernel
def induced_graph(inst: Instance, tasks: IntArray, local: IntArray, region: IntArray, lean: FloatArray) -> Graph:
    """Return the graph of `tasks[k]` as they are to be cut in two; O(k + their neighbour entries).

    `region[n]` numbers where every task is. The last entry of `lean` is the cost of parting a unit of traffic, the
    others are what a unit with a task of a region costs more on side 1. `local[n]` is scratch, -1 before and after.
    """
    # Local numbers of the tasks, and room for all their edges.
    size, entries = len(tasks), 0
    for k in range(size):
        local[tasks[k]] = k
        entries += inst.indptr[tasks[k] + 1] - inst.indptr[tasks[k]]
    indptr, indices, flow = np.zeros(size + 1, np.int64), np.empty(entries, np.int64), np.empty(entries)
    weight, memory, pull = np.ones(size, np.int64), np.empty(size, np.int64), np.zeros(size)
    filled = 0
    for k in range(size):
        t = tasks[k]
        memory[k] = inst.memory[t]
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            u, volume = inst.indices[e], inst.out[e] + inst.back[e]
            # Inside an edge, outside a pull to the closer half (terminal propagation, Dunlop and Kernighan 1985).
            if local[u] >= 0:
                indices[filled], flow[filled] = local[u], volume * lean[-1]
                filled += 1
            else:
                pull[k] += volume * lean[region[u]]
        indptr[k + 1] = filled
    for k in range(size):
        local[tasks[k]] = -1
    return Graph(indptr, indices[:filled].copy(), flow[:filled].copy(), weight, memory, pull)


@inner_allocating_kernel
def cluster(graph: Graph, side: IntArray, cap: int, label: IntArray) -> int:
    """Join vertices of a side with those they exchange most with into `label[n]`; return how many clusters there are.

    Vertices come in random order. One prefers a partner that is alone; rather than stay alone it joins a cluster, none
    heavier than `cap`. Vertices without neighbours join each other. O(entries). The rating is that of M. Holtgrewe,
    P. Sanders, C. Schulz, arXiv:0910.2004.
    """
    count, isolated = 0, -1
    label[:] = -1
    mass, order = np.empty(len(label), np.int64), np.random.permutation(len(label))
    for t in order:
        if label[t] >= 0:
            continue
        # Heavy-edge clustering: the rating flow^2 / weight prefers light partners (Holtgrewe, Sanders, Schulz 2010).
        partner, best, alone = -1, 0.0, False
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            u = graph.indices[e]
            if side[u] != side[t] or (alone and label[u] >= 0):
                continue
            heavy = graph.weight[u] if label[u] < 0 else mass[label[u]]
            if heavy + graph.weight[t] > cap:
                continue
            rating = graph.flow[e] * graph.flow[e] / heavy
            if rating > best or (label[u] < 0 and not alone):
                partner, best, alone = u, rating, label[u] < 0
        if graph.indptr[t] == graph.indptr[t + 1]:
            if isolated >= 0 and side[isolated] == side[t] and mass[label[isolated]] + graph.weight[t] <= cap:
                partner = isolated
            isolated = t
        # A new cluster of one or two vertices, or one more vertex in that of the partner.
        if partner < 0 or label[partner] < 0:
            label[t], mass[count] = count, graph.weight[t]
            count += 1
            if partner >= 0:
                label[partner] = label[t]
                mass[label[t]] += graph.weight[partner]
        else:
            label[t] = label[partner]
            mass[label[t]] += graph.weight[t]
    return count


@allocating_kernel
def contract(graph: Graph, label: IntArray, count: int) -> Graph:
    """Return the graph whose vertices are the clusters `label[n]`; O(n + entries)."""
    # Counting sort of the vertices by cluster.
    start = np.zeros(count + 1, np.int64)
    for t in range(len(label)):
        start[label[t] + 1] += 1
    for c in range(count):
        start[c + 1] += start[c]
    members, at = np.empty(len(label), np.int64), start[:-1].copy()
    for t in range(len(label)):
        members[at[label[t]]] = t
        at[label[t]] += 1
    indptr, indices, flow = np.zeros(count + 1, np.int64), np.empty_like(graph.indices), np.empty_like(graph.flow)
    weight, memory, pull = np.zeros(count, np.int64), np.zeros(count, np.int64), np.zeros(count)
    # Parallel edges are summed: `entry[c]` is where the edge to cluster c is, if it has come up in this row.
    entry, filled = np.full(count, -1, np.int64), 0
    for c in range(count):
        first = filled
        for k in range(start[c], start[c + 1]):
            t = members[k]
            weight[c] += graph.weight[t]
            memory[c] += graph.memory[t]
            pull[c] += graph.pull[t]
            for e in range(graph.indptr[t], graph.indptr[t + 1]):
                other = label[graph.indices[e]]
                if other == c:
                    continue
                if entry[other] < first:
                    entry[other] = filled
                    indices[filled], flow[filled] = other, 0.0
                    filled += 1
                flow[entry[other]] += graph.flow[e]
        indptr[c + 1] = filled
    return Graph(indptr, indices[:filled].copy(), flow[:filled].copy(), weight, memory, pull)
