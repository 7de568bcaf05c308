"""Tests of growing partial embeddings ear by ear."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching import ears
from tiger.solvers.matching.ears import EarSearch
from tiger.solvers.matching.growth import Growth
from tiger.solvers.matching.neighbourhoods import Neighbourhoods


def _measure(graph: nx.Graph) -> Neighbourhoods:
    """Return what is around the vertices of a graph that are numbered from 0."""
    return Neighbourhoods.of(np.array(graph.edges), len(graph))


def _grow(graph: nx.Graph, target: nx.Graph, seed: dict[int, int], work: int = 10**9) -> Growth:
    """Return what grows from a seed."""
    guest, host = _measure(graph), _measure(target)
    grown = Growth.of(np.ones((len(graph), len(target)), np.bool_), host)
    for vertex, node in seed.items():
        grown.place[vertex], grown.owner[node] = node, vertex
    ears.grow_by_ears(guest, host, grown, EarSearch.allocate(len(graph), len(target)), work)
    placed = np.flatnonzero(grown.place >= 0)
    assert (grown.owner[grown.place[placed]] == placed).all()
    assert (grown.owner >= 0).sum() == len(placed)
    return grown


def _build_hexagons() -> tuple[nx.Graph, dict[int, int]]:
    """Return hexagons in three rows of three, and a seed of two with a vertex more each."""
    lattice = nx.hexagonal_lattice_graph(3, 3)
    number = {vertex: k for k, vertex in enumerate(sorted(lattice))}
    seed = [v for a in (0, 1) for v in lattice if v[0] == a and v[1] < 6]
    return nx.relabel_nodes(lattice, number), {number[v]: number[v] for v in seed}


def test_hexagons_grow_from_two() -> None:
    """All others follow, ear by ear."""
    lattice, seed = _build_hexagons()
    assert _grow(lattice, lattice, seed).place.tolist() == list(range(len(lattice)))


def test_compiled_and_plain_agree(request: pytest.FixtureRequest) -> None:
    """The same growth, with the same work, where an edge has moved."""
    lattice, seed = _build_hexagons()
    moved = lattice.copy()
    moved.remove_edge(*list(moved.edges)[-1])
    moved.add_edge(2, len(lattice) - 3)
    compiled = _grow(moved, lattice, seed)
    request.getfixturevalue("uncompiled")
    plain = _grow(moved, lattice, seed)
    assert compiled.place.tolist() == plain.place.tolist()
    assert compiled.counts.tolist() == plain.counts.tolist()


@pytest.mark.usefixtures("uncompiled")
def test_an_edge_that_is_not_the_targets_is_not_followed() -> None:
    """Of two ways out of an end of a path that lies, one closes a hexagon, the other one is an edge to a chain."""
    hexagon = nx.cycle_graph(6)
    graph = hexagon.copy()
    nx.add_path(graph, [0, 6, 7, 8])
    target = hexagon.copy()
    nx.add_path(target, [3, 6, 7, 8])
    grown = _grow(graph, target, {1: 1, 2: 2, 3: 3, 4: 4})
    assert grown.place[:6].tolist() == list(range(6))


@pytest.mark.usefixtures("uncompiled")
def test_of_two_paths_none_is_taken() -> None:
    """Between opposite corners of a square there are two ways, until one of the other corners must not be on one."""
    square = _measure(nx.cycle_graph(4))
    grown, search = Growth.of(np.ones((4, 4), np.bool_), square), EarSearch.allocate(4, 4)
    for corner in (0, 2):
        grown.place[corner], grown.owner[corner] = corner, corner
    assert not ears.find_path(square, square, grown, search, (2, 0, 1, 2))
    grown.allowed[1, 3] = False
    assert ears.find_path(square, square, grown, search, (2, 0, 1, 2))
    assert search.nodes[:3].tolist()[1:] == [1, 2]


@pytest.mark.usefixtures("uncompiled")
def test_an_ear_whose_vertices_have_been_placed_is_none() -> None:
    """The other way round a square then."""
    square = _measure(nx.cycle_graph(4))
    grown, search = Growth.of(np.ones((4, 4), np.bool_), square), EarSearch.allocate(4, 4)
    for corner in (0, 1, 2):
        grown.place[corner], grown.owner[corner] = corner, corner
    assert not ears.find_path(square, square, grown, search, (2, 0, 1, 2))
    assert ears.find_path(square, square, grown, search, (2, 0, 3, 2))


@pytest.mark.usefixtures("uncompiled")
def test_a_seed_without_ears_is_given_up() -> None:
    """A long path has none: it ends after as many vertices as a seed may take at first, and those that these allow."""
    path = nx.path_graph(60)
    grown = _grow(path, path, {0: 0})
    steps = int((grown.place >= 0).sum()) - 1
    assert ears.FIRST < steps <= (ears.FIRST + ears.EACH) / (1 - ears.EACH) + 1


@pytest.mark.usefixtures("uncompiled")
def test_work_ends_growth() -> None:
    """Nothing but the seed has a place, or a part of what would have one, with little more work."""
    lattice, seed = _build_hexagons()
    assert (_grow(lattice, lattice, seed, work=0).place >= 0).sum() == len(seed)
    whole = _grow(lattice, lattice, seed)
    half = _grow(lattice, lattice, seed, work=int(whole.counts[1]) // 2)
    assert len(seed) < (half.place >= 0).sum() < len(lattice)
    assert half.counts[1] < whole.counts[1]


@pytest.mark.usefixtures("uncompiled")
def test_no_vertex_goes_where_it_may_not() -> None:
    """The only path of an ear leads over a node that one of its vertices must not have."""
    hexagon = nx.cycle_graph(6)
    guest = _measure(hexagon)
    grown = Growth.of(np.ones((6, 6), np.bool_), guest)
    for vertex in (0, 1, 2, 3):
        grown.place[vertex], grown.owner[vertex] = vertex, vertex
    grown.allowed[4, 4] = False
    ears.grow_by_ears(guest, guest, grown, EarSearch.allocate(6, 6), 10**9)
    assert grown.place[[4, 5]].tolist() == [-1, 5]
