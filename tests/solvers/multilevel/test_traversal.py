"""Tests of mappings by the order of a traversal."""

import networkx as nx
import numpy as np
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.objectives.cost import cost_of, violations
from tiger.solvers import registry
from tiger.solvers.multilevel.multilevel import QUICK, Multilevel
from tiger.solvers.multilevel.traversal import Traversal
from tiger.topologies.spec import build


def _pose(graph: nx.Graph, slots: int) -> Problem:
    """Return a graph whose nodes are numbered from 0, taken in random order, on the leaves of a tree."""
    shuffled = nx.Graph()
    shuffled.add_nodes_from(np.random.default_rng(0).permutation(len(graph)).tolist())
    shuffled.add_edges_from(graph.edges)
    hardware = build("tree:4x8@1,10")
    return Problem(tasks=task_graph_of(shuffled), topology=hardware.with_slots([slots] * 32), rule="capacity")


def _traverse(problem: Problem, start: np.ndarray) -> np.ndarray:
    """Return the mapping by the order."""
    return Traversal().search(problem, start, effort=1, seed=0, stop=bool).places


def test_a_path_is_cut_between_nodes_alone() -> None:
    """Of 128 tasks on 32 nodes 31 edges leave a node, 3 of them a tier."""
    problem = _pose(nx.path_graph(128), 4)
    found = _traverse(problem, launch_order(problem))
    assert violations(problem, found) == ()
    assert cost_of(problem, found).total == 28 * 1 + 3 * 10


def test_slots_that_differ_and_parts_that_do_not_meet() -> None:
    """Every node has what it holds, where tasks leave some slots open."""
    graph = nx.disjoint_union_all([nx.path_graph(5)] * 6)
    hardware = build("tree:2x4@1,10").with_slots([1, 7, 2, 6, 3, 5, 4, 4])
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="capacity")
    found = _traverse(problem, launch_order(problem))
    assert violations(problem, found) == ()


def test_bug_slots_without_end_filled_the_memory() -> None:
    """Nodes with 10^9 slots, and some with none, between others: the first with room has what is left."""
    graph = nx.path_graph(100)
    hardware = build("tree:2x4@1,10").with_slots([10, 0, 10**9, 1, *[10**9] * 4])
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="capacity")
    found = _traverse(problem, np.random.default_rng(0).permutation(100) % 4 + 4)
    assert violations(problem, found) == ()
    assert np.bincount(found, minlength=8).tolist() == [10, 0, 90, 0, 0, 0, 0, 0]


def test_traffic_one_way_to_oneself_and_none_at_all() -> None:
    """Two tasks that exchange traffic come together, whatever else there is."""
    traffic = sp.csr_array((np.ones(3), ([0, 2, 4], [2, 4, 4])), shape=(6, 6))
    tasks = TaskGraph(names=tuple("abcdef"), traffic=traffic)
    problem = Problem(tasks=tasks, topology=build("tree:2x2@1,10").with_slots([2, 2, 1, 1]), rule="capacity")
    found = _traverse(problem, np.array([0, 0, 2, 1, 3, 1]))
    assert violations(problem, found) == ()
    assert cost_of(problem, found).total < 20.0


def test_bug_a_task_beside_all_others_took_minutes() -> None:
    """Its neighbours are sorted by insertion: the start stays."""
    problem = _pose(nx.star_graph(1000), 32)
    start = launch_order(problem)
    assert (_traverse(problem, start) == start).all()


def test_a_start_that_is_cheaper_stays() -> None:
    """The order of a path as it is."""
    problem = _pose(nx.path_graph(128), 4)
    best = _traverse(problem, launch_order(problem))
    assert (_traverse(problem, best) == best).all()
    stars = _pose(nx.disjoint_union_all([nx.star_graph(3)] * 32), 4)
    start = np.array([int(name) // 4 for name in stars.tasks.names])
    assert cost_of(stars, start).total == 0.0
    assert (_traverse(stars, start) == start).all()


def test_where_time_ends_a_bisection_it_goes_by_the_order() -> None:
    """A long road that is not cut at all costs what the order does, which is less than the launch order."""
    problem = _pose(nx.path_graph(8192), 256)
    launch = launch_order(problem)
    quick = dict(registry.native_searches(problem))["bisection"]
    assert isinstance(quick, Multilevel)
    found = quick.search(problem, launch, effort=1, seed=0, stop=lambda: True).places
    assert (found == _traverse(problem, launch)).all()
    assert cost_of(problem, found).total < cost_of(problem, launch).total / 100
    assert (Multilevel(QUICK).search(problem, launch, effort=1, seed=0, stop=lambda: True).places == launch).all()
