"""Cut the tasks of regions to match halves of these: the graph of one cut, and many small cuts in one call."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel
from tiger.solvers.multilevel.coarsening import Graph, induced_graph, neighbour_regions
from tiger.solvers.multilevel.fm_bisection import TINY, bisect
from tiger.solvers.multilevel.outlines import enter_leans, mean_distance

# Least share of the distance between two halves that parting traffic costs, where nodes within are as far apart.
LEAST_STEP = 1e-3
# Part of a cost that may be rounding alone.
ROUNDING = 1e-9


class RegionTable(NamedTuple):
    """Hold where regions and tasks are.

    Region r has the outline `rows[r, w]`, and its nodes cost `price[r]` on average. `distances` are the distances of
    marginals, empty for probes. `region[n]` is where every task is, `shut[n]` +1 where one is forbidden on all of side
    1 of the cut at hand, -1 on all of side 0. `local[n]`, `seen[r]` and `lean[r + 1]` are scratch.
    """

    rows: FloatArray
    price: FloatArray
    distances: FloatArray
    region: IntArray
    shut: FloatArray
    local: IntArray
    seen: IntArray
    lean: FloatArray


class CutPlan(NamedTuple):
    """Hold cuts of regions, to be made in this order.

    Cut c divides `tasks[start[c] : start[c + 1]]`, in place, those of region `first[c]` before those of `second[c]`;
    `kept[c]` will be how many stay in the first one. Its `bounds[c, 4]` are those of a bisection, its seeds
    `seeds[c, cuts]`, and the halves have the outlines `rows[c, 2, w]` and the prices `price[c, 2]`.
    """

    tasks: IntArray
    start: IntArray
    first: IntArray
    second: IntArray
    bounds: IntArray
    seeds: IntArray
    rows: FloatArray
    price: FloatArray
    kept: IntArray


@allocating_kernel
def region_graph(inst: Instance, table: RegionTable, tasks: IntArray, a: int, b: int) -> Graph:
    """Return the graph of the tasks of regions a and b as they are to be cut between the two."""
    near = neighbour_regions(inst, tasks, table.region, table.seen)
    enter_leans(inst, table.rows, table.distances, (near, a, b), table.lean)
    across = mean_distance(inst, table.rows, table.distances, a, b)
    within = mean_distance(inst, table.rows, table.distances, a, a) + mean_distance(
        inst, table.rows, table.distances, b, b
    )
    table.lean[-1] = max(across - within / 2, LEAST_STEP * across)
    graph = induced_graph(inst, tasks, table.local, table.region, table.lean)
    dearer = table.price[b] - table.price[a]
    if dearer != 0.0:
        for k in range(len(tasks)):
            graph.pull[k] += inst.work[tasks[k]] * dearer
    if len(inst.ban_node) > 0:
        # More than all else together, so that a task goes where it may.
        whole = 1.0 + graph.flow.sum() + np.abs(graph.pull).sum()
        for k in range(len(tasks)):
            graph.pull[k] += table.shut[tasks[k]] * whole
    return graph


@allocating_kernel
def cut_regions(inst: Instance, table: RegionTable, plan: CutPlan, cuts: int, tries: int) -> None:
    """Cut the tasks of regions in two, each by the best of several cuts: `cuts` from scratch, then V-cycles.

    V-cycles coarsen within the sides of the best cut and so never lose it. O(cuts entries log n) time.
    """
    for c in range(len(plan.first)):
        a, b, begin, end = plan.first[c], plan.second[c], plan.start[c], plan.start[c + 1]
        # Regions not yet cut are still where they were, the halves of others where they are now.
        for half, r in enumerate((a, b)):
            table.rows[r], table.price[r] = plan.rows[c, half], plan.price[c, half]
        tasks = plan.tasks[begin:end].copy()
        graph, best, least = region_graph(inst, table, tasks, a, b), np.zeros(end - begin, np.int64), np.inf
        for number in range(plan.seeds.shape[1]):
            side = best.copy()
            cost = bisect(graph, side, plan.bounds[c], tries if number < cuts else 0, plan.seeds[c, number])
            if cost < least - ROUNDING * abs(cost):
                best, least = side, cost
            if end - begin <= TINY:
                # That was the best of all cuts.
                break
        plan.kept[c] = divide(plan.tasks[begin:end], tasks, best)
        for k in range(begin, end):
            table.region[plan.tasks[k]] = a if k < begin + plan.kept[c] else b


@inner_allocating_kernel
def divide(into: IntArray, tasks: IntArray, side: IntArray) -> int:
    """Put tasks of side 0, then those of side 1, into another array, and return how many are on side 0."""
    kept = len(side) - side.sum()
    at = np.array([0, kept])
    for k in range(len(tasks)):
        into[at[side[k]]] = tasks[k]
        at[side[k]] += 1
    return int(kept)
