"""Tests of annealing gates as tasks."""

from itertools import product

import numpy as np
import pytest

from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import Operation, gate_dag_of
from tiger.routing.ising import gateanneal
from tiger.routing.ising.gateanneal import anneal_arcs, descend
from tiger.routing.ising.gatetasks import GateTasks, build_gate_tasks, choose_start_arcs

PLACE = np.arange(6, dtype=np.int32)
LINE = Coupling.of(6, [(k, k + 1) for k in range(5)])
GRID = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)])
FUNCTIONS = ("anneal", "move_gate", "draw_arc", "find_displaced", "count_hops", "draw_below")


def random_tasks(device: Coupling, gates: int, seed: int) -> GateTasks:
    """Return the tasks of random gates on six qubits, the first settled."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(6, 2, replace=False).tolist() for _ in range(gates)]
    dag = gate_dag_of(6, [Operation((a, b), ("z", "x"), pair=True) for a, b in pairs]).gate_dag
    return build_gate_tasks(dag, device, PLACE, fixed=np.array([0, -1, -1, -1, -1, -1], np.int32))


@pytest.mark.parametrize("device", [LINE, GRID])
@pytest.mark.parametrize("improve", [anneal_arcs, descend])
@pytest.mark.parametrize("seed", range(3))
def test_gates_stay_feasible_and_cost_no_more(device: Coupling, improve, seed: int) -> None:
    """Whatever moves, no gates of a level come to share a device qubit."""
    tasks = random_tasks(device, 40, seed)
    start = choose_start_arcs(tasks, PLACE)
    found = improve(tasks, start, seed=seed, sweeps=50, stop=bool)
    assert tasks.clashes(found) == 0
    assert tasks.cost(found) <= tasks.cost(start)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_annealing_finds_what_exhaustion_finds(seed: int) -> None:
    """Four gates on a line of six are placed at the least cost there is."""
    tasks = random_tasks(LINE, 4, seed)
    choices = (np.array(arcs, np.int32) for arcs in product(range(10), repeat=4))
    best = min(tasks.cost(arcs) for arcs in choices if tasks.clashes(arcs) == 0)
    found = anneal_arcs(tasks, choose_start_arcs(tasks, PLACE), seed=seed, sweeps=2000, stop=bool)
    assert tasks.cost(found) == best


def test_the_same_seed_gives_the_same_places() -> None:
    """Annealing is deterministic."""
    tasks = random_tasks(GRID, 40, 1)
    start = choose_start_arcs(tasks, PLACE)
    first, second = (anneal_arcs(tasks, start, seed=7, sweeps=50, stop=bool) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_told_to_stop_it_returns_the_start() -> None:
    """Nothing is done once told to stop."""
    tasks = random_tasks(GRID, 40, 1)
    start = choose_start_arcs(tasks, PLACE)
    assert anneal_arcs(tasks, start, seed=7, sweeps=50, stop=lambda: True).tolist() == start.tolist()


@pytest.mark.parametrize("gates", [0, 1])
def test_few_gates_are_no_trouble(gates: int) -> None:
    """No gate, or one, costs nothing but the way from where a qubit is settled."""
    tasks = random_tasks(GRID, gates, 3)
    assert tasks.cost(anneal_arcs(tasks, choose_start_arcs(tasks, PLACE), seed=0, sweeps=64, stop=bool)) == 0


@pytest.mark.parametrize("device", [LINE, GRID])
def test_plain_python_does_the_same_work(device: Coupling, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without compilation gates stay feasible and cost no more, too."""
    for name in FUNCTIONS:
        monkeypatch.setattr(gateanneal, name, getattr(gateanneal, name).py_func)
    tasks = random_tasks(device, 20, 2)
    start = choose_start_arcs(tasks, PLACE)
    found = anneal_arcs(tasks, start, seed=1, sweeps=200, stop=bool)
    assert tasks.clashes(found) == 0
    assert tasks.cost(found) < tasks.cost(start)
