"""Tests of the prices of SWAPs beside gates."""

from dataclasses import replace

import numpy as np
import pytest

from tests.routing.replay import find_flaw
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import prices
from tiger.routing.swaps.prices import bound_price, price_route
from tiger.routing.swaps.search import SearchOrigins, SearchParams, search
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.windows import WindowParams, polish

LINE = Coupling.of(3, [(0, 1), (1, 2)])
RING = Coupling.of(6, [(k, (k + 1) % 6) for k in range(6)])
# A SWAP beside either gate of a circuit on three qubits, and elsewhere.
FIRST, SECOND, ALONE = 5, 1, 13


def build(*pairs: tuple[int, int], price: tuple[int, ...] = (FIRST, SECOND, ALONE)) -> GateDag:
    """Return gates on three qubits, of which none commute."""
    dag = gate_dag_of(3, [Operation(pair, (None, None), pair=True, bridge=True) for pair in pairs]).gate_dag
    return replace(dag, price=np.array(price, np.int32))


@pytest.mark.parametrize(
    ("steps", "cost"),
    [
        ([(0, -1), (-1, 1), (1, -1)], FIRST),
        ([(-1, 1), (0, -1), (1, -1)], FIRST),
        ([(0, -1), (-2, 2), (1, -1)], ALONE),
        ([(0, -1), (-1, 1), (-1, 1), (1, -1)], FIRST + ALONE),
        ([(-1, 1), (0, -1), (-1, 1), (1, -1)], FIRST + ALONE),
        ([(0, -1), (1, 1), (-1, 1)], 2 * ALONE),
        ([(0, -1), (1, -1), (-2, 2)], SECOND),
    ],
    ids=["after", "before", "elsewhere", "twice", "both sides", "bridge", "last"],
)
def test_swaps_beside_a_gate_cost_its_price(steps: list[tuple[int, int]], cost: int) -> None:
    """One SWAP right before or after a gate on its pair fuses with it, and no other does."""
    dag = build((0, 1), (1, 2) if cost == SECOND else (0, 2))
    route = Route(start=np.arange(3, dtype=np.int32), steps=np.array(steps, np.int32))
    assert price_route(dag, route) == cost


def test_plain_kernels_price_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled and plain functions agree."""
    dag = build((0, 1), (0, 2))
    route = Route(start=np.arange(3, dtype=np.int32), steps=np.array([(0, -1), (-1, 1), (-2, 2), (1, 0)], np.int32))
    compiled = price_route(dag, route)
    for name, kernel in vars(prices).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(prices, name, kernel.py_func)
    assert price_route(dag, route) == compiled == FIRST + 2 * ALONE


def test_swaps_cost_the_same_unless_it_is_said() -> None:
    """Without prices every SWAP and BRIDGE counts one."""
    dag = replace(build((0, 1), (0, 2)), price=np.empty(0, np.int32))
    assert price_route(dag, route_shortest_paths(dag, LINE, np.arange(3, dtype=np.int32))) == 1


def test_prices_follow_their_nodes_backwards() -> None:
    """The circuit backwards has the prices of its gates, and the last one stays last."""
    assert build((0, 1), (0, 2)).reverse().price.tolist() == [SECOND, FIRST, ALONE]


def draw(seed: int, gates: int = 40) -> GateDag:
    """Return gates between six qubits beside which SWAPs cost 1, 5 or 9."""
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.permutation(6)[:2].tolist()) for _ in range(gates)]
    dag = gate_dag_of(6, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag
    price = [*rng.choice([1, 5, 9], len(dag.pairs)).tolist(), ALONE]
    return replace(dag, price=np.array(price, np.int32))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_searches_find_cheaper_routes(seed: int) -> None:
    """With prices known the search, and then windows, end with routes that cost less, and that are routes."""
    dag = draw(seed)
    plain = replace(dag, price=np.empty(0, np.int32))
    blind = search(plain, RING, SearchOrigins(), SearchParams(work=2_000_000))
    found = search(dag, RING, SearchOrigins(routes=(blind,)), SearchParams(work=2_000_000))
    better = polish(dag, RING, found, WindowParams(work=200_000))
    assert find_flaw(dag, RING, found) == find_flaw(dag, RING, better) == ""
    assert price_route(dag, better) <= price_route(dag, found) < 0.9 * price_route(dag, blind)


@pytest.mark.parametrize("seed", range(2))
def test_windows_never_raise_the_price(seed: int) -> None:
    """Windows of a route that costs little end with one that costs no more; one that costs much gets much cheaper."""
    dag = draw(seed)
    route = route_shortest_paths(dag, RING, np.arange(6, dtype=np.int32))
    better = polish(dag, RING, route, WindowParams(work=100_000, fixed=route.start))
    assert find_flaw(dag, RING, better) == ""
    assert price_route(dag, better) < 0.8 * price_route(dag, route)


def test_swaps_cost_at_least_what_they_do_beside_the_best_gate() -> None:
    """Two of them, of three CX each where nothing fuses; without prices they cost what they are."""
    assert bound_price(build((0, 1), (1, 2)), 6) == pytest.approx(6 * SECOND / ALONE)
    assert bound_price(build((0, 1), (1, 2), price=(1, 1, 1)), 6) == 6
