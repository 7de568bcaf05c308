"""Tests of segments and the anchors in them."""

import itertools

import networkx as nx
import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.embedding.segments import Anchor, SegmentParams, find_anchors
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of

PARAMS = SegmentParams()
LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
PATHS = [(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 1), (1, 3)]


def _build_dag(qubits: int, *pairs: tuple[int, int]) -> GateDag:
    """Return a circuit of gates that do not commute."""
    return gate_dag_of(qubits, [Operation(pair, (None, None), pair=True) for pair in pairs]).gate_dag


def _runs(dag: GateDag, coupling: Coupling, anchor: Anchor) -> np.ndarray:
    """Return which nodes can be carried out from an anchor without a SWAP, forwards."""
    done = anchor.done.copy()
    heads = np.repeat(np.arange(len(done)), np.diff(dag.first))
    for v, (a, b) in enumerate(dag.pairs.tolist()):
        ready = done[heads[dag.after == v]].all()
        done[v] |= ready and (a < 0 or coupling.hops[anchor.place[a], anchor.place[b]] == 1)
    return done & ~anchor.done


def _random(seed: int) -> GateDag:
    """Draw a circuit on nine qubits, some of its gates commuting."""
    rng = np.random.default_rng(seed)
    pairs = (tuple(rng.choice(9, 2, replace=False).tolist()) for _ in range(60))
    return gate_dag_of(
        9, [Operation(pair, ("z", "x") if rng.random() < 0.5 else (None, None), pair=True) for pair in pairs]
    ).gate_dag


def _grid(rows: int, columns: int) -> Coupling:
    """Return a grid."""
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(rows, columns))
    return Coupling.of(len(graph), list(graph.edges))


def test_two_paths_are_two_segments() -> None:
    """A circuit that runs along one path and then along another is cut between them, from either end."""
    found = list(find_anchors(_build_dag(4, *PATHS[0], *PATHS[1]), LINE, PARAMS))
    assert [anchor.done.sum() for anchor in found] == [0, 6, 3, 3]
    orders = [np.argsort(anchor.place).tolist() for anchor in found]
    assert all(order in ([0, 1, 2, 3], [3, 2, 1, 0]) for order in (orders[0], orders[3]))
    assert all(order in ([0, 2, 1, 3], [3, 1, 2, 0]) for order in orders[1:3])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_anchors_are_layouts_at_a_time(seed: int) -> None:
    """Every anchor has a permutation and is closed under what nodes wait for; together segments cover the circuit."""
    dag, grid = _random(seed), _grid(3, 3)
    heads = np.repeat(np.arange(len(dag.pairs)), np.diff(dag.first))
    found = list(find_anchors(dag, grid, PARAMS))
    for anchor in found:
        assert sorted(anchor.place) == list(range(9))
        assert not (anchor.done[dag.after] & ~anchor.done[heads]).any()
    assert np.logical_or.reduce([_runs(dag, grid, anchor) for anchor in found]).all()


def test_a_circuit_that_fits_is_one_segment() -> None:
    """A grid's own edges run in the first layout from either end, all of them."""
    grid = _grid(3, 3)
    order = np.random.default_rng(1).permutation(9)
    dag = _build_dag(9, *map(tuple, order[grid.edges].tolist()))
    first, last = find_anchors(dag, grid, PARAMS)
    assert _runs(dag, grid, first).all()
    assert last.done.all()


def test_gates_after_the_segment_place_the_others() -> None:
    """The qubits of a later gate are beside each other already where that is possible."""
    first = next(iter(find_anchors(_build_dag(4, (0, 1), (1, 2), (0, 2), (2, 3)), LINE, PARAMS)))
    assert LINE.hops[first.place[2], first.place[3]] == 1


def test_pairs_in_control_flow_belong_to_their_node() -> None:
    """A block whose pairs fit in no layout is passed over; one that fits is part of a segment."""
    plain = gate_dag_of(4, [Operation((0, 1, 2, 3), (None,) * 4), Operation((0, 3), (None, None), pair=True)]).gate_dag
    fields = {name: getattr(plain, name) for name in ("qubits", "pairs", "first", "after", "bridge")}
    triangle = GateDag(**fields, inner=np.array([[0, 0, 1], [0, 1, 2], [0, 2, 0]], np.int32))
    path = GateDag(**fields, inner=np.array([[0, 0, 1], [0, 1, 2]], np.int32))
    assert [anchor.done.tolist() for anchor in find_anchors(triangle, LINE, PARAMS)][::2] == [
        [False, False],
        [True, False],
    ]
    assert len(list(find_anchors(path, LINE, PARAMS))) == 2


def test_components_stay_in_their_part() -> None:
    """Qubits that meet late are in one part from the start."""
    two = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5)])
    found = list(find_anchors(_build_dag(6, (0, 1), (3, 4), (1, 2), (4, 5), (0, 2), (3, 5)), two, PARAMS))
    assert len(found) == 4
    assert all(len(set(two.part[anchor.place[:3]].tolist())) == 1 for anchor in found)


def test_the_search_stops_when_told() -> None:
    """It asks before every segment and can be told at once."""
    asked = itertools.count()
    dag = _random(1)
    assert list(find_anchors(dag, _grid(3, 3), PARAMS, lambda: True)) == []
    assert len(list(find_anchors(dag, _grid(3, 3), PARAMS, lambda: next(asked) >= 3))) == 3
    assert len(list(find_anchors(dag, _grid(3, 3), SegmentParams(segments=2)))) == 4


@pytest.mark.slow
def test_same_circuit_same_anchors() -> None:
    """Two searches agree in every anchor."""
    one, same = (
        [(a.done.tolist(), a.place.tolist()) for a in find_anchors(_random(3), _grid(3, 3), PARAMS)] for _ in range(2)
    )
    assert one == same


def test_a_layout_is_kept_where_nothing_may_be_refused() -> None:
    """Without bans for the gates around, a segment still runs in its layout."""
    first = next(iter(find_anchors(_build_dag(4, *PATHS[0], *PATHS[1]), LINE, SegmentParams(outlook=0))))
    assert np.argsort(first.place).tolist() in ([0, 1, 2, 3], [3, 2, 1, 0])
