"""Tests of the pool of elites and of what restarts begin from."""

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.solvers.annealing.memetic import Elite, MappingPool, MemeticParams, evolve
from tiger.solvers.annealing.quadratic import quadratic


def pool_costs(*elites, most=2, distinct=0.5):
    """Return the costs in a pool of so many after offers of (cost, order)."""
    pool = MappingPool(most, distinct)
    for cost, order in elites:
        pool.offer(Elite(cost, np.array(order)))
    return [elite.cost for elite in pool.elites]


def test_pools_keep_the_cheapest_in_order():
    """Tests three orders that differ everywhere, where two have room."""
    assert pool_costs((3, [0, 1, 2, 3]), (1, [1, 2, 3, 0]), (2, [2, 3, 0, 1])) == [1, 2]


def test_the_cheaper_of_two_close_mappings_stays():
    """Tests a swap of two out of four entries."""
    assert pool_costs((3, [0, 1, 2, 3]), (2, [1, 0, 2, 3])) == [2]
    assert pool_costs((2, [0, 1, 2, 3]), (3, [1, 0, 2, 3])) == [2]
    assert pool_costs((2, [0, 1, 2, 3]), (2, [1, 0, 2, 3])) == [2]


def test_work_is_proportional_to_effort():
    """Tests many restarts where nodes are few, longer ones with more effort, and no overflow."""
    params = MemeticParams(work=3000, least_work=3_000_000, length=0.5)
    assert params.restarts_at(1, 2) == (187_500, 16)
    assert params.restarts_at(1, 100) == (30_000_000, 1)
    assert params.restarts_at(16, 100) == (120_000_000, 4)
    assert params.restarts_at(2**63 - 1, 500)[0] <= 2**60


@pytest.mark.parametrize("effort", [1, 64])
def test_elites_differ_and_rise_in_cost(effort, random_problem):
    """Tests what is returned, with costs recomputed."""
    problem = random_problem("one-to-one", 3, tasks=7, nodes=8)
    model, params = quadratic(problem, launch_order(problem)), MemeticParams(least_work=10_000)
    found = evolve(model, [model.order(model.start)], (effort, 1), params, bool)
    costs = [elite.cost for elite in found]
    assert costs == sorted(costs) == [model.cost(elite.order) for elite in found]
    assert len({tuple(elite.order) for elite in found}) == len(found) <= params.elites
