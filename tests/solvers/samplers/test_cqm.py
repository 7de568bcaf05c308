"""Tests of the constrained quadratic model: evaluated on known mappings, feasible and not."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.model.window import Block, fold, whole
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.samplers import cqm
from tiger.solvers.samplers.cqm import cqm_of, variables

RULES = ("one-to-one", "levels", "capacity")


def sample(window, local):
    """Return the values of the variables for local places, none of which is set for a task at -1."""
    index = variables(window)
    held = {(task, node) for task, node in enumerate(local.tolist())}
    return {int(index[pair]): int(pair in held) for pair in map(tuple, np.argwhere(index >= 0).tolist())}


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_feasible_mapping_has_its_cost(rule, random_problem, random_feasible):
    """Tests the objective and every constraint, with pins, forbidden pairs and memory."""
    for seed in range(8):
        problem = random_problem(rule, seed, pins=True, forbidden=True, memory=seed % 2 == 0)
        places = random_feasible(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        model, values = cqm_of(window), sample(window, window.local(places))
        cost = cost_of(problem, places).total
        assert model.objective.energy(values) == pytest.approx(cost, rel=1e-9, abs=1e-9)
        assert model.check_feasible(values)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_mapping_is_feasible_if_nothing_is_violated(rule, random_problem, random_places):
    """Tests mappings drawn at random, most of which break something."""
    broken = 0
    for seed in range(20):
        problem = random_problem(rule, seed, tasks=4, pins=True, forbidden=True, memory=True)
        places = random_places(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        values, wrong = sample(window, window.local(places)), bool(violations(problem, places))
        assert cqm_of(window).check_feasible(values) is not wrong
        broken += wrong
    assert 0 < broken < 20


def test_a_window_has_the_cost_of_the_full_mapping(random_problem, random_feasible):
    """Tests a block of a partition, whose surroundings are folded in."""
    problem = random_problem("one-to-one", 3, tasks=8, nodes=8)
    places = random_feasible(problem, np.random.default_rng(0))
    window = fold(problem, Block(tasks=np.arange(4), nodes=places[:4]), places)
    moved = np.array([3, 2, 1, 0])
    cost = cost_of(problem, window.place(places, moved)).total
    assert cqm_of(window).objective.energy(sample(window, moved)) == pytest.approx(cost)


def test_constraints_are_named_and_none_is_idle(path_problem):
    """Tests labels by the problem's own indices; a node that one task alone may use needs no limit."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    names = [f"task {k}" for k in range(3)] + [f"group 0 node {k}" for k in range(3)]
    assert list(cqm_of(window).constraints) == names
    assert len(cqm_of(window).discrete) == 3
    alone = fold(path_problem, Block(tasks=np.array([2]), nodes=np.array([1, 2])), np.arange(3))
    assert list(cqm_of(alone).constraints) == ["task 2"]


def test_models_that_are_too_large_are_refused(path_problem, monkeypatch):
    """Tests that the limit is named before anything is built."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    monkeypatch.setattr(cqm, "BIAS_LIMIT", 50)
    with pytest.raises(InputError, match="solver: expected at most 50 biases of a constrained model, got up to 54"):
        cqm_of(window)
