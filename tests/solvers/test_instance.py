"""Tests of the arrays that compiled searches read."""

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.solvers.instance import fixed_of, instance_of, limited, nearest_hosts, state_of
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


@pytest.mark.parametrize("rule", RULES)
def test_all_arrays_are_read_only_and_contiguous(rule, random_problem):
    """Tests what compiled code is specialised for: one kind of array, whatever the problem."""
    for seed in range(10):
        inst = instance_of(random_problem(rule, seed, pins=True, forbidden=True, memory=True))
        for part in inst:
            assert not isinstance(part, np.ndarray) or (part.flags.c_contiguous and not part.flags.writeable)


@pytest.mark.parametrize("rule", RULES)
def test_neighbour_lists_add_up_to_the_traffic(rule, random_problem):
    """Tests both directions, self-loops apart."""
    for seed in range(20):
        problem = random_problem(rule, seed)
        inst, traffic = instance_of(problem), problem.tasks.traffic.toarray()
        out, back = np.zeros_like(traffic), np.zeros_like(traffic)
        row = np.repeat(np.arange(len(traffic)), np.diff(inst.indptr))
        out[row, inst.indices], back[row, inst.indices] = inst.out, inst.back
        assert np.allclose(np.diag(traffic), inst.loop)
        both = traffic + traffic.T - 2 * np.diag(np.diag(traffic))
        assert np.allclose(out + back, both)


def test_small_machines_are_read_from_a_table_and_large_ones_are_not():
    """Tests a torus below and above 1,024 nodes."""
    kinds = [
        instance_of(Problem(tasks=task_graph_of(nx.path_graph(2)), topology=build(spec), rule="one-to-one")).kind
        for spec in ("torus:8x8", "torus:40x40", "tree:40x40@1,2")
    ]
    assert kinds == [0, 1, 2]


def test_near_hosts_of_a_torus_are_its_neighbours():
    """Tests a torus of 4 x 3 with a switch, and axes of extent 2 and 1."""
    metric = GridMetric((4, 3), (True, True))
    hosts = np.delete(np.arange(12), 4)
    assert sorted(nearest_hosts(metric, hosts)[0].tolist()) == [1, 2, 3, 9]
    assert sorted(nearest_hosts(metric, hosts)[1].tolist()) == [-1, 0, 2, 10]
    assert sorted(set(nearest_hosts(GridMetric((2, 1), (True, True)), np.arange(2))[0].tolist())) == [-1, 1]


def test_near_hosts_of_a_grid_end_at_its_edges():
    """Tests a line of three."""
    near = nearest_hosts(GridMetric((3,), (False,)), np.arange(3))
    assert [sorted(row.tolist()) for row in near] == [[-1, 1], [0, 2], [-1, 1]]


def test_near_hosts_of_a_tree_are_siblings():
    """Tests leaves of the innermost level, or of the next where that holds one."""
    assert nearest_hosts(TreeMetric((2, 3), (1.0, 5.0)), np.arange(6))[4].tolist() == [5, 3]
    assert nearest_hosts(TreeMetric((3, 1), (1.0, 5.0)), np.arange(3))[0].tolist() == [1, 2]
    assert nearest_hosts(TreeMetric((1, 1), (1.0, 5.0)), np.arange(1)).tolist() == [[-1]]


def test_near_hosts_of_a_matrix_are_the_closest():
    """Tests ties to the lower number, and a machine with one host."""
    table = np.array([[0.0, 2, 1], [2, 0, 3], [1, 3, 0]])
    assert nearest_hosts(DenseMetric(table), np.arange(3)).tolist() == [[2, 1], [0, 2], [0, 1]]
    assert nearest_hosts(DenseMetric(np.zeros((1, 1))), np.arange(1)).tolist() == [[-1]]


def test_a_block_limits_what_may_move(path_problem):
    """Tests movable tasks, hosts and the flags of the others."""
    part = limited(instance_of(path_problem), np.array([1]), np.array([0, 2]))
    assert (part.movable.tolist(), part.hosts.tolist(), fixed_of(part).tolist()) == ([1], [0, 2], [1, 0, 1])


def test_seats_hold_the_tasks_of_every_node(random_problem, random_feasible):
    """Tests the state of shared nodes."""
    for seed in range(20):
        problem = random_problem("capacity", seed, memory=True)
        places = random_feasible(problem, np.random.default_rng(seed))
        state = state_of(problem, places)
        for node in range(problem.topology.size):
            first = state.seat_start[node]
            seated = state.seats[first : first + state.held[node]]
            assert sorted(seated.tolist()) == np.flatnonzero(places == node).tolist()
        assert state.place is not places
