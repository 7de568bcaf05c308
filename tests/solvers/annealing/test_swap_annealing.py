"""Tests of compiled trading of places, as plain Python."""

import numpy as np
import pytest

from tiger.objectives.cost import cost_of, violations
from tiger.solvers.annealing import boundary_annealing as boundary
from tiger.solvers.annealing import swap_annealing as trading
from tiger.solvers.annealing.boundary_annealing import web_of
from tiger.solvers.instance import fixed_of, instance_of, state_of

RULES = ("one-to-one", "levels", "capacity")


@pytest.fixture(autouse=True)
def _plain(plain, monkeypatch):
    """Run this file's kernels as plain Python."""
    for module in (boundary, trading):
        for name, kernel in vars(module).copy().items():
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))


@pytest.mark.parametrize("rule", RULES)
def test_trading_keeps_books(rule, random_problem, random_feasible):
    """Tests the state and the cost change after many moves."""
    for seed in range(8):
        problem = random_problem(rule, seed, hardware="torus", pins=seed % 2 == 0, memory=seed % 3 == 0)
        inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(seed))
        if not inst.movable.size:
            continue
        state, marks = state_of(problem, places), (fixed_of(inst), np.arange(problem.topology.size))
        plan = np.array([[100.0, 60, 0.5, 2, 1], [1.0, 60, 0.5, 2, 2]])
        change = trading.trade(inst, web_of(inst), state, marks, plan)
        gone = cost_of(problem, state.place).total - cost_of(problem, places).total
        assert change == pytest.approx(gone, abs=1e-6)
        assert not violations(problem, state.place)
        again = state_of(problem, state.place)
        assert (state.held == again.held).all()
        assert (state.occupant == again.occupant).all()


def test_places_are_traded_between_domains_alone(random_problem, random_feasible):
    """Tests that nothing moves where all nodes are one domain."""
    problem = random_problem("one-to-one", 1, hardware="torus")
    inst, places = instance_of(problem), random_feasible(problem, np.random.default_rng(1))
    state, marks = state_of(problem, places), (fixed_of(inst), np.zeros(problem.topology.size, np.int64))
    assert trading.trade(inst, web_of(inst), state, marks, np.array([[100.0, 60, 0.5, 2, 1]])) == 0.0
    assert (state.place == places).all()
