"""Tests of the dumb siblings."""

import networkx as nx
import numpy as np

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of
from tiger.solvers.baselines import Identity, Random
from tiger.topologies.spec import build


def problem_of(**limits):
    """Return a random graph on a torus."""
    graph = nx.gnm_random_graph(9, 20, seed=1)
    return Problem(tasks=task_graph_of(graph), topology=build("torus:3x3"), rule="one-to-one", **limits)


def test_identity_keeps_the_mapping():
    """Tests a copy."""
    start = np.arange(9)
    places = Identity().search(problem_of(), start, effort=9, seed=1, stop=bool).places
    assert (places == start).all()
    assert places is not start


def test_random_draws_more_with_effort():
    """Tests that the cheapest of many draws is at most as costly as that of few, which it begins with."""
    problem = problem_of()
    start = launch_order(problem)
    costs = [
        cost_of(problem, Random().search(problem, start, effort=effort, seed=3, stop=bool).places).total
        for effort in (1, 10, 200)
    ]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < cost_of(problem, start).total


def test_random_leaves_pinned_tasks_alone():
    """Tests a problem where nothing may move."""
    problem = problem_of(pinned={str(k): f"{k // 3},{k % 3}" for k in range(9)})
    assert (Random().search(problem, np.arange(9), effort=3, seed=0, stop=bool).places == np.arange(9)).all()


def test_random_hears_that_time_is_up():
    """Tests that nothing is drawn, however much effort is asked for."""
    problem = problem_of()
    start = launch_order(problem)
    assert (Random().search(problem, start, effort=2**63 - 1, seed=0, stop=lambda: True).places == start).all()
