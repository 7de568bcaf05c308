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


def draw(size, seed, topology=None, share=1.0, equal=0.0):
    """Return the model of random traffic, of a share of the pairs, on a topology or nodes at random distances.

    A share of the distances is equal.
    """
    rng = np.random.default_rng(seed)
    volumes = rng.integers(1, 100, (size, size)) * (rng.random((size, size)) < share)
    lengths = rng.integers(1, 100, (size, size)).astype(float)
    lengths = np.triu(np.where(rng.random((size, size)) < equal, 50.0, lengths), 1)
    names = tuple(map(str, range(size)))
    hardware = topology or Topology(names=names, metric=DenseMetric(lengths + lengths.T))
    tasks = TaskGraph(names=names, traffic=np.triu(volumes.astype(float), 1))
    problem = Problem(tasks=tasks, topology=hardware, rule="one-to-one")
    return quadratic(problem, launch_order(problem))


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


def test_searches_end_when_told_and_repeat():
    """Tests a search that is stopped at once, and the same seed twice."""
    model = draw(20, 1)
    search, order = Tabu(model, TabuParams()), np.arange(20)
    assert (search.search(order, 1000, 7, lambda: True) == order).all()
    found = search.search(order, 1000, 7, bool)
    assert (search.search(order, 1000, 7, bool) == found).all()
    assert sorted(found) == list(range(20))
    assert model.cost(found) < model.cost(order)


@pytest.mark.parametrize("size", [20, 50])
def test_it_finds_more_than_annealing_on_random_matrices(size):
    """Tests equal work on three problems each."""
    costs = []
    for params in (MemeticParams(), MemeticParams(tabu=TabuParams(edge=0.0))):
        models = [draw(size, seed) for seed in range(3)]
        costs.append(sum(evolve(m, [np.arange(size)], (4, 0), params, bool)[0].cost / m.unit for m in models))
    assert costs[0] < costs[1]
