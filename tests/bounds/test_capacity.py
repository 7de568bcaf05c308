"""Tests of the bound from slots and distances, where the best cost can be worked out by hand."""

import networkx as nx
import numpy as np
import pytest
from numba.core import event

from tiger.bounds import capacity, warm
from tiger.bounds.capacity import spreading_bound
from tiger.bounds.lower_bound import lower_bound
from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.topologies.spec import build


def make_problem(graph, hardware, slots):
    """Return the problem of placing a graph on hardware with so many slots a node."""
    topology = build(hardware)
    topology = topology.with_slots(np.full(topology.size, slots))
    return Problem(tasks=task_graph_of(graph), topology=topology, rule="capacity")


def test_a_path_on_two_nodes_is_cut():
    """Four tasks in a row on two nodes of two slots cost one hop: the bound is above a half, and rounds up to it."""
    problem = make_problem(nx.path_graph(4), "grid:2", 2)
    assert 0.5 < spreading_bound(problem) <= 1
    assert lower_bound(problem, np.array([0, 0, 1, 1])) == 1


def test_a_clique_on_two_nodes_is_cut_in_the_middle():
    """Eight tasks that all talk, four to a node, cost 16, more than half of which flows account for."""
    assert 9 <= spreading_bound(make_problem(nx.complete_graph(8), "grid:2", 4)) <= 16


def test_every_level_of_a_tree_counts():
    """A clique of eight on a tree of 2 x 2 leaves with two slots costs 8 pairs of leaves and 16 of halves."""
    assert 100 <= spreading_bound(make_problem(nx.complete_graph(8), "tree:2x2@1,10", 2)) <= 8 + 160


@pytest.mark.parametrize(("hardware", "slots", "best"), [("torus:4x4", 16, 128), ("tree:4x4@1,10", 16, 384)])
def test_a_stencil_is_bounded_by_half_of_its_cost_or_more(hardware, slots, best):
    """A 16 x 16 stencil in squares of 4 x 4 cuts 96 edges, on the tree 32 of them between quarters."""
    bound = spreading_bound(make_problem(nx.grid_2d_graph(16, 16), hardware, slots))
    assert best / 2 <= bound <= best


@pytest.mark.slow
def test_thousands_of_tasks_are_bounded_by_half_of_their_cost():
    """1,728 tasks in a box, eight to a node of a torus, of which the best mapping known cuts 2,160 edges."""
    assert 2160 / 2 <= spreading_bound(make_problem(nx.grid_graph((12, 12, 12)), "torus:6x6x6", 8)) <= 2160


@pytest.mark.parametrize(("hardware", "slots", "best"), [("torus:4x4", 16, 128), ("tree:4x4@1,10", 16, 384)])
def test_few_columns_give_valid_bounds(monkeypatch, hardware, slots, best):
    """Columns of a stencil as of a problem that settles too many tasks give valid bounds."""
    problem = make_problem(nx.grid_2d_graph(16, 16), hardware, slots)
    for name, value, share in (("COLUMNS", 1, 0.5), ("WORK", 1 << 10, 0.2)):
        monkeypatch.setattr(capacity, name, value)
        assert share * best <= spreading_bound(problem) <= best


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 2, 3, 4, capacity.PARTS])
@pytest.mark.parametrize(
    ("graph", "cut"),
    [
        (nx.path_graph(40), 1),
        (nx.cycle_graph(12), 2),
        (nx.grid_2d_graph(2, 20), 2),
        (nx.grid_2d_graph(6, 6), 6),
        (nx.barbell_graph(6, 0), 1),
    ],
    ids=["path", "cycle", "ladder", "grid", "barbell"],
)
def test_halves_are_bounded_by_regions_of_any_size(monkeypatch, graph, cut, parts):
    """Regions of one task up to all of them account for most of the least cut into halves, and for no more."""
    monkeypatch.setattr(capacity, "PARTS", parts)
    assert 0.75 * cut <= spreading_bound(make_problem(graph, "grid:2", len(graph) // 2)) <= cut


@pytest.mark.slow
@pytest.mark.parametrize(
    ("graph", "most", "share"),
    [(nx.complete_graph(128), 64 * 64, 0.2), (nx.star_graph(999), 500, 0.05), (nx.wheel_graph(1000), 502, 0.05)],
    ids=["clique", "star", "wheel"],
)
def test_graphs_that_cannot_be_divided_have_a_bound(graph, most, share):
    """Where regions have next to no traffic inside, every column has a task of its own."""
    assert share * most <= spreading_bound(make_problem(graph, "grid:2", -(-len(graph) // 2))) <= most


def test_a_bound_ends_early():
    """What was found until then counts, and is no more than what is found in the end."""
    problem, asked = make_problem(nx.grid_2d_graph(30, 30), "grid:2", 450), []
    early = spreading_bound(problem, stop=lambda: len(asked) >= 9 or bool(asked.append(0)))
    assert len(asked) == 9
    assert 0 < early < 30


def test_bug_numbers_that_lose_digits_claim_nothing():
    """Volumes and distances of a few quanta made bounds of 1.03 and 1.08 times the optimum, and others warnings."""
    edges = [(0, 1), (0, 3), (1, 2), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4), (3, 5)]
    for hop, volume in ((2.0**900, 5e-324), (5e-324, 1.0)):
        graph = nx.Graph(edges)
        nx.set_edge_attributes(graph, volume, "weight")
        topology = Topology(names=("x", "y"), metric=GridMetric((2,), (False,), hop), slots=np.array([3, 3]))
        assert spreading_bound(Problem(tasks=task_graph_of(graph), topology=topology, rule="capacity")) == 0
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, dict(zip(graph.edges, (1e12, 1e12, 1e-300), strict=True)), "weight")
    assert spreading_bound(make_problem(graph, "grid:2", 2)) <= 1e12


def test_nothing_is_claimed_where_all_tasks_fit_on_a_node():
    """Neither on a grid nor on a tree, nor where tasks talk to themselves alone."""
    graph = nx.cycle_graph(4)
    assert (
        spreading_bound(make_problem(graph, "grid:2", 4))
        == spreading_bound(make_problem(graph, "tree:2x2@1,2", 4))
        == 0
    )
    loops = TaskGraph(names=("a", "b"), traffic=np.eye(2))
    assert spreading_bound(Problem(tasks=loops, topology=build("grid:2"), rule="capacity")) == 0


def test_memory_leaves_fewer_seats():
    """Two of four tasks fit into the memory of a node with four slots."""
    tasks = TaskGraph(names=tuple("abcd"), traffic=np.triu(np.ones((4, 4)), 1), memory=np.full(4, 3))
    nodes = Topology(
        names=("x", "y"),
        metric=DenseMetric(np.array([[0.0, 2], [2, 0]])),
        slots=np.array([4, 4]),
        memory=np.array([6, 7]),
    )
    assert 6 <= spreading_bound(Problem(tasks=tasks, topology=nodes, rule="capacity")) <= 8


def test_a_detour_over_other_nodes_bounds_the_distance():
    """Where x and z are 100 apart but 1 from y each, only 2 may be counted on, and the shorter of two ways."""
    table = np.array([[0.0, 1, 100], [9, 0, 1], [100, 1, 0]])
    assert capacity._metric_below(table).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_many_distances_are_rounded_down():
    """Of 40 nodes in a row 32 distances are kept, and none counts more slots than are nearer."""
    row = np.arange(40.0)
    ((reach, counts),) = capacity._distance_term(np.abs(row[:, None] - row), np.ones(40, int), 40)
    assert len(reach) < 20
    assert (counts == 2 * reach - 1).all()


def test_warming_compiles_the_kernels():
    """Nothing is compiled afterwards, by listening to numba."""
    warm.load()
    with event.install_recorder("numba:compile") as recorder:
        spreading_bound(make_problem(nx.path_graph(4), "grid:2", 2))
        whole = Topology(names=tuple("wxyz"), metric=TreeMetric((2, 2), (1, 10)), slots=np.ones(4, int))
        spreading_bound(Problem(tasks=task_graph_of(nx.path_graph(4)), topology=whole, rule="capacity"))
    assert recorder.buffer == []


def test_bug_hardware_without_hosts_has_no_bound():
    """Where no node has a slot nothing is claimed; the largest count of none was asked for."""
    assert spreading_bound(make_problem(nx.path_graph(4), "grid:2", 0)) == 0
