"""Compiled refinement of a graph shared out among a few regions: annealing, cuts of pairs, and exact sizes.

Sources: D. S. Johnson, C. R. Aragon, L. A. McGeoch, C. Schevon, doi:10.1287/opre.37.6.865 (annealing for graph
partitioning with a penalty); C. M. Fiduccia, R. M. Mattheyses, doi:10.1109/DAC.1982.1585498.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.solvers.annealing.boundary import Boundary, update_boundary
from tiger.solvers.generator import Generator, draw_below, draw_uniform
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.fm_bisection import refine, value

# Moves of vertices at boundaries whose sizes give the scale of temperatures.
SAMPLE = 512
# Part of a cost that may be rounding alone.
ROUNDING = 1e-9


class Regions(NamedTuple):
    """Hold r regions: mean `distances[r, r]`, symmetric, within them on the diagonal, and what each may hold."""

    distances: FloatArray
    slots: IntArray


@allocating_kernel
def measure(graph: Graph, regions: Regions, region: IntArray) -> float:
    """Return the cost of all traffic by mean distances of `region[n]`; O(entries)."""
    cost = 0.0
    for t in range(len(region)):
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            cost += graph.flow[e] * regions.distances[region[t], region[graph.indices[e]]]
    return cost / 2


@inner_kernel
def change_of_region(graph: Graph, regions: Regions, region: IntArray, t: int, q: int) -> float:
    """Return the cost change of moving vertex t to region q, what is inside of it left out; O(degree)."""
    change, p = 0.0, region[t]
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        r = region[graph.indices[e]]
        change += graph.flow[e] * (regions.distances[q, r] - regions.distances[p, r])
    return change


@inner_allocating_kernel
def boundary_of(graph: Graph, region: IntArray) -> Boundary:
    """Return the vertices at boundaries of regions; O(entries)."""
    size = len(region)
    boundary = Boundary(
        np.empty(size, np.int64), np.zeros(1, np.int64), np.full(size, -1, np.int64), np.zeros(size, np.int64)
    )
    for t in range(size):
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            boundary.external[t] += region[graph.indices[e]] != region[t]
        update_boundary(boundary, t)
    return boundary


@inner_kernel
def draw_move(graph: Graph, boundary: Boundary, region: IntArray) -> tuple[int, int]:
    """Return a random vertex at the boundary, which is not empty, and the region of one of its neighbours."""
    t = boundary.vertices[np.random.randint(boundary.size[0])]
    e = graph.indptr[t] + np.random.randint(graph.indptr[t + 1] - graph.indptr[t])
    return t, region[graph.indices[e]]


@allocating_kernel
def typical_change(graph: Graph, regions: Regions, region: IntArray, seed: int) -> float:
    """Return the median cost change, its size, of vertices that go to the region of a neighbour; 0 without any."""
    np.random.seed(seed)
    boundary, sizes, found = boundary_of(graph, region), np.empty(SAMPLE), 0
    for _ in range(SAMPLE if boundary.size[0] > 0 else 0):
        t, q = draw_move(graph, boundary, region)
        if q != region[t]:
            sizes[found] = abs(change_of_region(graph, regions, region, t, q))
            found += 1
    return float(np.median(sizes[:found])) if found > 0 else 0.0


@allocating_kernel
def anneal_regions(
    graph: Graph, regions: Regions, region: IntArray, plan: tuple[FloatArray, float, int, int], generator: Generator
) -> None:
    """Let vertices at boundaries go, in place, to the region of a neighbour, by Metropolis' rule.

    A `plan` holds temperatures, the penalty on a unit of squared overload in terms of these, and how many moves are
    proposed at each temperature: for each vertex at the boundary, and at most in all. O(1) a proposal, O(degree r) one
    that is accepted.
    """
    temperatures, penalty, proposals, most = plan
    boundary, load, at = boundary_of(graph, region), np.zeros(len(regions.slots), np.int64), 0
    cost = region_costs(graph, regions, region)
    for t in range(len(region)):
        load[region[t]] += graph.weight[t]
    for temperature in temperatures:
        for _ in range(min(proposals * boundary.size[0], most)):
            if boundary.size[0] == 0:
                break
            # Vertices take turns: the next one is close in memory.
            at = at + 1 if at + 1 < boundary.size[0] else 0
            t = boundary.vertices[at]
            degree = graph.indptr[t + 1] - graph.indptr[t]
            q = region[graph.indices[graph.indptr[t] + draw_below(generator, degree)]]
            p, weight = region[t], graph.weight[t]
            if p == q:
                continue
            # Metropolis' rule, the draw first: the most that the move may cost and still be accepted.
            threshold = -temperature * np.log(1.0 - draw_uniform(generator))
            # The penalty on squared overload (Johnson et al. 1989).
            under, over = load[q] - regions.slots[q], load[p] - regions.slots[p]
            more = float(max(under + weight, 0)) ** 2 - float(max(under, 0)) ** 2
            less = float(max(over, 0)) ** 2 - float(max(over - weight, 0)) ** 2
            threshold -= penalty * temperature * (more - less)
            if cost[t, q] - cost[t, p] <= threshold:
                load[p] -= weight
                load[q] += weight
                for e in range(graph.indptr[t], graph.indptr[t + 1]):
                    u, flow = graph.indices[e], graph.flow[e]
                    for r in range(len(regions.slots)):
                        cost[u, r] += flow * (regions.distances[q, r] - regions.distances[p, r])
                move_vertex(graph, boundary, region, t, q)


@inner_allocating_kernel
def region_costs(graph: Graph, regions: Regions, region: IntArray) -> FloatArray:
    """Return `cost[n, r]` of the traffic of every vertex in every region; O(entries r)."""
    cost = np.zeros((len(region), len(regions.slots)))
    for t in range(len(region)):
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            other = region[graph.indices[e]]
            for r in range(len(regions.slots)):
                cost[t, r] += graph.flow[e] * regions.distances[other, r]
    return cost


@inner_kernel
def move_vertex(graph: Graph, boundary: Boundary, region: IntArray, t: int, q: int) -> None:
    """Move vertex t to region q and keep the boundary; O(degree)."""
    p = region[t]
    region[t] = q
    for e in range(graph.indptr[t], graph.indptr[t + 1]):
        u = graph.indices[e]
        step = int(region[u] == p) - int(region[u] == q)
        if step != 0:
            boundary.external[t] += step
            boundary.external[u] += step
            update_boundary(boundary, u)
    update_boundary(boundary, t)


@inner_allocating_kernel
def pair_graph(graph: Graph, regions: Regions, region: IntArray, pair: tuple[int, int], local: IntArray) -> Graph:
    """Return the graph of the vertices of two regions, in their order, as they are to be cut between the two.

    `local[n]` is scratch, -1 before; afterwards it numbers these vertices.
    """
    a, b = pair
    distances, size, entries = regions.distances, 0, 0
    for t in range(len(region)):
        if region[t] == a or region[t] == b:
            local[t] = size
            size += 1
            entries += graph.indptr[t + 1] - graph.indptr[t]
    indptr, indices, flow = np.zeros(size + 1, np.int64), np.empty(entries, np.int64), np.empty(entries)
    weight, memory, pull = np.empty(size, np.int64), np.zeros(size, np.int64), np.zeros(size)
    # An edge costs its step where it is cut, and half of the difference between the insides for each end on side 1.
    step, half = distances[a, b] - (distances[a, a] + distances[b, b]) / 2, (distances[b, b] - distances[a, a]) / 2
    filled, k = 0, 0
    for t in range(len(region)):
        if local[t] < 0:
            continue
        weight[k] = graph.weight[t]
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            u = graph.indices[e]
            if local[u] >= 0:
                indices[filled], flow[filled] = local[u], graph.flow[e] * step
                pull[k] += graph.flow[e] * half
                filled += 1
            else:
                pull[k] += graph.flow[e] * (distances[b, region[u]] - distances[a, region[u]])
        k += 1
        indptr[k] = filled
    return Graph(indptr, indices[:filled].copy(), flow[:filled].copy(), weight, memory, pull)


@allocating_kernel
def refine_pairs(graph: Graph, regions: Regions, region: IntArray, changed: BoolArray, seed: int) -> None:
    """Let pairs of regions that exchange traffic share out their vertices again, in place, in random order.

    Pairs of which neither has `changed[r]` stay as they are. O(entries times the regions that one borders on).
    """
    np.random.seed(seed)
    count, found = len(regions.slots), 0
    talks, pairs = np.zeros((count, count), np.bool_), np.empty((count * count, 2), np.int64)
    for t in range(len(region)):
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            talks[region[t], region[graph.indices[e]]] = True
    for a in range(count):
        for b in range(a + 1, count):
            if talks[a, b]:
                pairs[found] = a, b
                found += 1
    after = np.zeros(count, np.bool_)
    for k in np.random.permutation(found):
        a, b = pairs[k]
        if (changed[a] or changed[b] or after[a] or after[b]) and refine_pair(graph, regions, region, (a, b)):
            after[a] = after[b] = True
    changed[:] = after


@inner_allocating_kernel
def refine_pair(graph: Graph, regions: Regions, region: IntArray, pair: tuple[int, int]) -> bool:
    """Share out the vertices of two regions again by Fiduccia and Mattheyses' moves; return whether that is better."""
    a, b = pair
    local = np.full(len(region), -1, np.int64)
    part = pair_graph(graph, regions, region, pair, local)
    side, weight, side_weight = np.empty(len(part.weight), np.int64), part.weight.sum(), 0
    for t in range(len(region)):
        if local[t] >= 0:
            side[local[t]] = region[t] == b
            side_weight += graph.weight[t] if region[t] == a else 0
    none = np.int64(0)
    bounds = np.array([max(weight - regions.slots[b], none), min(regions.slots[a], weight), none, none])
    over, before = max(bounds[0] - side_weight, side_weight - bounds[1], 0), value(part, side)
    after, side_weight = refine(part, side, bounds), 0
    for k in range(len(side)):
        side_weight += part.weight[k] if side[k] == 0 else 0
    less = max(bounds[0] - side_weight, side_weight - bounds[1], 0)
    if less >= over and not after < before - ROUNDING * abs(before):
        return False
    for t in range(len(region)):
        if local[t] >= 0:
            region[t] = b if side[local[t]] else a
    return True


@allocating_kernel
def fit_regions(graph: Graph, regions: Regions, region: IntArray, most: int) -> bool:
    """Move vertices of weight 1, in place, along cheap chains of regions until none holds too much; return if so.

    At most `most` chains, O(entries + n r^2 + r^3) each.
    """
    count = len(regions.slots)
    load = np.zeros(count, np.int64)
    for t in range(len(region)):
        load[region[t]] += graph.weight[t]
    for _ in range(most):
        start = int((load - regions.slots).argmax())
        if load[start] <= regions.slots[start]:
            return True
        best, mover = cheapest_moves(graph, regions, region)
        # Shortest chains by Bellman and Ford, as moves may gain; cycles that gain are cut off after r rounds.
        cost, last = np.full(count, np.inf), np.full(count, -1, np.int64)
        cost[start] = 0.0
        end = -1
        for _ in range(count - 1):
            for p in range(count):
                for q in range(count):
                    if p != q != start and cost[p] + max(best[p, q], 0.0) < cost[q]:
                        cost[q], last[q] = cost[p] + max(best[p, q], 0.0), p
        for q in range(count):
            if load[q] < regions.slots[q] and cost[q] < np.inf and (end < 0 or cost[q] < cost[end]):
                end = q
        if end < 0:
            return False
        load[end] += 1
        load[start] -= 1
        while end != start:
            region[mover[last[end], end]] = end
            end = last[end]
    return bool((load <= regions.slots).all())


@inner_allocating_kernel
def cheapest_moves(graph: Graph, regions: Regions, region: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the least cost of moving a vertex between any two regions, and the vertex; O(entries + n r^2)."""
    count = len(regions.slots)
    best, mover = np.full((count, count), np.inf), np.full((count, count), -1, np.int64)
    flow = np.zeros(count)
    for t in range(len(region)):
        p = region[t]
        flow[:] = 0.0
        for e in range(graph.indptr[t], graph.indptr[t + 1]):
            flow[region[graph.indices[e]]] += graph.flow[e]
        for q in range(count):
            change = 0.0
            for r in range(count):
                change += flow[r] * (regions.distances[q, r] - regions.distances[p, r])
            if change < best[p, q]:
                best[p, q], mover[p, q] = change, t
    return best, mover
