"""Tests of exchanges of nested clusters, against costs of whole mappings and mappings that are known to be the best."""

import numpy as np
import pytest

from benchmarks.structured import generate
from tiger.feasibility.start import launch_order
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.annealing.cluster_moves import (
    ClusterMoves,
    ClusterParams,
    find_levels,
    follow,
    price_swaps,
    restrict,
)
from tiger.solvers.annealing.cluster_trees import TreeParams
from tiger.solvers.annealing.memetic import MemeticParams, evolve
from tiger.solvers.annealing.node_blocks import compare_nodes, contract
from tiger.solvers.annealing.quadratic import quadratic


@pytest.fixture(scope="module")
def models():
    """Return the quadratics of problems in the manner of tai*e by name."""
    found = {name: problem for name, problem, _ in generate()}
    return {name: quadratic(problem, launch_order(problem)) for name, problem in found.items()}


def test_levels_are_the_clusters_that_nodes_are_built_of():
    """Tests five clusters of four clusters of three nodes, shuffled, and nodes at random distances, which have none."""
    rng = np.random.default_rng(0)
    place = rng.permutation(60)
    apart = sum(
        step * (place[:, None] // width != place // width) for width, step in ((1, 1.0), (3, 10.0), (12, 100.0))
    )
    wide, narrow = find_levels(compare_nodes(apart[None]), 1.5)
    for labels, width in ((wide, 12), (narrow, 3)):
        assert len(set(labels.tolist())) == 60 // width
        assert ((labels[:, None] == labels) == (place[:, None] // width == place // width)).all()
    mixed = rng.random((1, 60, 60))
    assert find_levels(compare_nodes(mixed + mixed.transpose(0, 2, 1)), 1.5) == []


def test_what_follows_an_exchange_gains_and_its_change_is_that_of_the_mapping(models):
    """Tests exchanges of single nodes, whose contraction is the problem itself: no task moves twice."""
    model, rng = models["nested 3 x 3 x 3"], np.random.default_rng(1)
    start = rng.permutation(27)
    small = contract(model, start, list(np.arange(27)[:, None]), 1.0)
    prices = price_swaps(small, np.arange(27))
    assert (np.isfinite(prices) == np.triu(np.ones((27, 27), bool), 1)).all()
    for pair in (np.array([0, 5]), np.array([3, 20])):
        alone, whole = (follow(small, pair, float(prices[tuple(pair)]), most) for most in (1, 6))
        for found in (alone, whole):
            moved = found.ends[start]
            assert model.cost(moved) - model.cost(start) == pytest.approx(model.unit * found.change)
        assert (alone.ends != np.arange(27)).sum() == 2
        assert 1 < whole.priced <= 6
        assert whole.change < alone.change


def test_a_part_of_the_tasks_costs_as_it_does_in_the_whole(models):
    """Tests the law that the price of a swap of two tasks is the same beside others that stay where they are."""
    model, rng = models["nested 3 x 3 x 5"], np.random.default_rng(2)
    order = rng.permutation(45)
    nodes = np.sort(rng.permutation(45)[:12])
    prices = model.unit * price_swaps(restrict(model, order, nodes), np.arange(12))
    task = np.argsort(order)[nodes]
    for u, v in ((0, 1), (3, 11), (7, 8)):
        moved = order.copy()
        moved[task[[u, v]]] = order[task[[v, u]]]
        assert model.cost(moved) - model.cost(order) == pytest.approx(prices[u, v])


@pytest.fixture(scope="module")
def mixed():
    """Return the quadratic of 64 tasks in four clusters of four clusters of four, of flows and distances by turns.

    As in tai*e, flows take the place of distances between two nodes of different parity: what shows as a cluster is
    half of one, and the other half has to follow.
    """
    rng, place = np.random.default_rng(0), np.arange(64)
    apart, volumes = np.zeros((64, 64)), np.zeros((64, 64))
    for width, inner, far, most in ((64, 16, 60, 2), (16, 4, 20, 8), (4, 1, 1, 30)):
        level = (place[:, None] // width == place // width) & (place[:, None] // inner != place // inner)
        between = np.triu(far + rng.integers(far // 2 + 1, size=(64 // inner,) * 2), 1)
        apart += level * (between + between.T)[np.ix_(place // inner, place // inner)]
        drawn = np.triu(rng.integers(most, size=(64, 64)), 1)
        volumes += level * (drawn + drawn.T)
    alike, one, other = (place[:, None] - place) % 2 == 0, rng.permutation(64), rng.permutation(64)
    traffic, distance = (
        np.where(chosen, apart, volumes)[np.ix_(order, order)] for chosen, order in ((alike, one), (~alike, other))
    )
    names = tuple(map(str, place))
    topology = Topology(names=names, metric=DenseMetric(distance))
    problem = Problem(tasks=TaskGraph(names=names, traffic=traffic), topology=topology, rule="one-to-one")
    model = quadratic(problem, launch_order(problem))
    return model, one, np.argsort(other)


def test_two_clusters_that_changed_places_find_back_whole(mixed):
    """Tests two clusters of four, both halves of each, from two wide clusters: all costs as little as before."""
    model, place, node = mixed
    moves = ClusterMoves(model, compare_nodes(model.fields.distances), ClusterParams())
    assert moves.apply
    assert [np.bincount(labels).tolist() for labels in find_levels(compare_nodes(model.fields.distances), 1.5)] == [
        [8] * 8,
        [2] * 32,
    ]
    other = np.arange(64)
    other[:4], other[16:20] = np.arange(16, 20), np.arange(4)
    order, planted, rng = node[other[place]], model.cost(node[place]), np.random.default_rng(0)
    assert model.cost(order) > 1.05 * planted
    for _ in range(40):
        found, work = moves.move(order, rng, bool)
        assert sorted(found.tolist()) == list(range(64))
        assert work > 0
        order = min(order, found, key=model.cost)
    assert model.cost(order) <= planted


def test_a_seed_gives_the_same_mapping_again(mixed):
    """Tests a whole search, whose moves are nearly all exchanges of clusters, and its end against one without them."""
    model, known = mixed[0], [np.arange(64)]
    no_trees = TreeParams(widest=1)
    both, without = (MemeticParams(clusters=ClusterParams(share=share), trees=no_trees) for share in (0.9, 0.0))
    first, again, other = (evolve(model, known, (1, 0), params, bool)[0] for params in (both, both, without))
    assert first.order.tolist() == again.order.tolist()
    assert first.cost < other.cost
