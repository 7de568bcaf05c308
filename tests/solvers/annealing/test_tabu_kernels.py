"""Tests of tabu search's prices, tenures and lowest cost against what is computed from scratch."""

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.solvers.annealing import fields
from tiger.solvers.annealing import tabu_kernels as kernels
from tiger.solvers.annealing.quadratic import quadratic
from tiger.solvers.annealing.tabu import TabuParams, tabu_state

SEEDS = range(6)


@pytest.fixture
def begin(random_problem):
    """Return the model of a small problem by seed, with every kind of limit and asymmetry, and its tabu state."""

    def build(seed):
        problem = random_problem("one-to-one", seed, pins=seed % 2 == 0, forbidden=seed % 3 == 0, memory=seed % 4 == 0)
        model = quadratic(problem, launch_order(problem))
        state = tabu_state(model.fields, TabuParams())
        state.place[:], state.clock[1] = model.order(model.start), seed
        kernels.begin(state)
        return model, state

    return build


@pytest.fixture(params=["compiled", "plain"])
def either(request, monkeypatch):
    """Run a test with compiled kernels and with plain Python ones."""
    if request.param == "plain":
        for name, kernel in vars(kernels).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(kernels, name, kernel.py_func)


def prices(model, order):
    """Return the prices of all swaps of an order, by the fields of annealing."""
    model.fields.place[:] = order
    fields.lay_out(model.fields)
    fields.recompute(model.fields)
    found = np.full((len(order), len(order)), np.inf)
    for u in range(len(order)):
        fields.price(model.fields, u, u + 1)
        found[u, u + 1 :] = model.fields.change[u + 1 :]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_prices_stay_those_computed_from_scratch(seed, begin, either):
    """Tests one swap after another, with forbidden pairs, idle nodes and both matrices asymmetric."""
    model, state = begin(seed)
    for _ in range(20):
        before = state.place.copy()
        expected = prices(model, before)
        if not kernels.search_tabu(state, 1):
            break
        above = np.triu_indices(len(before), 1, len(before))
        legal = np.isfinite(expected[above])
        assert state.price[above][legal] == pytest.approx(expected[above][legal], abs=1e-5)
        assert (state.place != before).sum() == 2
        assert np.isfinite(model.fields.bias[np.arange(len(before)), state.place]).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_lowest_cost_is_that_of_the_lowest_mapping(seed, begin, either):
    """Tests the cost that is added up against that of both mappings."""
    model, state = begin(seed)
    start = model.cost(state.place)
    kernels.search_tabu(state, 30)
    summed = start + state.cost[1] * model.unit
    assert model.cost(state.lowest) == pytest.approx(summed, rel=1e-5, abs=1e-5 * model.unit)
    assert state.cost[1] <= min(state.cost[0], 0.0) + state.cost[2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_tasks_do_not_return_together_before_their_tenure(seed, begin, either):
    """Tests that a swap that returns both tasks while it is barred leads below the lowest cost."""
    _, state = begin(seed)
    left = {}
    for iteration in range(1, 40):
        before, lowest = state.place.copy(), state.cost[1]
        if not kernels.search_tabu(state, 1):
            break
        u, v = np.flatnonzero(state.place != before)
        early = all(left.get((task, int(state.place[task])), 0) > iteration for task in (u, v))
        assert not early or state.cost[1] < lowest or _all_barred(state, before, left)
        for task in (u, v):
            left[task, int(before[task])] = int(state.until[task, before[task]])


def _all_barred(state, order, left):
    """Return whether every swap of an order was barred in the last iteration."""
    iteration = int(state.clock[0])
    return all(
        left.get((u, int(order[v])), 0) > iteration and left.get((v, int(order[u])), 0) > iteration
        for u in range(len(order))
        for v in range(u + 1, len(order))
        if np.isfinite(state.bias[u, order[v]]) and np.isfinite(state.bias[v, order[u]])
    )
