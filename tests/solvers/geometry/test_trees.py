"""Tests of finding the tree in a distance matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.model.metrics import DenseMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.geometry import trees
from tiger.solvers.geometry.trees import tree_of
from tiger.topologies.spec import build


def problem_of(topology):
    """Return a single task on some hardware."""
    tasks = TaskGraph(names=("t",), traffic=sp.csr_array((1, 1)))
    return Problem(tasks=tasks, topology=topology, rule="capacity")


def dense(table):
    """Return hardware known by its distances alone."""
    return Topology(names=tuple(map(str, range(len(table)))), metric=DenseMetric(table))


@pytest.mark.parametrize("limit", [1, 2048])
def test_few_or_many_hosts_are_not_looked_at(limit, monkeypatch):
    """Tests two hosts, and more than the limit."""
    monkeypatch.setattr(trees, "LIMIT", limit)
    assert tree_of(problem_of(dense(np.ones((2 if limit > 1 else 5,) * 2)))) is None


def test_a_tree_is_found_whatever_the_numbers():
    """Tests leaves of 3 x 2 x 2 in random order."""
    metric, shuffle = TreeMetric((3, 2, 2), (1, 4, 9)), np.random.default_rng(2).permutation(12)
    table = metric.between(shuffle[:, None], shuffle[None, :])
    leaves, found = tree_of(problem_of(dense(table)))
    assert found == metric
    at = np.arange(12)
    assert (table[np.ix_(leaves, leaves)] == metric.between(at[:, None], at[None, :])).all()


def test_a_fat_tree_is_a_tree():
    """Tests 16 hosts, which are 2, 4 or 6 hops apart, among switches."""
    leaves, metric = tree_of(problem_of(build("fat-tree:4")))
    assert metric == TreeMetric((4, 2, 2), (2, 4, 6))
    assert len(leaves) == 16


@pytest.mark.parametrize("spec", ["ring:6", "heavy-hex:3"])
def test_other_hardware_is_no_tree(spec):
    """Tests a ring, and one with more distances than a tree has levels."""
    topology = build(spec)
    nodes = np.arange(topology.size)
    assert tree_of(problem_of(dense(topology.metric.between(nodes[:, None], nodes[None, :])))) is None


def test_unequal_clusters_are_no_tree():
    """Tests clusters of two and of three."""
    side = np.array([0, 0, 1, 1, 1])
    table = np.where(side[:, None] == side[None, :], 1.0, 5.0) - np.eye(5)
    assert tree_of(problem_of(dense(table))) is None
    assert tree_of(problem_of(dense(table[::-1, ::-1]))) is None
