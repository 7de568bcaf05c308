"""Tests of the compiled annealing towards other objectives, as plain Python against the definitions."""

import numpy as np
import pytest

from tiger.objectives.cost import violations
from tiger.objectives.link_load import MaxLinkLoad
from tiger.objectives.makespan import Makespan, schedule_of
from tiger.objectives.shortest_paths import routes_of
from tiger.solvers.annealing import objective_annealing
from tiger.solvers.annealing import objective_kernels as kernels
from tiger.solvers.instance import instance_of, mark_fixed, state_of

RULES = ("one-to-one", "levels", "capacity")
LINKED = ("grid", "torus", "tree", "links")


@pytest.fixture(autouse=True)
def _plain(plain):
    """Run this file's kernels as plain Python."""


@pytest.fixture
def drawn(random_problem, random_feasible):
    """Return a function that draws a problem, its aim, its arrays and a mapping; a makespan under levels alone."""

    def draw(rule, seed, *, loads=True, **options):
        problem = random_problem(rule, seed, hardware=LINKED[seed % 4], **options)
        places = random_feasible(problem, np.random.default_rng(seed))
        routes = routes_of(problem.topology)
        aim = MaxLinkLoad(problem=problem, routes=routes) if loads else Makespan(schedule=schedule_of(problem))
        inst = instance_of(problem)
        return problem, aim, places, (inst, *objective_annealing._objective_of(problem, inst, aim.arrays(), places)[:2])

    return draw


@pytest.mark.parametrize("rule", RULES)
def test_loads_are_those_of_the_routes(rule, drawn):
    """Tests every kind of hardware, in units of the largest load of the start."""
    for seed in range(12):
        _, aim, places, (inst, objective, values) = drawn(rule, seed, nodes=(8, 9, 12)[seed % 3])
        total = kernels.reset_loads(inst, objective, values, places)
        load = values.load.copy()
        assert kernels.largest_load(values) == pytest.approx(1 if aim.value(places) else 0)
        assert load == pytest.approx(aim.stress(places))
        assert kernels.root(total) == pytest.approx((load**16).sum() ** (1 / 16))


def test_ends_are_those_of_the_schedule(drawn):
    """Tests the makespan in units of that of the start."""
    for seed in range(12):
        _, aim, places, (inst, objective, values) = drawn("levels", seed, loads=False)
        shuffled = np.random.default_rng(seed).permutation(places)
        found = kernels.makespan_of(inst, objective, values, shuffled) * objective.unit
        assert found == pytest.approx(aim.value(shuffled))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_moves_change_loads_as_if_counted_anew(rule, drawn):
    """Tests swaps and relocations, legal or not yet done, and that undoing one restores the loads."""
    for seed in range(4):
        problem, aim, places, (inst, objective, values) = drawn(rule, seed)
        state, fixed, rng = state_of(problem, places), mark_fixed(inst), np.random.default_rng(seed)
        before = kernels.reset_loads(inst, objective, values, state.place)
        for _ in range(40):
            t, q = int(rng.integers(problem.tasks.size)), int(rng.integers(problem.topology.size))
            p, u = int(state.place[t]), kernels.partner_at(inst, state, t, q)
            if not np.isfinite(kernels.cost_rise(inst, state, fixed, objective, t, q, u)):
                continue
            rise = kernels.make_move(inst, state, objective, values, t, q, u)
            load = values.load.copy()
            assert kernels.reset_loads(inst, objective, values, state.place) == pytest.approx(before + rise)
            assert values.load == pytest.approx(load)
            kernels.make_move(inst, state, objective, values, t, p, u)
            assert values.load == pytest.approx(aim.stress(places))


@pytest.mark.parametrize(("rule", "loads"), [(rule, True) for rule in RULES] + [("levels", False)])
def test_annealing_keeps_the_level_true(rule, loads, drawn):
    """Tests that the level is true, the best feasible, and nothing lost against the start."""
    for seed in range(4):
        problem, aim, places, (inst, objective, values) = drawn(rule, seed, loads=loads, pins=True, memory=True)
        if not inst.movable.size:
            continue
        state, best, level = state_of(problem, places), places.copy(), kernels.CostRecord(0.0, 1.0, 0.0)
        for temperature in (10.0, 0.05):
            temperatures = np.full(3, temperature)
            level = kernels.anneal_by(
                inst, state, mark_fixed(inst), objective, values, best, temperatures, 20, seed, level
            )
        value = aim.value(places)
        assert not violations(problem, best)
        assert not violations(problem, state.place)
        assert aim.value(best) == pytest.approx(level.value * value)
        assert level.value <= 1


def test_many_links_are_scanned_once_a_temperature(drawn, monkeypatch):
    """Tests that the best is found all the same."""
    monkeypatch.setattr(kernels, "SCANNED", 1)
    problem, aim, places, (inst, objective, values) = drawn("one-to-one", 0)
    best, temperatures = places.copy(), np.full(30, 0.05)
    state = state_of(problem, places)
    kernels.anneal_by(
        inst, state, mark_fixed(inst), objective, values, best, temperatures, 10, 1, kernels.CostRecord(0.0, 1.0, 0.0)
    )
    assert aim.value(best) < aim.value(places)


@pytest.mark.slow
def test_moves_across_disconnected_parts_are_illegal(random_problem, random_feasible):
    """Tests that they would pay more than any mapping costs."""
    crossed = 0
    for seed in range(6):
        problem = random_problem("capacity", seed, hardware="split")
        places, inst = random_feasible(problem, np.random.default_rng(seed)), instance_of(problem)
        arrays = routes_of(problem.topology).arrays()
        objective, _, _ = objective_annealing._objective_of(problem, inst, arrays, places)
        state = state_of(problem, places)
        for t, q in np.ndindex(problem.tasks.size, problem.topology.size):
            other = places.copy()
            other[t] = q
            legal = np.isfinite(kernels.cost_rise(inst, state, mark_fixed(inst), objective, t, q, -1))
            assert legal == (not violations(problem, other) and q != places[t])
            crossed += not legal
    assert crossed
