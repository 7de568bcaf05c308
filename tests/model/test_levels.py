"""Levels: longest-path depth, and the split of levels wider than the machine."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.model.levels import levels
from tiger.model.tasks import TaskGraph


def dag(edges, size, **fields):
    """Return a task graph with unit traffic along (u, v) pairs."""
    row, col = np.array(edges, int).reshape(-1, 2).T
    traffic = sp.csr_array((np.ones(len(row)), (row, col)), shape=(size, size))
    return TaskGraph(names=tuple(f"t{k}" for k in range(size)), traffic=traffic, **fields)


def random_dag(seed, size):
    """Return a random directed acyclic graph whose task order is not topological."""
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((size, size)) < rng.uniform(0, 0.4), k=1))
    return dag(rng.permutation(size)[edges], size)


def split(tasks, width):
    """Return the levels as lists."""
    return [level.tolist() for level in levels(tasks, width)]


def test_example_on_two_nodes(ladder):
    """The levels for which the original example's optimum is proven."""
    assert split(ladder, 2) == [[0], [1, 2], [3], [4, 6], [5, 7], [8], [9], [10]]


@pytest.mark.parametrize("width", [3, 4, 9, 64])
def test_example_on_more_nodes(ladder, width):
    """No level has more than three tasks, so none is split."""
    assert split(ladder, width) == [[0], [1, 2, 3], [4, 6, 7], [5], [8], [9], [10]]


def test_example_on_one_node(ladder):
    """A level each: chunks of one leave no remainder."""
    assert split(ladder, 1) == [[0], [1], [2], [3], [4], [6], [7], [5], [8], [9], [10]]


def test_a_level_wider_than_twice_the_machine():
    """Seven roots on three nodes are two whole chunks and a remainder, in task order."""
    assert split(dag([], 7), 3) == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_remainder_moves_where_there_is_room():
    """Task 2 is left over and has nothing to do with task 3 of the next level."""
    assert split(dag([(0, 3)], 4), 2) == [[0, 1], [3, 2]]


def test_a_remainder_with_an_edge_stays():
    """Task 2 feeds task 3, so it keeps a level of its own."""
    assert split(dag([(2, 3)], 4), 2) == [[0, 1], [2], [3]]


def test_a_remainder_moves_in_part():
    """Of 3 and 4, only 4 may move; 3 feeds task 5 and stays."""
    assert split(dag([(0, 5), (3, 5)], 6), 3) == [[0, 1, 2], [3], [5, 4]]


def test_room_in_the_next_level_runs_out():
    """Of the two tasks left over, the first takes the only seat."""
    assert split(dag([(0, 5), (1, 6)], 7), 3) == [[0, 1, 2], [4], [5, 6, 3]]


def test_a_full_next_level_takes_none():
    """The whole remainder is a level of its own."""
    assert split(dag([(0, 3), (1, 4)], 5), 2) == [[0, 1], [2], [3, 4]]


def test_a_next_level_that_is_itself_too_wide_takes_none():
    """It is split in its turn, by the same rule."""
    assert split(dag([(0, 3), (0, 4), (1, 5), (3, 6)], 7), 2) == [[0, 1], [2], [3, 4], [6, 5]]


def test_the_last_level_keeps_its_remainder():
    """There is no next level to move to."""
    assert split(dag([(0, 1), (0, 2), (0, 3)], 4), 2) == [[0], [1, 2], [3]]


def test_moved_tasks_do_not_bar_others():
    """Whether a task may move is decided against the next level as it was before any move."""
    assert split(dag([(0, 6)], 7), 4) == [[0, 1, 2, 3], [6, 4, 5]]


def test_depth_is_the_longest_path():
    """Task 2 hangs on the root and on task 1, which is deeper."""
    assert split(dag([(0, 1), (0, 2), (1, 2)], 3), 2) == [[0], [1], [2]]


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 14), width=st.integers(1, 6))
def test_every_task_is_in_one_level_without_edges(seed, size, width):
    """Levels cover the tasks once, none is wider than the machine, and none has an edge inside."""
    tasks = random_dag(seed, size)
    found = levels(tasks, width)
    assert sorted(np.concatenate(found).tolist()) == list(range(size))
    assert all(0 < len(level) <= width for level in found)
    assert all(tasks.traffic[level][:, level].nnz == 0 for level in found)


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 14), width=st.integers(1, 6))
def test_levels_are_in_topological_order(seed, size, width):
    """Every edge goes from an earlier level to a later one."""
    tasks, position = random_dag(seed, size), np.empty(size, int)
    for k, level in enumerate(levels(tasks, width)):
        position[level] = k
    row, col = tasks.traffic.nonzero()
    assert (position[row] < position[col]).all()


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 14))
def test_wide_machines_get_the_generations(seed, size):
    """Where nothing is split, levels are networkx's topological generations in task order."""
    tasks = random_dag(seed, size)
    graph = nx.from_scipy_sparse_array(tasks.traffic, create_using=nx.DiGraph)
    assert split(tasks, size) == [sorted(level) for level in nx.topological_generations(graph)]


@pytest.mark.parametrize("edges", [[(1, 1)], [(1, 2), (2, 1)], [(1, 2), (2, 3), (3, 1)]])
def test_refuses_cycles(edges):
    """A self-loop is a cycle; the message names a task on it or behind it."""
    with pytest.raises(InputError, match=r"expected no cycle.*'t1'") as caught:
        levels(dag([(0, 1), *edges], 4), 2)
    assert caught.value.field == "tasks"


def test_refuses_undirected_graphs():
    """Without directions there is no order."""
    with pytest.raises(InputError, match="expected a directed graph"):
        levels(dag([(0, 1)], 2, directed=False), 2)


def test_refuses_hardware_without_slots():
    """No level fits on nothing."""
    with pytest.raises(InputError, match="at least one node with a slot") as caught:
        levels(dag([], 2), 0)
    assert caught.value.field == "topology"


@pytest.mark.slow
def test_bug_long_chains_are_quick():
    """Twenty thousand levels of one task take time in proportion."""
    size = 20_000
    chain = dag(np.stack([np.arange(size - 1), np.arange(1, size)], axis=1), size)
    assert np.concatenate(levels(chain, 4)).tolist() == list(range(size))
