"""A mapping as pictures show it: tasks on hardware before and after, loads, distances, and who talks to whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.mapping.drawing.topology import Hardware, view_hardware, wire
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.document import Document
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.objectives.multipath import load_links
from tiger.objectives.names import RoutingName
from tiger.run.baselines import cyclic_order
from tiger.run.drawing.graph import SCHEMA, GraphView, Groups, Merged, TopologyView
from tiger.run.drawing.tasks import view_tasks

OrderName = Literal["block", "cyclic", "TIGER"]
# Rows and columns of the communication matrix: a dot each on the smallest screens.
CELLS = 512
# Distances up to so many whole hops have a bar each, others share so many.
WHOLE_HOPS, BINS = 40, 20
# Seconds to look for the order in blocks, which takes milliseconds where it is easy; the picture can do without it.
ORDER_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Document):
    """Show where tasks lie and what follows: the node of each task vertex, or of most of its tasks, and the work on it.

    `link_load` is what crosses each link of the topology, both directions together, None without links. `volume` is
    the traffic at each of the distances. Cell `row`, `column` of the communication matrix has a `value`, the tasks in
    the order of the nodes they lie on; traffic without a direction counts half in each.
    """

    name: OrderName
    cost: float
    places: tuple[int, ...]
    node_load: tuple[float, ...]
    link_load: tuple[float, ...] | None
    volume: tuple[float, ...]
    row: tuple[int, ...]
    column: tuple[int, ...]
    value: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixView(Document):
    """Show a matrix of `size` rows and columns, of so many tasks each."""

    size: int
    tasks_per_cell: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingView(Document):
    """Show a mapping beside the cheaper of the orders in blocks and in turns, missing where neither is allowed.

    `distances` are the left ends of the bins of a histogram, each `distance_width` wide, or with a width of 0 the few
    distances that there are.
    """

    schema: Literal["tiger.view/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Literal["mapping"] = field(default="mapping", init=False, repr=False)
    tasks: GraphView
    topology: TopologyView
    orders: tuple[Order, ...]
    distances: tuple[float, ...]
    distance_width: float
    matrix: MatrixView


class Bins(NamedTuple):
    """Hold the left ends of bins of distances and their width, or single distances and a width of 0."""

    left: FloatArray
    width: float

    def sum(self, distances: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights in each bin; the last one has whatever is farther."""
        at = np.maximum(np.searchsorted(self.left, distances, side="right") - 1, 0)
        return np.bincount(at, weights, len(self.left)).astype(np.float64)


class _Screen(NamedTuple):
    """Hold what orders are shown on: the groups of tasks, hardware with its links, and bins of distances."""

    groups: Groups
    hardware: Hardware
    links: Merged
    bins: Bins


def view_mapping(problem: Problem, mapping: Mapping[str, str], routing: RoutingName = "single") -> MappingView:
    """Return the view of a feasible `mapping` {task: node} of a problem; loads of links are under a routing.

    Raises InputError where a task or node is unknown, and of `routing` as `load_links` does.
    """
    after, before = places_of(problem, mapping), find_simple_order(problem)
    named: list[tuple[OrderName, IntArray]] = [*([] if before is None else [before]), ("TIGER", after)]
    tasks, groups = view_tasks(problem.tasks)
    hardware = wire(problem.topology)
    loads = [load_links(problem, places, routing) for _, places in named]
    carried = [hardware.load(each) for each in loads if each is not None]
    links = hardware.merge(np.max(carried, axis=0) if carried else None)
    screen = _Screen(groups, hardware, links, bin_distances([distances_of(problem, places) for _, places in named]))
    size = min(problem.tasks.size, CELLS)
    return MappingView(
        tasks=tasks,
        topology=view_hardware(hardware, links),
        orders=tuple(
            _view_order(problem, each, screen, carried[number] if carried else None)
            for number, each in enumerate(named)
        ),
        distances=tuple(screen.bins.left.tolist()),
        distance_width=screen.bins.width,
        matrix=MatrixView(size=size, tasks_per_cell=problem.tasks.size / size),
    )


def find_simple_order(problem: Problem, limit_s: float | None = ORDER_S) -> tuple[OrderName, IntArray] | None:
    """Return the cheaper of the orders in blocks and in turns, by name, None where neither is found to be feasible.

    `limit_s` is as in `launch_order`.
    """
    from tiger.feasibility.start import launch_order  # which takes longer to import than all the rest

    block, cyclic = launch_order(problem, limit_s), cyclic_order(problem)
    if isinstance(block, tuple):
        # Dealing out in turns takes it for granted that there is a mapping.
        return None if cyclic is None or violations(problem, cyclic) else ("cyclic", cyclic)
    found: list[tuple[OrderName, IntArray]] = [("block", block)]
    found += [] if cyclic is None else [("cyclic", cyclic)]
    return min(found, key=lambda each: cost_of(problem, each[1]).total)


def places_of(problem: Problem, mapping: Mapping[str, str]) -> IntArray:
    """Return the node indices of a mapping by name; raise InputError for a task without a node that is known."""
    index = {name: k for k, name in enumerate(problem.topology.names)}
    for task in problem.tasks.names:
        if mapping.get(task) not in index:
            raise InputError(f"mapping/{task}", f"expected a node of the topology, got {mapping.get(task)!r}")
    return np.array([index[mapping[task]] for task in problem.tasks.names])


def distances_of(problem: Problem, places: IntArray) -> FloatArray:
    """Return the distance of every traffic entry."""
    edges = problem.tasks.traffic.tocoo()
    return problem.metric.between(places[edges.row], places[edges.col])


def bin_distances(distances: Sequence[FloatArray]) -> Bins:
    """Return bins for the distances of mappings: one for each of 40 whole hops or twenty others, else for ranges."""
    every = np.concatenate(distances)
    farthest = float(every.max(initial=0.0))
    if farthest <= WHOLE_HOPS and (every == np.floor(every)).all():
        return Bins(np.arange(farthest + 1), 1.0)
    # Sorted, since levels of a tree are few, and looking for them by hash takes seconds for millions.
    ordered = np.sort(every)
    distinct = ordered[np.concatenate([[True], np.diff(ordered) > 0])]
    if len(distinct) <= BINS:
        return Bins(distinct, 0.0)
    return Bins(np.linspace(0.0, farthest, BINS, endpoint=False), farthest / BINS)


def _view_order(
    problem: Problem, named: tuple[OrderName, IntArray], screen: _Screen, carried: FloatArray | None
) -> Order:
    """Return the view of one order."""
    (name, places), vertices = named, len(screen.hardware.groups.names)
    edges = problem.tasks.traffic.tocoo()
    apart = edges.row != edges.col
    volume = screen.bins.sum(distances_of(problem, places)[apart], edges.data[apart])
    vertex = screen.hardware.node_vertex[places]
    row, column, value = _matrix(problem, places)
    return Order(
        name=name,
        cost=cost_of(problem, places).total,
        places=tuple(_most_common(screen.groups.group_of, vertex, vertices).tolist()),
        node_load=tuple(np.bincount(vertex, problem.tasks.work, vertices).tolist()),
        link_load=None if carried is None else tuple(screen.links.sum(carried).tolist()),
        volume=tuple(volume.tolist()),
        row=tuple(row.tolist()),
        column=tuple(column.tolist()),
        value=tuple(value.tolist()),
    )


def _most_common(group_of: IntArray, vertex: IntArray, vertices: int) -> IntArray:
    """Return the vertex that most members of each group are on, of several the first."""
    pair, count = np.unique(group_of * vertices + vertex, return_counts=True)
    group = pair // vertices
    order = np.lexsort((pair, -count, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.asarray(pair[order[first]] % vertices)


def _matrix(problem: Problem, places: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the cells of the communication matrix that are not empty, tasks in the order of the nodes they lie on."""
    tasks = problem.tasks
    size = min(tasks.size, CELLS)
    rank = np.empty(tasks.size, np.int64)
    rank[np.argsort(places, kind="stable")] = np.arange(tasks.size)
    cell, edges = rank * size // tasks.size, tasks.traffic.tocoo()
    row, column, value = cell[edges.row], cell[edges.col], edges.data
    if not tasks.directed:
        row, column, value = np.concatenate([row, column]), np.concatenate([column, row]), np.tile(value / 2, 2)
    spot, inverse = np.unique(row * size + column, return_inverse=True)
    return spot // size, spot % size, np.bincount(inverse, value, len(spot)).astype(np.float64)
