"""Tests of the nonlinear model: evaluated on known mappings, feasible and not."""

import numpy as np
import pytest

pytest.importorskip("dwave.optimization")

from tiger.errors import InputError
from tiger.model.window import fold, whole
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.samplers import nonlinear
from tiger.solvers.samplers.nonlinear import nonlinear_of

RULES = ("one-to-one", "levels", "capacity")


def evaluate(problem, places):
    """Return what a model says of a mapping: its objective and whether it is feasible."""
    window = fold(problem, whole(problem), places)
    asked = nonlinear_of(window)
    asked.start(window.local(places))
    with asked.model.lock():
        assert asked.local_places()[0].tolist() == window.local(places).tolist()
        return float(asked.model.objective.state(0)), asked.model.feasible(0)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_feasible_mapping_has_its_cost(rule, random_problem, random_feasible):
    """Tests the objective and every constraint, with pins, forbidden pairs and memory."""
    for seed in range(8):
        problem = random_problem(rule, seed, pins=True, forbidden=True, memory=seed % 2 == 0)
        places = random_feasible(problem, np.random.default_rng(seed))
        cost, feasible = evaluate(problem, places)
        assert cost == pytest.approx(cost_of(problem, places).total, rel=1e-9, abs=1e-9)
        assert feasible


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["levels", "capacity"])
def test_a_mapping_is_feasible_if_nothing_is_violated(rule, random_problem, random_places):
    """Tests mappings drawn at random, most of which break something."""
    broken = 0
    for seed in range(20):
        problem = random_problem(rule, seed, tasks=4, pins=True, forbidden=True, memory=True)
        places = random_places(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        if not window.shape[0] or len(window.groups) == 1 or (window.local(places) < 0).any():
            continue
        wrong = bool(violations(problem, places))
        assert evaluate(problem, places)[1] is not wrong
        broken += wrong
    assert broken > 3


def test_a_permutation_keeps_forbidden_pairs_apart(random_problem):
    """Tests the one constraint that one-to-one has."""
    problem = random_problem("one-to-one", 1, tasks=6, nodes=6, forbidden=True)
    rng = np.random.default_rng(0)
    for _ in range(20):
        places = rng.permutation(6)
        if (problem.topology.slots > 0).all():
            assert evaluate(problem, places)[1] is not bool(violations(problem, places))


@pytest.mark.parametrize(("rule", "kind"), [("one-to-one", "ListVariable"), ("capacity", "IntegerVariable")])
def test_one_to_one_is_a_permutation(rule, kind, random_problem, random_feasible):
    """Tests the decision: a list of all nodes, of which the first belong to the tasks, or one integer a task."""
    problem = random_problem(rule, 2, tasks=5, nodes=8)
    window = fold(problem, whole(problem), random_feasible(problem, np.random.default_rng(0)))
    choice = nonlinear_of(window).choice
    assert type(choice).__name__ == kind
    assert choice.size() == (window.shape[1] if rule == "one-to-one" else window.shape[0])


def test_models_that_are_too_large_are_refused(path_problem, monkeypatch):
    """Tests that the limit is named before anything is built."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    monkeypatch.setattr(nonlinear, "CELL_LIMIT", 8)
    with pytest.raises(InputError, match="solver: expected at most 8 entries in a table of a nonlinear model, got 9"):
        nonlinear_of(window)
