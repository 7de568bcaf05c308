"""Tests of the contraction of chains and dead ends."""

import networkx as nx
import numpy as np

from tiger.solvers.multilevel import low_degree
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.low_degree import contract_chains


def graph_of(graph):
    """Return a graph of vertices of weight 1 that are numbered from 0."""
    matrix = nx.to_scipy_sparse_array(graph, nodelist=range(len(graph)), dtype=float).tocsr()
    ones = np.ones(len(graph), np.int64)
    parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data
    return Graph(*parts, ones, 0 * ones, np.arange(float(len(graph))))


def star_of_paths(legs, length):
    """Return paths of so many vertices each that begin next to vertex 0."""
    starts = range(1, legs * length, length)
    return nx.compose_all([nx.path_graph([0, *range(start, start + length)]) for start in starts])


def test_dead_ends_join_their_junction_up_to_the_largest_weight(plain):
    """Tests three paths of four vertices, of which one fits beside the junction and two do not, as plain Python."""
    label = np.empty(13, np.int64)
    count = low_degree.join_chains(graph_of(star_of_paths(3, 4)), 6, label)
    assert sorted(np.bincount(label, minlength=count)) == [4, 4, 5]


def test_a_chain_is_shared_by_its_junctions(plain):
    """Tests two junctions that three chains of two vertices join: each vertex is with the junction next to it."""
    graph = nx.compose_all([nx.path_graph([0, 2 * k, 2 * k + 1, 1]) for k in (1, 2, 3)])
    label = np.empty(8, np.int64)
    assert low_degree.join_chains(graph_of(graph), 8, label) == 2
    assert set(label[[0, 2, 4, 6]]) == {label[0]} != {label[1]} == set(label[[1, 3, 5, 7]])


def test_a_ring_falls_into_arcs():
    """Tests a graph without any junction."""
    coarse, label = contract_chains(graph_of(nx.cycle_graph(10_000)))
    assert (coarse.weight == 4).all()
    assert (coarse.pull == [np.flatnonzero(label == c).sum() for c in range(2500)]).all()


def test_graphs_of_few_chains_stay_as_they_are():
    """Tests a grid, all but 4 of whose vertices have three neighbours or more."""
    graph = graph_of(nx.convert_node_labels_to_integers(nx.grid_2d_graph(70, 70)))
    coarse, label = contract_chains(graph)
    assert (label == np.arange(4900)).all()
    assert (coarse.indices == graph.indices).all()
