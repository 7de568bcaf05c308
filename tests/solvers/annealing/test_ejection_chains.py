"""Tests of chains of moves off overfull nodes, as plain Python."""

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.solvers.annealing import boundary_annealing, ejection_chains
from tiger.solvers.annealing.boundary_annealing import csr_graph_of
from tiger.solvers.annealing.ejection_chains import chains_of
from tiger.solvers.instance import instance_of
from tiger.topologies.spec import build


@pytest.fixture(autouse=True)
def _plain(plain, monkeypatch):
    """Run this file's kernels as plain Python."""
    for module in (boundary_annealing, ejection_chains):
        for name, kernel in vars(module).copy().items():
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))


def clear(problem, places, most=100):
    """Return how many tasks are too many in the end, and the mapping."""
    inst = instance_of(problem)
    lists = chains_of(inst, np.array(places))
    return ejection_chains.clear_overload(inst, csr_graph_of(inst), lists, most), lists.place.tolist()


def path(topology, slots, tasks=4, **options):
    """Return a path of tasks on a machine with a number of slots a node."""
    hardware = build(topology)
    graph = task_graph_of(nx.path_graph(tasks))
    return Problem(tasks=graph, topology=hardware.with_slots([slots] * hardware.size), rule="capacity", **options)


def test_a_chain_passes_through_a_full_node():
    """Tests a path of tasks on a line of nodes: every node in between hands one task on."""
    assert clear(path("grid:3", 2, 6), [0, 0, 0, 1, 1, 2]) == (0, [0, 0, 1, 1, 2, 2])


def test_a_task_jumps_where_no_traffic_leads():
    """Tests tasks that are all on one node."""
    left, places = clear(path("grid:3", 2), [0, 0, 0, 0])
    assert left == 0
    assert np.bincount(places, minlength=3).max() == 2


def test_chains_can_be_counted():
    """Tests what is left over after one chain."""
    assert clear(path("grid:4", 1), [0, 0, 0, 0], most=1)[0] == 2


def test_pinned_tasks_stay_and_may_leave_no_way():
    """Tests two pinned tasks on a node with one slot."""
    problem = path("grid:2", 1, 2, pinned={"0": "0", "1": "0"})
    assert clear(problem, [0, 0])[0] == -1


def test_memory_is_never_exceeded():
    """Tests that the light task moves on where the heavy one does not fit."""
    graph = task_graph_of(nx.path_graph(2))
    tasks = TaskGraph(names=graph.names, traffic=graph.traffic, memory=np.array([9, 1]))
    machine = build("grid:2").with_slots([1, 1])
    machine = type(machine)(
        names=machine.names, metric=machine.metric, slots=machine.slots, memory=np.array([10, 5]), links=machine.links
    )
    assert clear(Problem(tasks=tasks, topology=machine, rule="capacity"), [0, 0]) == (0, [0, 1])
