"""Compiled refinement of a mapping of clusters: each goes to the node of a neighbour where it costs least.

Nodes and wider domains may be overfull at a price that rises. Source: H. Meyerhenke, P. Sanders, C. Schulz,
doi:10.1007/978-3-319-07959-2_30 (size-constrained label propagation), here on what a mapping costs.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel
from tiger.solvers.multilevel.coarsening import Graph, cluster, contract

# Vertices whose gains give the scale of penalties.
SAMPLE = 256


class CoarseLevel(NamedTuple):
    """Hold a graph of a hierarchy, and `label[n]`, which of its vertices stands for each of the finer graph."""

    graph: Graph
    label: IntArray


class TieredCosts(NamedTuple):
    """Hold what a move depends on: distances as in Instance, and k tiers of domains as in Occupancy.

    Work costs `price[m]` on a node; `hosts` are the nodes with slots.
    """

    distances: FloatArray
    row: IntArray
    col: IntArray
    price: FloatArray
    label: IntArray
    limit: IntArray
    hosts: IntArray


@allocating_kernel
def coarsen(graph: Graph, cell: IntArray, cap: int, seed: int) -> CoarseLevel:
    """Return the next coarser graph, of clusters of vertices of one `cell[n]` that weigh at most `cap`; O(entries)."""
    np.random.seed(seed)
    size = len(graph.weight)
    label = np.empty(size, np.int64)
    count = cluster(graph, cell, cap, label)
    return CoarseLevel(contract(graph, label, count), label)


@allocating_kernel
def propagate(graph: Graph, hardware: TieredCosts, place: IntArray, sweeps: FloatArray, seed: int) -> None:
    """Move vertices, in place, to nodes of neighbours in other domains of the first tier; one sweep a row.

    A row holds the price of a unit of squared overload and a temperature, both relative to a typical gain, and how many
    times its limit a domain holds before its vertices may go to a random node. O(sweeps entries) and what moves cost.
    """
    np.random.seed(seed)
    tiers, nodes = hardware.label.shape
    load = np.zeros((tiers, nodes), np.int64)
    for t in range(len(place)):
        for k in range(tiers):
            load[k, hardware.label[k, place[t]]] += graph.weight[t]
    order = np.random.permutation(len(place))
    flow, near = np.zeros(nodes), np.empty(nodes, np.int64)
    scale = typical_gain(graph, hardware, place, order, flow, near)
    active = len(order)
    for step in range(len(sweeps)):
        penalty, temperature = scale * sweeps[step, 0], scale * sweeps[step, 1]
        # Later sweeps look at those vertices alone that had a neighbour in another domain.
        looked, active = active, 0
        for i in range(looked):
            t = order[i]
            count = collect(graph, hardware.label[0], place, t, flow, near)
            if count == 0:
                continue
            order[active] = t
            active += 1
            p, best, least = place[t], -1, 0.0
            if temperature > 0.0:
                least = -temperature * graph.weight[t] * np.log(np.random.random())
            for j in range(count):
                q = near[j]
                if hardware.label[0, q] == hardware.label[0, p]:
                    continue
                change = change_of(graph, hardware, (t, p, q), flow, near[:count])
                change += penalty * overload(hardware, load, p, q, graph.weight[t])
                if change < least:
                    best, least = q, change
            home = hardware.label[0, p]
            if best < 0 and load[0, home] > sweeps[step, 2] * hardware.limit[0, home]:
                q = hardware.hosts[np.random.randint(len(hardware.hosts))]
                change = change_of(graph, hardware, (t, p, q), flow, near[:count])
                change += penalty * overload(hardware, load, p, q, graph.weight[t])
                best = q if change < 0.0 and hardware.label[0, q] != home else -1
            for j in range(count):
                flow[near[j]] = 0.0
            if best >= 0:
                for k in range(tiers):
                    load[k, hardware.label[k, p]] -= graph.weight[t]
                    load[k, hardware.label[k, best]] += graph.weight[t]
                place[t] = best


@inner_kernel
def collect(graph: Graph, label: IntArray, place: IntArray, t: int, flow: FloatArray, near: IntArray) -> int:
    """Add up the traffic of vertex t by node in `flow[m]`, 0 before, list the nodes, and return how many they are.

    None where all of them are in its own domain.
    """
    home, outside = label[place[t]], False
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        if label[place[graph.indices[e]]] != home:
            outside = True
            break
    if not outside:
        return 0
    count = 0
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        q = place[graph.indices[e]]
        if flow[q] == 0.0:
            near[count] = q
            count += 1
        flow[q] += graph.flow[e]
    return count


@inner_kernel
def change_of(
    graph: Graph, hardware: TieredCosts, move: tuple[int, int, int], flow: FloatArray, near: IntArray
) -> float:
    """Return the cost change of a move of vertex t from node p to q, by its traffic to each of some nodes."""
    t, p, q = move
    change = graph.pull[t] * (hardware.price[q] - hardware.price[p])
    for r in near:
        other = hardware.col[r]
        change += flow[r] * (hardware.distances[hardware.row[q] + other] - hardware.distances[hardware.row[p] + other])
    return float(change)


@inner_kernel
def overload(hardware: TieredCosts, load: IntArray, p: int, q: int, weight: int) -> float:
    """Return the change in squared overload, in all tiers, of a weight that goes from node p to q."""
    change = 0.0
    for k in range(len(load)):
        a, b = hardware.label[k, p], hardware.label[k, q]
        # Domains are nested: what shares one shares all wider ones.
        if a == b:
            break
        over, under = load[k, a] - hardware.limit[k, a], load[k, b] - hardware.limit[k, b]
        change += float(max(under + weight, 0)) ** 2 - float(max(under, 0)) ** 2
        change -= float(max(over, 0)) ** 2 - float(max(over - weight, 0)) ** 2
    return change


@inner_allocating_kernel
def typical_gain(
    graph: Graph, hardware: TieredCosts, place: IntArray, order: IntArray, flow: FloatArray, near: IntArray
) -> float:
    """Return the median size of what the cheapest moves of some vertices change, for one unit of weight."""
    sizes, found = np.empty(SAMPLE), 0
    for t in order:
        count = collect(graph, hardware.label[0], place, t, flow, near)
        least = np.inf
        for j in range(count):
            if hardware.label[0, near[j]] != hardware.label[0, place[t]]:
                change = abs(change_of(graph, hardware, (t, place[t], near[j]), flow, near[:count]))
                if change > 0.0:
                    least = min(least, change)
        for j in range(count):
            flow[near[j]] = 0.0
        if least < np.inf:
            sizes[found] = least / graph.weight[t]
            found += 1
            if found == SAMPLE:
                break
    return float(np.median(sizes[:found])) if found else 0.0
