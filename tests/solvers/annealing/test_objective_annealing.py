"""Tests of annealing towards other objectives."""

import itertools

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.objectives.link_load import MaxLinkLoad
from tiger.objectives.makespan import Makespan, schedule_of
from tiger.objectives.shortest_paths import routes_of
from tiger.solvers.annealing.objective_annealing import ObjectiveAnnealing, ObjectiveParams, WorkRate
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


def aims(problem):
    """Return the aims that a problem has."""
    routes, schedule = routes_of(problem.topology), schedule_of(problem)
    found = [] if routes is None else [MaxLinkLoad(problem=problem, routes=routes)]
    return found + ([] if schedule is None else [Makespan(schedule=schedule)])


def search(aim, problem, start, effort=1, seed=0, stop=bool, params=None):
    """Return the places a search ends at."""
    method = ObjectiveAnnealing(aim.arrays(), params or ObjectiveParams(moves=200))
    return method.search(problem, start, effort=effort, seed=seed, stop=stop).places


def large():
    """Return a random graph on a torus, its aim and the launch order."""
    graph = nx.gnm_random_graph(64, 200, seed=1)
    problem = Problem(tasks=task_graph_of(graph), topology=build("torus:4x4x4"), rule="one-to-one")
    return problem, aims(problem)[0], np.arange(64)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_searches_keep_their_promises(rule, random_problem):
    """Tests that mappings stay feasible, never get worse, repeat with the seed, and leave the start as it was."""
    for seed in range(6):
        problem = random_problem(rule, seed, pins=seed % 2 == 0, forbidden=True, memory=seed % 3 == 0)
        start = launch_order(problem)
        given = start.copy()
        for aim in aims(problem):
            found = search(aim, problem, start, seed=seed)
            assert not violations(problem, found)
            assert aim.value(found) <= aim.value(start) * (1 + 1e-9)
            assert (found == search(aim, problem, start, seed=seed)).all()
            assert (start == given).all()
            assert found is not start


def test_the_search_lowers_a_load():
    """Tests a problem of 64 tasks, and that ties are settled by cost: descent to a mapping that costs less as well."""
    problem, aim, start = large()
    found = search(aim, problem, start)
    assert aim.value(found) < 0.7 * aim.value(start)
    assert cost_of(problem, found).total < cost_of(problem, start).total


def test_a_stop_is_heard():
    """Tests an endless effort, and a search told to stop at once."""
    problem, aim, start = large()
    asked = iter(range(100))
    search(aim, problem, start, effort=2**60, stop=lambda: next(asked) == 3)
    assert (search(aim, problem, start, stop=lambda: True) == start).all()


def test_tasks_that_may_not_move_stay():
    """Tests that there is nothing to do."""
    pinned = {"0": "0", "1": "1"}
    problem = Problem(tasks=task_graph_of(nx.path_graph(2)), topology=build("ring:3"), rule="one-to-one", pinned=pinned)
    assert search(aims(problem)[0], problem, np.arange(2)).tolist() == [0, 1]


def test_nothing_to_gain_is_no_error():
    """Tests an objective of 0, with nothing to divide by."""
    problem = Problem(tasks=task_graph_of(nx.empty_graph(3)), topology=build("ring:4"), rule="one-to-one")
    assert aims(problem)[0].value(search(aims(problem)[0], problem, np.arange(3))) == 0.0


@pytest.mark.parametrize("moves", [1.0, 1e3, 1e6])
def test_portions_fall_in_temperature_and_have_all_moves(moves):
    """Tests the schedule however it is cut."""
    portions = list(ObjectiveParams().portions(10, moves, WorkRate(100.0, 10.0)))
    temperatures = np.concatenate([temperatures for temperatures, _ in portions])
    assert sum(len(temperatures) * count for temperatures, count in portions) >= moves
    assert all(a > b for a, b in itertools.pairwise(temperatures))
    assert len(temperatures) >= 32


def test_beginning_is_not_longer_than_searching():
    """Tests that what has to be looked at before the first move makes portions longer."""
    params = ObjectiveParams()
    counts = [len(list(params.portions(10, 1e6, WorkRate(100.0, begin)))) for begin in (10.0, 1e7)]
    assert counts == [100, 10]


def test_long_efforts_are_several_restarts(random_problem):
    """Tests that a restart is not longer than the longest."""
    problem = random_problem("levels", 3)
    aim, start = aims(problem)[-1], launch_order(problem)
    params = ObjectiveParams(moves=20, longest=2)
    assert aim.value(search(aim, problem, start, effort=5, params=params)) <= aim.value(start)
