"""Tests of mappings of trees of clusters, against all of small ones and against clusters that are planted."""

from itertools import permutations, product

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.model.metrics import DenseMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.annealing import cluster_trees
from tiger.solvers.annealing import tree_kernels as kernels
from tiger.solvers.annealing.cluster_trees import TreeParams, find_clusters, join_kinds, map_trees
from tiger.solvers.annealing.memetic import MemeticParams, evolve
from tiger.solvers.annealing.node_blocks import compare_nodes
from tiger.solvers.annealing.quadratic import quadratic
from tiger.solvers.generator import seed_state


def nest(sizes, seed):
    """Return distances and traffic [n, n] of nested clusters, by sizes from the outside in, as in tai*e."""
    rng, count = np.random.default_rng(seed), int(np.prod(sizes))
    place, width = np.arange(count), count
    distance, traffic = np.zeros((count, count)), np.zeros((count, count))
    levels = zip(sizes, ((40, 8, 0.05, 1), (15, 8, 0.2, 2), (1, 4, 0.9, 12))[-len(sizes) :], strict=True)
    for size, (least, spread, share, most) in levels:
        together = place // width
        width //= size
        cluster = place // width
        level = (together[:, None] == together) & (cluster[:, None] != cluster)
        apart = least + rng.integers(spread, size=(cluster.max() + 1,) * 2)
        distance[level] = apart[np.ix_(cluster, cluster)][level]
        traffic[level] = ((rng.random((count, count)) < share) * rng.integers(1, most + 1, (count, count)))[level]
    distance, traffic = np.triu(distance, 1), np.triu(traffic, 1)
    return distance + distance.T, traffic + traffic.T


def turn_by_turn(sizes, seed):
    """Return the quadratic of nested clusters, flows and distances by turns, and the order that is planted."""
    distance, traffic = nest(sizes, seed)
    count, rng = len(distance), np.random.default_rng(seed + 1)
    alike = np.add.outer(np.arange(count), np.arange(count)) % 2 == 0
    one, other = rng.permutation(count), rng.permutation(count)
    first, second = np.where(alike, traffic, distance), np.where(alike, distance, traffic)
    return model_of(first[np.ix_(one, one)], DenseMetric(second[np.ix_(other, other)])), np.argsort(other)[one]


def model_of(traffic, metric, cost=(), nodes=None):
    """Return the quadratic of traffic on a metric."""
    count = len(traffic)
    names = tuple(map(str, range(nodes or count)))
    work = np.arange(1.0, count + 1)
    tasks = TaskGraph(names=names[:count], traffic=traffic, work=work)
    problem = Problem(
        tasks=tasks, topology=Topology(names=names, metric=metric, cost=np.array(cost)), rule="one-to-one"
    )
    return quadratic(problem, launch_order(problem))


def traffic_within(tree):
    """Return traffic [27, 27] that is heavy within the narrow clusters of a tree, and light within the wide ones."""
    nodes = np.arange(27)
    traffic = np.array([9.0, 3.0, 0.0])[np.log10(np.maximum(tree.between(nodes[:, None], nodes), 1.0)).astype(int)]
    np.fill_diagonal(traffic, 0.0)
    return traffic


def trees_of(model, params=None, stop=bool):
    """Return the orders that map trees of a model."""
    params = params or TreeParams()
    return map_trees(model.fields, compare_nodes(model.fields.distances), params, np.random.default_rng(0), stop)


@pytest.mark.parametrize("seed", range(4))
def test_no_mapping_that_keeps_clusters_together_costs_less(seed):
    """Tests three clusters of three, whose nodes cost something by themselves, against all 1,296 such mappings."""
    rng, cluster = np.random.default_rng(seed), np.arange(9) // 3
    between, inside = 20 + rng.integers(4, size=(3, 3)), 1 + rng.integers(4, size=(9, 9))
    same = np.equal.outer(cluster, cluster)
    distance = np.triu(np.where(same, inside, between[np.ix_(cluster, cluster)]), 1)
    distance += distance.T
    traffic = np.triu(9 * same + rng.integers(4, size=(9, 9)), 1)
    task, node = rng.permutation(9), rng.permutation(9)
    model = model_of(traffic[np.ix_(task, task)], DenseMetric(distance[np.ix_(node, node)]), cost=rng.random(9))
    (order,) = trees_of(model)
    inner = list(permutations(range(3)))
    every = []
    for outer, *inside in product(inner, repeat=4):
        planted = np.concatenate([3 * outer[k] + np.array(inside[k]) for k in range(3)])
        every.append(model.cost(np.argsort(node)[planted][task]))
    assert model.cost(order) == pytest.approx(min(every))


def test_halves_of_two_kinds_are_joined_on_every_level():
    """Tests nested clusters whose flows and distances take turns: each cluster has nodes that look unlike."""
    model, planted = turn_by_turn((3, 3, 5), 0)
    nodes = join_kinds(model.fields.distances, compare_nodes(model.fields.distances), 10.0)
    tasks = join_kinds(model.fields.flow, compare_nodes(model.fields.flow), 10.0)
    for tree in (nodes, tasks):
        assert sorted(np.bincount(tree.kind)) == [22, 23]
        assert list(tree.levels) == [3, 9]
    for count in (3, 9):
        pairs = zip(tasks.levels[count].tolist(), nodes.levels[count][planted].tolist(), strict=True)
        assert len(set(pairs)) == count


def test_clusters_are_no_halves_where_all_is_alike():
    """Tests a tree whose two widest clusters look like two kinds, at distances that are rounded."""
    distance = TreeMetric((2, 3, 4), (0.1, 0.7, 1.3)).between(np.arange(24)[:, None], np.arange(24))
    assert not join_kinds(distance[None], compare_nodes(distance[None]), 10.0).levels
    assert list(find_clusters(distance).levels) == [2, 6]


def test_a_search_begins_with_the_mapping_of_trees():
    """Tests that a short search ends below the planted mapping, and dearer where it maps no trees."""
    model, planted = turn_by_turn((3, 4, 5), 5)
    orders = trees_of(model)
    assert len(orders) == 2
    assert all(sorted(order.tolist()) == list(range(60)) for order in orders)
    with_trees, without = (
        evolve(model, [np.arange(60)], (1, 0), MemeticParams(trees=params), bool)[0].cost
        for params in (TreeParams(), TreeParams(widest=1))
    )
    assert with_trees <= min(map(model.cost, orders)) <= model.cost(planted)
    assert with_trees < 0.9 * without
    again = trees_of(model)
    assert [order.tolist() for order in again] == [order.tolist() for order in orders]


def test_tasks_without_clusters_have_no_trees():
    """Tests random traffic, fewer tasks than nodes, and a stop."""
    tree, rng = TreeMetric((3, 3, 3), (1.0, 10.0, 100.0)), np.random.default_rng(0)
    traffic = traffic_within(tree)
    assert trees_of(model_of(traffic, tree))
    assert not trees_of(model_of(traffic, tree), stop=lambda: True)
    assert not trees_of(model_of(traffic, tree), TreeParams(widest=2))
    assert not trees_of(model_of(rng.integers(9, size=(27, 27)).astype(float), tree))
    assert not trees_of(model_of(traffic[:18, :18], tree, nodes=27))


def test_bug_costs_of_a_wide_cluster_are_added_up_in_slices(monkeypatch):
    """Tests that a search can end before any task of 81 pairs of clusters of 3, nine of 9, and one of 27."""
    tree = TreeMetric((3, 3, 3), (1.0, 10.0, 100.0))
    model = model_of(traffic_within(tree), tree)
    (order,), checks = trees_of(model), [*[False] * (81 * 3 + 9 * 9 + 27)]
    monkeypatch.setattr(cluster_trees, "SLICE", 0)
    (again,) = trees_of(model, stop=iter(checks).__next__)
    assert again.tolist() == order.tolist()
    checks[-1] = True
    assert not trees_of(model, stop=iter(checks).__next__)


@pytest.mark.usefixtures("plain")
def test_prices_of_pairs_and_the_best_assignment_are_those_of_all():
    """Tests four clusters of two tasks, two signs, and an antisymmetric pair of matrices, in plain Python."""
    rng = np.random.default_rng(0)
    flow, distances = rng.random((2, 8, 8)), rng.random((2, 8, 8))
    for matrices in (flow, distances):
        matrices[0] += matrices[0].T
        matrices[1] -= matrices[1].T
    tasks, owner, sign = rng.permutation(8), np.arange(8) // 2, np.array([0, 0, 1, 0])
    there = rng.permutation(8).reshape(4, 2).T[np.arange(8) % 2]
    state = kernels.cluster_state(rng.random((4, 4)), sign)
    for begin in range(0, 8, 3):
        mapping = kernels.PartialMapping(tasks, owner, there)
        kernels.price_pairs(state, flow, distances, mapping, begin, min(begin + 3, 8))
    costs = {}
    for place in permutations(range(4)):
        if (sign[list(place)] == sign).all():
            nodes = there[np.arange(8), np.array(place)[owner]]
            between = (flow[:, tasks[:, None], tasks] * distances[:, nodes[:, None], nodes]).sum(axis=0)
            apart = between[owner[:, None] != owner].sum() / 2
            costs[place] = apart + sum(state.own[u, place[u]] for u in range(4))
    least = kernels.assign_clusters(state, 30, seed_state(0))
    assert least == pytest.approx(min(costs.values()))
    assert costs[tuple(state.lowest.tolist())] == pytest.approx(least)
