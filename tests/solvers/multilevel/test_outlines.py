"""Tests of mean distances between regions."""

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.solvers.instance import instance_of
from tiger.solvers.multilevel import outlines
from tiger.solvers.multilevel.outlines import outlines_of
from tiger.topologies.spec import build

METRICS = (
    GridMetric((4, 5), (True, False), 2.0),
    TreeMetric((5, 4), (1.0, 10.0)),
    DenseMetric(np.random.default_rng(0).random((20, 20))),
)


@pytest.fixture
def drawn(ladder):
    """Return the outlines of a metric."""

    def draw(metric):
        names = tuple(map(str, range(metric.size)))
        problem = Problem(tasks=ladder, topology=Topology(names=names, metric=metric), rule="one-to-one")
        return outlines_of(metric, instance_of(problem))

    return draw


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)
@pytest.mark.parametrize("compiled", [True, False])
def test_means_are_those_of_all_pairs(metric, compiled, drawn, monkeypatch):
    """Tests regions of one, two and four nodes of equal slots, which probes cover evenly."""
    if not compiled:
        for name in ("probe", "fill_table", "mean_of_pairs", "distance"):
            monkeypatch.setattr(outlines, name, getattr(outlines, name).py_func)
    regions, made = [np.array([7]), np.array([1, 18]), np.array([0, 3, 9, 11])], drawn(metric)
    rows = made.outline(np.concatenate(regions), np.ones(7, np.int64), np.array([0, 1, 3, 7]))
    for one, row in zip(regions, rows, strict=True):
        expected = [metric.between(one[:, None], other) + metric.between(other, one[:, None]) for other in regions]
        assert made.mean_distances(rows, row) == pytest.approx([pairs.mean() / 2 for pairs in expected])
    assert made.table(rows) == pytest.approx(np.stack([made.mean_distances(rows, row) for row in rows]))
    assert (made.table(rows) == made.table(rows).T).all()


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)
def test_nodes_count_by_their_seats(metric, drawn):
    """Tests that a node with three of four slots counts three times as much."""
    made, one = drawn(metric), np.array([1])
    pair, row = made.outline(np.array([3, 9, 1]), np.array([3, 1, 1]), np.array([0, 2, 3]))
    nodes = np.array([3, 3, 3, 9])
    expected = (metric.between(nodes, one) + metric.between(one, nodes)).mean() / 2
    assert made.mean_distances(pair[None, :], row)[0] == pytest.approx(expected)


def test_bug_long_axes_need_no_matrix():
    """Tests that a ring of 65,536 nodes, whose marginals would fill 32 GiB, is outlined by probes."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(2)), topology=build("ring:65536"), rule="one-to-one")
    assert outlines_of(problem.metric, instance_of(problem)).width == outlines.PROBES
