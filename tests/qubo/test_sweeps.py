"""Tests of exact sweeps over levels."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.qubo.sweeps import Sweeps


@pytest.mark.slow
def test_no_level_can_be_placed_better_alone(random_problem):
    """Tests against all placements of every level, the others fixed, with pins and forbidden pairs."""
    for seed in range(6):
        problem = random_problem("levels", seed, tasks=7, nodes=4, pins=True, forbidden=True)
        places = Sweeps(problem).improve(launch_order(problem), bool)
        cost = cost_of(problem, places).total
        for group in problem.groups:
            free = group[problem.pins[group] < 0]
            for nodes in itertools.permutations(problem.topology.hosts, len(free)):
                other = places.copy()
                other[free] = nodes
                assert violations(problem, other) or cost_of(problem, other).total >= cost - 1e-9


def test_a_sweep_never_costs_more_and_stays_feasible(random_problem, random_feasible):
    """Tests random starts, which are left as they were."""
    for seed in range(12):
        problem = random_problem("levels", seed)
        start = random_feasible(problem, np.random.default_rng(seed))
        given = start.copy()
        places = Sweeps(problem).improve(start, bool)
        assert (start == given).all()
        assert not violations(problem, places)
        assert cost_of(problem, places).total <= cost_of(problem, start).total + 1e-9


def test_time_that_is_up_leaves_the_mapping(random_problem):
    """Tests that nothing is done once told to stop."""
    problem = random_problem("levels", 1)
    start = launch_order(problem)
    assert (Sweeps(problem).improve(start, lambda: True) == start).all()


def test_groups_that_talk_inside_are_left_alone():
    """Tests one-to-one, whose only group is no linear assignment."""
    traffic = sp.csr_array(np.array([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    tasks = TaskGraph(names=("a", "b", "c"), traffic=traffic)
    line = Topology(names=("x", "y", "z"), metric=GridMetric((3,), (False,)))
    problem = Problem(tasks=tasks, topology=line, rule="one-to-one")
    start = np.array([0, 2, 1])
    assert Sweeps(problem).improve(start, bool).tolist() == [0, 2, 1]


@pytest.mark.parametrize("seed", range(3))
def test_independent_tasks_are_assigned_optimally(seed, random_problem, brute_force):
    """Tests a single level without traffic, whose sweep is the optimum."""
    problem = random_problem("levels", seed)
    alone = TaskGraph(
        names=problem.tasks.names, traffic=sp.csr_array(problem.tasks.traffic.shape), work=problem.tasks.work
    )
    flat = Problem(tasks=alone, topology=problem.topology, rule="levels")
    places = Sweeps(flat).improve(launch_order(flat), bool)
    assert cost_of(flat, places).total == pytest.approx(brute_force(flat)[0])


def test_rounds_have_an_end(random_problem, monkeypatch):
    """Tests that one round is made where no more are allowed, and that it does not cost more."""
    monkeypatch.setattr("tiger.qubo.sweeps.ROUNDS", 1)
    problem = random_problem("levels", 2, tasks=9, nodes=5)
    start = launch_order(problem)
    assert cost_of(problem, Sweeps(problem).improve(start, bool)).total <= cost_of(problem, start).total
