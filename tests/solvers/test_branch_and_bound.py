"""Tests of the parts of branch and bound, as plain Python."""

import itertools

import numpy as np
import pytest
from numba import njit

from tiger.solvers import branch_and_bound
from tiger.solvers.branch_and_bound import SearchTree


def tree_of(group_of=(-1, -1, -1)):
    """Return three tasks with traffic in a row on two nodes with room for two units, one way longer than the other."""
    return SearchTree(
        linear=np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]),
        out=np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        back=np.array([[0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        distances=np.array([[0.0, 4.0], [7.0, 0.0]]),
        group_of=np.array(group_of),
        load=np.array([[1, 2, 1]]),
        room=np.array([[2, 2]]),
    )


def test_a_node_is_open_while_its_room_lasts(plain):
    """Tests loads of tasks placed before, and none of those after."""
    local = np.array([0, 1, 0])
    assert branch_and_bound.has_room(tree_of(), local, 0, 0)
    assert not branch_and_bound.has_room(tree_of(), local, 1, 0)
    assert branch_and_bound.has_room(tree_of(), local, 1, 1)
    assert [branch_and_bound.has_room(tree_of(), local, 2, q) for q in (0, 1)] == [True, False]


def test_placing_a_task_adds_its_traffic_to_the_costs_of_the_others(plain):
    """Tests both directions of the first task on node 1, and the least that the others cost then."""
    fields = np.zeros((4, 3, 2))
    fields[0] = tree_of().linear
    assert branch_and_bound.add_traffic(tree_of(), fields, 0, 1) == 0.0 + 3.0
    assert fields[1, 1:].tolist() == [[2 + 7, 0], [0 + 2 * 4, 3]]


def test_placing_a_task_closes_its_node_to_its_group(plain):
    """Tests that a task of another group may still go there."""
    fields = np.zeros((4, 3, 2))
    branch_and_bound.add_traffic(tree_of((0, 0, 1)), fields, 0, 1)
    assert np.isinf(fields[1]).tolist() == [[False, False], [False, True], [False, False]]


@pytest.mark.usefixtures("plain")
def test_nodes_are_ranked_by_cost():
    """Tests random costs, many of them equal or infinite."""
    for nodes, seed in itertools.product([1, 2, 15, 40, 200], range(4)):
        cost = np.random.default_rng(seed).choice([1.0, 2.0, 3.0, np.inf, seed], nodes)
        order = np.zeros(nodes, np.int64)
        branch_and_bound.rank_nodes(cost, order)
        assert sorted(order) == list(range(nodes)), (nodes, seed)
        assert cost[order].tolist() == sorted(cost), (nodes, seed)


@pytest.mark.long
@pytest.mark.usefixtures("plain")
def test_nodes_are_ranked_as_numba_ranks_them():
    """Tests random costs, many of them equal or infinite."""
    argsort = njit(lambda values: np.argsort(values))
    for nodes, seed in itertools.product([1, 2, 15, 40, 200], range(12)):
        cost = np.random.default_rng(seed).choice([1.0, 2.0, 3.0, np.inf, seed], nodes)
        order = np.zeros(nodes, np.int64)
        branch_and_bound.rank_nodes(cost, order)
        assert order.tolist() == argsort(cost).tolist(), (nodes, seed)
