"""Tests of the reasons why graphs do not fit a device."""

import networkx as nx
import numpy as np
import pytest

from tiger.circuits.coupling import Coupling
from tiger.circuits.embedding.obstacles import ENDLESS, Bounds, Obstacles


def _coupling(graph: nx.Graph) -> Coupling:
    """Return the coupling map of a graph."""
    graph = nx.convert_node_labels_to_integers(graph)
    return Coupling.of(len(graph), list(graph.edges))


def _admits(device: nx.Graph, *pairs: tuple[int, int]) -> list[bool]:
    """Return whether each pair is admitted after those before it."""
    obstacles = Obstacles(8, Bounds(_coupling(device)))
    said = []
    for pair in pairs:
        said.append(obstacles.admits(*pair))
        obstacles.add(*pair)
    return said


@pytest.mark.parametrize(
    ("device", "known"),
    [
        (nx.path_graph(4), (ENDLESS, True)),
        (nx.cycle_graph(5), (5, False)),
        (nx.cycle_graph(6), (6, True)),
        (nx.complete_graph(4), (3, False)),
        (nx.grid_2d_graph(3, 3), (4, True)),
        (nx.disjoint_union(nx.cycle_graph(7), nx.cycle_graph(4)), (4, False)),
        (nx.petersen_graph(), (5, False)),
        (nx.empty_graph(2), (ENDLESS, True)),
    ],
)
def test_shortest_cycles_and_colours(device: nx.Graph, known: tuple[int, bool]) -> None:
    """Tests devices whose girth is known."""
    bounds = Bounds(_coupling(device))
    assert (bounds.cycle, bounds.bipartite) == known


def test_degrees_are_counted() -> None:
    """A star of five has one qubit of degree 4, and its rays have degree 1."""
    assert _admits(nx.star_graph(4), (0, 1), (0, 2), (0, 3), (1, 4)) == [True, True, True, False]


def test_two_vertices_of_one_new_degree_count_twice() -> None:
    """A path of three has one qubit of degree 2; a pair that gives both ends degree 2 does not fit."""
    assert _admits(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2)), (0, 1), (2, 3), (1, 2))[-1] is False


def test_short_cycles_are_refused() -> None:
    """A ring of six has no cycle of four."""
    device = nx.disjoint_union(nx.cycle_graph(6), nx.cycle_graph(6))
    assert _admits(device, (0, 1), (1, 2), (2, 3), (0, 3)) == [True, True, True, False]


def test_odd_cycles_are_refused_on_two_colours() -> None:
    """A grid has no ring of five, joined from two pieces, but one of six."""
    grid = nx.grid_2d_graph(3, 3)
    assert _admits(grid, (0, 1), (3, 4), (1, 2), (2, 3), (4, 0)) == [True, True, True, True, False]
    assert _admits(grid, (0, 1), (3, 4), (1, 2), (2, 3), (4, 5), (5, 0))[-1]


def test_components_need_a_part_with_room() -> None:
    """Two triangles hold no path of four qubits, and no seventh edge."""
    device = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    assert _admits(device, (0, 1), (1, 2), (2, 3)) == [True, True, False]
    assert _admits(device, (0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (6, 7))[-1] is False


def test_pairs_count_once() -> None:
    """The same pair in either direction is always admitted again."""
    assert _admits(nx.path_graph(2), (0, 1), (1, 0), (0, 1)) == [True, True, True]


@pytest.mark.parametrize("seed", range(20))
def test_what_fits_is_never_refused(seed: int) -> None:
    """Any subset of the device's edges, relabelled, is admitted in any order."""
    rng = np.random.default_rng(seed)
    device = nx.gnm_random_graph(8, 10, seed=seed)
    pairs = rng.permutation(rng.permutation(8)[np.array(device.edges)])
    assert all(_admits(device, *(tuple(pair) for pair in pairs.tolist())))
