"""Tests of telling which edges run parallel."""

import networkx as nx
import numpy as np

from tiger.solvers.geometry import squares
from tiger.solvers.geometry.squares import axes_of


def edges(graph):
    """Return the edges as index pairs, the lower end first."""
    tidy = nx.convert_node_labels_to_integers(graph, ordering="sorted")
    return np.sort(np.array(sorted(tidy.edges)), axis=1)


def test_axes_of_a_small_grid():
    """Tests 2 x 3: steps of 1 and of 3 in the numbers of tasks."""
    ends = edges(nx.grid_2d_graph(2, 3))
    axis = axes_of(6, ends)
    assert len(set(axis.tolist())) == 2
    for step in (1, 3):
        assert len(set(axis[ends[:, 1] - ends[:, 0] == step].tolist())) == 1


def test_edges_in_no_square_have_no_axis():
    """Tests a square with a tail."""
    ends = np.array([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4]])
    axis = axes_of(5, ends)
    assert axis[4] == -1
    assert axis[0] == axis[3] != axis[1] == axis[2]


def test_a_path_has_no_axis():
    """Tests that without squares nothing is known."""
    assert (axes_of(4, np.array([[0, 1], [1, 2], [2, 3]])) == -1).all()


def test_many_corners_are_not_looked_at(monkeypatch):
    """Tests the limit."""
    monkeypatch.setattr(squares, "PAIRS", 3)
    assert axes_of(4, np.array([[0, 1], [0, 2], [1, 3], [2, 3]])) is None
