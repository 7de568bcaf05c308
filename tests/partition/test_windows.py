"""Tests of windows of tasks that talk."""

import time

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.partition.windows import TaskWindows
from tiger.testing import check_partitioner
from tiger.topologies.spec import build


def blocks_of(graph, topology, **options):
    """Return the blocks of a graph on a topology, one to one."""
    problem = Problem(tasks=task_graph_of(graph), topology=build(topology), rule="one-to-one")
    return list(TaskWindows().split(problem, launch_order(problem), **({"max_size": 144, "seed": 0} | options)))


def test_windows_are_at_most_twelve_tasks_wide():
    """Tests the widths of 20 and 30 tasks, which are as even as they can be."""
    assert sorted(len(block.tasks) for block in blocks_of(nx.path_graph(20), "ring:20")) == [10, 10]
    assert sorted(len(block.tasks) for block in blocks_of(nx.path_graph(26), "ring:26")) == [8, 9, 9]


def test_windows_of_a_path_are_made_of_neighbours():
    """Tests that breadth-first order keeps each window to few pieces of the path."""
    for block in blocks_of(nx.path_graph(40), "ring:40"):
        assert (np.diff(block.tasks) > 1).sum() <= 2


def test_components_follow_each_other():
    """Tests that tasks without traffic are covered too."""
    covered = np.concatenate([block.tasks for block in blocks_of(nx.empty_graph(5), "ring:5")])
    assert sorted(covered.tolist()) == [0, 1, 2, 3, 4]


def test_seeds_cut_differently():
    """Tests that passes do not repeat the same windows."""
    cuts = {
        tuple(map(tuple, (b.tasks.tolist() for b in blocks_of(nx.path_graph(40), "ring:40", seed=s)))) for s in range(5)
    }
    assert len(cuts) > 1


def test_no_window_without_free_tasks():
    """Tests a problem where everything is pinned."""
    problem = Problem(
        tasks=task_graph_of(nx.path_graph(2)), topology=build("ring:2"), rule="one-to-one", pinned={"0": "0", "1": "1"}
    )
    assert list(TaskWindows().split(problem, launch_order(problem), max_size=4, seed=0)) == []


def test_windows_follow_the_traffic_past_pinned_tasks():
    """Tests a path whose middle is pinned: its ends stay one run, in order from the root."""
    problem = Problem(
        tasks=task_graph_of(nx.path_graph(9)), topology=build("ring:9"), rule="one-to-one", pinned={"4": "4"}
    )
    blocks = list(TaskWindows().split(problem, np.arange(9), max_size=144, seed=0))
    assert [block.tasks.tolist() for block in blocks] == [[0, 1, 2, 3, 5, 6, 7, 8]]


def test_components_are_not_mixed():
    """Tests that windows of the width of a component hold one component each."""
    graph = nx.disjoint_union_all([nx.path_graph(4)] * 5)
    runs = [block.tasks for block in blocks_of(graph, "ring:20", max_size=16)]
    assert sorted(run.tolist() for run in runs) == [list(range(k, k + 4)) for k in range(0, 20, 4)]


@pytest.mark.slow
def test_bug_many_components_are_cut_quickly():
    """Tests 30,000 tasks without traffic, which took a search each."""
    problem = Problem(tasks=task_graph_of(nx.empty_graph(30_000)), topology=build("torus:200x200"), rule="one-to-one")
    begun = time.process_time()
    next(iter(TaskWindows().split(problem, np.arange(30_000), max_size=144, seed=0)))
    assert time.process_time() - begun < 2


def test_windows_by_nodes_are_close_together():
    """Tests that on a grid the tasks of a window lie within a few hops, though their traffic says nothing."""
    problem = Problem(tasks=task_graph_of(nx.empty_graph(64)), topology=build("grid:8x8"), rule="one-to-one")
    blocks = list(TaskWindows(order_by="nodes").split(problem, np.arange(64), max_size=144, seed=3))
    spans = [problem.metric.between(b.tasks[:, None], b.tasks[None, :]).mean() for b in blocks]
    assert np.median(spans) < 3.5


def test_windows_by_cost_begin_with_those_that_pay_most():
    """Tests a star far from its hub: leaves with traffic come before those without."""
    graph = nx.Graph()
    graph.add_nodes_from(range(40))
    graph.add_edges_from((k, k + 12) for k in range(12))
    problem = Problem(tasks=task_graph_of(graph), topology=build("ring:40"), rule="one-to-one")
    blocks = list(TaskWindows(order_by="cost").split(problem, np.arange(40), max_size=144, seed=0))
    assert set(np.concatenate([blocks[0].tasks, blocks[1].tasks]).tolist()) <= set(range(24))


@pytest.mark.parametrize("order_by", ["traffic", "nodes", "cost", "none"])
def test_every_kind_keeps_its_promises(order_by, random_problem):
    """Tests the conformance check, with pins and shared nodes."""
    for seed in range(6):
        problem = random_problem(("one-to-one", "capacity")[seed % 2], seed, tasks=9, nodes=10, pins=True)
        check_partitioner(TaskWindows(order_by=order_by), problem, launch_order(problem))
