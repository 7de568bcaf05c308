"""Tests of compiled annealing by swaps, as plain Python."""

import numpy as np
import pytest

from tiger.objectives.cost import cost_of, violations
from tiger.solvers.annealing import boundary_annealing, swap_annealing
from tiger.solvers.annealing.boundary_annealing import csr_graph_of
from tiger.solvers.annealing.swap_annealing import SwapSchedule
from tiger.solvers.generator import seed_state
from tiger.solvers.instance import instance_of, mark_fixed, state_of

RULES = ("one-to-one", "levels", "capacity")


@pytest.fixture(autouse=True)
def _plain(plain, monkeypatch):
    """Run this file's kernels as plain Python."""
    for module in (boundary_annealing, swap_annealing):
        for name, kernel in vars(module).copy().items():
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))


@pytest.mark.parametrize("rule", RULES)
def test_swaps_keep_the_state_right(rule, random_problem, random_feasible):
    """Tests the state and the cost change after many moves."""
    for seed in range(8):
        problem = random_problem(rule, seed, hardware="torus", pins=seed % 2 == 0, memory=seed % 3 == 0)
        inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(seed))
        if not inst.movable.size:
            continue
        state, label = state_of(problem, places), np.arange(problem.topology.size)
        plan = SwapSchedule(mark_fixed(inst), label, np.array([100.0, 1.0]), seed_state(seed), 60, 0.5, 2)
        change = swap_annealing.anneal_swaps(inst, csr_graph_of(inst), state, plan)
        gone = cost_of(problem, state.place).total - cost_of(problem, places).total
        assert change == pytest.approx(gone, abs=1e-6)
        assert not violations(problem, state.place)
        again = state_of(problem, state.place)
        assert (state.occupied == again.occupied).all()
        assert (state.occupant == again.occupant).all()


def test_tasks_swap_between_domains_alone(random_problem, random_feasible):
    """Tests that nothing moves where all nodes are one domain."""
    problem = random_problem("one-to-one", 1, hardware="torus")
    inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(1))
    state, label = state_of(problem, places), np.zeros(problem.topology.size, np.int64)
    plan = SwapSchedule(mark_fixed(inst), label, np.array([100.0]), seed_state(1), 60, 0.5, 2)
    assert swap_annealing.anneal_swaps(inst, csr_graph_of(inst), state, plan) == 0.0
    assert (state.place == places).all()
