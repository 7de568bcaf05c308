"""Tests of fields, prices and swaps against costs computed from scratch."""

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.solvers.annealing import fields as kernels
from tiger.solvers.annealing.fields import DRAWS, CoolingSchedule, anneal_state
from tiger.solvers.annealing.quadratic import quadratic

SEEDS = range(6)


@pytest.fixture
def model(random_problem):
    """Return the model of a small problem by seed, with every kind of limit and asymmetry."""

    def build(seed):
        problem = random_problem("one-to-one", seed, pins=seed % 2 == 0, forbidden=seed % 3 == 0, memory=seed % 4 == 0)
        return quadratic(problem, launch_order(problem))

    return build


@pytest.fixture(params=["compiled", "plain"])
def either(request, monkeypatch):
    """Run a test with compiled kernels and with plain Python ones."""
    if request.param == "plain":
        for name, kernel in vars(kernels).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(kernels, name, kernel.py_func)


def lay_out(model, places):
    """Put a mapping into the fields and return its order."""
    order = model.order(places)
    model.fields.place[:] = order
    kernels.lay_out(model.fields)
    kernels.recompute(model.fields)
    return order


def schedule(hot, work, size, seed=0, finest=0.0):
    """Return a schedule from exp(3) times a temperature, without noise at 0."""
    noise = np.random.default_rng(seed).standard_exponential(DRAWS + size, np.float32) * (hot > 0.0)
    return CoolingSchedule(hot, 3.0 if hot else 0.0, work, 1e-10, finest, noise)


def begin(order, seed, pause_at):
    """Return the state of an annealing before it begins, and where it pauses."""
    state = anneal_state(order, seed)
    state.pause_at[0] = pause_at
    return state


def in_unit(model, order):
    """Return a cost in the unit of the fields, up to a constant."""
    fields, at = model.fields, np.ix_(order, order)
    pairs = sum((flow * away[at]).sum() / 2 for flow, away in zip(fields.flow, fields.distances, strict=True))
    return pairs + fields.bias[np.arange(len(order)), order].sum()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_prices_are_differences_of_cost(seed, model, either):
    """Tests every swap, forbidden ones included, exactly from the flows and in single precision from the fields."""
    one = model(seed)
    order = lay_out(one, one.start)
    changes = np.zeros((one.fields.tasks, len(order)))
    kernels.price_all(one.fields, changes)
    for u in range(one.fields.tasks):
        kernels.price(one.fields, u, u + 1)
        for v in range(u + 1, len(order)):
            other = order.copy()
            other[[u, v]] = order[[v, u]]
            change = in_unit(one, other) - in_unit(one, order)
            assert changes[u, v] == pytest.approx(change, abs=1e-12)
            assert one.fields.change[v] == pytest.approx(change, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_swaps_keep_the_fields_right(seed, model, plain):
    """Tests that fields after a legal swap are those computed from scratch, and that costs differ by the price."""
    one = model(seed)
    order = lay_out(one, one.start)
    for u in range(one.fields.tasks):
        kernels.price(one.fields, u, u + 1)
        for v in np.flatnonzero(np.isfinite(one.fields.change[u + 1 :]))[:1] + u + 1:
            kernels.swap(one.fields, u, int(v))
    kept = [array.copy() for array in (one.fields.apart, one.fields.field, one.fields.own)]
    lay_out(one, one.places(one.fields.place.copy()))
    assert sorted(one.fields.place) == sorted(order)
    for before, after in zip(kept, (one.fields.apart, one.fields.field, one.fields.own), strict=True):
        assert before == pytest.approx(after, abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("on_fields", [0, 1])
def test_annealing_keeps_account_of_the_cost(seed, on_fields, model, either):
    """Tests the present and the lowest cost after a short annealing, begun with fields and without."""
    one = model(seed)
    order = lay_out(one, one.start)
    state = begin(order, seed, 10_000)
    state.on_fields[0] = on_fields
    kernels.anneal(one.fields, schedule(0.01, 10_000, len(order), seed), state)
    base = in_unit(one, order)
    assert state.cost[0] == pytest.approx(in_unit(one, one.fields.place) - base, abs=1e-9)
    assert state.lowest_cost[0] == pytest.approx(in_unit(one, state.lowest) - base, abs=1e-9)
    assert state.lowest_cost[0] <= 0.0


def test_at_temperature_0_no_swap_gains_in_the_end(model, either):
    """Tests that descent ends at a local optimum and says that its work is done."""
    one = model(1)
    order = lay_out(one, one.start)
    state = begin(order, 0, 1 << 40)
    kernels.anneal(one.fields, schedule(0.0, 1 << 50, len(order)), state)
    assert state.work_done[0] == 1 << 50
    changes = np.zeros((one.fields.tasks, len(order)))
    kernels.price_all(one.fields, changes)
    assert (changes >= -1e-10).all()


def test_fields_wait_for_few_swaps_and_for_temperatures_they_can_tell(random_problem):
    """Tests that an annealing ends on fields, as most swaps are refused, unless temperatures are below the finest."""
    problem, ends = random_problem("one-to-one", 0, tasks=30, nodes=30), []
    one = quadratic(problem, launch_order(problem))
    for finest in (0.0, 1.0):
        state = begin(lay_out(one, one.start), 3, 1_000_000)
        kernels.anneal(one.fields, schedule(1e-4, 1_000_000, len(one.fields.place), finest=finest), state)
        ends.append(int(state.on_fields[0]))
    assert ends == [1, 0]


def test_bug_fields_are_left_when_the_temperature_falls_below_what_they_can_tell(random_problem):
    """Tests that exact prices go on from fields that were kept at higher temperatures."""
    problem = random_problem("one-to-one", 0, tasks=30, nodes=30)
    one = quadratic(problem, launch_order(problem))
    state, plan = begin(lay_out(one, one.start), 3, 500_000), schedule(1e-4, 1_000_000, 30, finest=2e-4)
    kernels.anneal(one.fields, plan, state)
    assert state.on_fields[0] == 1
    state.pause_at[0] = 1_000_000
    kernels.anneal(one.fields, plan, state)
    assert state.on_fields[0] == 0


def test_slices_do_not_change_an_annealing(model):
    """Tests that one taken up again after every sweep ends where one without pauses does."""
    one, ends = model(5), []
    for pause in (1, 1_000_000):
        state = begin(lay_out(one, one.start), 3, 0)
        while state.work_done[0] < 100_000:
            state.pause_at[0] = min(state.work_done[0] + pause, 100_000)
            kernels.anneal(one.fields, schedule(0.01, 100_000, len(one.fields.place)), state)
        ends.append(state.lowest)
    assert (ends[0] == ends[1]).all()
