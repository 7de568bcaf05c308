"""Tests of matching with tasks and nodes in each other's place, on grids whose distances and edges change parts."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tiger.mapping.mapper import solve
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of
from tiger.solvers.matching import transposed


@pytest.fixture
def problem():
    """Return 42 tasks with as much traffic as vertices of a grid are apart, on nodes 1 to 9 apart or 0."""
    rng, graph = np.random.default_rng(3), nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 7))
    order, names = rng.permutation(42), tuple(map(str, range(42)))
    traffic = np.triu(nx.floyd_warshall_numpy(graph))
    table = np.triu(nx.to_numpy_array(graph) * rng.integers(1, 10, (42, 42)))
    topology = Topology(names=names, metric=DenseMetric((table + table.T)[np.ix_(order, order)]))
    return Problem(tasks=TaskGraph(names=names, traffic=traffic), topology=topology, rule="one-to-one")


def test_a_mapping_costs_what_its_inverse_costs(problem):
    """Tests random mappings of traffic in one direction."""
    other = transposed.transpose(problem)
    for seed in range(3):
        places = np.random.default_rng(seed).permutation(42)
        expected = cost_of(problem, places).total
        assert cost_of(other, np.argsort(places)).total == pytest.approx(expected)


def test_the_grid_is_found_in_the_traffic(problem):
    """Tests that all edges come to lie on tasks next to each other, with the search and by a whole solve."""
    edges = problem.metric.table.sum() / 2
    found = transposed.TransposedMatching().search(problem, np.arange(42), effort=1, seed=0, stop=bool)
    assert cost_of(problem, found.places).total == edges
    report = solve(problem)
    assert report.cost == edges
    assert "embedding" in [stage.name for stage in report.stages]


def test_what_else_counts_or_is_no_graph_is_left_alone(problem):
    """Tests pins, costs of nodes, distances that differ by direction or are mostly above 0: nothing is searched."""
    names, table = problem.topology.names, problem.metric.table
    others = [
        Problem(tasks=problem.tasks, topology=problem.topology, rule="one-to-one", pinned={"3": "7"}),
        replace(problem, topology=replace(problem.topology, cost=np.arange(42.0))),
        replace(problem, topology=Topology(names=names, metric=DenseMetric(np.triu(table)))),
        replace(problem, topology=Topology(names=names, metric=DenseMetric(table + 1.0))),
    ]
    assert transposed.applies(problem)
    for other in others:
        assert not transposed.applies(other)
        found = transposed.TransposedMatching().search(other, np.arange(42), effort=1, seed=0, stop=bool)
        assert found.places.tolist() == list(range(42))
