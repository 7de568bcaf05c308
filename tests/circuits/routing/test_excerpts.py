"""Tests of taking steps out of a route and putting others in, as plain Python and compiled."""

import numpy as np
import pytest

from tiger.circuits.coupling import Coupling
from tiger.circuits.gate_dag import GateDag, Step, gate_dag_of
from tiger.circuits.route import Route
from tiger.circuits.routing import corridor, excerpts, tokens
from tiger.circuits.routing.corridor import Scene
from tiger.circuits.routing.excerpts import (
    COST,
    CURSOR,
    END,
    FRESH,
    LATER,
    TAKEN,
    Lane,
    circuit_of,
    gates_of,
    lane_of,
    scene_of,
)
from tiger.circuits.routing.tokens import device_of

LINE = Coupling.of(6, [(k, k + 1) for k in range(5)])
STEPS = [(0, -1), (-1, 1), (-5, 5), (1, -1), (2, -1), (3, 3)]


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function, or not."""
    for module in (tokens, corridor, excerpts):
        for name, kernel in vars(module).copy().items():
            if request.param == "plain" and hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def dag(inner: tuple[tuple[int, int], ...] = ()) -> GateDag:
    """Return gates 0-1, 0-2 and 3-5, control flow on 2 and 3 if it has gates inside, else one more gate."""
    ends = [(0, 1), (0, 2), (3, 5), (2, 4)]
    steps = [Step(pair, (None, None), pair=True, bridge=True) for pair in ends]
    if inner:
        steps[2] = Step((2, 3), (None, None), inner=inner)
    return gate_dag_of(6, steps).gate_dag


def take_steps(circuit: GateDag, most: int, reach: int) -> tuple[Scene, Lane]:
    """Take steps out of the route of all six, from its start."""
    scene = scene_of(circuit_of(circuit), device_of(LINE))
    route = Route(start=np.arange(6, dtype=np.int32), steps=np.array(STEPS, np.int32))
    lane = lane_of(scene.circuit, route, gates_of(circuit, LINE))
    excerpts.rewind(scene, lane)
    excerpts.take_out(scene, lane, most, reach)
    return scene, lane


def test_everything_within_reach_is_taken() -> None:
    """Takes two SWAPs, a BRIDGE and three gates."""
    scene, lane = take_steps(dag(), 9, 9)
    assert (lane.span[TAKEN], lane.span[COST], lane.span[LATER]) == (6, 3, 0)
    assert scene.window.nodes[: scene.window.size[0]].tolist() == [0, 1, 2, 3]
    assert scene.window.need[:4].tolist() == [0, 1, 0, 1]
    assert scene.tokens.goal.tolist() == [-1] * 6


def test_steps_out_of_reach_and_what_waits_for_them_are_put_off() -> None:
    """The second SWAP is far, and the gate on its qubits and the BRIDGE come behind it."""
    _, lane = take_steps(dag(), 9, 1)
    assert lane.later[: lane.span[LATER]].tolist() == [[-5, 5], [2, -1], [3, 3]]


def test_as_many_swaps_as_asked_for_are_taken() -> None:
    """With one SWAP the excerpt ends before the second; the qubits with gates left have goals."""
    scene, lane = take_steps(dag(), 1, 9)
    assert (lane.span[TAKEN], lane.span[COST]) == (2, 1)
    assert scene.tokens.goal.tolist() == [1, -1, 2, 3, 4, 5]


def test_control_flow_ends_an_excerpt() -> None:
    """Nothing from the block on is taken, and the qubits of its gates have to be where they were."""
    scene, lane = take_steps(dag(inner=((2, 3),)), 9, 9)
    assert lane.span[TAKEN] == 4
    assert scene.tokens.goal[[2, 3]].tolist() == [2, 3]


@pytest.mark.parametrize("fresh", [[], [[0, -1], [1, 1]], [[0, -1]] * 5])
def test_fresh_steps_replace_those_taken(fresh: list[list[int]]) -> None:
    """Fewer, as many and more steps; those put off and those behind follow."""
    _, lane = take_steps(dag(), 1, 9)
    lane.fresh[: len(fresh)] = np.array(fresh, np.int32).reshape(-1, 2)
    lane.span[FRESH] = len(fresh)
    excerpts.put_in(lane)
    assert lane.steps[: lane.span[END]].tolist() == fresh + [list(step) for step in STEPS[2:]]


def test_a_cleared_window_is_as_new() -> None:
    """Takes out, clears, and takes the same again."""
    scene, lane = take_steps(dag(), 9, 9)
    excerpts.clear(scene)
    assert scene.window.local.tolist() == [-1] * 4
    assert scene.window.begin.tolist() == [-1] * 6
    excerpts.take_out(scene, lane, 9, 9)
    assert scene.window.need[:4].tolist() == [0, 1, 0, 1]


def test_the_cursor_goes_past_swaps_and_bridges_to_the_end() -> None:
    """Three of them: the third hop leads to the BRIDGE, a fourth nowhere."""
    scene, lane = take_steps(dag(), 0, 9)
    assert excerpts.onward(scene, lane, 2, 0)
    assert lane.span[CURSOR] == 5
    assert lane.left[:6].tolist() == [0, 0, 1, 0, 1, 0]
    assert excerpts.onward(scene, lane, 0, 3)
    assert lane.span[CURSOR] == 5
    assert not excerpts.onward(scene, lane, 1, 0)
