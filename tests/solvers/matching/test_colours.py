"""Tests of what colours say of two graphs."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching.colours import GraphUnion, match_unique
from tiger.solvers.matching.neighbourhoods import Neighbourhoods


def _read(graph: nx.Graph, size: int | None = None) -> Neighbourhoods:
    """Return a graph of numbered vertices, among as many as are wanted."""
    return Neighbourhoods.of(np.array(list(graph.edges)).reshape(-1, 2), size or len(graph))


def test_colours_tell_apart_what_is_beside() -> None:
    """The ends of a path of five, what is beside them, and its middle; as another path of five has it."""
    path = _read(nx.path_graph(5))
    union = GraphUnion.of(path, path)
    once = union.refine(np.zeros(10, np.int64))
    twice = union.refine(once)
    assert once.tolist() == [*(both := [once[0], once[1], once[1], once[1], once[0]]), *both]
    assert twice.tolist() == [*(both := [twice[0], twice[1], twice[2], twice[1], twice[0]]), *both]
    assert len({*once}) == 2
    assert len({*twice}) == 3


@pytest.mark.parametrize("moved", [0, 10])
def test_vertices_of_a_tree_are_told_by_what_is_around_them(moved: int) -> None:
    """Leaves beside one vertex are alike, most others are not, and nearly all are right where few edges moved."""
    rng = np.random.default_rng(2)
    tree = nx.random_labeled_tree(1000, seed=3)
    turn, guest, edges = rng.permutation(1010), tree.copy(), list(tree.edges)
    guest.remove_edges_from([edges[k] for k in rng.choice(len(edges), moved, replace=False)])
    while guest.number_of_edges() < len(edges):
        guest.add_edge(*rng.choice(1000, 2, replace=False).tolist())
    target = nx.relabel_nodes(tree, dict(enumerate(turn.tolist())))
    order, places = match_unique(_read(guest), _read(target, 1010), (np.ones(1000, bool), np.ones(1010, bool)))
    assert len(order) > 350
    assert len(np.unique(places)) == len(places)
    assert (turn[order] == places).mean() > 0.98


def test_regular_graphs_match_nothing() -> None:
    """All vertices have one colour; without edges there is none."""
    ring, empty = _read(nx.cycle_graph(8)), _read(nx.empty_graph(8))
    for guest, target in ((ring, ring), (ring, empty), (empty, ring), (empty, empty)):
        order, places = match_unique(guest, target, (np.ones(8, bool), np.ones(8, bool)))
        assert len(order) == len(places) == 0


def test_what_is_left_is_matched_by_itself() -> None:
    """A ring without two vertices is a path of one vertex, and one of five, whose middle is like no other."""
    ring, left = _read(nx.cycle_graph(8)), np.ones(8, bool)
    left[[2, 4]] = False
    order, places = match_unique(ring, ring, (left, np.roll(left, 1)), range(1, 3))
    assert (order.tolist(), places.tolist()) == ([7], [0])
