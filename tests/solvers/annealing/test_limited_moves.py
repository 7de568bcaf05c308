"""Tests of the search among the mappings that differ from a given one in a few tasks."""

import itertools

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.mapping.entry import problem_of
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.annealing.limited_moves import LimitedMoves
from tiger.solvers.annealing.local import AnnealParams

RULES = ("one-to-one", "levels", "capacity")


def find_cheapest(problem, home, most):
    """Return the least cost of the mappings that move two tasks, or three where so many may move."""
    costs = [cost_of(problem, home).total]
    for size in range(2, most + 1):
        for tasks in itertools.combinations(range(len(home)), size):
            for turn in range(1, size):
                places = home.copy()
                places[list(tasks)] = np.roll(home[list(tasks)], turn)
                costs.append(cost_of(problem, places).total)
    return min(costs)


@pytest.mark.parametrize("most", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_few_moves_are_the_best_there_are(most, seed):
    """Tests against all swaps and cycles of three on hardware that is full."""
    problem = problem_of("cg:4x4", "torus:4x4")
    home = np.random.default_rng(seed).permutation(16)
    places = LimitedMoves(home, most).search(problem, home, effort=1, seed=seed, stop=bool).places
    assert (places != home).sum() <= most
    assert cost_of(problem, places).total == find_cheapest(problem, home, most)


@pytest.mark.parametrize("rule", RULES)
def test_moves_in_plain_python_keep_to_the_limit_and_all_rules(rule, random_problem, plain):
    """Tests the kernels uncompiled, with tasks that go home to make room for others."""
    for seed in range(3):
        problem = random_problem(rule, seed, pins=True, memory=True)
        home = launch_order(problem)
        search = LimitedMoves(home, 3, params=AnnealParams(restarts=3, temperatures=2, most_moves=100))
        places = search.search(problem, home, effort=1, seed=seed, stop=bool).places
        assert not violations(problem, places)
        assert (places != home).sum() <= 3
        assert cost_of(problem, places).total <= cost_of(problem, home).total


@pytest.mark.parametrize("rule", RULES)
def test_tasks_without_a_home_move_freely_and_others_for_a_price(rule, random_problem, plain):
    """Tests that no move by choice gains less than its price, with half of the tasks anywhere."""
    for seed in range(3):
        problem = random_problem(rule, seed, pins=True, memory=True)
        origin = launch_order(problem)
        home = np.where(np.arange(len(origin)) % 2, origin, -1)
        search = LimitedMoves(
            home, 2, origin, price=0.5, params=AnnealParams(restarts=3, temperatures=2, most_moves=100)
        )
        places = search.search(problem, origin, effort=1, seed=seed, stop=bool).places
        moved = int(((home >= 0) & (places != home)).sum())
        assert not violations(problem, places)
        assert moved <= 2
        assert cost_of(problem, places).total + 0.5 * moved <= cost_of(problem, origin).total


def test_a_search_that_is_stopped_keeps_its_start():
    """Tests that nothing is lost where time is up before."""
    problem = problem_of("ring:6", "grid:2x3")
    home = launch_order(problem)
    assert LimitedMoves(home, 2).search(problem, home, effort=1, seed=0, stop=lambda: True).places.tolist() == list(
        home
    )
