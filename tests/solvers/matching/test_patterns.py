"""Tests of patterns of short cycles and their places, against networkx."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching import patterns
from tiger.solvers.matching.neighbourhoods import Neighbourhoods
from tiger.solvers.matching.patterns import EarPattern, PatternSearch, Wave

pytestmark = pytest.mark.usefixtures("uncompiled")


def _measure(graph: nx.Graph) -> Neighbourhoods:
    """Return what is around the vertices of a graph that are numbered from 0."""
    return Neighbourhoods.of(np.array(graph.edges), len(graph))


def _build(graph: nx.Graph, centre: int, ears: int, most: int = 12, ball: int = 4) -> EarPattern:
    """Return the pattern around a vertex."""
    room = EarPattern.allocate(most)
    size = patterns.build_pattern(_measure(graph), Wave.allocate(len(graph)), room, centre, ears, ball)
    return room.cut(size)


def _places(graph: nx.Graph, target: nx.Graph, pattern: EarPattern, each: int = 1000, steps: int = 10_000):
    """Return all places found, sorted, and the steps taken."""
    search = PatternSearch.begin(np.arange(len(target)), len(pattern.order), 1000, each, steps)
    allowed = np.ones((len(graph), len(target)), np.bool_)
    found, tried = patterns.match_pattern(_measure(graph), _measure(target), allowed, pattern, search)
    return sorted(map(tuple, search.found[:found].tolist())), tried


def test_the_first_ear_is_the_shortest_cycle() -> None:
    """A vertex on a triangle and a ring of six has the triangle first, and both with two ears."""
    graph = nx.cycle_graph(6)
    graph.add_edges_from([(0, 6), (6, 7), (7, 0)])
    assert sorted(_build(graph, 0, ears=1, ball=3).order.tolist()) == [0, 6, 7]
    assert sorted(_build(graph, 0, ears=2).order.tolist()) == list(range(8))


def test_a_chord_is_an_ear_of_its_own() -> None:
    """A square with a diagonal is two triangles, whose vertices are a hop apart but for two."""
    graph = nx.cycle_graph(4)
    graph.add_edge(0, 2)
    pattern = _build(graph, 0, ears=5)
    assert sorted(pattern.order.tolist()) == [0, 1, 2, 3]
    assert sorted(pattern.gap[np.triu_indices(4, 1)].tolist()) == [1, 1, 1, 1, 1, 2]


def test_every_vertex_comes_after_one_beside_it() -> None:
    """So the nodes of a vertex are beside that of its parent."""
    graph = nx.random_regular_graph(3, 24, seed=2)
    pattern = _build(graph, 5, ears=4)
    for k in range(1, len(pattern.order)):
        assert pattern.parent[k] < k
        assert graph.has_edge(pattern.order[k], pattern.order[pattern.parent[k]])


def test_without_cycles_a_pattern_is_what_is_nearest() -> None:
    """Four vertices of a star, its centre first."""
    pattern = _build(nx.star_graph(6), 0, ears=3)
    assert pattern.order.tolist() == [0, 1, 2, 3]
    assert pattern.gap[1, 2] == 2


def test_all_places_of_a_pattern_are_found() -> None:
    """As many as networkx has monomorphisms of the pattern's edges."""
    graph, target = nx.cycle_graph(5), nx.gnm_random_graph(9, 16, seed=4)
    places, _ = _places(graph, target, _build(graph, 0, ears=1))
    matcher = nx.isomorphism.GraphMatcher(target, graph)
    assert len(places) == len(set(places)) == sum(1 for _ in matcher.subgraph_monomorphisms_iter())


def test_anchors_and_steps_are_limited() -> None:
    """One place for each of eight anchors of a ring that has two, and an end after a few steps."""
    ring = nx.cycle_graph(8)
    pattern = _build(ring, 0, ears=1)
    assert len(_places(ring, ring, pattern)[0]) == 16
    assert len(_places(ring, ring, pattern, each=1)[0]) == 8
    assert _places(ring, ring, pattern, steps=20)[1] < 40


def test_the_best_places_are_kept() -> None:
    """Of places of a triangle that with vertices of the same degrees wins."""
    graph = nx.cycle_graph(3)
    target = nx.disjoint_union(nx.complete_graph(4), nx.cycle_graph(3))
    search = PatternSearch.begin(np.arange(7), 3, 2, 100, 1000)
    allowed = np.ones((3, 7), np.bool_)
    found, _ = patterns.match_pattern(_measure(graph), _measure(target), allowed, _build(graph, 0, ears=1), search)
    assert found == 2
    assert search.found.min() >= 4
