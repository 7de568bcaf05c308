"""Tests of where tabu search is used, and of what it finds."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.annealing.memetic import MemeticParams, evolve
from tiger.solvers.annealing.quadratic import quadratic
from tiger.solvers.annealing.tabu import Tabu, TabuParams, is_random
from tiger.topologies.spec import build


def draw(size, seed, topology=None, share=1.0, equal=0.0, offset=0):
    """Return the model of random traffic, of a share of the pairs, on a topology or nodes at random distances.

    A share of the distances is equal, and an offset is added to all.
    """
    rng = np.random.default_rng(seed)
    volumes = rng.integers(1, 100, (size, size)) * (rng.random((size, size)) < share)
    lengths = rng.integers(1, 100, (size, size)).astype(float)
    lengths = np.triu(np.where(rng.random((size, size)) < equal, 50.0, lengths) + offset, 1)
    names = tuple(map(str, range(size)))
    hardware = topology or Topology(names=names, metric=DenseMetric(lengths + lengths.T))
    tasks = TaskGraph(names=names, traffic=np.triu(volumes.astype(float), 1))
    problem = Problem(tasks=tasks, topology=hardware, rule="one-to-one")
    return quadratic(problem, launch_order(problem))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_only_matrices_without_a_pattern_are_random(seed):
    """Tests random matrices, distances of a mesh and of a tree, few edges, and few distances that differ."""
    assert is_random(draw(40, seed), TabuParams())
    assert not is_random(draw(36, seed, build("grid:6x6")), TabuParams())
    assert not is_random(draw(32, seed, build("tree:4x8@1,10")), TabuParams())
    assert not is_random(draw(40, seed, share=0.1), TabuParams())
    assert not is_random(draw(40, seed, equal=0.9), TabuParams())


def test_equal_distances_and_idle_nodes_are_not_random():
    """Tests what has no spread, fewer tasks than nodes, and few nodes."""
    model = draw(24, 0)
    assert not is_random(draw(24, 0, build("complete:24")), TabuParams())
    assert not is_random(draw(12, 0), TabuParams())
    idle = replace(model, fields=model.fields._replace(tasks=23))
    assert not is_random(idle, TabuParams())


def test_bug_costs_of_tasks_alone_that_decide_are_left_to_annealing():
    """Tests costs of tasks on nodes, some of them forbidden, beside random matrices, small and large."""
    model = draw(24, 0)
    bias = np.random.default_rng(0).random((24, 24))
    bias[0, 1] = np.inf
    for factor, expected in ((0.01, True), (1.0, True), (1e3, False)):
        alone = replace(model, fields=model.fields._replace(bias=factor * bias))
        assert is_random(alone, TabuParams()) is expected


def test_bug_single_precision_keeps_what_a_large_distance_adds_to():
    """Tests that the same is found with distances of which all are longer by as much, up to more than 2^24."""
    start, params = np.arange(24), MemeticParams()
    expected = evolve(draw(24, 0), [start], (1, 0), params, bool)[0].order
    for offset in (1 << 14, 1 << 26):
        model = draw(24, 0, offset=offset)
        assert is_random(model, params.tabu)
        assert (evolve(model, [start], (1, 0), params, bool)[0].order == expected).all()


def test_bug_a_search_that_is_stopped_early_gains_on_a_good_start():
    """Tests a good mapping of which a pair is swapped, and a stop from the beginning."""
    model, params = draw(60, 0), MemeticParams()
    good = evolve(model, [np.arange(60)], (2, 0), params, bool)[0]
    order = good.order.copy()
    order[:2] = order[1::-1]
    found = evolve(model, [order], (1, 1), params, lambda: True)[0]
    assert found.cost <= good.cost < model.cost(order)


@pytest.mark.parametrize("factors", [(1e30, 1.0), (1e-30, 1e-30), (1e150, 1e100), (1e-150, 1e-140)])
def test_costs_of_any_size_are_searched(factors):
    """Tests traffic and distances beyond single precision, in which the unit of the matrices is divided out."""
    rng = np.random.default_rng(0)
    traffic, lengths = (factor * np.triu(rng.random((24, 24)), 1) for factor in factors)
    names = tuple(map(str, range(24)))
    topology = Topology(names=names, metric=DenseMetric(lengths + lengths.T))
    problem = Problem(tasks=TaskGraph(names=names, traffic=traffic), topology=topology, rule="one-to-one")
    model, order = quadratic(problem, launch_order(problem)), np.arange(24)
    assert is_random(model, TabuParams())
    assert evolve(model, [order], (1, 0), MemeticParams(), bool)[0].cost < 0.95 * model.cost(order)


def test_searches_end_when_told_and_repeat():
    """Tests a search that is stopped at once, and the same seed twice."""
    model = draw(20, 1)
    search, order = Tabu(model.fields, TabuParams()), np.arange(20)
    assert (search.search(order, 1000, 7, lambda: True) == order).all()
    found = search.search(order, 1000, 7, bool)
    assert (search.search(order, 1000, 7, bool) == found).all()
    assert sorted(found) == list(range(20))
    assert model.cost(found) < model.cost(order)


@pytest.mark.parametrize("size", [30, pytest.param(60, marks=pytest.mark.slow)])
def test_it_finds_more_than_annealing_on_random_matrices(size):
    """Tests equal work on three problems each."""
    costs = []
    for params in (MemeticParams(), MemeticParams(tabu=TabuParams(edge=0.0))):
        models = [draw(size, seed) for seed in range(3)]
        costs.append(sum(evolve(m, [np.arange(size)], (4, 0), params, bool)[0].cost / m.unit for m in models))
    assert costs[0] < costs[1]


def test_bug_searches_of_few_tasks_do_not_walk_in_circles():
    """Tests that what 16 searches of 20 tasks find is cheaper with tenures for 45 tasks than with those for 20."""
    costs = dict.fromkeys((0, MemeticParams().tabu.few_nodes), 0.0)
    for few in costs:
        for number in range(4):
            model = draw(20, number)
            params = MemeticParams(tabu=TabuParams(few_nodes=few))
            for seed in range(4):
                costs[few] += evolve(model, [np.arange(20)], (2, seed), params, lambda: False)[0].cost
    assert costs[MemeticParams().tabu.few_nodes] < costs[0]
