"""Tests of re-routing inside a budget, as plain Python."""

import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.swaps import extraction, layers, prices, tokens, window_router, windows
from tiger.routing.swaps.extraction import (
    RouteBuffer,
    allocate_window_state,
    build_buffer,
    build_circuit,
    count_gates,
)
from tiger.routing.swaps.shortest import route_shortest_paths
from tiger.routing.swaps.tokens import build_device
from tiger.routing.swaps.window_router import FAILED, WindowState

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for module in (tokens, prices, layers, window_router, extraction, windows):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def circuit(*pairs: tuple[int, int], bridge: bool = True) -> GateDag:
    """Return gates in strict order, with or without BRIDGEs."""
    steps = [Operation(pair, (None, None), pair=True, bridge=bridge) for pair in pairs]
    return gate_dag_of(4, steps).gate_dag


def window(dag: GateDag) -> tuple[WindowState, RouteBuffer]:
    """Return a window of everything between the identity and where walking along shortest paths ends."""
    route = route_shortest_paths(dag, LINE, np.arange(4, dtype=np.int32))
    state = allocate_window_state(build_circuit(dag), build_device(LINE))
    buffer = build_buffer(state.circuit, route, count_gates(dag, LINE))
    extraction.rewind(state, buffer)
    extraction.extract(state, buffer, 50, 50)
    windows.draw_weights(state.attempt, state.tokens.rng_state)
    state.attempt.scores[0].noise = 0.0
    return state, buffer


def test_one_bridge_does_for_one_distant_gate() -> None:
    """Two hops apart and no other gate: a single step, within a budget of one."""
    state, _ = window(circuit((0, 2)))
    assert window_router.route_window(state, 1) == 1
    assert state.attempt.counters[0].used == 1


def test_a_budget_below_what_is_needed_fails() -> None:
    """Three hops need two SWAPs, or a SWAP and a BRIDGE."""
    state, _ = window(circuit((0, 3)))
    assert window_router.route_window(state, 1) == FAILED
    window_router.undo(state, 0)
    state.attempt.counters[0].token_hops = 0
    assert window_router.route_window(state, 2) == 2


def test_swaps_alone_where_bridges_are_not_allowed() -> None:
    """Logs a SWAP and then the gate."""
    state, _ = window(circuit((0, 2), bridge=False))
    assert window_router.route_window(state, 1) == 1
    assert state.attempt.log[: state.attempt.counters[0].length, 0].tolist()[1:] == [0]


def test_qubits_end_at_their_goals() -> None:
    """Without gates, goals that reverse the line take six SWAPs."""
    state, _ = window(circuit())
    tokens.clear_list(state.tokens)
    state.tokens.goal[:] = [3, 2, 1, 0]
    for qubit in range(4):
        tokens.list_qubit(state.tokens, qubit)
    state.attempt.counters[0].token_hops = tokens.count_token_hops(state.device, state.tokens)
    assert window_router.route_window(state, 6) == 6
    assert state.tokens.place.tolist() == [3, 2, 1, 0]


def test_undoing_brings_qubits_and_list_back() -> None:
    """Routes, takes back and routes again."""
    state, _ = window(circuit((0, 3), (1, 2), (0, 3)))
    first = window_router.route_window(state, 9)
    window_router.undo(state, 0)
    assert state.tokens.place.tolist() == [0, 1, 2, 3]
    assert state.tokens.counters[0].count == 0
    state.attempt.counters[0].token_hops = 0
    assert window_router.route_window(state, 9) == first
