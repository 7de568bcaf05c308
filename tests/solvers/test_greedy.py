"""Tests of greedy construction."""

import time

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.objective import cost_of, violations
from tiger.run import Deadline
from tiger.solvers import greedy
from tiger.solvers.greedy import Greedy
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


def search(problem, start, stop=bool):
    """Return the greedy places."""
    return Greedy().search(problem, start, effort=1, seed=0, stop=stop).places


@pytest.mark.parametrize("rule", RULES)
def test_plain_and_compiled_construction_agree(rule, random_problem, request):
    """Tests feasible mappings no dearer than the start, the same in Python and compiled."""
    problems = [random_problem(rule, seed, pins=True, forbidden=True, memory=True) for seed in range(12)]
    starts = [launch_order(problem) for problem in problems]
    compiled = [search(*pair) for pair in zip(problems, starts, strict=True)]
    request.getfixturevalue("plain")
    for problem, start, places in zip(problems, starts, compiled, strict=True):
        assert (search(problem, start) == places).all()
        assert not violations(problem, places)
        assert cost_of(problem, places).total <= cost_of(problem, start).total


def test_the_heaviest_tasks_meet_first():
    """Tests a star on a line: its centre comes first, then its leaves by their traffic, each as near as can be."""
    star = nx.Graph()
    star.add_nodes_from(["a", "b", "c", "hub"])
    star.add_weighted_edges_from([("hub", "a", 1), ("hub", "b", 5), ("hub", "c", 4)])
    problem = Problem(tasks=task_graph_of(star), topology=build("grid:4"), rule="one-to-one")
    places = search(problem, launch_order(problem))
    assert places.tolist() == [3, 1, 2, 0]


def test_a_dead_end_gives_the_start_back():
    """Tests that the task with traffic takes the only node the other may use."""
    graph = nx.Graph()
    graph.add_nodes_from(["a", "b", "c"])
    graph.add_edge("a", "b", weight=9)
    forbidden = frozenset({("c", "1"), ("c", "2")})
    problem = Problem(tasks=task_graph_of(graph), topology=build("grid:3"), rule="one-to-one", forbidden=forbidden)
    start = launch_order(problem)
    assert (search(problem, start) == start).all()


@pytest.mark.parametrize("limit", [0, 1 << 31])
def test_large_problems_and_time_that_is_up_give_the_start_back(limit, path_problem, monkeypatch):
    """Tests both reasons not to construct anything."""
    monkeypatch.setattr(greedy, "LIMIT", limit)
    start = np.array([0, 2, 1])
    assert search(path_problem, start, lambda: limit > 0).tolist() == [0, 2, 1]


def test_slices_do_not_change_the_result(path_problem, monkeypatch):
    """Tests one task at a time."""
    start = np.array([0, 2, 1])
    whole = search(path_problem, start)
    monkeypatch.setattr(greedy, "SLICE", 1)
    assert (search(path_problem, start) == whole).all()


def test_time_limits_are_heard():
    """Tests 4,096 tasks, whose construction takes longer than the limit."""
    graph = nx.gnm_random_graph(4096, 40_000, seed=1)
    problem = Problem(tasks=task_graph_of(graph), topology=build("torus:16x16x16"), rule="one-to-one")
    start, begun = np.arange(4096), time.monotonic()
    search(problem, start, Deadline(begun + 0.1))
    assert time.monotonic() - begun < 2


def test_bug_few_tasks_on_many_nodes_need_little_memory():
    """Tests three tasks on a million nodes, whose distances would fill terabytes."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(3)), topology=build("torus:1024x1024"), rule="one-to-one")
    places = search(problem, np.array([0, 500, 9000]))
    assert cost_of(problem, places).total == 2


def test_pinned_tasks_draw_the_others_near():
    """Tests that traffic with a pinned task counts."""
    problem = Problem(
        tasks=task_graph_of(nx.path_graph(2)), topology=build("grid:9"), rule="one-to-one", pinned={"0": "7"}
    )
    assert search(problem, np.array([7, 0])).tolist() == [7, 6]
