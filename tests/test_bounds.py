"""Tests of the lower bound and of the penalties built on the same rearrangement."""

import numpy as np
import pytest

from tiger import bounds
from tiger.bounds import lower_bound, rearranged
from tiger.feasibility import launch_order
from tiger.model.metrics import DenseMetric
from tiger.model.window import fold, whole
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("cells", [1 << 22, 0], ids=["dense", "sparse"])
def test_the_bound_never_exceeds_the_optimum(rule, cells, random_problem, brute_force, monkeypatch):
    """Tests both forms of the bound against brute force, with pins, forbidden pairs and memory."""
    monkeypatch.setattr(bounds, "DENSE_CELLS", cells)
    for seed in range(80):
        limited = seed % 2 == 0
        problem = random_problem(rule, seed, tasks=5, nodes=6, pins=limited, forbidden=limited, memory=seed % 3 == 0)
        optimum, places = brute_force(problem)
        assert lower_bound(problem, places) <= optimum + 1e-9 * max(1.0, abs(optimum))


@pytest.mark.parametrize("rule", RULES)
def test_rearrangement_brackets_the_traffic_of_every_task(rule, random_problem, random_feasible):
    """Tests least <= traffic cost of a task <= worst on random feasible mappings."""
    for seed in range(80):
        problem = random_problem(rule, seed)
        places = random_feasible(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        local = window.local(places)
        away = window.distance[np.ix_(local, local)]
        traffic = window.traffic.toarray()
        paid = (traffic * away).sum(axis=1) + (traffic * away).sum(axis=0)
        row = np.arange(len(local)), local
        assert (rearranged(window, worst=False)[row] <= paid + 1e-9).all()
        assert (rearranged(window, worst=True)[row] >= paid - 1e-9).all()


def test_the_bound_of_the_path_problem_is_its_optimum(path_problem):
    """Tests a bound that can be worked out by hand: every pair at least 1 apart, one of them 2."""
    assert lower_bound(path_problem, launch_order(path_problem)) in (6.0, 7.0)


def test_the_bound_holds_where_slots_are_too_many_to_match(random_problem, brute_force, monkeypatch):
    """Tests capacity problems whose assignment onto slots is left out."""
    monkeypatch.setattr(bounds, "SLOT_CELLS", 0)
    for seed in range(30):
        problem = random_problem("capacity", seed, tasks=5, nodes=5)
        optimum, places = brute_force(problem)
        assert lower_bound(problem, places) <= optimum + 1e-9 * max(1.0, abs(optimum))


def test_whole_numbers_round_the_bound_up(path_problem):
    """Tests that whole volumes and distances give a whole bound."""
    assert lower_bound(path_problem, np.arange(3)).is_integer()


def test_every_edge_of_a_stencil_costs_at_least_a_hop(monkeypatch):
    """Tests the bound for large problems: 112 edges of an 8 x 8 stencil on a torus, which a mapping reaches."""
    import networkx as nx

    from tiger.formats.graphs import task_graph_of
    from tiger.model.problem import Problem

    problem = Problem(tasks=task_graph_of(nx.grid_2d_graph(8, 8)), topology=build("torus:8x8"), rule="one-to-one")
    assert lower_bound(problem, launch_order(problem)) == 112
    monkeypatch.setattr(bounds, "DENSE_CELLS", 0)
    assert lower_bound(problem, launch_order(problem)) == 112


def test_the_bound_for_large_problems_holds_on_dense_metrics(random_problem, brute_force, monkeypatch):
    """Tests a matrix whose diagonal is larger than other entries, where sharing a node is dear."""
    from tiger.model.problem import Problem
    from tiger.model.tasks import TaskGraph
    from tiger.model.topology import Topology

    tasks = TaskGraph(names=("a", "b", "c"), traffic=np.ones((3, 3)) - np.eye(3))
    table = np.array([[5.0, 1.0], [1.0, 5.0]])
    nodes = Topology(names=("x", "y"), metric=DenseMetric(table), slots=np.array([2, 2]))
    problem = Problem(tasks=tasks, topology=nodes, rule="capacity")
    monkeypatch.setattr(bounds, "DENSE_CELLS", 0)
    assert lower_bound(problem, launch_order(problem)) <= brute_force(problem)[0]
