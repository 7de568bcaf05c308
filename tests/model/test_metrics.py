"""Distances, against breadth-first search on explicit graphs."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.metrics import DENSE, DENSE_LIMIT, GRID, TREE, DenseMetric, GridMetric, TreeMetric

ROUNDED = np.array([[0.0, 1.0], [2.0, 0.5]])
SIDES = st.lists(st.integers(1, 5), min_size=1, max_size=3)


def table(metric):
    """Return all distances."""
    everywhere = np.arange(metric.size)
    return metric.between(everywhere[:, None], everywhere[None, :])


def search_hops(graph, nodes):
    """Return hop distances by breadth-first search, nodes in the order given."""
    away = dict(nx.all_pairs_shortest_path_length(graph))
    return np.array([[away[a][b] for b in nodes] for a in nodes], float)


@given(dims=SIDES, data=st.data())
def test_grid_counts_hops(dims, data):
    """Distances on grids and tori of any shape are those of the explicit graph."""
    wrap = data.draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims)))
    graph = nx.grid_graph(dims[::-1], periodic=wrap[::-1])
    nodes = list(np.ndindex(*dims)) if len(dims) > 1 else list(range(dims[0]))
    assert (table(GridMetric(tuple(dims), tuple(wrap))) == search_hops(graph, nodes)).all()


@pytest.mark.parametrize("order", [2, 3, 5])
def test_grid_of_twos_is_a_hypercube(order):
    """A hypercube is a grid of extent 2 along every axis, wrapped or not."""
    nodes = list(np.ndindex(*(2,) * order))
    expected = search_hops(nx.hypercube_graph(order), nodes)
    for around in (False, True):
        assert (table(GridMetric((2,) * order, (around,) * order)) == expected).all()


@pytest.mark.parametrize(("cell", "symmetric"), [((700, 3), False), ((3, 3), True)])
def test_large_tables_are_compared_block_by_block(cell, symmetric):
    """One cell off the diagonal decides, wherever it is; infinity is as far as nothing."""
    table = np.ones((701, 701))
    table[cell] = np.inf
    metric = DenseMetric(table)
    assert (metric.symmetric, metric.connected, metric.farthest) == (symmetric, False, 1.0)


def test_grid_literals():
    """On a 2 x 4 torus of 10 a hop, node 0 is 10 from node 3 and 30 from node 6."""
    metric = GridMetric((2, 4), (True, True), hop=10.0)
    assert metric.between(np.array([0, 0]), np.array([3, 6])).tolist() == [10.0, 30.0]
    assert metric.farthest == 30.0


@given(fanouts=SIDES, steps=st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_tree_measures_by_the_highest_level_that_separates(fanouts, steps):
    """Two leaves are as far apart as the outermost coordinate in which they differ says."""
    distances = tuple(float(d) for d in sorted(steps)[: len(fanouts)])
    leaves = list(np.ndindex(*fanouts))
    away = [[next((k for k in range(len(a)) if a[k] != b[k]), None) for b in leaves] for a in leaves]
    expected = [[0.0 if k is None else distances[len(fanouts) - 1 - k] for k in row] for row in away]
    assert table(TreeMetric(tuple(fanouts), distances)).tolist() == expected


def test_tree_distances_are_path_lengths_of_the_explicit_tree():
    """In a tree whose edges have half the increments as lengths, leaves are apart by the sum along their path."""
    metric, graph = TreeMetric((2, 3), (2.0, 10.0)), nx.Graph()
    graph.add_weighted_edges_from([("root", ("box", k), 4.0) for k in range(2)])
    graph.add_weighted_edges_from([(("box", k // 3), k, 1.0) for k in range(6)])
    away = dict(nx.all_pairs_dijkstra_path_length(graph))
    assert table(metric).tolist() == [[away[a][b] for b in range(6)] for a in range(6)]


def test_tree_literals():
    """4 boards of 8 sockets of 8 cores: leaves under a node of each level, innermost first."""
    metric = TreeMetric((4, 8, 8), (1.0, 10.0, 100.0))
    assert metric.leaves.tolist() == [1, 8, 64]
    assert metric.between(np.array(0), np.array([0, 7, 8, 63, 64])).tolist() == [0.0, 1.0, 10.0, 10.0, 100.0]
    assert metric.farthest == 100.0


def test_dense_reads_the_matrix():
    """Rows are sources, columns targets, and the diagonal counts."""
    metric = DenseMetric(ROUNDED)
    assert table(metric).tolist() == [[0.0, 1.0], [2.0, 0.5]]
    assert metric.size == 2
    assert not metric.symmetric
    assert DenseMetric(ROUNDED + ROUNDED.T).symmetric


def test_dense_takes_infinity_for_no_way():
    """The farthest two nodes are the farthest that have a way."""
    assert DenseMetric(np.array([[0.0, np.inf], [3.0, 0.0]])).farthest == 3.0
    assert DenseMetric(np.array([[np.inf]])).farthest == 0.0


def test_dense_is_safe_from_its_caller():
    """The table is a read-only contiguous copy."""
    given_table = np.asfortranarray(ROUNDED)
    metric = DenseMetric(given_table)
    given_table[0, 1] = 99.0
    assert metric.table[0, 1] == 1.0
    assert metric.table.flags.c_contiguous
    assert not metric.table.flags.writeable


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["dense", "links", "grid", "torus", "tree", "split"]))
def test_between_broadcasts(random_topology, seed, kind):
    """Scalars, rows and columns of indices give the same distances as one pair at a time."""
    metric = random_topology(kind, seed, nodes=6).metric
    a, b = np.array([[0], [5], [2]]), np.array([3, 3, 0, 1])
    single = [[float(metric.between(np.int64(x), np.int64(y))) for y in b] for x in a[:, 0]]
    assert metric.between(a, b).tolist() == single
    assert metric.between(a[:0, 0], b[:0]).shape == (0,)


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["links", "grid", "torus", "tree", "split"]))
def test_structured_metrics_are_symmetric(random_topology, seed, kind):
    """Grids, trees and undirected links are as far one way as the other, to the last digit."""
    metric = random_topology(kind, seed, nodes=9).metric
    assert metric.symmetric
    assert (table(metric) == table(metric).T).all()


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["dense", "links", "grid", "torus", "tree", "split"]))
def test_farthest_bounds_every_finite_distance(random_topology, seed, kind):
    """No finite distance is larger."""
    metric = random_topology(kind, seed, nodes=8).metric
    away = table(metric)
    assert away[np.isfinite(away)].max() <= metric.farthest


def read_distance(arrays, a, b):
    """Return the distance between two nodes as compiled code reads it off the arrays."""
    if arrays.kind == DENSE:
        return arrays.table[a, b]
    if arrays.kind == TREE:
        apart = [k for k, leaves in enumerate(arrays.shape) if a // leaves != b // leaves]
        return arrays.steps[apart[-1]] if apart else 0.0
    hops = 0
    for extent, around in zip(arrays.shape[::-1], arrays.steps[-2::-1], strict=True):
        away = abs(a % extent - b % extent)
        hops += min(away, extent - away) if around else away
        a, b = a // extent, b // extent
    return hops * arrays.steps[-1]


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["dense", "grid", "torus", "tree"]))
def test_arrays_hold_the_whole_metric(random_topology, seed, kind):
    """The plain arrays give every distance, by the recipe that their docstring states."""
    metric = random_topology(kind, seed, nodes=8).metric
    arrays = metric.arrays()
    assert arrays.kind == {"dense": DENSE, "tree": TREE}.get(kind, GRID)
    assert [[read_distance(arrays, a, b) for b in range(8)] for a in range(8)] == table(metric).tolist()


@pytest.mark.parametrize("metric", [DenseMetric(ROUNDED), GridMetric((2,), (True,)), TreeMetric((2,), (1.0,))])
def test_arrays_have_the_same_types_for_every_kind(metric):
    """Compiled code sees one signature."""
    arrays = metric.arrays()
    assert (arrays.table.dtype, arrays.table.ndim) == (np.float64, 2)
    assert (arrays.shape.dtype, arrays.shape.ndim) == (np.int64, 1)
    assert (arrays.steps.dtype, arrays.steps.ndim) == (np.float64, 1)


@pytest.mark.parametrize(
    "entries", [np.ones((2, 3)), np.ones(4), np.empty((0, 0)), np.array([[0.0, -1.0], [1.0, 0.0]]), [[np.nan]]]
)
def test_dense_refuses(entries):
    """A metric is a square of numbers >= 0."""
    with pytest.raises(InputError, match="expected") as caught:
        DenseMetric(entries)
    assert caught.value.field == "topology/distances"


def test_dense_refuses_too_many_nodes():
    """No matrix above the limit is copied, whatever it holds."""
    with pytest.raises(InputError, match="at most 8192 nodes"):
        DenseMetric(np.broadcast_to(np.float64(1.0), (DENSE_LIMIT + 1, DENSE_LIMIT + 1)))


@pytest.mark.parametrize(
    ("dims", "wrap", "hop"),
    [
        ((), (), 1.0),
        ((2, 0), (True,) * 2, 1.0),
        ((2,), (True,) * 2, 1.0),
        ((2,), (True,), math.inf),
        ((2,), (True,), -1.0),
    ],
)
def test_grid_refuses(dims, wrap, hop):
    """Extents are >= 1, there is one flag an axis, and a hop is finite."""
    with pytest.raises(InputError, match="expected"):
        GridMetric(dims, wrap, hop)


@pytest.mark.parametrize(
    ("fanouts", "distances"),
    [((), ()), ((2, 0), (1.0, 2.0)), ((2,), (1.0, 2.0)), ((2, 2), (2.0, 1.0)), ((2,), (math.nan,)), ((2,), (-1.0,))],
)
def test_tree_refuses(fanouts, distances):
    """Fan-outs are >= 1, and there is one distance a level that does not fall."""
    with pytest.raises(InputError, match="expected"):
        TreeMetric(fanouts, distances)
