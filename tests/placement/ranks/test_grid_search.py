"""Tests of placing the ranks of groups."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.placement.ranks.bound import ProofTarget, same_cuts_bound_s
from tiger.placement.ranks.cost_model import ParallelDegrees
from tiger.placement.ranks.grid_search import GridFunctions, place_groups
from tiger.placement.ranks.search import OrderSearch
from tiger.training.costs.plan import Plan, rank_order

SEARCH = OrderSearch(solver="search")


def test_the_order_of_a_machine_gains_nothing(transformer, irregular, functions_of):
    """NCCL runs eight ranks of a DGX-1 along its one ring of double NVLinks, in whatever order they are launched."""
    layers, cluster, degrees = transformer(), irregular(1), ParallelDegrees(pipeline=1, tensor=8, microbatches=8)
    functions = functions_of(layers, cluster, degrees)
    plan = place_groups(layers, cluster, degrees, functions, SEARCH)
    ring = np.array(cluster.ring_orders.order(tuple(plan.grid[0, 0].tolist())))
    assert not cluster.link[ring, np.roll(ring, 1)].any()
    assert functions.iteration_s(plan) == _by_rank(functions, degrees)


@pytest.mark.long
@pytest.mark.parametrize("shape", [(4, 1, 4), (2, 2, 4), (4, 2, 2), (8, 1, 2), (8, 2, 1), (16, 1, 1), (2, 4, 2)])
def test_irregular_links_are_used_better_than_by_rank(shape, transformer, irregular, functions_of):
    """On two DGX-1 whose devices are numbered badly, rank order is beaten for all groups."""
    layers, degrees = transformer(16), _degrees(shape)
    cluster = _renumber(irregular(), np.random.default_rng(3).permutation(8))
    functions = functions_of(layers, cluster, degrees)
    plan = place_groups(layers, cluster, degrees, functions, replace(SEARCH, solver="auto"))
    assert functions.iteration_s(plan) < _by_rank(functions, degrees)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(2, 1, 8), (8, 1, 2), (2, 4, 2)])
def test_regular_hardware_is_proved(shape, transformer, regular, functions_of, replica_s):
    """On two regular machines what is found meets the bound over all places of the ranks."""
    layers, cluster, degrees = transformer(), regular(), _degrees(shape)
    functions = functions_of(layers, cluster, degrees)
    plan = place_groups(layers, cluster, degrees, functions, SEARCH)
    seconds = functions.iteration_s(plan)
    target = ProofTarget(iteration_s=replica_s(degrees.microbatches), seconds=seconds)
    assert seconds <= _by_rank(functions, degrees)
    assert same_cuts_bound_s(layers, cluster, plan, target, SEARCH) == pytest.approx(seconds, rel=1e-9)


@pytest.mark.slow
def test_rank_order_is_kept_and_proved(transformer, regular, functions_of, replica_s):
    """On two regular machines of four, with a stage of four ranks on each, nothing is better than rank order."""
    layers, cluster, degrees = transformer(4), regular(2, 4), _degrees((2, 1, 4))
    functions = functions_of(layers, cluster, degrees)
    plan = place_groups(layers, cluster, degrees, functions, SEARCH)
    seconds = functions.iteration_s(plan)
    target = ProofTarget(iteration_s=replica_s(degrees.microbatches), seconds=seconds)
    assert (plan.grid == rank_order(degrees.shape)).all()
    assert same_cuts_bound_s(layers, cluster, plan, target, SEARCH) == pytest.approx(seconds, rel=1e-9)


@pytest.mark.slow
def test_irregular_links_are_almost_proved(transformer, irregular, functions_of, replica_s):
    """On two DGX-1, groups of four ranks on both leave by two NICs: no other place is better by 0.2 %.

    The bound takes messages over double links and such rings at once.
    """
    layers, cluster, degrees = transformer(16, 2048), irregular(), _degrees((4, 1, 4))
    functions = functions_of(layers, cluster, degrees)
    plan = place_groups(layers, cluster, degrees, functions, SEARCH)
    seconds = functions.iteration_s(plan)
    target = ProofTarget(iteration_s=replica_s(degrees.microbatches), seconds=seconds)
    assert seconds < 0.9999 * _by_rank(functions, degrees)
    assert 0.998 * seconds <= same_cuts_bound_s(layers, cluster, plan, target, SEARCH) <= seconds


@pytest.mark.long
def test_slow_devices_get_fewer_layers(transformer, regular, functions_of):
    """Of two machines, whose devices are numbered in turns, the slow one makes a group of its own with fewer layers."""
    odd = np.arange(8) % 2
    cluster = replace(regular(2, 4), speed=1 - odd / 2, link=(odd[:, None] != odd).astype(int), machine=odd)
    layers, degrees = transformer(), ParallelDegrees(pipeline=2, tensor=4, microbatches=8)
    plan = place_groups(layers, cluster, degrees, functions_of(layers, cluster, degrees), SEARCH)
    counts = np.diff(plan.cuts)
    slow = [float(cluster.speed[rows].max()) for rows in plan.grid]
    assert sorted(slow) == [0.5, 1.0]
    assert counts[slow.index(0.5)] < counts[slow.index(1.0)]


def test_spare_devices_are_chosen_from(transformer, regular, functions_of):
    """Four tensor-parallel ranks out of eight leave the slow devices alone."""
    cluster = replace(regular(1, 8), speed=np.array([0.5, 1] * 4))
    layers, degrees = transformer(), ParallelDegrees(pipeline=1, tensor=4, microbatches=4)
    plan = place_groups(layers, cluster, degrees, functions_of(layers, cluster, degrees), SEARCH)
    assert sorted(plan.grid.ravel().tolist()) == [1, 3, 5, 7]


def test_nothing_fits(transformer, regular):
    """Without cuts anywhere there is no plan."""
    functions = GridFunctions(cuts_of=lambda _: (), iteration_s=lambda _: np.inf)
    assert place_groups(transformer(0), regular(2, 2), ParallelDegrees(pipeline=4), functions, SEARCH) is None
    assert place_groups(transformer(), regular(2, 2), ParallelDegrees(pipeline=2, tensor=2), functions, SEARCH) is None


@pytest.mark.slow
def test_a_start_that_does_not_fit_is_left(transformer, regular, functions_of):
    """Where rank order has no cuts, another grid with some is found."""
    layers, cluster, degrees = transformer(), regular(2, 2), ParallelDegrees(pipeline=2, tensor=2, microbatches=4)
    functions = functions_of(layers, cluster, degrees)
    refusing = GridFunctions(
        cuts_of=lambda grid: () if {0, 1} in _groups(grid) else functions.cuts_of(grid),
        iteration_s=lambda plan: np.inf if {0, 1} in _groups(plan.grid) else functions.iteration_s(plan),
    )
    plan = place_groups(layers, cluster, degrees, refusing, SEARCH)
    assert {0, 1} not in _groups(plan.grid)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_plan(transformer, irregular, functions_of):
    """Two runs agree."""
    layers, cluster, degrees = transformer(2), irregular(1), _degrees((1, 1, 4))
    functions = functions_of(layers, cluster, degrees)
    first, second = (place_groups(layers, cluster, degrees, functions, replace(SEARCH, seed=5)) for _ in range(2))
    assert (first.grid == second.grid).all()
    assert first.cuts == second.cuts


def test_a_stopped_search_keeps_rank_order(transformer, irregular, functions_of):
    """A search told to stop at once answers as good as rank order."""
    layers, cluster, degrees = transformer(), irregular(1), _degrees((1, 1, 8))
    functions = functions_of(layers, cluster, degrees)
    plan = place_groups(layers, cluster, degrees, functions, replace(SEARCH, stop=lambda: True))
    assert functions.iteration_s(plan) == pytest.approx(_by_rank(functions, degrees))


def _groups(grid):
    """Return the tensor-parallel groups of a pipeline."""
    return [set(ranks) for ranks in grid[:, 0].tolist()]


def _degrees(shape):
    """Return degrees with four microbatches a stage."""
    p, d, t = shape
    return ParallelDegrees(pipeline=p, data=d, tensor=t, microbatches=4 * p)


def _by_rank(functions, degrees):
    """Return the seconds of rank order with its own cuts."""
    grid = rank_order(degrees.shape)
    return functions.iteration_s(Plan(cuts=functions.cuts_of(grid), grid=grid))


def _renumber(cluster, order):
    """Return the cluster with the devices of both machines in another order."""
    devices = np.concatenate([order, 8 + order])
    return replace(cluster, link=cluster.link[np.ix_(devices, devices)])
