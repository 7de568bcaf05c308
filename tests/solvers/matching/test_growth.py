"""Tests of growing partial embeddings."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching import growth
from tiger.solvers.matching.growth import Growth
from tiger.solvers.matching.neighbourhoods import Neighbourhoods


def _measure(graph: nx.Graph) -> Neighbourhoods:
    """Return what is around the vertices of a graph that are numbered from 0."""
    return Neighbourhoods.of(np.array(graph.edges), len(graph))


def _grow(graph: nx.Graph, target: nx.Graph, seed: dict[int, int], work: int = 10**9, least: float = 0.0) -> Growth:
    """Return what grows from a seed."""
    guest, host = _measure(graph), _measure(target)
    grown = Growth.of(np.ones((len(graph), len(target)), np.bool_), host)
    for vertex, node in seed.items():
        grown.place[vertex], grown.owner[node] = node, vertex
    growth.grow(guest, host, grown, least, work)
    return grown


def test_a_random_graph_grows_from_a_ball() -> None:
    """The others follow from a vertex of degree 4 and what is beside it, each on its own node."""
    graph = nx.random_regular_graph(4, 60, seed=1)
    seed = {v: v for v in nx.ego_graph(graph, 0, 2)}
    assert _grow(graph, graph, seed).place.tolist() == list(range(60))


def test_compiled_and_plain_agree(request: pytest.FixtureRequest) -> None:
    """The same growth, with the same work."""
    graph, target = nx.random_regular_graph(3, 20, seed=3), nx.random_regular_graph(3, 20, seed=4)
    compiled = _grow(graph, target, {0: 5})
    request.getfixturevalue("uncompiled")
    plain = _grow(graph, target, {0: 5})
    assert compiled.place.tolist() == plain.place.tolist()
    assert compiled.counts.tolist() == plain.counts.tolist()


@pytest.mark.usefixtures("uncompiled")
def test_an_edge_that_is_not_the_targets_leads_nowhere() -> None:
    """A grid with one edge moved across it grows back from a square in a corner."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4))
    moved = grid.copy()
    moved.remove_edge(9, 10)
    moved.add_edge(3, 12)
    seed = {v: v for v in (0, 1, 2, 4, 5, 6)}
    assert _grow(moved, grid, seed).place.tolist() == list(range(16))


@pytest.mark.usefixtures("uncompiled")
def test_work_ends_growth() -> None:
    """Nothing but the seed has a place, and nodes and vertices agree."""
    grown = _grow(nx.cycle_graph(8), nx.cycle_graph(8), {0: 0}, work=1)
    assert grown.place.tolist() == [0] + [-1] * 7
    assert grown.owner.tolist() == [0] + [-1] * 7


@pytest.mark.usefixtures("uncompiled")
def test_edges_kept_are_counted() -> None:
    """Three of four edges of a path, of which one vertex has no place."""
    path, kept = _measure(nx.path_graph(5)), np.zeros(5, np.int64)
    place = np.array([0, 1, 2, 3, -1])
    assert growth.count_matches(path, path, place, kept) == 3
    assert kept.tolist() == [1, 2, 2, 1, 0]
