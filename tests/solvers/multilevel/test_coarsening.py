"""Tests of cut-out and contracted graphs, as plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.solvers.instance import instance_of
from tiger.solvers.multilevel import coarsening, fm_bisection
from tiger.solvers.multilevel.coarsening import Graph, cluster, contract, induced_graph, neighbour_regions


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    """Run this file's kernels as plain Python."""
    for module in (fm_bisection, coarsening):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def path(flows):
    """Return a path whose edges have these flows."""
    size = len(flows) + 1
    half = sp.coo_array((flows, (range(size - 1), range(1, size))), shape=(size, size))
    matrix = (half + half.T).tocsr()
    parts = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float)
    return Graph(*parts, np.ones(size, np.int64), np.arange(size), np.arange(float(size)))


def join(graph, side, cap):
    """Return the labels and the number of clusters."""
    label = np.empty(len(graph.weight), np.int64)
    return label, cluster.py_func(graph, side, cap, label)


def test_heavy_edges_are_joined():
    """Tests that both heavy edges of a path become clusters."""
    label, count = join(path([9.0, 1.0, 9.0]), np.zeros(4, np.int64), 2)
    assert count == 2
    assert label[0] == label[1] != label[2] == label[3]


def test_sides_stay_apart():
    """Tests that no cluster crosses a cut."""
    label, count = join(path([1.0, 9.0, 1.0]), np.array([0, 0, 1, 1]), 4)
    assert count == 2
    assert label[1] != label[2]


def test_the_last_one_joins_a_cluster_unless_that_gets_too_heavy():
    """Tests a path of three, whose third vertex finds nobody alone."""
    assert join(path([2.0, 1.0]), np.zeros(3, np.int64), 3)[1] == 1
    assert join(path([2.0, 1.0]), np.zeros(3, np.int64), 2)[1] == 2


def test_vertices_without_neighbours_join_each_other():
    """Tests four single vertices."""
    label, count = join(path([0.0])._replace(indptr=np.zeros(3, np.int64)), np.zeros(2, np.int64), 2)
    assert count == 1
    assert label.tolist() == [0, 0]


def test_contraction_adds_up():
    """Tests a path of four in two clusters, by hand."""
    coarse = contract.py_func(path([9.0, 5.0, 9.0]), np.array([0, 0, 1, 1]), 2)
    assert coarse.indices.tolist() == [1, 0]
    assert coarse.flow.tolist() == [5.0, 5.0]
    assert coarse.weight.tolist() == [2, 2]
    assert coarse.memory.tolist() == [1, 5]
    assert coarse.pull.tolist() == [1.0, 5.0]


def test_what_lies_outside_pulls(path_problem):
    """Tests tasks a and b, with c in another region that is farther from side 1 by two."""
    inst = instance_of(path_problem)
    region, local = np.array([0, 0, 1]), np.full(3, -1)
    tasks = np.array([0, 1])
    assert neighbour_regions.py_func(inst, tasks, region, np.zeros(2, np.int64)).tolist() == [0, 1]
    graph = induced_graph.py_func(inst, tasks, local, region, np.array([0.0, 2.0, 10.0]))
    assert graph.flow.tolist() == [30.0, 30.0]
    assert graph.pull.tolist() == [2.0, 4.0]
    assert (local == -1).all()
