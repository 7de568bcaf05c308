"""Tests of isomorphisms by colour refinement."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching import isomorphism
from tiger.solvers.matching.isomorphism import find_isomorphism
from tiger.solvers.matching.neighbourhoods import Neighbourhoods


def _shrikhande() -> nx.Graph:
    """Return the graph of 16 vertices that has the degrees and shared neighbours of the 4 x 4 rook's graph."""
    steps = ((0, 1), (1, 0), (1, 1))
    return nx.Graph([((a, b), ((a + c) % 4, (b + d) % 4)) for a in range(4) for b in range(4) for c, d in steps])


ROOKS = nx.line_graph(nx.complete_bipartite_graph(4, 4))
FAMILIES = {
    "star": nx.star_graph(30),
    "grid": nx.grid_2d_graph(6, 7),
    "torus": nx.grid_graph((4, 3, 3), periodic=True),
    "cubic": nx.random_regular_graph(3, 60, seed=5),
    "tree": nx.random_labeled_tree(85, seed=5),
    "parts": nx.disjoint_union_all([nx.path_graph(3), nx.path_graph(3), nx.cycle_graph(4), nx.empty_graph(2)]),
    "rook's": ROOKS,
    "Shrikhande's": _shrikhande(),
}


def _read(graph: nx.Graph, order: list[int] | None = None, size: int | None = None) -> Neighbourhoods:
    """Return a graph, its vertices numbered in an order, among as many as are wanted."""
    plain = nx.convert_node_labels_to_integers(graph, ordering="sorted")
    order = list(range(len(plain))) if order is None else order
    ends = np.array([(order[a], order[b]) for a, b in plain.edges]).reshape(-1, 2)
    return Neighbourhoods.of(ends, size or len(plain))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_shuffled_graph_lies_on_itself(family: str) -> None:
    """Every edge on an edge, vertices without any left out, also among more nodes than vertices."""
    graph = FAMILIES[family]
    size = len(graph) + 4
    order = np.random.default_rng(1).permutation(size)[: len(graph)].tolist()
    guest, target = _read(graph), _read(graph, order, size)
    place = find_isomorphism(guest, target)
    assert place is not None
    used = place[guest.degrees > 0]
    assert len(np.unique(used)) == len(used)
    assert (place[guest.degrees == 0] == -1).all()
    for a, b in nx.convert_node_labels_to_integers(graph, ordering="sorted").edges:
        assert target.hops[place[a], place[b]] == 1


@pytest.mark.parametrize(
    ("guest", "target"),
    [
        (ROOKS, _shrikhande()),
        (nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))),
        (nx.path_graph(5), nx.path_graph(6)),
        (nx.path_graph(4), nx.star_graph(3)),
        (nx.cycle_graph(4), nx.path_graph(5)),
    ],
    ids=["regular alike", "parts", "edges", "degrees", "vertices"],
)
def test_graphs_that_differ_have_none(guest: nx.Graph, target: nx.Graph) -> None:
    """None is made up where colours cannot tell graphs apart, nor where they can."""
    assert find_isomorphism(_read(guest, size=20), _read(target, size=20)) is None


def test_it_ends_when_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were none."""
    star = _read(FAMILIES["star"])
    assert find_isomorphism(star, star) is not None
    monkeypatch.setattr(isomorphism, "WORK", 10 * len(star.indices))
    assert find_isomorphism(star, star) is None
