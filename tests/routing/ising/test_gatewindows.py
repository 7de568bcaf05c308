"""Tests of windows of gates as QUBOs."""

from itertools import product

import dimod
import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import Operation, gate_dag_of
from tiger.routing.ising.gatetasks import GateTasks, build_gate_tasks, choose_start_arcs
from tiger.routing.ising.gatewindows import GateWindow, build_gate_window, derive_safe_penalties

PLACE = np.arange(6, dtype=np.int32)
LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
GRID = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)])


def random_tasks(device: Coupling, gates: int, seed: int) -> GateTasks:
    """Return the tasks of random gates on all device qubits, the first settled."""
    rng, size = np.random.default_rng(seed), device.size
    pairs = [rng.choice(size, 2, replace=False).tolist() for _ in range(gates)]
    dag = gate_dag_of(size, [Operation((a, b), ("z", "x"), pair=True) for a, b in pairs]).gate_dag
    return build_gate_tasks(dag, device, PLACE[:size], fixed=np.where(PLACE[:size] > 0, -1, 0).astype(np.int32))


def some_window(seed: int, most: int = 60, gates: int = 20) -> tuple[GateWindow, np.ndarray]:
    """Return a window of the gates on three levels, and the arcs of all gates."""
    tasks = random_tasks(GRID, gates, seed)
    arc = choose_start_arcs(tasks, PLACE)
    return build_gate_window(tasks, np.flatnonzero(np.isin(tasks.flow.level, (2, 3, 4))), arc, most), arc


def feasible(window: GateWindow, arc: np.ndarray, seed: int) -> list[np.ndarray]:
    """Return random choices that are allowed and clash nowhere."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(400):
        local = rng.integers(window.choice.shape[1], size=len(window.gates))
        every = arc.copy()
        every[window.gates] = window.choice[np.arange(len(local)), local]
        if (window.index[np.arange(len(local)), local] >= 0).all() and window.tasks.clashes(every) == 0:
            found.append(local)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("aimed", ["safe", "aim"])
@pytest.mark.parametrize("seed", range(3))
def test_the_energy_of_a_feasible_sample_is_the_cost_of_all_gates(seed: int, aimed: str) -> None:
    """With plain and with centred couplers energy, window cost and full cost are one."""
    window, arc = some_window(seed)
    safe = derive_safe_penalties(window)
    model = window.bqm(safe if aimed == "safe" or safe.aim is None else safe.aim)
    for local in [np.zeros(len(window.gates), np.int64), *feasible(window, arc, seed)]:
        every = arc.copy()
        every[window.gates] = window.choice[np.arange(len(local)), local]
        cost = window.tasks.cost(every)
        assert window.cost(local) == cost
        assert model.energy(dict(enumerate(window.sample(local).tolist()))) == pytest.approx(cost, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_ground_states_are_feasible_and_optimal(seed: int) -> None:
    """At the safe penalties the lowest of all energies is the cheapest choice of arcs without a clash."""
    tasks = random_tasks(LINE, 8, seed)
    arc = choose_start_arcs(tasks, PLACE[:4])
    window = build_gate_window(tasks, np.flatnonzero(np.isin(tasks.flow.level, (1, 2))), arc, 16)
    choices = [np.array(local) for local in product(range(window.choice.shape[1]), repeat=len(window.gates))]
    best = np.inf
    for local in choices:
        every = arc.copy()
        every[window.gates] = window.choice[np.arange(len(local)), local]
        if (window.index[np.arange(len(local)), local] >= 0).all() and tasks.clashes(every) == 0:
            best = min(best, tasks.cost(every))
    found = dimod.ExactSolver().sample(window.bqm(derive_safe_penalties(window))).first.energy
    assert found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("most", [8, 24, 60])
def test_a_window_has_no_more_variables_than_allowed(most: int) -> None:
    """The limit cuts the arcs that a gate may choose from, its own being the first."""
    window, arc = some_window(1, most)
    assert 0 < window.size <= most
    assert window.choice[:, 0].tolist() == arc[window.gates].tolist()


def test_gates_keep_off_what_others_of_their_level_hold() -> None:
    """A window of one gate offers no arc that touches the other gate of the level."""
    tasks = build_gate_tasks(
        gate_dag_of(4, [Operation(pair, ("z", "x"), pair=True) for pair in ((0, 1), (2, 3))]).gate_dag, LINE, PLACE[:4]
    )
    arc = choose_start_arcs(tasks, PLACE[:4])
    window = build_gate_window(tasks, np.array([0]), arc, 99)
    offered = tasks.arcs.ends[window.choice[window.index >= 0]].tolist()
    assert offered == [[0, 1], [1, 0]]


def test_weights_to_aim_at_are_smaller_than_safe_ones() -> None:
    """Tuning starts below the proven bound, with centred couplers."""
    safe = derive_safe_penalties(some_window(2)[0])
    assert safe.aim is not None
    assert safe.aim.centred
    assert safe.aim.one_hot.max() < safe.one_hot.min()
