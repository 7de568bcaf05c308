"""Draw what a mapping does to the traffic: the task graph before and after, and how far its traffic travels."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tiger.mapping.drawing.hops import add_hops, name_order
from tiger.mapping.drawing.view import MappingView, find_simple_order, places_of
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.run.drawing.style import DISTANCES, NODES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

    from tiger.run.drawing.figure import Picture

# Graphs of more tasks are a blot.
DRAWN_TASKS = 1024
GRAPH_IN, BARS_IN = 5.6, 2.8
# What tasks share out of the picture, in square points, and the least and most of one.
TASKS, SMALLEST, LARGEST = 9000, 12, 420
# Points of an edge are so many over the square root of the tasks, with a least and a most.
EDGES, THINNEST, WIDEST = 40, 0.6, 2.2


def draw_mapping(view: MappingView, problem: Problem, mapping: Mapping[str, str]) -> "Picture":
    """Draw a mapping {task: node} of a problem beside the best simple order.

    Edges are coloured by the distance that their traffic travels, tasks by the node that they lie on; bars show the
    traffic at every distance. Above 1,024 tasks the bars alone are drawn.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.ticker import MaxNLocator

    from tiger.run.drawing.figure import new_figure

    graphs = len(view.orders) if problem.tasks.size <= DRAWN_TASKS else 0
    figure = new_figure(BARS_IN + (GRAPH_IN if graphs else 0))
    grid = figure.add_gridspec(2 if graphs else 1, graphs or 1, height_ratios=[2, 1] if graphs else [1])
    add_hops(figure.add_subplot(grid[-1, :]), view)
    sides = _list_places(problem, mapping) if graphs else []
    away = [_distances(view, problem, places) for places in sides]
    farthest = max((float(each.max(initial=0.0)) for each in away), default=0.0) or 1.0
    scale = ScalarMappable(Normalize(0, farthest), LinearSegmentedColormap.from_list("distances", DISTANCES))
    for column, (order, places, distance) in enumerate(zip(view.orders, sides, away, strict=False)):
        axes = figure.add_subplot(grid[0, column])
        axes.set_title(f"{name_order(order)}: cost {order.cost:g}")
        _draw_graph(axes, view, (distance, scale), places / problem.topology.size)
    if graphs:
        ticks = MaxNLocator(integer=bool(all((each % 1 == 0).all() for each in away)))
        figure.colorbar(
            scale,
            ax=figure.axes[1:],
            label="lines: distance of two tasks that talk; dots: their nodes, in order",
            ticks=ticks,
        )
    return figure


def _list_places(problem: Problem, mapping: Mapping[str, str]) -> list[IntArray]:
    """Return the nodes of the tasks in every order of the view: the best simple one, if any, and the mapping."""
    before = find_simple_order(problem)
    return [*([] if before is None else [before[1]]), places_of(problem, mapping)]


def _distances(view: MappingView, problem: Problem, places: IntArray) -> FloatArray:
    """Return the distance that each edge of the drawn graph travels."""
    ends = np.array([view.tasks.a, view.tasks.b], np.int64)
    return np.asarray(problem.metric.between(places[ends[0]], places[ends[1]]), np.float64)


def _draw_graph(
    axes: "Axes", view: MappingView, edges: tuple[FloatArray, "ScalarMappable"], shades: FloatArray
) -> None:
    """Draw the task graph, at the same positions for every order."""
    from matplotlib.collections import LineCollection

    graph, (distance, scale) = view.tasks, edges
    spots = np.stack([graph.x, graph.y], axis=1)
    ends = np.array([graph.a, graph.b], np.int64).T
    # The long edges are what there is to see: they lie on top.
    order = np.argsort(distance, kind="stable")
    width = float(np.clip(EDGES / np.sqrt(graph.total), THINNEST, WIDEST))
    colours = scale.to_rgba(distance[order])
    axes.add_collection(LineCollection(list(spots[ends[order]]), colors=colours, linewidths=width))
    size = float(np.clip(TASKS / graph.total, SMALLEST, LARGEST))
    dots = axes.scatter(spots[:, 0], spots[:, 1], s=size, c=shades, cmap=NODES, vmin=0, vmax=1, zorder=2)
    dots.set(edgecolors="white", linewidths=0.5)
    axes.set_aspect("equal")
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(1.05, -0.05)
    axes.set_axis_off()
