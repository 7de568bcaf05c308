"""Tests of the arrays that compiled searches read."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.solvers.instance import instance_of, mark_fixed, nearest_hosts, restrict, state_of
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_all_arrays_are_read_only_and_contiguous(rule, random_problem):
    """Tests what compiled code is specialised for: one kind of array, whatever the problem."""
    for seed in range(10):
        inst = instance_of(random_problem(rule, seed, pins=True, forbidden=True, memory=True))
        for part in inst:
            assert not isinstance(part, np.ndarray) or (part.flags.c_contiguous and not part.flags.writeable)


@pytest.mark.slow
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
    part = restrict(instance_of(path_problem), np.array([1]), np.array([0, 2]))
    assert (part.movable.tolist(), part.hosts.tolist(), mark_fixed(part).tolist()) == ([1], [0, 2], [1, 0, 1])


def test_seats_hold_the_tasks_of_every_node(random_problem, random_feasible):
    """Tests the state of shared nodes."""
    for seed in range(20):
        problem = random_problem("capacity", seed, memory=True)
        places = random_feasible(problem, np.random.default_rng(seed))
        state = state_of(problem, places)
        for node in range(problem.topology.size):
            first = state.slot_start[node]
            placed = state.slot_task[first : first + state.occupied[node]]
            assert sorted(placed.tolist()) == np.flatnonzero(places == node).tolist()
        assert state.place is not places


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_limits_are_those_of_the_problem(rule, random_problem):
    """Tests slots, memory with their defaults, forbidden nodes, groups, what may move and where to."""
    for seed in range(10):
        problem = random_problem(rule, seed, pins=True, forbidden=True, memory=seed % 2 == 0)
        inst = instance_of(problem)
        most = problem.tasks.size if rule == "capacity" else 1
        assert inst.slots.tolist() == np.minimum(problem.topology.slots, most).tolist()
        assert (problem.tasks.memory is None) == (inst.memory == 0).all() == (inst.room == 2**63 - 1).all()
        rows = [inst.ban_node[a:b].tolist() for a, b in itertools.pairwise(inst.ban_start)]
        assert [[t, p] for t, row in enumerate(rows) for p in row] == problem.banned.tolist()
        assert (inst.group_of.tolist(), inst.movable.tolist()) == (problem.group_of.tolist(), problem.free.tolist())
        assert inst.hosts.tolist() == problem.topology.hosts.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels"])
def test_occupants_are_the_tasks_of_each_group(rule, random_problem, random_feasible):
    """Tests who a node holds of every group."""
    for seed in range(20):
        problem = random_problem(rule, seed)
        places = random_feasible(problem, np.random.default_rng(seed))
        state = state_of(problem, places)
        placed = [(problem.group_of[t], p, t) for t, p in enumerate(places)]
        assert sorted((g, p, t) for (g, p), t in np.ndenumerate(state.occupant) if t >= 0) == sorted(placed)
        assert state.occupied.tolist() == np.bincount(places, minlength=problem.topology.size).tolist()


def test_near_hosts_of_a_large_matrix_are_the_eight_closest(random_topology):
    """Tests all nodes of a random machine against sorting."""
    metric = random_topology("dense", 3, nodes=40, whole=True).metric
    hosts = np.arange(0, 40, 2)
    near = nearest_hosts(metric, hosts)
    for node in range(40):
        others = sorted((metric.table[node, host], host) for host in hosts.tolist() if host != node)
        assert near[node].tolist() == [host for _, host in others[:8]]


def tolerance_of(table, volume=6.0, **nodes):
    """Return the smallest gain that counts for two tasks that talk, on machines with the given distances."""
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array([[0.0, volume], [0.0, 0.0]]), work=np.array([2.0, 5.0]))
    names = tuple(map(str, range(len(table))))
    topology = Topology(names=names, metric=DenseMetric(np.array(table)), **nodes)
    return instance_of(Problem(tasks=tasks, topology=topology, rule="capacity")).tolerance


def test_the_smallest_gain_is_relative_to_what_moves_can_cost():
    """Tests distances, differences of node costs, and that neither units nor what all hosts cost alike matter."""
    assert tolerance_of([[0.0, 3], [3, 0]]) == pytest.approx(18e-10)
    assert tolerance_of([[0.0, 3e-12], [3e-12, 0]]) == pytest.approx(18e-22)
    assert tolerance_of([[0.0, 3], [3, 0]], cost=np.array([1e9, 1e9])) == pytest.approx(18e-10)
    assert tolerance_of([[0.0, 3], [3, 0]], cost=np.array([7.0, 17.0])) == pytest.approx(50e-10)
    assert tolerance_of([[0.0, 0], [0, 0]]) > 0


def test_bug_ways_that_do_not_exist_do_not_hide_gains():
    """Tests that the price of crossing disconnected parts is no scale for the smallest gain."""
    table = np.full((4, 4), np.inf)
    table[:2, :2] = table[2:, 2:] = [[0, 3], [3, 0]]
    assert tolerance_of(table) == pytest.approx(18e-10)


@pytest.mark.slow
def test_bug_slots_without_end_do_not_fill_memory():
    """Tests 20,000 tasks on 4,096 nodes of a billion slots, all of them on one node to begin with."""
    hardware = build("torus:64x64").with_slots([10**9] * 4096)
    problem = Problem(tasks=task_graph_of(nx.path_graph(20_000)), topology=hardware, rule="capacity")
    inst, state = instance_of(problem), state_of(problem, np.zeros(20_000, np.int64))
    assert inst.slots.max() == 4096
    assert len(state.slot_task) < 1.1 * 2**24
    assert state.slot_task[: state.occupied[0]].tolist() == list(range(20_000))
