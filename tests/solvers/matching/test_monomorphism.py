"""Tests of the compiled matcher, as plain Python and compiled, against networkx."""

import networkx as nx
import numpy as np
import pytest

from tiger.solvers.matching import monomorphism
from tiger.solvers.matching.monomorphism import TargetGraph, matcher_of, search_embeddings

KERNELS = {name: value for name, value in vars(monomorphism).items() if hasattr(value, "py_func")}


def _table(graph: nx.Graph) -> np.ndarray:
    """Return the neighbours of every vertex, padded by -1."""
    width = max(max(dict(graph.degree).values()), 1)
    return np.array([[*sorted(graph[v]), *[-1] * (width - len(graph[v]))] for v in range(len(graph))], np.int32)


def _draw(seed: int) -> tuple[nx.Graph, nx.Graph]:
    """Draw a small graph without isolated vertices and a device of at least as many qubits."""
    rng = np.random.default_rng(seed)
    device = nx.gnm_random_graph(7, int(rng.integers(6, 12)), seed=seed)
    graph = nx.gnm_random_graph(int(rng.integers(3, 8)), int(rng.integers(2, 7)), seed=seed + 1)
    graph.remove_nodes_from([v for v in graph if not graph[v]])
    return nx.convert_node_labels_to_integers(graph), device


def _embeddings(graph: nx.Graph, device: nx.Graph, most: int, calls: int = 10_000, **spots: int):
    """Return what the matcher finds: embeddings, whether all, and calls."""
    allowed = np.ones((len(graph), len(device)), np.bool_)
    near = np.array([spots.get(f"v{v}", -1) for v in range(len(graph))], np.int32)
    hops = np.minimum(nx.floyd_warshall_numpy(device, range(len(device))), len(device)).astype(np.int32)
    arrays = TargetGraph(_table(device), hops)
    places = np.empty((most, len(graph)), np.int32)
    count, complete, used = search_embeddings(matcher_of(_table(graph), arrays, allowed, near), places, most, calls, 0)
    return places[:count], complete, used


@pytest.fixture
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for name, kernel in KERNELS.items():
        monkeypatch.setattr(monomorphism, name, kernel.py_func)
    monkeypatch.setitem(globals(), "search_embeddings", KERNELS["search_embeddings"].py_func)


@pytest.mark.slow
@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("seed", range(8))
def test_all_embeddings_are_found(seed: int) -> None:
    """The matcher finds as many monomorphisms as networkx, each of them valid and none twice."""
    graph, device = _draw(seed)
    expected = sum(1 for _ in nx.isomorphism.GraphMatcher(device, graph).subgraph_monomorphisms_iter())
    places, complete, _ = _embeddings(graph, device, 20_000)
    assert complete
    assert len({tuple(place) for place in places.tolist()}) == len(places) == expected
    assert all(device.has_edge(place[a], place[b]) for place in places.tolist() for a, b in graph.edges)


@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_plain_agree(seed: int, request: pytest.FixtureRequest) -> None:
    """The same embeddings come in the same order."""
    compiled = _embeddings(*_draw(seed), 50)
    request.getfixturevalue("_plain")
    plain = _embeddings(*_draw(seed), 50)
    assert compiled[0].tolist() == plain[0].tolist()
    assert compiled[1:] == plain[1:]


@pytest.mark.usefixtures("_plain")
def test_a_proof_needs_no_calls_where_domains_run_empty() -> None:
    """A triangle fits no square: degrees alone do not show it, the search does."""
    places, complete, used = _embeddings(nx.cycle_graph(3), nx.cycle_graph(4), 1)
    assert (len(places), complete) == (0, True)
    assert used > 0
    assert _embeddings(nx.cycle_graph(3), nx.empty_graph(4), 1)[1:] == (True, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("_plain")
def test_calls_end_the_search() -> None:
    """A ring of odd length fits no grid, and three calls do not prove it; runs start anew until they are used up."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 6))
    assert _embeddings(nx.cycle_graph(15), grid, 1, calls=3)[1:] == (False, 3)
    assert _embeddings(nx.cycle_graph(15), grid, 1, calls=450)[1:] == (False, 450)


@pytest.mark.usefixtures("_plain")
def test_vertices_go_near_their_wishes() -> None:
    """A path of two in a ring of eight goes where its first vertex wants to be."""
    places, _, _ = _embeddings(nx.path_graph(2), nx.cycle_graph(8), 1, v0=5)
    assert places[0, 0] == 5


@pytest.mark.usefixtures("_plain")
def test_runs_grow_by_lubys_sequence() -> None:
    """The sequence is 1, 1, 2, 1, 1, 2, 4, and again."""
    lengths = [KERNELS["compute_luby"].py_func(run) for run in range(1, 16)]
    assert lengths == [
        1,
        1,
        2,
        1,
        1,
        2,
        4,
        1,
        1,
        2,
        1,
        1,
        2,
        4,
        8,
    ]
