"""Tests of taking steps out of a route and putting others in, as plain Python."""

import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.route import Route
from tiger.routing.swaps import extraction, layers, prices, tokens, window_router
from tiger.routing.swaps.extraction import (
    RouteBuffer,
    allocate_window_state,
    build_buffer,
    build_circuit,
    count_gates,
)
from tiger.routing.swaps.tokens import build_device
from tiger.routing.swaps.window_router import WindowState

LINE = Coupling.of(6, [(k, k + 1) for k in range(5)])
STEPS = [(0, -1), (-1, 1), (-5, 5), (1, -1), (2, -1), (3, 3)]


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function."""
    for module in (tokens, prices, layers, window_router, extraction):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def dag(inner: tuple[tuple[int, int], ...] = ()) -> GateDag:
    """Return gates 0-1, 0-2 and 3-5, control flow on 2 and 3 if it has gates inside, else one more gate."""
    ends = [(0, 1), (0, 2), (3, 5), (2, 4)]
    steps = [Operation(pair, (None, None), pair=True, bridge=True) for pair in ends]
    if inner:
        steps[2] = Operation((2, 3), (None, None), inner=inner)
    return gate_dag_of(6, steps).gate_dag


def take_steps(circuit: GateDag, most: int, reach: int) -> tuple[WindowState, RouteBuffer]:
    """Take steps out of the route of all six, from its start."""
    state = allocate_window_state(build_circuit(circuit), build_device(LINE))
    route = Route(start=np.arange(6, dtype=np.int32), steps=np.array(STEPS, np.int32))
    buffer = build_buffer(state.circuit, route, count_gates(circuit, LINE))
    extraction.rewind(state, buffer)
    extraction.extract(state, buffer, most, reach)
    return state, buffer


def test_everything_within_reach_is_taken() -> None:
    """Takes two SWAPs, a BRIDGE and three gates."""
    state, buffer = take_steps(dag(), 9, 9)
    assert (buffer.span[0].taken, buffer.span[0].cost, buffer.span[0].deferred) == (6, 3, 0)
    assert state.window.nodes[: state.window.size[0]].tolist() == [0, 1, 2, 3]
    assert state.window.need[:4].tolist() == [0, 1, 0, 1]
    assert state.tokens.goal.tolist() == [-1] * 6


def test_steps_out_of_reach_and_what_waits_for_them_are_deferred() -> None:
    """The second SWAP is far, and the gate on its qubits and the BRIDGE come behind it."""
    _, buffer = take_steps(dag(), 9, 1)
    assert buffer.deferred[: buffer.span[0].deferred].tolist() == [[-5, 5], [2, -1], [3, 3]]


def test_as_many_swaps_as_asked_for_are_taken() -> None:
    """With one SWAP the window ends before the second; the qubits with gates left have goals."""
    state, buffer = take_steps(dag(), 1, 9)
    assert (buffer.span[0].taken, buffer.span[0].cost) == (2, 1)
    assert state.tokens.goal.tolist() == [1, -1, 2, 3, 4, 5]


def test_control_flow_ends_a_window() -> None:
    """Nothing from the block on is taken, and the qubits of its gates have to be where they were."""
    state, buffer = take_steps(dag(inner=((2, 3),)), 9, 9)
    assert buffer.span[0].taken == 4
    assert state.tokens.goal[[2, 3]].tolist() == [2, 3]


@pytest.mark.parametrize("new", [[], [[0, -1], [1, 1]], [[0, -1]] * 5])
def test_new_steps_replace_those_taken(new: list[list[int]]) -> None:
    """Fewer, as many and more steps; those deferred and those behind follow."""
    _, buffer = take_steps(dag(), 1, 9)
    buffer.new[: len(new)] = np.array(new, np.int32).reshape(-1, 2)
    buffer.span[0].new = len(new)
    extraction.replace_window(buffer)
    assert buffer.steps[: buffer.span[0].end].tolist() == new + [list(step) for step in STEPS[2:]]


def test_a_cleared_window_is_as_new() -> None:
    """Takes out, clears, and takes the same again."""
    state, buffer = take_steps(dag(), 9, 9)
    extraction.clear_window(state)
    assert state.window.local.tolist() == [-1] * 4
    assert state.window.begin.tolist() == [-1] * 6
    extraction.extract(state, buffer, 9, 9)
    assert state.window.need[:4].tolist() == [0, 1, 0, 1]


def test_the_cursor_goes_past_swaps_and_bridges_to_the_end() -> None:
    """Three of them: the third hop leads to the BRIDGE, a fourth nowhere."""
    state, buffer = take_steps(dag(), 0, 9)
    assert extraction.move_cursor(state, buffer, 2, 0)
    assert buffer.span[0].cursor == 5
    assert buffer.left[:6].tolist() == [0, 0, 1, 0, 1, 0]
    assert extraction.move_cursor(state, buffer, 0, 3)
    assert buffer.span[0].cursor == 5
    assert not extraction.move_cursor(state, buffer, 1, 0)
