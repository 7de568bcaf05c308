"""Geometry: a task graph that is a grid or a torus, laid onto a grid or tree of nodes by construction."""

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.solvers.geometry.boxes import Grid, list_cheap_boxes, map_boxes
from tiger.solvers.geometry.diagonals import has_diagonals
from tiger.solvers.geometry.folding import Folding, TreeLevel, foldings
from tiger.solvers.geometry.footprints import Footprint, Region, axes_along, box, regions
from tiger.solvers.geometry.lattices import Lattice, may_be_lattice, merge_axes, recognise
from tiger.solvers.geometry.planes import reorder
from tiger.solvers.geometry.quotients import ChooseSearch, map_quotient
from tiger.solvers.geometry.slabs import fold_lattice
from tiger.solvers.geometry.transport import transport
from tiger.solvers.geometry.trees import tree_of

# Tasks from which on geometry is tried: with fewer, other searches find as much in less time.
FEWEST = 25
# Axes of a lattice up to which none are merged: otherwise foldings of hypercubes of up to 13 axes take twice as long.
AXES = 4
# Mappings tried: as many as have WORK tasks together, but at least LEAST and at most MOST.
WORK, LEAST, MOST = 1 << 17, 2, 8
# Tasks up to which mappings are moved to slots near by where some are missing, which takes 0.3 s for 4,096 and 1.5 s
# for 32,768: the cheapest folding, and below half as many the next one too. It is within 0.5 % of the best of 8.
MOVED = 1 << 15
# How many times the nodes that are needed a tree may have for shares to all of them to be tried.
LOOSE = 2
# Mappings of boxes tried on a grid or tree.
BOXED = 2


@dataclass(frozen=True, slots=True)
class Geometry:
    """Recover the coordinates of tasks in a grid or torus and fold it onto the nodes.

    Grids, tori and hypercubes: task axes folded along node axes, as boxes where nodes have several slots, and moved to
    the nearest slots where some are missing. Trees, and fat trees: task axes cut level by level. On either also the
    boxes of one node each, whose axes are embedded; elsewhere these are mapped by the search that `choose` returns.
    """

    usage: ClassVar[Usage] = Usage(rounds="first", seeded=False)
    choose: ChooseSearch | None = None

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of the feasible `start[n]` and the mappings constructed; start where there are none.

        Deterministic, so effort and seed play no part. O(edges) where the graph is no lattice, else O(n log n) for
        each of up to 2**17 / n mappings, between 2 and 8.
        """
        fits = problem.rule != "levels" and problem.topology.hosts.size > 1
        lattice = recognise(problem) if fits else None
        if lattice is None:
            return Assignment(places=start.copy())
        if len(lattice.dims) > AXES:
            lattice = merge_axes(lattice) or lattice
        # Candidates ignore pins, forbidden pairs and memory: pins are swapped in, and what breaks the rest is dropped.
        best, cost = start.copy(), _cost(problem, start)

        def below() -> float:
            """Return what the traffic of the cheapest mapping so far costs."""
            return _weigh_traffic(problem, best)

        for places in self._candidates(problem, lattice, below, stop):
            found = _keep_pins(problem, places)
            if _is_feasible(problem, found) and (price := _cost(problem, found)) < cost:
                best, cost = found, price
            if stop():
                break
        return Assignment(places=best)

    def _candidates(
        self, problem: Problem, lattice: Lattice, below: Callable[[], float], stop: Stop
    ) -> Iterator[IntArray]:
        """Yield foldings, then mappings of one box a node whose traffic costs less than `below()` where that shows."""
        yield from _foldings(problem, lattice)
        grid = _grid_of(problem)
        if grid is not None:
            yield from map_boxes(lattice, grid, below(), BOXED)
        elif self.choose is not None:
            slots, hosts = problem.topology.slots, problem.topology.hosts
            # Tasks alone on their nodes are what other searches map.
            room = int(slots[hosts].min())
            for parts in list_cheap_boxes(lattice, room, len(hosts)) if room > 1 else ():
                yield map_quotient(problem, lattice, parts, self.choose, stop)


def applies(problem: Problem) -> bool:
    """Return whether the search is worth a try: 25 tasks or more that may be a lattice and have no levels; O(n).

    With fewer, where other searches find as much in less time, `search` does its work all the same.
    """
    return problem.tasks.size >= FEWEST and problem.rule != "levels" and may_be_lattice(problem)


def has_holes(problem: Problem) -> bool:
    """Return whether slots are missing in the smallest box of a grid around all of them; O(m)."""
    metric, slots = problem.topology.metric, _count_slots(problem)
    if not isinstance(metric, GridMetric):
        return False
    return _is_uneven(box(metric, np.flatnonzero(slots), slots))


def is_close(problem: Problem) -> bool:
    """Return whether a mapping onto a grid with holes leaves little to gain: that of a whole lattice with diagonals.

    Others, and those that tasks are missing from, leave more. O(edges) but for lattices, as `recognise`.
    """
    lattice = recognise(problem) if has_diagonals(problem) else None
    return lattice is not None and math.prod(lattice.dims) == lattice.size


def _grid_of(problem: Problem) -> Grid | None:
    """Return the hosts as a whole grid or a regular tree, None where they are neither."""
    metric, slots = problem.topology.metric, _count_slots(problem)
    if isinstance(metric, GridMetric):
        around = box(metric, np.flatnonzero(slots), slots)
        return Grid(around, axes_along(metric, around.extents), metric, around.nodes) if around.slots.all() else None
    found = (np.arange(metric.size), metric) if isinstance(metric, TreeMetric) else tree_of(problem)
    if found is None or not slots[found[0]].all():
        return None
    leaves, tree = found
    coords = np.indices(tree.fanouts).reshape(len(tree.fanouts), -1).T
    stages = tuple(map(TreeLevel, range(len(tree.fanouts)), tree.fanouts, tree.distances[::-1]))
    return Grid(Footprint(leaves, coords, tree.fanouts, slots[leaves]), stages, tree, np.arange(tree.size))


def _is_uneven(footprint: Footprint) -> bool:
    """Return whether some nodes have more slots than others."""
    return bool((footprint.slots != footprint.slots[0]).any())


def _foldings(problem: Problem, lattice: Lattice) -> Iterator[IntArray]:
    """Yield mappings by the structure of the hardware."""
    metric, slots = problem.topology.metric, _count_slots(problem)
    if isinstance(metric, GridMetric):
        edges = problem.tasks.traffic.tocoo()
        for region, places in _on_grid(metric, lattice, slots):
            yield reorder(region, places, (edges.row, edges.col, edges.data))
        return
    found = (np.arange(metric.size), metric) if isinstance(metric, TreeMetric) else tree_of(problem)
    if found is not None:
        yield from _on_tree(found[1], lattice, found[0], slots)


def _count_slots(problem: Problem) -> IntArray:
    """Return how many tasks each node takes."""
    return np.minimum(problem.topology.slots, 1 if problem.groups else problem.tasks.size)


def _on_grid(metric: GridMetric, lattice: Lattice, slots: IntArray) -> Iterator[tuple[Region, IntArray]]:
    """Yield the foldings onto boxes of a grid of nodes that promise to be the cheapest, each with its box."""
    keep, moved = _mapping_limit(lattice.size), min(MOVED // lattice.size, LEAST)
    plans: list[tuple[float, Folding, int, Region]] = []
    for region in regions(metric, slots, lattice.size):
        plans += [(*plan, len(plans), region) for plan in foldings(lattice, region.stages, keep)]
    cheapest = heapq.nsmallest(keep, plans, key=lambda plan: (plan[0], len(plan[1])))
    for number, (_, folding, _, region) in enumerate(cheapest):
        yield region, fold_lattice(lattice, folding, region.footprint)
        if number < moved and _is_uneven(region.footprint):
            yield region, transport(lattice, folding, region)


def _on_tree(metric: TreeMetric, lattice: Lattice, leaves: IntArray, slots: IntArray) -> Iterator[IntArray]:
    """Yield the cheapest foldings onto the nodes `leaves[k]` of a tree: all get a share, or the first are filled."""
    filled = int(np.searchsorted(np.cumsum(slots[leaves]), lattice.size)) + 1
    # Without filling the first nodes, grids on fat trees with twice the hosts cost up to 5.4 % more (8 x 8 x 8 on
    # fat-tree:16), `auto` at effort 1; without shares for all, this search finds 20 % more for grids of 6 x 6 x 6 on
    # tree:8x4x4@1,5,9 with 2 slots a node.
    for used in dict.fromkeys((metric.size, filled)):
        if used > LOOSE * filled:
            continue
        # The smallest regular tree of first children that holds the nodes used; those beyond them get no tasks.
        fanouts = tuple(np.minimum(metric.fanouts, -(-used // metric.leaves[::-1])).tolist())
        coords = np.indices(fanouts).reshape(len(fanouts), -1).T
        room = np.where(np.arange(len(coords)) < used, slots[leaves[: len(coords)]], 0)
        footprint = Footprint(leaves[: len(coords)], coords, fanouts, room)
        stages = tuple(map(TreeLevel, range(len(fanouts)), fanouts, metric.distances[::-1]))
        for _, folding in foldings(lattice, stages, -(-_mapping_limit(lattice.size) // 2)):
            yield fold_lattice(lattice, folding, footprint)


def _mapping_limit(tasks: int) -> int:
    """Return how many mappings to try."""
    return min(max(WORK // tasks, LEAST), MOST)


def _keep_pins(problem: Problem, places: IntArray) -> IntArray:
    """Return the places with pinned tasks on their nodes, each in exchange for a task there that need not be."""
    found = places.copy()
    for task in np.flatnonzero((problem.pins >= 0) & (problem.pins != places)).tolist():
        node = problem.pins[task]
        others = np.flatnonzero((found == node) & (problem.pins != node))
        found[others[:1]] = found[task]
        found[task] = node
    return found


def _is_feasible(problem: Problem, places: IntArray) -> bool:
    """Return whether the places keep to slots, memory, pins and forbidden pairs; O(n + m)."""
    topology, memory = problem.topology, problem.tasks.memory
    count = np.bincount(places, minlength=topology.size)
    fits = bool((count <= _count_slots(problem)).all() and ((problem.pins < 0) | (problem.pins == places)).all())
    fits &= not (places[problem.banned[:, 0]] == problem.banned[:, 1]).any()
    if memory is not None and topology.memory is not None:
        need = np.zeros(topology.size, np.int64)
        np.add.at(need, places, memory)
        fits &= bool((need <= topology.memory).all())
    return fits


def _cost(problem: Problem, places: IntArray) -> float:
    """Return the cost of a mapping; O(edges)."""
    return _weigh_traffic(problem, places) + float((problem.tasks.work * problem.topology.cost[places]).sum())


def _weigh_traffic(problem: Problem, places: IntArray) -> float:
    """Return the cost of the traffic of a mapping; O(edges)."""
    edges = problem.tasks.traffic.tocoo()
    return float((edges.data * problem.metric.between(places[edges.row], places[edges.col])).sum())
