"""Tests of layouts without SWAPs."""

import networkx as nx
import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.embedding.embedding import (
    Embedder,
    EmbeddingParams,
    PlaceConstraints,
    find_perfect_layouts,
    list_interactions,
)
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of

ONE = EmbeddingParams()
HEAVY_HEX = Coupling.of(
    12, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (4, 6), (5, 7), (6, 11), (7, 8), (8, 9), (9, 10), (10, 11)]
)


def _build_dag(qubits: int, *pairs: tuple[int, int]) -> GateDag:
    """Return a circuit of CX gates."""
    return gate_dag_of(qubits, [Operation(pair, ("z", "x"), pair=True) for pair in pairs]).gate_dag


def _grid(rows: int, columns: int) -> Coupling:
    """Return a grid."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    return Coupling.of(len(graph), list(graph.edges))


def _fits(dag: GateDag, coupling: Coupling, place: np.ndarray) -> bool:
    """Return whether a layout is a permutation in which all pairs are adjacent."""
    pairs = place[list_interactions(dag)]
    return sorted(place) == list(range(coupling.size)) and bool((coupling.hops[pairs[:, 0], pairs[:, 1]] == 1).all())


def test_interactions_are_the_different_pairs() -> None:
    """Repeats and directions count once, pairs inside control flow as well."""
    dag = _build_dag(4, (2, 1), (1, 2), (0, 1))
    inner = np.array([[0, 3, 0], [1, 1, 0]], np.int32)
    inside = GateDag(
        **{name: getattr(dag, name) for name in ("qubits", "pairs", "first", "after", "bridge")}, inner=inner
    )
    assert list_interactions(dag).tolist() == [[0, 1], [1, 2]]
    assert list_interactions(inside).tolist() == [[0, 1], [0, 3], [1, 2]]


def test_a_ring_is_found_in_a_heavy_hexagon() -> None:
    """Twelve qubits in a scrambled ring have their 24 layouts, no more."""
    order = np.random.default_rng(0).permutation(12).tolist()
    dag = _build_dag(12, *zip(order, [*order[1:], order[0]], strict=True))
    found = find_perfect_layouts(dag, HEAVY_HEX, EmbeddingParams(layouts=100))
    assert len({tuple(place) for place in found}) == len(found) == 24
    assert all(_fits(dag, HEAVY_HEX, place) for place in found)


@pytest.mark.parametrize("seed", range(5))
def test_every_subgraph_of_the_device_is_found(seed: int) -> None:
    """Random parts of a grid, relabelled, are embedded again."""
    rng, grid = np.random.default_rng(seed), _grid(4, 5)
    pairs = rng.permutation(20)[grid.edges[rng.random(len(grid.edges)) < rng.uniform(0.3, 1.0)]]
    dag = _build_dag(20, *map(tuple, pairs.tolist()))
    assert _fits(dag, grid, find_perfect_layouts(dag, grid, ONE)[0])


def test_no_layout_is_a_result() -> None:
    """A triangle fits no grid, nor do more qubits than there are."""
    assert find_perfect_layouts(_build_dag(3, (0, 1), (1, 2), (0, 2)), _grid(3, 3), ONE) == []
    assert (
        find_perfect_layouts(_build_dag(6, (0, 1), (2, 3), (4, 5)), Coupling.of(5, [(0, 1), (1, 2), (2, 3)]), ONE) == []
    )


def test_without_pairs_qubits_stay_in_order() -> None:
    """A circuit without pairs has the trivial layout."""
    assert [place.tolist() for place in find_perfect_layouts(_build_dag(2), _grid(1, 3), ONE)] == [[0, 1, 2]]


def test_fixed_qubits_stay() -> None:
    """Of a path on a line, the middle is fixed, and an idle qubit as well."""
    dag, line = _build_dag(4, (0, 1), (1, 2)), _grid(1, 5)
    found = find_perfect_layouts(dag, line, EmbeddingParams(layouts=9), np.array([-1, 2, -1, 0], np.int32))
    assert sorted(place.tolist() for place in found) == [[1, 2, 3, 0, 4], [3, 2, 1, 0, 4]]
    assert find_perfect_layouts(dag, line, ONE, np.array([-1, 2, -1, 3], np.int32)) == []
    assert find_perfect_layouts(dag, line, ONE, np.array([0, -1, 0, -1], np.int32)) == []


def test_qubits_stay_in_their_part() -> None:
    """A pair that has to be in the second of two parts goes there."""
    pairs = Coupling.of(4, [(0, 1), (2, 3)])
    wanted = PlaceConstraints.build_free(2)._replace(part=np.full(2, pairs.part[3], np.int32))
    (place,) = Embedder(pairs).embeddings(np.array([[0, 1]], np.int32), ONE, wanted)
    assert sorted(place.tolist()) == [2, 3]


def test_same_seed_same_layouts() -> None:
    """Two searches for several layouts agree, another seed finds others."""
    dag = _build_dag(6, (0, 1), (1, 2), (3, 4), (4, 5))
    runs = [find_perfect_layouts(dag, _grid(4, 4), EmbeddingParams(layouts=8, seed=seed)) for seed in (1, 1, 2)]
    one, same, other = ([place.tolist() for place in run] for run in runs)
    assert one == same != other
    assert len(one) == 8


def test_bug_empty_domains_are_no_places() -> None:
    """A triangle that is bound to a path finds nothing, though another part of the device has a triangle."""
    device = Coupling.of(6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5)])
    pairs, wanted = np.array([[0, 1], [0, 2], [1, 2]], np.int32), PlaceConstraints.build_free(3)
    bound = [wanted._replace(part=np.full(3, device.part[qubit], np.int32)) for qubit in (0, 3)]
    assert [len(Embedder(device).embeddings(pairs, ONE, wish)) for wish in bound] == [1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_full_devices_are_packed(seed: int) -> None:
    """Four fifths of the edges of a 10 by 10 grid, on all of its qubits, are embedded within the default calls."""
    rng, grid = np.random.default_rng(seed), _grid(10, 10)
    pairs = rng.permutation(100)[grid.edges[rng.random(len(grid.edges)) < 0.8]]
    assert find_perfect_layouts(_build_dag(100, *map(tuple, pairs.tolist())), grid, ONE)
