"""Tests of the tabu searches that tables compare with, by costs computed afresh."""

from itertools import permutations

import numpy as np
import pytest

from benchmarks import tabu
from benchmarks.structured import generate
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of


def random_problem(*, directed, size=7):
    """Return a problem of random volumes and distances, one way or both."""
    rng = np.random.default_rng(3)
    distance = rng.integers(1, 9, (size, size)).astype(float)
    np.fill_diagonal(distance, 0.0)
    names = tuple(map(str, range(size)))
    tasks = TaskGraph(names=names, traffic=rng.integers(0, 5, (size, size)).astype(float), directed=True)
    distance = distance if directed else distance + distance.T
    return Problem(tasks=tasks, topology=Topology(names=names, metric=DenseMetric(distance)), rule="one-to-one")


@pytest.mark.slow
@pytest.mark.parametrize("directed", [False, True])
def test_prices_are_the_changes_of_the_cost(directed):
    """Tests all swaps before and after 50 iterations, and that costs are those of TIGER."""
    problem = random_problem(directed=directed)
    search = tabu.Assignment(problem, 0, 1.0)
    state = search._state
    assert len(state.flow) == (2 if directed else 1)
    for iterations in (0, 50):
        tabu._search(state, iterations)
        cost = search.measure(state.place)
        assert cost == cost_of(problem, state.place).total
        for u, v in zip(*np.triu_indices(7, 1), strict=True):
            other = state.place.copy()
            other[[u, v]] = other[[v, u]]
            assert search.measure(other) - cost == pytest.approx(state.price[u, v])


@pytest.mark.slow
def test_both_searches_end_at_the_optimum_of_a_small_problem():
    """Tests seven tasks against all orders."""
    problem = random_problem(directed=True)
    best = min(cost_of(problem, np.array(order)).total for order in permutations(range(7)))
    assert tabu.Assignment(problem, 1, 0.05).robust() == best
    assert tabu.Assignment(problem, 1, 0.05).memetic() == best


def test_generated_instances_share_out_distances_between_both_matrices():
    """Tests 27 tasks in three clusters: 243 pairs are far apart, 122 of them of an even and an odd number."""
    name, problem, best = next(generate())
    flow, distance = problem.tasks.traffic.toarray(), problem.metric.table
    assert (name, best) == ("nested 3 x 3 x 3", 0.0)
    assert [np.count_nonzero(matrix >= 24) for matrix in (flow, distance)] == [2 * 122, 2 * 121]
    assert (distance == distance.T).all()
