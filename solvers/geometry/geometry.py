"""Geometry: a task graph that is a grid or a torus, laid onto the hardware by construction."""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.solvers.geometry.boxes import Box, Guillotine, Halving, place_by_halving
from tiger.solvers.geometry.folding import Folding, Level, foldings
from tiger.solvers.geometry.footprints import Footprint, Region, regions
from tiger.solvers.geometry.lattices import Lattice, may_be_lattice, merge_axes, recognise
from tiger.solvers.geometry.orders import Order, order_of, tree_of
from tiger.solvers.geometry.planes import reorder
from tiger.solvers.geometry.slabs import Filling, fold_lattice, straight, teeth, waves

FEWEST = 25
LEAVES = 1 << 14
LOOSE = 2
AXES = 4
WORK = 1 << 17
MOST = 8


@dataclass(frozen=True, slots=True)
class Geometry:
    """Recover the coordinates of tasks in a grid or torus and fold, block or halve it onto the nodes.

    Grids, tori and hypercubes: task axes folded along node axes, as boxes where nodes have several slots. Trees:
    straight cuts level by level. Any other distances: halves along an order of the nodes.
    """

    usage: ClassVar[Usage] = Usage(rounds="first")

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of the feasible `start[n]` and the mappings constructed; start where there are none.

        Deterministic, so effort and seed play no part. O(edges) where the graph is no lattice, else O(n log n) for
        each of up to 2**17 / n mappings, between 2 and 8 of each kind.
        """
        best = start.copy()
        fits = problem.rule != "levels" and problem.topology.hosts.size > 1
        lattice = recognise(problem) if fits else None
        if lattice is None:
            return Assignment(places=best)
        cost = _cost(problem, best)
        for places in _candidates(problem, lattice):
            found = _keep_pins(problem, places)
            if _is_feasible(problem, found) and (price := _cost(problem, found)) < cost:
                best, cost = found, price
            if stop():
                break
        return Assignment(places=best)


def applies(problem: Problem) -> bool:
    """Return whether the search is worth a try: 25 tasks or more that may be a lattice and have no levels; O(n).

    With fewer, where other searches find as much in less time, `search` does its work all the same.
    """
    return problem.tasks.size >= FEWEST and problem.rule != "levels" and may_be_lattice(problem)


def _candidates(problem: Problem, lattice: Lattice) -> Iterator[IntArray]:
    """Yield mappings by the structure of the hardware."""
    metric, seats = problem.topology.metric, _seats(problem)
    squared = merge_axes(lattice)
    shapes = [lattice, *([squared] if squared else [])] if len(lattice.dims) <= AXES else [squared or lattice]
    if isinstance(metric, GridMetric):
        edges = problem.tasks.traffic.tocoo()
        for region, places in _on_grid(metric, shapes, seats):
            yield reorder(region, places, (edges.row, edges.col, edges.data))
        return
    found = (np.arange(metric.size), metric) if isinstance(metric, TreeMetric) else tree_of(problem)
    for shape in shapes:
        if found is None:
            yield from _along(problem, shape, seats)
        else:
            yield from _on_tree(found[1], shape, found[0], seats)


def _seats(problem: Problem) -> IntArray:
    """Return how many tasks each node takes."""
    return np.minimum(problem.topology.slots, 1 if problem.groups else problem.tasks.size)


def _on_grid(metric: GridMetric, shapes: list[Lattice], seats: IntArray) -> Iterator[tuple[Region, IntArray]]:
    """Yield the foldings onto boxes of a grid of nodes that promise to be the cheapest, each with its box."""
    tasks = shapes[0].size
    keep = _mapping_limit(tasks)
    plans: list[tuple[float, Folding, int, Lattice, Region]] = []
    for region in regions(metric, seats, tasks):
        for shape in shapes:
            plans += [(*plan, len(plans), shape, region) for plan in foldings(shape, region.stages, keep)]
    for _, folding, _, shape, region in heapq.nsmallest(keep, plans, key=lambda plan: (plan[0], len(plan[1]))):
        for filling in _fillings(shape, folding):
            yield region, fold_lattice(shape, folding, region.footprint, filling)


def _fillings(lattice: Lattice, folding: Folding) -> Iterator[Filling]:
    """Yield the ways to fill layers that are cut through, only one where there are none."""
    yield straight(lattice)
    parts = [math.prod(digit.parts for digit in folding if digit.axis == axis) for axis in range(len(lattice.dims))]
    if any(extent % count for extent, count in zip(lattice.dims, parts, strict=True)):
        yield waves(lattice, folding)
        yield teeth(lattice, folding)


def _on_tree(metric: TreeMetric, lattice: Lattice, leaves: IntArray, seats: IntArray) -> Iterator[IntArray]:
    """Yield mappings onto the nodes `leaves[k]` of a tree: the cheapest foldings, and straight cuts.

    All leaves get their share, or the first ones are filled.
    """
    fanouts, distances = metric.fanouts, metric.distances[::-1]
    for row in _rows(seats[leaves], lattice.size):
        yield leaves[place_by_halving(lattice, row, Guillotine(lattice, fanouts, distances))]
    if _nodes_filled(seats[leaves], lattice.size) * LOOSE < len(leaves):
        return
    stages = tuple(Level(*level) for level in zip(range(len(fanouts)), fanouts, distances, strict=True))
    coords = np.stack(np.unravel_index(np.arange(len(leaves)), fanouts), axis=1)
    footprint = Footprint(leaves, coords, fanouts, seats[leaves])
    for _, folding in foldings(lattice, stages, -(-_mapping_limit(lattice.size) // 2)):
        yield fold_lattice(lattice, folding, footprint, straight(lattice))


def _along(problem: Problem, lattice: Lattice, seats: IntArray) -> Iterator[IntArray]:
    """Yield mappings that halve the lattice along its longest axis and the nodes by clusters, or by their numbers."""
    for order in (order_of(problem), Order(problem.topology.hosts, {})):
        for row in _rows(seats[order.hosts], lattice.size):
            yield order.hosts[place_by_halving(lattice, row, partial(_longest, lattice, order))]


def _longest(lattice: Lattice, order: Order, box: Box) -> Halving:
    """Return the cut across the longest axis of a box, for its traffic, at the middle of its run of nodes."""
    worth = np.array(box.sides) / np.maximum(lattice.pull, 1e-300)
    middle = order.middle.get((box.low, box.high), (box.low + box.high) // 2)
    return Halving(int(worth.argmax()), (middle - box.low) / (box.high - box.low), middle)


def _rows(seats: IntArray, tasks: int) -> Iterator[IntArray]:
    """Yield the seats of a row of nodes, unless there are twice as many as needed, and of the first that suffice."""
    filled = _nodes_filled(seats, tasks)
    if filled * LOOSE >= len(seats) and len(seats) <= LEAVES:
        yield seats
    if filled < len(seats) and filled <= LEAVES:
        yield seats[:filled]


def _nodes_filled(seats: IntArray, tasks: int) -> int:
    """Return how many nodes of a row hold all tasks."""
    return int(np.searchsorted(np.cumsum(seats), tasks)) + 1


def _mapping_limit(tasks: int) -> int:
    """Return how many mappings to try."""
    return min(max(WORK // tasks, 2), MOST)


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
    fits = bool((count <= _seats(problem)).all() and ((problem.pins < 0) | (problem.pins == places)).all())
    fits &= not (places[problem.banned[:, 0]] == problem.banned[:, 1]).any()
    if memory is not None and topology.memory is not None:
        need = np.zeros(topology.size, np.int64)
        np.add.at(need, places, memory)
        fits &= bool((need <= topology.memory).all())
    return fits


def _cost(problem: Problem, places: IntArray) -> float:
    """Return the cost of a mapping; O(edges)."""
    edges = problem.tasks.traffic.tocoo()
    away = problem.metric.between(places[edges.row], places[edges.col])
    return float((edges.data * away).sum() + (problem.tasks.work * problem.topology.cost[places]).sum())
