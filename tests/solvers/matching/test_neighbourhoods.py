"""Tests of hops, nearest vertices and their numbers, against networkx."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching import neighbourhoods
from tiger.solvers.matching.neighbourhoods import FAR, REACH, Neighbourhoods


def _measure(graph: nx.Graph) -> Neighbourhoods:
    """Return what is around the vertices of a graph that are numbered from 0."""
    return Neighbourhoods.of(np.array(graph.edges).reshape(-1, 2), len(graph))


@pytest.mark.usefixtures("uncompiled")
def test_hops_are_those_of_shortest_paths() -> None:
    """Vertices in different parts are far."""
    graph = nx.disjoint_union(nx.petersen_graph(), nx.path_graph(4))
    hops = np.nan_to_num(nx.floyd_warshall_numpy(graph), posinf=FAR)
    assert (_measure(graph).hops == hops).all()


def test_those_nearest_come_first() -> None:
    """A path is listed from a vertex outwards, and there is nothing more than its length."""
    around = _measure(nx.path_graph(5))
    assert around.nearest[0].tolist()[:5] == [1, 2, 3, 4, -1]
    assert sorted(around.nearest[2].tolist()[:2]) == [1, 3]


def test_vertices_are_counted_by_hops() -> None:
    """In a ring of seven there are two more at each of three hops."""
    around = _measure(nx.cycle_graph(7))
    assert around.within[3].tolist() == [2, 4, 6] + [6] * (REACH - 3)
    assert around.degrees.tolist() == [2] * 7


@pytest.mark.parametrize("compiled", [True, False])
def test_no_node_of_an_embedding_is_ruled_out(compiled: object, request: pytest.FixtureRequest) -> None:
    """A subgraph fits where it lies; a vertex of degree 3 does not fit the end of a path."""
    if not compiled:
        request.getfixturevalue("uncompiled")
    graph = nx.gnm_random_graph(20, 40, seed=1)
    part = graph.edge_subgraph(list(graph.edges)[::2]).copy()
    part.add_nodes_from(graph)
    allowed = np.ones((20, 20), np.bool_)
    neighbourhoods.rule_out(_measure(part).within, _measure(graph).within, allowed)
    assert allowed.diagonal().all()
    star = np.ones((4, 4), np.bool_)
    neighbourhoods.rule_out(_measure(nx.star_graph(3)).within, _measure(nx.path_graph(4)).within, star)
    assert not star[0].any()
