"""Tests of the picture of a mapping."""

import networkx as nx
import pytest

from tiger.mapping.drawing import mapping as plot
from tiger.mapping.drawing.view import find_simple_order, view_mapping
from tiger.mapping.entry import problem_of
from tiger.mapping.mapper import solve


def drawn(tasks, hardware, **terms):
    """Return the figure of a mapping."""
    problem = problem_of(tasks, hardware, **terms)
    mapping = solve(problem).mapping
    return plot.draw_mapping(view_mapping(problem, mapping), problem, mapping)


def test_both_orders_are_drawn_with_their_costs():
    """Tests the titles of the graphs, and the legend of the bars below them."""
    bars, before, after, _ = drawn(nx.grid_2d_graph(3, 3), "torus:3x3").axes
    assert [before.get_title(loc) for loc in ("left", "center")] == ["", "block order: cost 12"]
    assert after.get_title() == "TIGER: cost 12"
    assert [text.get_text() for text in bars.get_legend().texts] == ["block order: cost 12", "TIGER: cost 12"]


def test_edges_have_the_colour_of_their_distance():
    """Tests that colours of a mapping without a detour are all alike, and those of the order before are not."""
    graph = nx.relabel_nodes(nx.path_graph(6), dict(enumerate([3, 0, 4, 1, 5, 2])))
    _, before, after, _ = drawn(nx.Graph(sorted(graph.edges)), "grid:6").axes
    shades = [{tuple(colour) for colour in axes.collections[0].get_colors()} for axes in (before, after)]
    assert len(shades[0]) > len(shades[1]) == 1


@pytest.mark.slow
def test_large_graphs_are_drawn_as_bars_alone(monkeypatch):
    """Tests the picture above the limit, on distances that are not whole."""
    monkeypatch.setattr(plot, "DRAWN_TASKS", 5)
    assert len(drawn(nx.path_graph(6), "tree:2x3@0.5,2.5").axes) == 1


@pytest.mark.slow
def test_tasks_without_traffic_are_drawn():
    """Tests a graph without edges."""
    assert len(drawn(nx.empty_graph(4), "ring:4").axes) == 4


def test_tasks_on_a_large_machine_have_their_own_distances():
    """Tests hardware that is shown by groups of nodes, on which the graph is drawn all the same."""
    _, _, after, _ = drawn(nx.path_graph(4), "torus:16x16x16").axes
    assert len(after.collections[0].get_segments()) == 3


def test_the_better_of_two_simple_orders_is_drawn_beside():
    """Tests pairs that are neighbours in one order and half the tasks apart in the other."""
    for pairs, name, places in (([1, 3], "block", [0, 0, 1, 1]), ([2, 3], "cyclic", [0, 1, 0, 1])):
        graph = nx.empty_graph(4)
        graph.add_edges_from([(0, pairs[0]), (6 - sum(pairs), pairs[1])])
        order, found = find_simple_order(problem_of(graph, "grid:2", slots=2))
        assert (order, found.tolist()) == (name, places)
