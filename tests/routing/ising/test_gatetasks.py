"""Tests of gates as tasks."""

import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.ising.gatetasks import GateTasks, build_gate_tasks, choose_start_arcs, split_levels
from tiger.routing.ising.movement import count_movement

LINE = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
DEVICES = {
    "line": Coupling.of(6, [(k, k + 1) for k in range(5)]),
    "star": Coupling.of(6, [(0, k) for k in range(1, 6)]),
    "grid": Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]),
    "spider": Coupling.of(6, [(0, 1), (0, 2), (0, 3), (3, 4), (2, 5)]),
}


def cx(qubits: int, *pairs: tuple[int, int]) -> GateDag:
    """Return the gate DAG of CX gates."""
    return gate_dag_of(qubits, [Operation(pair, ("z", "x"), pair=True, bridge=True) for pair in pairs]).gate_dag


def arc(tasks: GateTasks, *ends: tuple[int, int]) -> np.ndarray:
    """Return the arcs with these ends."""
    return np.array([tasks.arcs.ends.tolist().index(list(pair)) for pair in ends], np.int32)


def random_tasks(device: Coupling, seed: int) -> GateTasks:
    """Return the tasks of thirty random gates on six qubits."""
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.choice(6, 2, replace=False).tolist()) for _ in range(30)]
    return build_gate_tasks(cx(6, *pairs), device, np.arange(6, dtype=np.int32))


def test_the_cost_is_what_qubits_travel() -> None:
    """Qubit 1 travels from device qubit 1 to 2, and qubit 2 stays."""
    tasks = build_gate_tasks(cx(4, (0, 1), (2, 3), (2, 1)), LINE, np.arange(4, dtype=np.int32))
    assert tasks.cost(arc(tasks, (0, 1), (3, 2), (3, 2))) == 1


def test_the_way_from_where_a_qubit_is_settled_counts() -> None:
    """The first gate of a settled qubit is as far as it is from there."""
    place = np.arange(4, dtype=np.int32)
    tasks = build_gate_tasks(cx(2, (0, 1)), LINE, place, fixed=np.array([3, -1], np.int32))
    assert tasks.cost(arc(tasks, (0, 1))) == 3


@pytest.mark.parametrize("seed", range(3))
def test_the_cost_is_the_movement_of_data(seed: int) -> None:
    """All gates are on edges, so that what qubits travel is all that moves."""
    tasks = random_tasks(DEVICES["grid"], seed)
    chosen = np.random.default_rng(seed).integers(len(tasks.arcs.ends), size=30).astype(np.int32)
    assert tasks.cost(chosen) == count_movement(tasks.visits(chosen), DEVICES["grid"])


def test_gates_of_a_level_that_share_a_device_qubit_clash() -> None:
    """Two gates on touching edges clash once, on one edge twice."""
    tasks = build_gate_tasks(cx(4, (0, 1), (2, 3)), LINE, np.arange(4, dtype=np.int32))
    assert [tasks.clashes(arc(tasks, (0, 1), pair)) for pair in ((2, 3), (1, 2), (1, 0))] == [0, 1, 2]


def test_levels_are_split_to_what_the_device_can_run_at_once() -> None:
    """On a star no two gates run at once."""
    tasks = build_gate_tasks(cx(4, (0, 1), (2, 3)), DEVICES["star"], np.arange(6, dtype=np.int32))
    assert tasks.flow.level.tolist() == [0, 1]


def test_parts_are_split_by_what_each_can_run() -> None:
    """Two gates in a part of one edge take turns, while the other part runs two gates at once."""
    device = Coupling.of(7, [(0, 1), (1, 2), (3, 4), (4, 5), (5, 6)])
    tasks = build_gate_tasks(cx(7, (0, 1), (3, 4), (5, 6), (2, 1)), device, np.arange(7, dtype=np.int32))
    assert tasks.flow.level.tolist() == [0, 0, 0, 1]
    assert np.unique(tasks.part).tolist() == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("seed", range(3))
def test_the_start_is_feasible(name: str, seed: int) -> None:
    """No two gates of a level share a device qubit, even where greedy choice ends in a dead end."""
    tasks = random_tasks(DEVICES[name], seed)
    assert tasks.clashes(choose_start_arcs(tasks, np.arange(6, dtype=np.int32))) == 0


def test_a_dead_end_goes_on_a_matching() -> None:
    """On a line of four a first gate in the middle would leave nothing for the second."""
    tasks = build_gate_tasks(cx(4, (0, 1), (2, 3)), LINE, np.arange(4, dtype=np.int32))
    found = choose_start_arcs(tasks, np.array([1, 2, 0, 3], np.int32))
    assert sorted(tasks.arcs.ends[found].ravel().tolist()) == [0, 1, 2, 3]


def test_an_embedded_circuit_starts_where_it_is() -> None:
    """Gates whose qubits are adjacent stay on that edge."""
    tasks = build_gate_tasks(cx(4, (0, 1), (3, 2), (1, 2)), LINE, np.arange(4, dtype=np.int32))
    found = choose_start_arcs(tasks, np.arange(4, dtype=np.int32))
    assert tasks.arcs.ends[found].tolist() == [[0, 1], [3, 2], [1, 2]]


def test_runs_take_levels_together() -> None:
    """Seven levels make runs of three, or begin with one of two."""
    level = np.arange(7, dtype=np.int32)
    assert [run.tolist() for run in split_levels(level, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [run.tolist() for run in split_levels(level, 3, 2)] == [[0, 1], [2, 3, 4], [5, 6]]
