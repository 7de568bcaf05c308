"""Tests of mappings by one quick recursive bisection."""

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.solvers import registry
from tiger.solvers.instance import instance_of
from tiger.solvers.multilevel.dissection import Dissection
from tiger.topologies.spec import build


def shuffle(graph, seed=0):
    """Return a graph's tasks in random order."""
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()
    nodes = list(graph)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(nodes[k] for k in order)
    shuffled.add_edges_from(graph.edges)
    return task_graph_of(shuffled)


def start(problem, seed=0):
    """Return the places of a problem by bisection."""
    return registry.bisect(problem, seed, bool)


@pytest.mark.slow
@pytest.mark.parametrize("hardware", ["grid:8x8", "torus:4x4x4", "tree:4x16@1,10", "hypercube:6"])
def test_stencils_land_far_below_the_launch_order(hardware):
    """Tests 64 shuffled stencil tasks on each kind of metric: at most half of the cost, each node used once."""
    problem = Problem(tasks=shuffle(nx.grid_2d_graph(8, 8)), topology=build(hardware), rule="one-to-one")
    places = start(problem)
    assert sorted(places.tolist()) == list(range(64))
    assert cost_of(problem, places).total < 0.62 * cost_of(problem, launch_order(problem)).total


def test_a_stencil_on_its_own_grid_is_nearly_optimal():
    """Tests 8 x 8 on 8 x 8, whose optimum is 112, from three seeds."""
    problem = Problem(tasks=shuffle(nx.grid_2d_graph(8, 8)), topology=build("grid:8x8"), rule="one-to-one")
    assert min(cost_of(problem, start(problem, seed)).total for seed in range(3)) <= 1.5 * 112


@pytest.mark.slow
def test_seeds_repeat_and_differ():
    """Tests that a seed decides where hardware without coordinates is cut."""
    problem = Problem(
        tasks=shuffle(nx.gnm_random_graph(30, 90, seed=1)), topology=build("hypercube:5"), rule="one-to-one"
    )
    starts = [tuple(start(problem, seed).tolist()) for seed in (0, 0, 1, 2, 3)]
    assert starts[0] == starts[1]
    assert len(set(starts)) > 1


def test_fewer_tasks_than_nodes_stay_together():
    """Tests four tasks in a ring on a 6 x 6 grid: no way between two of them is longer than two hops."""
    problem = Problem(tasks=shuffle(nx.cycle_graph(4)), topology=build("grid:6x6"), rule="one-to-one")
    places = start(problem)
    away = problem.metric.between(places[:, None], places[None, :])
    assert len(set(places.tolist())) == 4
    assert away.max() <= 3


@pytest.mark.slow
def test_shared_nodes_fill_up_to_their_slots(random_problem):
    """Tests that no node takes more tasks than it has slots, whatever else is limited."""
    for seed in range(20):
        problem = random_problem("capacity", seed, tasks=9, nodes=4, pins=seed % 2 == 1)
        kinds = {found.kind for found in violations(problem, start(problem, seed))}
        assert "slots" not in kinds


def test_pinned_tasks_attract_those_they_talk_to():
    """Tests a path pinned at one end of a line of nodes: the next task lies in the same half."""
    graph = task_graph_of(nx.path_graph(8))
    problem = Problem(tasks=graph, topology=build("grid:8"), rule="one-to-one", pinned={"0": "7"})
    places = start(problem)
    assert places[1] >= 4


@pytest.mark.parametrize("seed", range(5))
def test_tasks_are_drawn_away_from_regions_whose_nodes_are_all_forbidden(seed):
    """Tests twelve tasks without traffic, in an order of their own, against sets of forbidden nodes."""
    rng = np.random.default_rng(seed)
    pairs = [(str(t), str(p)) for t in range(12) for p in range(12) if rng.random() < 0.85]
    problem = Problem(
        tasks=task_graph_of(nx.empty_graph(12)), topology=build("grid:12"), rule="one-to-one", forbidden=pairs
    )
    parts = Dissection(problem, instance_of(problem), seed)
    other = parts.halve(0)
    banned, regions = {t: {int(p) for u, p in pairs if u == str(t)} for t in range(12)}, parts.nodes
    tasks = np.concatenate([parts.members[0], parts.members[other]])
    wanted = [int({*regions[other]} <= banned[t]) - int({*regions[0]} <= banned[t]) for t in tasks.tolist()]
    assert np.sign(parts.graph(0, other).pull).tolist() == wanted
    assert any(wanted)


def test_a_single_task_and_two_nodes_are_no_trouble():
    """Tests the smallest problems there are."""
    near = Topology(names=("x", "y"), metric=DenseMetric(np.array([[0.0, 1], [2, 0]])))
    for size in (1, 2):
        problem = Problem(tasks=task_graph_of(nx.path_graph(size)), topology=near, rule="one-to-one")
        assert len(set(start(problem).tolist())) == size


def test_time_that_is_up_gives_no_start(path_problem):
    """Tests a stop that is told at once."""
    assert registry.bisect(path_problem, 0, lambda: True) is None
