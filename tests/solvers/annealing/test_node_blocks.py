"""Tests of moves of blocks of tasks, against costs and matrices worked out by hand or with numpy."""

import numpy as np
import pytest

from benchmarks.structured import generate
from tiger.feasibility.start import launch_order
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.annealing.cluster_trees import TreeParams
from tiger.solvers.annealing.memetic import MemeticParams, evolve
from tiger.solvers.annealing.node_blocks import (
    BlockMoves,
    BlockParams,
    compare_nodes,
    contract,
    expand,
    has_clusters,
)
from tiger.solvers.annealing.quadratic import quadratic


def line_model(size=6):
    """Return the quadratic of tasks in a row, with volume 1 + t from task t to the next, on nodes in a row."""
    place = np.arange(size)
    distance = np.abs(place[:, None] - place).astype(float)
    volumes = np.diag(1.0 + place[:-1], 1)
    topology = Topology(names=tuple(map(str, place)), metric=DenseMetric(distance))
    tasks = TaskGraph(names=tuple(map(str, place)), traffic=volumes)
    problem = Problem(tasks=tasks, topology=topology, rule="one-to-one")
    return quadratic(problem, launch_order(problem))


def test_nodes_differ_by_their_distances_to_others():
    """Tests four nodes in a row: the two at an end differ by 1 to each of the other two."""
    place = np.arange(4)
    found = compare_nodes(np.abs(place[:, None] - place)[None].astype(float))
    assert found.tolist() == [[0, 2, 4, 2], [2, 0, 2, 4], [4, 2, 0, 2], [2, 4, 2, 0]]


def test_bug_nodes_that_are_alike_left_their_own_block():
    """Tests four groups of twins at distances that are no whole numbers: no difference is less than 0."""
    between = np.random.default_rng(0).random((4, 4))
    group = np.arange(16) // 4
    distances = (between + between.T)[group[:, None], group]
    np.fill_diagonal(distances, 0.0)
    found = compare_nodes(distances[None])
    product = distances @ distances.T
    assert (np.add.outer(np.diag(product), np.diag(product)) - 2 * product - 2 * distances**2).min() < 0
    assert found.min() == 0
    assert found[group[:, None] == group].max() < 1e-12


def test_contracted_flows_are_sums_and_distances_means():
    """Tests two blocks of two and two of one in a row of six, the tasks in reverse order."""
    model = line_model()
    blocks = [np.array([0, 1]), np.array([2, 3]), np.array([4]), np.array([5])]
    small = contract(model, np.arange(6)[::-1].copy(), blocks, ratio=1.0)
    unit = model.unit
    assert (small.fields.flow[0] * small.fields.distances[0] * unit).tolist() == [
        [0, 2 * 4, 0, 0],
        [2 * 4, 0, 1.5 * 2, 0],
        [0, 1.5 * 2, 0, 1],
        [0, 0, 1, 0],
    ]
    assert (
        np.isfinite(small.fields.bias).tolist() == [[True, True, False, False]] * 2 + [[False, False, True, True]] * 2
    )
    # A pair within a block is as far apart in both: 5 and 3 units, and none for single tasks.
    assert (small.fields.bias[:2, :2] * unit).tolist() == [[5, 5], [3, 3]]


@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_contraction_is_exact_where_nodes_of_a_block_are_alike(ratio):
    """Tests the law that cost changes of both problems agree where distances within and between blocks are equal."""
    rng = np.random.default_rng(1)
    block = np.repeat(np.arange(4), 3)
    between = np.array([[1, 4, 6, 9], [4, 1, 7, 2], [6, 7, 1, 5], [9, 2, 5, 1]], float)[np.ix_(block, block)]
    np.fill_diagonal(between, 0.0)
    names = tuple(map(str, range(12)))
    tasks = TaskGraph(names=names, traffic=np.triu(rng.integers(0, 5, (12, 12)), 1).astype(float))
    topology = Topology(names=names, metric=DenseMetric(between))
    problem = Problem(tasks=tasks, topology=topology, rule="one-to-one")
    model, order = quadratic(problem, launch_order(problem)), rng.permutation(12)
    blocks = [np.flatnonzero(block == one) for one in range(4)]
    fields = contract(model, order, blocks, ratio).fields
    ends = np.array([2, 0, 1, 3])

    def cost(places):
        """Return the contracted cost of blocks on places."""
        pairs = 0.5 * (fields.flow[0] * fields.distances[0][np.ix_(places, places)]).sum()
        return model.unit * (pairs + fields.bias[np.arange(4), places].sum())

    moved = expand(order, blocks, ends, rng)
    assert cost(ends) - cost(np.arange(4)) == pytest.approx(model.cost(moved) - model.cost(order))


def test_tasks_too_many_for_a_block_go_where_there_is_room():
    """Tests that blocks of two and three nodes that change places stay a permutation."""
    moved = expand(np.arange(5), [np.array([0, 1]), np.array([2, 3, 4])], np.array([1, 0]), np.random.default_rng(0))
    assert sorted(moved.tolist()) == list(range(5))
    assert set(moved[:2].tolist()) == {2, 3}
    assert {0, 1} < set(moved[2:].tolist())


def test_blocks_are_parts_of_the_nodes():
    """Tests that both ways to draw blocks give every node once, and as many in each block as asked for."""
    moves, rng = BlockMoves(line_model(30), BlockParams()), np.random.default_rng(0)
    for draw in (moves.draw_equal, moves.draw_near):
        assert sorted(np.concatenate(draw(4, rng)).tolist()) == list(range(30))
    widths = [len(block) for block in moves.draw_equal(4, rng)]
    assert widths.count(4) == 7
    assert widths.count(1) == 2


def clusters(seed, sizes=(3, 3, 4)):
    """Return the quadratic of tasks on nested clusters, volumes large within these and 1 now and then between."""
    rng, count = np.random.default_rng(seed), int(np.prod(sizes))
    apart = np.zeros((count, count))
    for level, step in enumerate((1.0, 10.0, 30.0)):
        of = np.arange(count) // int(np.prod((1, *sizes[::-1])[: level + 1]))
        apart += step * (of[:, None] != of)
    volumes = np.where(apart < 30, rng.integers(0, 10, apart.shape), rng.random(apart.shape) < 0.05)
    mixed = rng.permutation(count)
    names = tuple(map(str, range(count)))
    tasks = TaskGraph(names=names, traffic=np.triu(volumes, 1)[np.ix_(mixed, mixed)].astype(float))
    topology = Topology(names=names, metric=DenseMetric(apart))
    problem = Problem(tasks=tasks, topology=topology, rule="one-to-one")
    return quadratic(problem, launch_order(problem))


def test_moves_of_blocks_lead_below_what_is_found_without_them():
    """Tests 45 tasks of nested clusters at equal work, three seeds, and that a seed gives the same mapping again."""
    problem = {name: problem for name, problem, _ in generate()}["nested 3 x 3 x 5"]
    model = quadratic(problem, launch_order(problem))
    known, no_trees = [model.order(model.start)], TreeParams(widest=1)
    with_moves, without = MemeticParams(trees=no_trees), MemeticParams(trees=no_trees, moved=0.0)
    found = [
        [evolve(model, known, (2, seed), each, bool)[0].cost for seed in range(3)] for each in (with_moves, without)
    ]
    assert sum(found[0]) < 0.7 * sum(found[1])
    assert evolve(model, known, (2, 0), with_moves, bool)[0].cost == found[0][0]


def test_nodes_of_trees_are_in_clusters_and_those_of_grids_are_not():
    """Tests 48 nodes in nested clusters, in a row, and at random distances."""
    nested = clusters(0, (4, 4, 3)).fields.distances
    place = np.arange(48)
    row = np.abs(place[:, None] - place)[None].astype(float)
    mixed = np.random.default_rng(0).random((1, 48, 48))
    found = [has_clusters(compare_nodes(distances), 3.0) for distances in (nested, row, mixed)]
    assert found == [True, False, False]
