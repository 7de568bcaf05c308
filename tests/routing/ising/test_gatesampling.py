"""Tests of sampling gates as tasks."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.mapping.sampler_policy import ising_of
from tiger.qubo.ising import Ising
from tiger.qubo.params import IsingParams, Sampling
from tiger.routing.coupling import Coupling
from tiger.routing.gate_dag import GateDag, Operation, gate_dag_of
from tiger.routing.ising.gatesampling import GateSamplingParams, decode, repair_choice, sample_arcs
from tiger.routing.ising.gatetasks import GateTasks, build_gate_tasks, choose_start_arcs
from tiger.routing.ising.gatewindows import build_gate_window
from tiger.routing.ising.static import StaticParams, build_static_layout
from tiger.solvers import registry

PLACE = np.arange(6, dtype=np.int32)
GRID = Coupling.of(6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)])


def random_circuit(gates: int, seed: int) -> GateDag:
    """Return random gates on six qubits."""
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(6, 2, replace=False).tolist() for _ in range(gates)]
    return gate_dag_of(6, [Operation((a, b), ("z", "x"), pair=True) for a, b in pairs]).gate_dag


def ising(name: str, size: int = 60) -> Ising:
    """Return the core's path for a sampler, with small windows."""
    problem = build_static_layout(random_circuit(9, 0), GRID, StaticParams()).problem
    return ising_of(registry.sampler(name), problem, IsingParams(window_size=size))


def random_tasks(seed: int) -> GateTasks:
    """Return gates as tasks."""
    return build_gate_tasks(random_circuit(24, seed), GRID, PLACE)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["neal", "tabu"])
@pytest.mark.parametrize("seed", range(2))
def test_samplers_gain_and_stay_feasible(name: str, seed: int) -> None:
    """Windows of any sampler lower the cost of a greedy start."""
    tasks = random_tasks(seed)
    start = choose_start_arcs(tasks, PLACE)
    found = sample_arcs(tasks, start, ising(name), GateSamplingParams(), (seed, bool))
    assert tasks.clashes(found) == 0
    assert tasks.cost(found) < tasks.cost(start)


@pytest.mark.slow
def test_small_windows_cut_levels() -> None:
    """Where a window takes two gates the levels are cut, and the cost does not rise."""
    tasks = random_tasks(3)
    start = choose_start_arcs(tasks, PLACE)
    found = sample_arcs(tasks, start, ising("neal", 12), GateSamplingParams(passes=2), (0, bool))
    assert tasks.clashes(found) == 0
    assert tasks.cost(found) <= tasks.cost(start)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_places() -> None:
    """Sampling is deterministic."""
    tasks = random_tasks(1)
    start = choose_start_arcs(tasks, PLACE)
    first, second = (
        sample_arcs(tasks, start, ising("neal"), GateSamplingParams(windows=9), (4, bool)) for _ in range(2)
    )
    assert first.tolist() == second.tolist()


def test_more_rounds_tune_a_window() -> None:
    """A window may be sampled several times, at penalties that follow what was feasible."""
    tasks, path = random_tasks(2), ising("neal")
    path = replace(path, params=replace(path.params, window=Sampling(rounds=3, reads=4, sweeps=50)))
    start = choose_start_arcs(tasks, PLACE)
    assert tasks.cost(sample_arcs(tasks, start, path, GateSamplingParams(windows=6), (0, bool))) <= tasks.cost(start)


def test_told_to_stop_it_returns_the_start() -> None:
    """Nothing is sampled once told to stop."""
    tasks = random_tasks(1)
    start = choose_start_arcs(tasks, PLACE)
    assert sample_arcs(tasks, start, ising("neal"), GateSamplingParams(), (0, lambda: True)).tolist() == start.tolist()


def test_decoding_undoes_encoding() -> None:
    """The bits of choices are those choices, and repair leaves them alone."""
    tasks = random_tasks(1)
    window = build_gate_window(tasks, np.flatnonzero(tasks.flow.level < 2), choose_start_arcs(tasks, PLACE), 60)
    local = np.zeros(len(window.gates), np.int64)
    bits = decode(window, window.sample(local)[None])
    assert bits[0].argmax(axis=1).tolist() == local.tolist()
    found = repair_choice(window, bits[0])
    assert found is not None
    assert found.tolist() == local.tolist()


def test_repair_gives_every_gate_an_arc_of_its_own() -> None:
    """From no bits at all, gates of a level get arcs that do not touch."""
    tasks = random_tasks(1)
    arc = choose_start_arcs(tasks, PLACE)
    window = build_gate_window(tasks, np.flatnonzero(tasks.flow.level < 1), arc, 60)
    found = repair_choice(window, np.zeros(window.index.shape, bool))
    assert found is not None
    arc[window.gates] = window.choice[np.arange(len(found)), found]
    assert tasks.clashes(arc) == 0


def test_repair_says_when_a_gate_finds_nothing() -> None:
    """On a line the middle edge, chosen for one gate, leaves none for the other."""
    line = Coupling.of(4, [(0, 1), (1, 2), (2, 3)])
    circuit = gate_dag_of(4, [Operation(pair, ("z", "x"), pair=True) for pair in ((0, 1), (2, 3))]).gate_dag
    tasks = build_gate_tasks(circuit, line, PLACE[:4])
    window = build_gate_window(tasks, np.array([0, 1]), choose_start_arcs(tasks, PLACE[:4]), 99)
    bits = np.zeros(window.index.shape, bool)
    bits[0] = (window.tasks.arcs.ends[window.choice[0]] == (1, 2)).all(axis=1)
    assert repair_choice(window, bits) is None
