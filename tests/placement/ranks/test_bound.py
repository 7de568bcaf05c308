"""Tests of the bound over all places of ranks."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from tiger.placement.ranks.bound import ProofTarget, same_cuts_bound_s
from tiger.placement.ranks.cost_model import GridCostModel, ParallelDegrees
from tiger.placement.ranks.search import OrderSearch
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.hardware.cluster import Cluster, Curve

SEARCH = OrderSearch()


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 5))])
@pytest.mark.parametrize("shape", [(3, 2, 1), (3, 1, 2), (1, 3, 2), (2, 1, 3)])
def test_no_place_of_ranks_goes_below(seed, shape, transformer, replica_s):
    """On six devices of random speeds and links, on two machines or three, all orders are at or above the bound."""
    layers, cluster, (p, d, t) = transformer(4), _draw_cluster(seed), shape
    cuts = {1: (0, 6), 2: (0, 3, 6), 3: (0, 2, 4, 6)}[p]
    cost_model = GridCostModel.of(layers, cluster, cuts, ParallelDegrees(pipeline=p, data=d, tensor=t))
    one = replica_s(4)
    orders = [order for order in permutations(range(6)) if order[0] < order[1] or seed % 2][::13]
    least = min(max(one(each) for each in cost_model.workloads(np.reshape(order, shape))) for order in orders)
    plan = Plan(cuts=cuts, grid=rank_order(shape))
    assert same_cuts_bound_s(layers, cluster, plan, ProofTarget(iteration_s=one), SEARCH) <= least * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_virtual_stages_are_bounded_too(seed, transformer):
    """With two stages a position, no order of four devices has a bottleneck below the bound."""
    layers, cluster, cuts = transformer(4), _draw_cluster(seed), (0, 1, 3, 4, 6)
    cost_model = GridCostModel.of(layers, cluster, cuts, ParallelDegrees(pipeline=2, tensor=2))
    grids = [np.reshape(order, (2, 1, 2)) for order in permutations(range(6), 4)]
    least = min(_bottleneck_s(cost_model.workloads(grid)[0]) for grid in grids)
    plan = Plan(cuts=cuts, grid=rank_order((2, 1, 2)))
    assert (
        0
        < same_cuts_bound_s(layers, cluster, plan, ProofTarget(iteration_s=_bottleneck_s), SEARCH)
        <= least * (1 + 1e-12)
    )


def test_a_crossing_is_put_where_it_costs_least(transformer, regular, replica_s):
    """With little to send over one boundary of three, the bound is that of the grid that leaves the machine there."""
    layers = transformer(4)
    layers = replace(layers, crossing_bytes=np.array([0, 1, 9, 9, 9, 9, 0]) * 1e7, tied=(), reduced_bytes=np.zeros(6))
    cuts, grid = (0, 1, 3, 6), np.array([0, 2, 3, 1]).reshape(-1, 1, 1)[:3]
    plan, cluster = Plan(cuts=cuts, grid=grid), regular(2, 2)
    one = replica_s(4)
    cost_model = GridCostModel.of(layers, cluster, cuts, ParallelDegrees(pipeline=3))
    assert same_cuts_bound_s(layers, cluster, plan, ProofTarget(iteration_s=one), SEARCH) == pytest.approx(
        one(cost_model.workloads(grid)[0]), rel=1e-12
    )


def test_a_group_too_large_for_a_machine_crosses(transformer, regular, replica_s):
    """Four ranks on two machines of three leave a machine in any case: best by two NICs of each, which is proved."""
    layers, cluster = transformer(4), regular(2, 3)
    plan = Plan(cuts=(0, 6), grid=np.array([[[0, 1, 3, 4]]]))
    one = replica_s(2)
    seconds = one(
        GridCostModel.of(layers, cluster, plan.cuts, ParallelDegrees(pipeline=1, tensor=4)).workloads(plan.grid)[0]
    )
    target = ProofTarget(iteration_s=one, seconds=seconds)
    assert same_cuts_bound_s(layers, cluster, plan, target, SEARCH) == pytest.approx(seconds, rel=1e-12)


def test_a_target_out_of_reach_is_not_claimed(transformer, regular, replica_s):
    """The bound stays at or below what a worse plan takes."""
    layers, cluster = transformer(4), regular(2, 2)
    plan = Plan(cuts=(0, 3, 6), grid=np.array([[[0, 2]], [[1, 3]]]))
    one = replica_s(4)
    seconds = one(
        GridCostModel.of(layers, cluster, plan.cuts, ParallelDegrees(pipeline=2, tensor=2)).workloads(plan.grid)[0]
    )
    assert (
        same_cuts_bound_s(layers, cluster, plan, ProofTarget(iteration_s=one, seconds=seconds), SEARCH) < 0.9 * seconds
    )


def test_a_stopped_bound_is_lower(transformer, regular, replica_s):
    """Told to stop at once, the bound is that of no case at all, and still one."""
    layers, cluster = transformer(4), regular(2, 2)
    plan, one = Plan(cuts=(0, 2, 4, 6), grid=rank_order((3, 1, 1))), replica_s(4)
    early = same_cuts_bound_s(layers, cluster, plan, ProofTarget(iteration_s=one), replace(SEARCH, stop=lambda: True))
    assert 0 < early < same_cuts_bound_s(layers, cluster, plan, ProofTarget(iteration_s=one), SEARCH)


def _bottleneck_s(workload):
    """Return the largest load."""
    return float(workload.loads_s.max())


def _draw_cluster(seed):
    """Return six devices of random speeds and links on two machines or three."""
    rng = np.random.default_rng(seed)
    link = np.triu(rng.integers(0, 4, (6, 6)), 1)
    return Cluster(
        names=tuple(f"d{k}" for k in range(6)),
        speed=rng.choice([0.5, 1.0], 6),
        memory_bytes=np.full(6, np.inf),
        curves=tuple(
            Curve.affine(bandwidth, late) for bandwidth, late in ((40e9, 1e-3), (20e9, 0), (10e9, 1e-4), (2e9, 0))
        ),
        link=link + link.T,
        machine=np.array([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]][seed % 3]),
    )
