"""Tests of the picture."""

import sys

import networkx as nx
import pytest

from tiger.entry import problem_of
from tiger.errors import InputError
from tiger.formats.graphs import task_graph_of
from tiger.mapper import solve
from tiger.model.problem import Problem
from tiger.plotting import mapping as plot
from tiger.plotting.mapping import draw
from tiger.plotting.views.mapping import find_simple_order
from tiger.topologies.spec import build

PNG = b"\x89PNG"


def stencil():
    """Return a 3 x 3 stencil on a 3 x 3 torus."""
    return Problem(tasks=task_graph_of(nx.grid_2d_graph(3, 3)), topology=build("torus:3x3"), rule="one-to-one")


def test_a_mapping_is_drawn_as_png_and_svg(tmp_path):
    """Tests that the ending chooses the format and that both costs are titles."""
    problem = stencil()
    report = solve(problem)
    draw(problem, report.mapping, tmp_path / "a.png")
    draw(problem, report.mapping, tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes()[:4] == PNG
    assert (tmp_path / "a.svg").stat().st_size > 10_000


@pytest.mark.slow
def test_large_graphs_are_drawn_as_bars_alone(tmp_path, monkeypatch):
    """Tests the picture above the limit, on distances that are not whole and names without coordinates."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(6)), topology=build("tree:2x3@0.5,2.5"), rule="one-to-one")
    draw(problem, solve(problem).mapping, tmp_path / "small.png")
    monkeypatch.setattr(plot, "DRAWN_TASKS", 5)
    draw(problem, solve(problem).mapping, tmp_path / "large.png")
    assert (tmp_path / "large.png").stat().st_size < (tmp_path / "small.png").stat().st_size


def test_tasks_without_traffic_are_drawn(tmp_path):
    """Tests a graph without edges."""
    problem = Problem(tasks=task_graph_of(nx.empty_graph(4)), topology=build("ring:4"), rule="one-to-one")
    draw(problem, solve(problem).mapping, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == PNG


def test_the_better_of_two_simple_orders_is_drawn_beside():
    """Tests pairs that are neighbours in one order and half the tasks apart in the other."""
    for pairs, name, places in (([1, 3], "block", [0, 0, 1, 1]), ([2, 3], "cyclic", [0, 1, 0, 1])):
        graph = nx.empty_graph(4)
        graph.add_edges_from([(0, pairs[0]), (6 - sum(pairs), pairs[1])])
        order, found = find_simple_order(problem_of(graph, "grid:2", slots=2))
        assert (order, found.tolist()) == (name, places)


def test_unknown_nodes_are_refused(tmp_path):
    """Tests a mapping that does not belong to the problem."""
    with pytest.raises(InputError, match="mapping/0,0"):
        draw(stencil(), {"0,0": "9,9"}, tmp_path / "a.png")


def test_an_unsatisfiable_problem_cannot_be_drawn(tmp_path):
    """Tests a problem whose launch order does not exist."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(3)), topology=build("ring:2"), rule="one-to-one")
    with pytest.raises(InputError, match="satisfiable"):
        draw(problem, dict.fromkeys(problem.tasks.names, "0"), tmp_path / "a.png")


def test_a_missing_matplotlib_names_the_extra(tmp_path, monkeypatch):
    """Tests the advice."""
    monkeypatch.setitem(sys.modules, "matplotlib.cm", None)
    with pytest.raises(InputError, match=r"pip install 'tiger-mapper\[plot\]'"):
        draw(stencil(), {}, tmp_path / "a.png")
