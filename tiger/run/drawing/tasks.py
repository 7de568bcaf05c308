"""A task graph as a picture shows it."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.tasks import TaskGraph
from tiger.run.drawing.graph import EDGES, GraphView, Groups, group_vertices, merge_edges
from tiger.run.drawing.positions import coordinates_of, fit, place_by_hops, place_on_grid


class GraphEdges(NamedTuple):
    """Hold edges `a[e]`, `b[e]` of a weight, and whether their direction counts."""

    a: IntArray
    b: IntArray
    weight: FloatArray
    directed: bool


def view_tasks(tasks: TaskGraph) -> tuple[GraphView, Groups]:
    """Return the view of a task graph, and the vertex that each task is part of; edges have their traffic."""
    ends = tasks.traffic.tocoo()
    edges = GraphEdges(ends.row.astype(np.int64), ends.col.astype(np.int64), ends.data, _has_order(tasks))
    return view_edges(tasks.names, edges)


def view_edges(names: tuple[str, ...], edges: GraphEdges) -> tuple[GraphView, Groups]:
    """Return the view of a graph whose vertices lie on the coordinates that they are named by, else by their hops."""
    groups = group_vertices(names, coordinates_of(names))
    everything = merge_edges(edges.a, edges.b, np.arange(len(names)), directed=edges.directed)
    merged = merge_edges(edges.a, edges.b, groups.group_of, directed=edges.directed)
    merged = merged.keep(EDGES, merged.sum(edges.weight))
    weight = merged.sum(edges.weight)
    if groups.coordinates is None:
        spots = place_by_hops(len(groups.names), merged.a, merged.b, weight)
    else:
        spots = place_on_grid(groups.coordinates)
    x, y = fit(spots)
    return GraphView(
        names=groups.names,
        x=x,
        y=y,
        counts=tuple(groups.counts.tolist()),
        a=tuple(merged.a.tolist()),
        b=tuple(merged.b.tolist()),
        weight=tuple(weight.tolist()),
        directed=edges.directed,
        total=len(names),
        total_edges=len(everything.a),
    ), groups


def _has_order(tasks: TaskGraph) -> bool:
    """Return whether edges say what comes first: they have directions, and no cycle."""
    if not tasks.directed or tasks.traffic.diagonal().any():
        return False
    strong, _ = connected_components(sp.csr_array(tasks.traffic), connection="strong")
    return bool(strong == tasks.size)
