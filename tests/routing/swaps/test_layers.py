"""Tests of the depth of routes in two-qubit gates."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import layers, prices
from tiger.routing.swaps.layers import count_layers
from tiger.routing.swaps.prices import price_route
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.windows import WindowParams, polish

# A SWAP beside the first gate adds one gate to its two, beside the second none to its three, and three elsewhere.
PRICE, LAYERS = (5, 1, 13), (2, 3)
GRID = Coupling.of(9, [(k, k + 1) for k in range(9) if k % 3 < 2] + [(k, k + 3) for k in range(6)])


def build(*pairs: tuple[int, int]) -> GateDag:
    """Return two gates of four qubits that keep their order."""
    dag = gate_dag_of(4, [Operation(pair, (None, None), pair=True, bridge=True) for pair in pairs]).gate_dag
    return replace(dag, price=np.array(PRICE, np.int32), layers=np.array(LAYERS, np.int32))


@pytest.mark.parametrize(
    ("steps", "depth"),
    [
        ([(0, -1), (1, -1)], 5),
        ([(0, -1), (-1, 1), (1, -1)], 6),
        ([(-1, 1), (0, -1), (1, -1)], 6),
        ([(-2, 2), (0, -1), (1, -1)], 8),
        ([(-3, 3), (0, -1), (1, -1)], 6),
        ([(0, -1), (1, -1), (-2, 2)], 5),
        ([(0, 3), (1, -1)], 7),
    ],
    ids=["gates", "after", "before", "elsewhere", "beside", "none", "bridge"],
)
def test_swaps_beside_a_gate_add_what_they_cost(steps: list[tuple[int, int]], depth: int) -> None:
    """On a line, by hand."""
    route = Route(start=np.arange(4, dtype=np.int32), steps=np.array(steps, np.int32))
    assert count_layers(build((0, 1), (1, 2)), route) == depth


def test_plain_kernels_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled functions and those they were compiled from, over all kinds of steps."""
    steps = np.array([(-2, 2), (0, 2), (-1, 1), (1, -1)], np.int32)
    dag, route = build((0, 1), (1, 2)), Route(start=np.arange(4, dtype=np.int32), steps=steps)
    compiled = count_layers(dag, route)
    for module in (prices, layers):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
    assert count_layers(dag, route) == compiled


def test_gates_take_one_layer_unless_it_is_said() -> None:
    """Without prices the depth is that of SWAPs of three layers and gates of one."""
    dag = gate_dag_of(3, [Operation(pair, (None, None), pair=True) for pair in ((0, 1), (0, 2))]).gate_dag
    line = Coupling.of(3, [(0, 1), (1, 2)])
    assert count_layers(dag, route_shortest_paths(dag, line, np.arange(3, dtype=np.int32))) == 5


def test_layers_follow_their_nodes_backwards() -> None:
    """The circuit backwards has the layers of its gates."""
    assert build((0, 1), (1, 2)).reverse().layers.tolist() == [LAYERS[1], LAYERS[0]]


@pytest.mark.long
def test_windows_shorten_routes() -> None:
    """Of routes in the making those of less depth are preferred, at a price that differs little."""
    rng = np.random.default_rng(1)
    pairs = [tuple(rng.permutation(9)[:2].tolist()) for _ in range(60)]
    dag = gate_dag_of(9, [Operation(pair, ("z", "z"), pair=True) for pair in pairs]).gate_dag
    dag = replace(dag, price=np.array([5] * 60 + [13], np.int32), layers=np.full(60, 2, np.int32))
    route = route_shortest_paths(dag, GRID, np.arange(9, dtype=np.int32))
    flat, deep = (
        [polish(dag, GRID, route, WindowParams(work=400_000, seed=seed, depth=depth)) for seed in range(3)]
        for depth in (4.0, 0.0)
    )
    depths, costs = ([sum(map(measure, routes)) for routes in (flat, deep)] for measure in
                     (lambda each: count_layers(dag, each), lambda each: price_route(dag, each)))  # fmt: skip
    assert depths[0] < depths[1]
    assert costs[0] < 1.1 * costs[1]
