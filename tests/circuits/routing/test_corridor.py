"""Tests of re-routing inside a budget, as plain Python and compiled."""

import numpy as np
import pytest

from tiger.circuits.coupling import Coupling
from tiger.circuits.gate_dag import GateDag, Step, gate_dag_of
from tiger.circuits.routing import corridor, excerpts, tokens, windows
from tiger.circuits.routing.corridor import FAILED, LENGTH, USED, Scene
from tiger.circuits.routing.excerpts import Lane, circuit_of, gates_of, lane_of, scene_of
from tiger.circuits.routing.shortest import shortest_paths
from tiger.circuits.routing.tokens import device_of

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every kernel by its plain Python function, or not."""
    for module in (tokens, corridor, excerpts, windows):
        for name, kernel in vars(module).copy().items():
            if request.param == "plain" and hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def circuit(*pairs: tuple[int, int], bridge: bool = True) -> GateDag:
    """Return gates in strict order, with or without BRIDGEs."""
    steps = [Step(pair, (None, None), pair=True, bridge=bridge) for pair in pairs]
    return gate_dag_of(4, steps).gate_dag


def window(dag: GateDag) -> tuple[Scene, Lane]:
    """Return a window of everything between the identity and where walking along shortest paths ends."""
    route = shortest_paths(dag, LINE, np.arange(4, dtype=np.int32))
    scene = scene_of(circuit_of(dag), device_of(LINE))
    lane = lane_of(scene.circuit, route, gates_of(dag, LINE))
    excerpts.rewind(scene, lane)
    excerpts.take_out(scene, lane, 50, 50)
    windows.draw(scene.trial, scene.tokens.dice)
    scene.trial.weight[corridor.CHANCE] = 0.0
    return scene, lane


def test_one_bridge_does_for_one_distant_gate() -> None:
    """Two hops apart and no other gate: a single step, within a budget of one."""
    scene, _ = window(circuit((0, 2)))
    assert corridor.reroute(scene, 1) == 1
    assert scene.trial.tally[USED] == 1


def test_a_budget_below_what_is_needed_fails() -> None:
    """Three hops need two SWAPs, or a SWAP and a BRIDGE."""
    scene, _ = window(circuit((0, 3)))
    assert corridor.reroute(scene, 1) == FAILED
    corridor.undo(scene, 0)
    scene.trial.tally[corridor.AWAY] = 0
    assert corridor.reroute(scene, 2) == 2


def test_swaps_alone_where_bridges_are_not_allowed() -> None:
    """Logs a SWAP and then the gate."""
    scene, _ = window(circuit((0, 2), bridge=False))
    assert corridor.reroute(scene, 1) == 1
    assert scene.trial.log[: scene.trial.tally[LENGTH], 0].tolist()[1:] == [0]


def test_qubits_end_at_their_goals() -> None:
    """Without gates, goals that reverse the line take six SWAPs."""
    scene, _ = window(circuit())
    tokens.clear_roster(scene.tokens)
    scene.tokens.goal[:] = [3, 2, 1, 0]
    for qubit in range(4):
        tokens.enlist(scene.tokens, qubit)
    scene.trial.tally[corridor.AWAY] = tokens.displacement(scene.device, scene.tokens)
    assert corridor.reroute(scene, 6) == 6
    assert scene.tokens.place.tolist() == [3, 2, 1, 0]


def test_undoing_brings_qubits_and_roster_back() -> None:
    """Routes, takes back and routes again."""
    scene, _ = window(circuit((0, 3), (1, 2), (0, 3)))
    first = corridor.reroute(scene, 9)
    corridor.undo(scene, 0)
    assert scene.tokens.place.tolist() == [0, 1, 2, 3]
    assert scene.tokens.marks[0] == 0
    scene.trial.tally[corridor.AWAY] = 0
    assert corridor.reroute(scene, 9) == first
