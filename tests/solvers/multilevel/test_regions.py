"""Tests of halves of hardware."""

import networkx as nx
import numpy as np
import pytest

from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.solvers.multilevel.regions import halve


def halves(metric, nodes=None, slots=None):
    """Return the nodes of the two halves, sorted."""
    nodes = np.arange(metric.size) if nodes is None else np.array(nodes)
    slots = np.ones(metric.size, np.int64) if slots is None else np.array(slots)
    found = halve(metric, [nodes], slots, np.random.default_rng(0))
    first, second = found.nodes[: found.cut[0]], found.nodes[found.cut[0] :]
    assert sorted([*first, *second]) == nodes.tolist()
    return sorted(map(sorted, (first.tolist(), second.tolist())))


def hops(graph):
    """Return the distances of a graph."""
    return DenseMetric(np.asarray(nx.floyd_warshall_numpy(nx.convert_node_labels_to_integers(graph))))


def test_a_grid_is_cut_across_its_longest_extent():
    """Tests a grid, and a torus of odd length."""
    assert halves(GridMetric((2, 4), (False, False))) == [[0, 1, 4, 5], [2, 3, 6, 7]]
    assert [len(half) for half in halves(GridMetric((5, 2), (True, True)))] == [6, 4]


def test_nodes_around_the_corner_of_a_ring_stay_together():
    """Tests the nodes beside the first one on a ring, where the wide gap is in the middle."""
    assert halves(GridMetric((100,), (True,)), [0, 1, 2, 97, 98, 99]) == [[0, 1, 2], [97, 98, 99]]


def test_a_widest_gap_may_be_the_last_or_one_of_two():
    """Tests rings of which more than half is in use: one ends where it begins, and one has two equal gaps."""
    assert halves(GridMetric((9,), (True,)), [0, 1, 3, 4, 5]) == [[0, 1], [3, 4, 5]]
    assert halves(GridMetric((8,), (True,)), [0, 1, 4, 5]) == [[0, 1], [4, 5]]


def test_a_grid_is_cut_by_seats():
    """Tests that one heavy node makes up half, and that a hyperplane too heavy is cut."""
    assert halves(GridMetric((4,), (False,)), slots=[9, 3, 3, 3]) == [[0], [1, 2, 3]]
    assert halves(GridMetric((3, 2), (False, False)), slots=[9, 9, 0, 1, 1, 0])[0] == [0]


def test_a_tree_is_cut_between_subtrees():
    """Tests three subtrees, what is left of two, and a single one."""
    metric = TreeMetric((3, 2, 2), (1.0, 10.0, 100.0))
    assert halves(metric) == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11]]
    assert halves(metric, [0, 3, 8, 9, 10]) == [[0, 3], [8, 9, 10]]
    assert halves(metric, [4, 5, 6, 7]) == [[4, 5], [6, 7]]


def test_a_tree_without_distances_is_cut_anywhere():
    """Tests that leaves which are all in one place do not stop the halving."""
    assert halves(TreeMetric((2, 2), (0.0, 0.0))) == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("graph", "across"),
    [(nx.hypercube_graph(5), 16), (nx.path_graph(12), 1), (nx.barbell_graph(7, 0), 1), (nx.grid_2d_graph(4, 10), 4)],
)
def test_other_hardware_is_cut_where_few_links_cross(graph, across):
    """Tests metrics given as a matrix against the narrowest cut."""
    metric = hops(graph)
    first, _ = halves(metric)
    assert nx.cut_size(nx.convert_node_labels_to_integers(graph), first) == across


def test_disconnected_parts_are_told_apart():
    """Tests two parts of unequal size, very far from each other."""
    table = np.full((10, 10), 1e6)
    table[:3, :3] = table[3:, 3:] = 1.0
    np.fill_diagonal(table, 0.0)
    assert halves(DenseMetric(table)) == [[0, 1, 2], [3, 4, 5, 6, 7, 8, 9]]


def test_equal_distances_are_cut_evenly():
    """Tests a complete graph, and nodes that are all in one place."""
    assert [len(half) for half in halves(hops(nx.complete_graph(12)))] == [6, 6]
    assert [len(half) for half in halves(DenseMetric(np.zeros((4, 4))))] == [2, 2]


@pytest.mark.parametrize("metric", [GridMetric((4, 6, 9), (True, False, True)), TreeMetric((6, 4, 9), (1.0, 2.0, 9.0))])
def test_regions_are_halved_together_as_one_by_one(metric):
    """Tests twenty regions of random nodes with random slots."""
    rng = np.random.default_rng(1)
    slots, order = rng.integers(1, 9, metric.size), rng.permutation(metric.size)
    regions = np.split(order, np.sort(rng.choice(np.arange(2, metric.size, 3), 19, replace=False)))
    found = halve(metric, regions, slots, rng)
    for c, nodes in enumerate(regions):
        alone = halve(metric, [nodes], slots, rng)
        assert found.nodes[found.start[c] : found.start[c + 1]].tolist() == alone.nodes.tolist()
        assert found.cut[c] - found.start[c] == alone.cut[0]
