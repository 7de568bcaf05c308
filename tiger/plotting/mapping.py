"""Draw what a mapping does to the traffic: the task graph before and after, and how far its traffic travels.

Needs the extra `tiger-mapper[plot]`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of
from tiger.plotting.views.mapping import distances_of, find_simple_order, places_of
from tiger.plotting.views.tasks import view_tasks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

# Graphs of more tasks are a blot, and their layout takes long.
DRAWN_TASKS = 1024


def draw(problem: Problem, mapping: Mapping[str, str], path: Path | str) -> None:
    """Write a picture of a feasible `mapping` {task: node} of a problem, beside the best simple order.

    Edges are coloured by the distance their traffic travels, tasks by the node they lie on; bars show the traffic at
    every distance. The ending of `path` chooses the format. Above 1,024 tasks only the bars are drawn. Raises
    InputError where matplotlib is missing or a task or node is unknown.
    """
    try:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise InputError("plot", "expected matplotlib: pip install 'tiger-mapper[plot]'") from None
    after, simple = places_of(problem, mapping), find_simple_order(problem, None)
    if simple is None:
        raise InputError("mapping", "expected a satisfiable problem, got one for which no simple order is known")
    name, before = simple
    titles = (f"{name} order", "TIGER")
    graphs = problem.tasks.size <= DRAWN_TASKS
    figure = Figure(figsize=(12, 8.2 if graphs else 3.6), layout="constrained")
    grid = figure.add_gridspec(2 if graphs else 1, 2, height_ratios=[3, 1] if graphs else [1])
    bars = figure.add_subplot(grid[-1, :])
    farthest = max(distances_of(problem, before).max(initial=1), distances_of(problem, after).max(initial=1))
    scale = ScalarMappable(Normalize(0, farthest), "coolwarm")
    for column, (title, places) in enumerate(zip(titles, (before, after), strict=True)):
        if graphs:
            axes = figure.add_subplot(grid[0, column])
            axes.set_title(f"{title}: cost {cost_of(problem, places).total:g}", fontsize=12)
            axes.set_axis_off()
            _draw_graph(axes, problem, places, scale)
        _draw_bars(bars, problem, places, (title, column))
    if graphs:
        figure.colorbar(scale, ax=figure.axes[1:], label="distance of an edge", ticks=MaxNLocator(integer=True))
    bars.xaxis.set_major_locator(MaxNLocator(integer=True))
    bars.set_xlabel("distance")
    bars.set_ylabel("traffic")
    bars.legend(frameon=False)
    bars.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def _draw_graph(axes: "Axes", problem: Problem, places: IntArray, scale: "ScalarMappable") -> None:
    """Draw the task graph at fixed positions, the same for every mapping."""
    edges = problem.tasks.traffic.tocoo()
    graph = nx.Graph()
    graph.add_nodes_from(range(problem.tasks.size))
    graph.add_edges_from(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    view, _ = view_tasks(problem.tasks)
    spots = {k: (x, -y) for k, (x, y) in enumerate(zip(view.x, view.y, strict=True))}
    away = {
        (min(u, v), max(u, v)): d for u, v, d in zip(edges.row, edges.col, distances_of(problem, places), strict=True)
    }
    colours = [away[min(u, v), max(u, v)] for u, v in graph.edges]
    size = float(np.clip(9000 / problem.tasks.size, 12, 420))
    nx.draw_networkx_edges(
        graph,
        spots,
        ax=axes,
        edge_color=colours,
        edge_cmap=scale.cmap,
        edge_vmin=0,
        edge_vmax=scale.norm.vmax,
        width=2.5,
    )
    nx.draw_networkx_nodes(
        graph, spots, ax=axes, node_color=places, cmap="viridis", vmin=0, vmax=problem.topology.size, node_size=size
    )


def _draw_bars(axes: "Axes", problem: Problem, places: IntArray, series: tuple[str, int]) -> None:
    """Draw the traffic at every distance; distances that are not whole are put into twenty bins."""
    title, column = series
    away, volume = distances_of(problem, places), problem.tasks.traffic.data
    whole = bool((away == np.floor(away)).all()) and away.max(initial=0) <= 40
    edges = np.arange(away.max(initial=0) + 2) - 0.5 if whole else np.linspace(0, away.max(initial=1), 21)
    heights, _ = np.histogram(away, bins=edges, weights=volume)
    width = 0.4 * (edges[1] - edges[0])
    centres = (edges[:-1] + edges[1:]) / 2
    axes.bar(centres + (column - 0.5) * width, heights, width, label=title, color=("#b0413e", "#2f6690")[column])
