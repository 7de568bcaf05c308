"""Tests of the nodes that a block may use."""

import networkx as nx
import numpy as np

from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.partition.nodes import nodes_near
from tiger.topologies.spec import build


def nodes_around(tasks, count):
    """Return the nodes for tasks of a path that lies along a line of ten nodes."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(6)), topology=build("grid:10"), rule="one-to-one")
    return nodes_near(problem, np.array([0, 1, 5, 6, 8, 9]), np.array(tasks), count).tolist()


def test_own_nodes_come_first_and_close_ones_after():
    """Tests two nodes beside the tasks' own, the nearest, ties to the lower number."""
    assert nodes_around([0, 1], 4) == [0, 1, 2, 3]
    assert nodes_around([2], 3) == [4, 5, 6]


def test_own_nodes_stay_even_where_they_are_too_many():
    """Tests that a count below the tasks' own nodes is exceeded."""
    assert nodes_around([0, 2, 4], 1) == [0, 5, 8]


def test_more_nodes_than_there_are_gives_all():
    """Tests a count beyond the machine."""
    assert nodes_around([0], 99) == list(range(10))


def test_nodes_without_a_slot_are_left_out():
    """Tests that switches are never offered."""
    tree = build("fat-tree:2")
    problem = Problem(tasks=task_graph_of(nx.path_graph(2)), topology=tree, rule="one-to-one")
    found = nodes_near(problem, tree.hosts[:2], np.array([0, 1]), 99)
    assert found.tolist() == tree.hosts.tolist()
