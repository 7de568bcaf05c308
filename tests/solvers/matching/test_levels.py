"""Tests of levels of traffic and of distances, and of embedding the heaviest traffic first."""

from dataclasses import replace
from itertools import product

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of
from tiger.solvers.matching.graph_matching import GraphMatching, applies
from tiger.solvers.matching.levels import list_closest, list_levels, list_links

GRID = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 6))
TORUS = nx.convert_node_labels_to_integers(nx.grid_graph((6, 7), periodic=True))


def _pose(edges: dict[tuple[int, int], float], distance: np.ndarray) -> tuple[Problem, float]:
    """Return traffic between vertices numbered at random on nodes, and what it costs with every vertex at its place."""
    ends, volumes = np.array(list(edges)), np.array(list(edges.values()))
    row, col = np.random.default_rng(3).permutation(len(distance))[ends].T
    names = tuple(map(str, range(len(distance))))
    traffic = sp.csr_array((volumes, (row, col)), shape=distance.shape)
    topology = Topology(names=names, metric=DenseMetric(distance))
    problem = Problem(tasks=TaskGraph(names=names, traffic=traffic), topology=topology, rule="one-to-one")
    return problem, float(volumes @ distance[ends[:, 0], ends[:, 1]])


def _cost(problem: Problem) -> float:
    """Return what the search finds from the identity."""
    found = GraphMatching().search(problem, np.arange(problem.tasks.size), effort=1, seed=0, stop=bool)
    return cost_of(problem, found.places).total


def _add_light(graph: nx.Graph, heavy: tuple[float, float], light: tuple[float, float]) -> dict[tuple[int, int], float]:
    """Return the edges of a graph and as many others, of volumes drawn between two bounds each."""
    rng = np.random.default_rng(4)
    edges = {edge: rng.uniform(*heavy) for edge in graph.edges}
    while len(edges) < 2 * graph.number_of_edges():
        a, b = sorted(rng.choice(len(graph), 2, replace=False).tolist())
        if not graph.has_edge(a, b):
            edges[a, b] = rng.uniform(*light)
    return edges


@pytest.mark.parametrize(("heavy", "light"), [((10.0, 10.0), (1.0, 1.0)), ((5.0, 15.0), (0.2, 2.0))])
def test_heavy_traffic_is_embedded_whole_beside_as_many_light_edges(
    heavy: tuple[float, float], light: tuple[float, float]
) -> None:
    """A torus of heavy edges, all of one volume or of many, comes to lie on itself."""
    problem, planted = _pose(_add_light(TORUS, heavy, light), nx.floyd_warshall_numpy(TORUS))
    assert _cost(problem) <= planted * (1.0 + 1e-9)


def test_links_of_two_lengths_are_one_graph() -> None:
    """A grid whose links along one axis are three times as long, with as much traffic along both, and half of it."""
    grid = GRID.copy()
    for a, b in grid.edges:
        grid.edges[a, b]["weight"] = 3.0 if b - a == 1 else 1.0
    distance = nx.floyd_warshall_numpy(grid)
    for light in (1.0, 2.0):
        edges = {(a, b): light if b - a == 1 else 2.0 for a, b in grid.edges}
        problem, planted = _pose(edges, distance)
        assert len(list_closest(problem)) == 24
        assert {tuple(pair) for pair in list_links(problem).tolist()} == set(grid.edges)
        assert _cost(problem) == planted


def test_nodes_of_which_none_lie_between_others_have_no_links() -> None:
    """Of 40 nodes at equal distances each would be beside all others, which is no sparse graph."""
    problem, _ = _pose({(0, 1): 1.0}, 1.0 - np.eye(40))
    assert list_links(problem).shape == (0, 2)


def test_levels_end_where_volumes_fall_most() -> None:
    """A ring of volumes 5 to 7 and chords of 1 and 2 of which the ring alone fits on a ring."""
    ring = {(k, (k + 1) % 30): 5.0 + k % 3 for k in range(30)}
    chords = {(k, (k + 9) % 30): 1.0 + (k < 3) for k in range(30)}
    problem, _ = _pose(ring | chords, nx.floyd_warshall_numpy(nx.cycle_graph(30)))
    assert [len(ends) for ends in list_levels(problem, list_closest(problem))] == [30]
    alone, _ = _pose(ring, nx.floyd_warshall_numpy(nx.cycle_graph(30)))
    assert [len(ends) for ends in list_levels(alone, list_closest(alone))] == [30]
    star, _ = _pose({(0, k): 1.0 for k in range(1, 30)}, nx.floyd_warshall_numpy(nx.cycle_graph(30)))
    assert list_levels(star, list_closest(star)) == []


def test_distances_that_differ_by_direction_are_left_alone() -> None:
    """A ring of directed links: it comes back as it is, also where all traffic could follow the links."""
    ring, n = {(k, (k + 1) % 20): 1.0 for k in range(20)}, np.arange(20)
    problem, _ = _pose(ring, ((n[None, :] - n[:, None]) % 20).astype(float))
    assert not problem.metric.symmetric
    assert not applies(problem)
    start = np.arange(20)
    found = GraphMatching().search(problem, start, effort=1, seed=0, stop=bool)
    assert found.places.tolist() == start.tolist()
    both = np.minimum(problem.metric.table, problem.metric.table.T)
    assert applies(replace(problem, topology=Topology(names=problem.topology.names, metric=DenseMetric(both))))


def test_bug_volumes_whose_ratio_exceeds_all_numbers_are_levels_of_their_own() -> None:
    """A grid of volumes of 1 beside one of 1e-310, without a warning."""
    problem, _ = _pose({**dict.fromkeys(GRID.edges, 1.0), (0, 29): 1e-310}, nx.floyd_warshall_numpy(GRID))
    assert [len(level) for level in list_levels(problem, list_closest(problem))] == [50, 49]


def test_bug_no_second_level_is_embedded_once_time_is_over() -> None:
    """A torus of heavy edges beside a few light ones, which are found without it, is left where time ends before."""
    edges = {**dict.fromkeys(TORUS.edges, 10.0), (0, 15): 1.0, (3, 25): 1.0}
    problem, planted = _pose(edges, nx.floyd_warshall_numpy(TORUS))
    start, checks = np.arange(problem.tasks.size), iter((False, False))
    assert _cost(problem) <= planted
    found = GraphMatching().search(problem, start, effort=1, seed=0, stop=lambda: next(checks, True))
    assert found.places.tolist() == start.tolist()


def test_bug_nodes_that_cost_something_decide_between_embeddings() -> None:
    """A torus on itself, whose nodes cost different amounts for tasks of different work, against all its symmetries."""
    problem, planted = _pose(dict.fromkeys(TORUS.edges, 10.0), nx.floyd_warshall_numpy(TORUS))
    rng, (row, col) = np.random.default_rng(1), np.divmod(np.arange(42), 7)
    work, cost = rng.random(42) * 10.0, rng.random(42) * 2.0
    tasks, topology = replace(problem.tasks, work=work), replace(problem.topology, cost=cost)
    place = np.argsort(np.random.default_rng(3).permutation(42))
    symmetries = [
        ((down + turn * row) % 6 * 7 + (right + flip * col) % 7)[place]
        for down, right, turn, flip in product(range(6), range(7), (1, -1), (1, -1))
    ]
    costs = [planted + work @ cost[nodes] for nodes in symmetries]
    assert _cost(Problem(tasks=tasks, topology=topology, rule="one-to-one")) < np.quantile(costs, 0.1)


def test_bug_traffic_of_tasks_with_themselves_alone_has_no_levels() -> None:
    """It was divided by the number of its tasks."""
    problem, _ = _pose(dict.fromkeys(((k, k) for k in range(30)), 1.0), nx.floyd_warshall_numpy(GRID))
    assert list_levels(problem, list_closest(problem)) == []
    assert _cost(problem) == 0.0
