"""Tests of degrees that do not fit a device."""

import networkx as nx
import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.embedding.degrees import DegreeWatch, count_by_degree


def _admits(device: nx.Graph, *pairs: tuple[int, int]) -> list[bool]:
    """Return whether each pair is admitted after those before it."""
    graph = nx.convert_node_labels_to_integers(device)
    degrees = DegreeWatch(8, count_by_degree(Coupling.of(len(graph), list(graph.edges))))
    said = []
    for pair in pairs:
        said.append(degrees.admits(*pair))
        degrees.add(*pair)
    return said


def test_degrees_are_counted() -> None:
    """A star of five has one qubit of degree 4, and its rays have degree 1."""
    assert _admits(nx.star_graph(4), (0, 1), (0, 2), (0, 3), (1, 4)) == [True, True, True, False]


def test_two_vertices_of_one_new_degree_count_twice() -> None:
    """A path of three has one qubit of degree 2; a pair that gives both ends degree 2 does not fit."""
    assert _admits(nx.disjoint_union(nx.path_graph(3), nx.path_graph(2)), (0, 1), (2, 3), (1, 2))[-1] is False


def test_pairs_count_once() -> None:
    """The same pair in either direction is always admitted again."""
    assert _admits(nx.path_graph(2), (0, 1), (1, 0), (0, 1)) == [True, True, True]


@pytest.mark.parametrize("seed", range(6))
def test_what_fits_is_never_refused(seed: int) -> None:
    """Any subset of the device's edges, relabelled, is admitted in any order."""
    rng = np.random.default_rng(seed)
    device = nx.gnm_random_graph(8, 10, seed=seed)
    pairs = rng.permutation(rng.permutation(8)[np.array(device.edges)])
    assert all(_admits(device, *(tuple(pair) for pair in pairs.tolist())))
