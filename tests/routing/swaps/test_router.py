"""Tests of the router, as plain Python and compiled."""

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tests.routing.swaps.settings import router_params
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import frontier, lookahead, prices, router

PARAMS = router_params(20, 0.7, 1.0, 0.001, -0.9, 0.0, 1.0)
LINE = Coupling.of(5, [(k, k + 1) for k in range(4)])
RING = Coupling.of(6, [(k, (k + 1) % 6) for k in range(6)])


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    use_plain_functions(monkeypatch)


def use_plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for module in (frontier, lookahead, prices, router):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def draw(seed: int, qubits: int = 5, gates: int = 30) -> GateDag:
    """Draw a circuit of CX, rotations and barriers."""
    rng = np.random.default_rng(seed)
    steps = []
    for _ in range(gates):
        a, b, c = rng.permutation(qubits)[:3].tolist()
        kind = int(rng.integers(8))
        steps.append(Operation((a, b), ("z", "x"), pair=True, bridge=True) if kind < 6 else Operation((a,), (None,)))
        if kind == 7:
            steps.append(Operation((a, b, c), (None, None, None)))
    return gate_dag_of(qubits, steps).gate_dag


def route_both_ways(dag: GateDag, coupling: Coupling, seed: int, limit: int = 10**6) -> tuple[int, Route, Route]:
    """Route forwards from the identity and backwards from where that ends."""
    forward, backward = frontier.build_arrays(dag, coupling)
    state, found = frontier.allocate_state(forward, 500), []
    place = np.arange(coupling.size, dtype=np.int32)
    for arrays, turn in ((forward, 1), (backward, -1)):
        frontier.begin(arrays, state, place)
        cost = router.route(arrays, state, PARAMS, seed, limit)
        start = place if turn == 1 else state.place.copy()
        found.append(Route(start=start, steps=state.steps[: state.counters[0].steps][::turn].copy()))
        place = state.place.copy()
    return cost, found[0], found[1]


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [LINE, RING], ids=["line", "ring"])
@pytest.mark.parametrize("seed", range(5))
def test_routes_forwards_and_backwards_are_routes(coupling: Coupling, seed: int, plain: None) -> None:
    """The backward steps, turned around, are a route from where they end."""
    dag = draw(seed)
    cost, there, back = route_both_ways(dag, coupling, seed)
    assert find_flaw(dag, coupling, there) == find_flaw(dag, coupling, back) == ""
    assert back.extra_cx == 3 * cost
    assert there.end().tolist() == back.end().tolist()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both draw the same random numbers."""
    dag = draw(seed, gates=60)
    compiled = route_both_ways(dag, LINE, seed)
    use_plain_functions(monkeypatch)
    assert route_both_ways(dag, LINE, seed)[1].steps.tolist() == compiled[1].steps.tolist()


def test_one_gate_two_hops_apart_becomes_a_bridge(plain: None) -> None:
    """No SWAP is better where nothing else comes, and the mapping stays."""
    apart = Operation((0, 2), ("z", "x"), pair=True, bridge=True)
    near = [Operation(pair, (None, None), pair=True) for pair in ((0, 1), (1, 2), (2, 3))]
    dag = gate_dag_of(5, [apart, *near]).gate_dag
    assert route_both_ways(dag, LINE, 1)[1].steps.tolist() == [[0, 1], [1, -1], [2, -1], [3, -1]]


def test_a_route_above_the_limit_is_given_up(plain: None) -> None:
    """Two gates at the ends of a line need more than one SWAP."""
    far = gate_dag_of(5, [Operation((0, 4), (None, None), pair=True)]).gate_dag
    assert route_both_ways(far, LINE, 1, limit=1)[0] == frontier.TOO_MUCH
    assert route_both_ways(far, LINE, 1, limit=3)[1].extra_cx == 9


def test_a_known_part_can_be_skipped(plain: None) -> None:
    """What is left is routed from the mapping the known steps lead to, free of charge."""
    dag = draw(3)
    whole = route_both_ways(dag, RING, 3)[1]
    arrays, cut = frontier.build_arrays(dag, RING)[0], len(whole.steps) // 2
    state = frontier.allocate_state(arrays, 500)
    frontier.begin(arrays, state, Route(start=whole.start, steps=whole.steps[:cut]).end())
    frontier.carry_out_nodes(arrays, state, whole.steps, 0, cut)
    router.route(arrays, state, PARAMS, 4, 10**6)
    steps = np.concatenate([whole.steps[:cut], state.steps[: state.counters[0].steps]])
    assert find_flaw(dag, RING, Route(start=whole.start, steps=steps)) == ""


def test_routing_ends_where_scores_mislead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choices that lead nowhere are taken back after a while, and the closest gate is brought together."""
    use_plain_functions(monkeypatch)

    def astray(arrays: frontier.RoutingArrays, state: frontier.RoutingState, params: frontier.RouterParams) -> None:
        """Swap the same two qubits again and again."""
        state.counters[0].here, state.counters[0].there = -1, 1

    monkeypatch.setattr(router, "choose_swap_or_bridge", astray)
    far = gate_dag_of(
        5, [Operation((2, 4), (None, None), pair=True), Operation((1, 4), (None, None), pair=True)]
    ).gate_dag
    route = route_both_ways(far, LINE, 1)[1]
    assert find_flaw(far, LINE, route) == ""
    assert route.extra_cx == 9


def test_bug_swaps_to_and_fro_stay_in_the_route() -> None:
    """Before a gate is brought together by force, the SWAPs that led to none are taken back."""
    line = Coupling.of(20, [(k, k + 1) for k in range(19)])
    rng = np.random.default_rng(0)
    pairs = [tuple(rng.choice(10, 2, replace=False).tolist()) for _ in range(100)]
    dag = gate_dag_of(10, [Operation(pair, ("z", "x"), pair=True) for pair in pairs]).gate_dag
    arrays, _ = frontier.build_arrays(dag, line)
    state = frontier.allocate_state(arrays, 10_000)
    frontier.begin(arrays, state, rng.permutation(20).astype(np.int32))
    cost = router.route(arrays, state, router_params(20, 0.7, 1.0, 0.001, -0.5, 1.0, 1.0), 1, 10**6)
    swaps = state.steps[: state.counters[0].steps][:, 0]
    assert cost == (swaps < 0).sum() < 250
