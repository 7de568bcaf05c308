"""Tests of telling diagonals of stencils from edges along an axis."""

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.solvers.geometry.diagonals import axis_edges, has_diagonals
from tiger.topologies.spec import build


def problem_of(graph):
    """Return a graph with room for all of it on one of two nodes."""
    hardware = build("grid:2").with_slots([len(graph)] * 2)
    return Problem(tasks=task_graph_of(graph), topology=hardware, rule="capacity")


def king(*dims):
    """Return a grid with all diagonals and its coordinates."""
    at = np.indices(dims).reshape(len(dims), -1).T
    near = np.abs(at[:, None] - at[None, :]).max(axis=2) == 1
    return nx.from_numpy_array(near.astype(int)), at


@pytest.mark.parametrize("dims", [(3, 3), (5, 4), (3, 3, 3), (4, 3, 5)])
def test_edges_along_an_axis_are_all_that_is_kept(dims):
    """Tests every edge of small stencils."""
    graph, at = king(*dims)
    problem = problem_of(graph)
    assert has_diagonals(problem)
    ends = np.array(sorted(graph.edges))
    traffic = problem.tasks.traffic + problem.inflow
    want = np.abs(at[ends[:, 0]] - at[ends[:, 1]]).sum(axis=1) == 1
    assert sorted(axis_edges(traffic, ends).tolist()) == ends[want].tolist()


@pytest.mark.parametrize(
    "graph", [nx.grid_2d_graph(6, 6), nx.random_regular_graph(8, 60, seed=1), nx.circulant_graph(60, [1, 2, 3, 4])]
)
def test_other_graphs_have_no_diagonals(graph):
    """Tests a grid without them, and tasks with 8 neighbours of which others are shared."""
    assert not has_diagonals(problem_of(nx.convert_node_labels_to_integers(graph)))
