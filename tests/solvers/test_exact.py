"""Tests of branch and bound against brute force."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of
from tiger.solvers import exact
from tiger.solvers.exact import Exact
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


def search(problem, start, visits=5_000_000, effort=1, stop=bool):
    """Return the answer of a search with limited visits."""
    return Exact(visits).search(problem, start, effort=effort, seed=0, stop=stop)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_optimum_is_found_and_proved(rule, random_problem, brute_force):
    """Tests random problems with every kind of limit."""
    for seed in range(12):
        limits = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed % 4 == 0}
        problem = random_problem(rule, seed, tasks=5, nodes=6, **limits)
        optimum, _ = brute_force(problem)
        answer = search(problem, launch_order(problem))
        assert answer.proved
        assert cost_of(problem, answer.places).total == pytest.approx(optimum)


@pytest.mark.parametrize("rule", RULES)
def test_plain_python_finds_the_same(rule, random_problem, plain):
    """Tests the kernels uncompiled, in slices that stop and go on."""
    for seed in range(6):
        problem = random_problem(rule, seed, tasks=5, nodes=5, memory=True)
        start = launch_order(problem)
        whole = search(problem, start)
        assert whole.proved


def test_slices_do_not_change_the_result(random_problem, monkeypatch):
    """Tests that a search resumed after every visit ends with the same mapping and proof."""
    problem = random_problem("one-to-one", 7)
    start = launch_order(problem)
    whole = search(problem, start)
    monkeypatch.setattr(exact, "SLICE", 0)
    again = search(problem, start)
    assert again.proved
    assert (again.places == whole.places).all()


def test_visits_that_run_out_prove_nothing(random_problem):
    """Tests that more effort means more visits, up to the proof."""
    problem = random_problem("one-to-one", 7, tasks=8, nodes=8)
    start = launch_order(problem)
    few, many = search(problem, start, visits=2), search(problem, start, visits=2, effort=1_000_000)
    assert not few.proved
    assert many.proved
    assert cost_of(problem, many.places).total <= cost_of(problem, few.places).total


def test_time_that_is_up_proves_nothing(random_problem):
    """Tests that the start comes back."""
    problem = random_problem("one-to-one", 7)
    start = launch_order(problem)
    answer = search(problem, start, stop=lambda: True)
    assert not answer.proved
    assert (answer.places == start).all()


@pytest.mark.slow
def test_problems_beyond_memory_come_back_as_they_are():
    """Tests 40 tasks on 128 x 128 nodes, and three tasks on a quarter of a million."""
    for size, spec in ((40, "torus:128x128"), (3, "torus:512x512")):
        problem = Problem(tasks=task_graph_of(nx.path_graph(size)), topology=build(spec), rule="one-to-one")
        start = launch_order(problem)
        answer = search(problem, start)
        assert not answer.proved
        assert (answer.places == start).all()


def test_a_problem_without_free_tasks_is_proved():
    """Tests that there is nothing to choose."""
    problem = Problem(
        tasks=task_graph_of(nx.path_graph(2)), topology=build("ring:3"), rule="one-to-one", pinned={"0": "0", "1": "2"}
    )
    answer = search(problem, np.array([0, 2]))
    assert (answer.proved, answer.places.tolist()) == (True, [0, 2])


@pytest.mark.parametrize("unit", [1e-12, 1e-200, 1e200])
def test_bug_small_units_are_searched_too(unit, path_problem):
    """Tests that a proof does not depend on the unit of cost."""
    tasks = replace(path_problem.tasks, traffic=path_problem.tasks.traffic * unit)
    answer = search(replace_tasks(path_problem, tasks), np.array([0, 2, 1]))
    assert (answer.proved, answer.places.tolist()) == (True, [0, 1, 2])


def replace_tasks(problem, tasks):
    """Return the problem with other tasks."""
    return Problem(tasks=tasks, topology=problem.topology, rule=problem.rule, pinned=problem.pinned)


def test_bug_large_costs_outside_do_not_hide_the_rest():
    """Tests pinned tasks whose traffic is beyond the precision of what is left to choose."""
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1e30), ("b", "c", 1.0)])
    problem = Problem(
        tasks=task_graph_of(graph), topology=build("grid:6"), rule="one-to-one", pinned={"a": "0", "b": "3"}
    )
    answer = search(problem, np.array([0, 3, 5]))
    assert answer.proved
    assert answer.places[2] in (2, 4)


def test_bug_a_start_at_a_huge_distance_hides_nothing():
    """Tests that the gain that counts follows the best mapping down from 1e12, on whose scale 5 and 9 look equal."""
    away = np.full((4, 4), 1e12)
    away[1:, 1:] = [[0, 5, 9], [5, 0, 8], [9, 8, 0]]
    away[0, 0] = 0.0
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 7), ("a", "c", 7), ("b", "c", 1)])
    hardware = Topology(names=tuple("wxyz"), metric=DenseMetric(away))
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="one-to-one")
    answer = search(problem, np.array([0, 1, 2]))
    assert (answer.proved, cost_of(problem, answer.places).total) == (True, 100.0)


def test_bug_a_sum_too_long_for_the_promise_proves_nothing():
    """Tests that 4,000 tasks may err by less than reports promise, a million may not."""
    assert exact._is_certain(4_000, 24)
    assert not exact._is_certain(1_000_000, 24)
