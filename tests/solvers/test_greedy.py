"""Tests of greedy construction."""

import time

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import Deadline
from tiger.solvers import greedy, instance
from tiger.solvers.greedy import Greedy
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


def search(problem, start, stop=bool):
    """Return the greedy places."""
    return Greedy().search(problem, start, effort=1, seed=0, stop=stop).places


@pytest.mark.parametrize("rule", RULES)
def test_plain_and_compiled_construction_agree(rule, random_problem, request):
    """Tests feasible mappings no costlier than the start, the same in Python and compiled."""
    problems = [random_problem(rule, seed, pins=True, forbidden=True, memory=True) for seed in range(12)]
    starts = [launch_order(problem) for problem in problems]
    compiled = [search(*pair) for pair in zip(problems, starts, strict=True)]
    request.getfixturevalue("plain")
    for problem, start, places in zip(problems, starts, compiled, strict=True):
        assert (search(problem, start) == places).all()
        assert not violations(problem, places)
        assert cost_of(problem, places).total <= cost_of(problem, start).total


def by_hand(problem, start):
    """Return the greedy places read off their definition: most pull, then most weight, then the cheapest open node."""
    both = (problem.tasks.traffic + problem.inflow).toarray()
    np.fill_diagonal(both, 0)
    places, waiting = problem.pins.copy(), set(problem.free.tolist())
    pull, weight = np.zeros(len(places)), both[:, problem.free].sum(axis=1)
    while waiting:
        task = max(waiting, key=lambda t: (pull[t], weight[t], -t))
        costs = {}
        for node in problem.topology.hosts.tolist():
            places[task] = node
            if not violations(problem, places):
                placed = np.flatnonzero(places >= 0)
                away = problem.metric.between(node, places[placed]), problem.metric.between(places[placed], node)
                sent, got = problem.tasks.traffic[[task]].toarray()[0], problem.inflow[[task]].toarray()[0]
                others = placed != task
                costs[node] = problem.tasks.work[task] * problem.topology.cost[node] + sent[task] * away[0][~others][0]
                costs[node] += (sent[placed] * away[0] + got[placed] * away[1])[others].sum()
        if not costs:
            return start
        places[task] = min(costs, key=costs.get)
        waiting.remove(task)
        pull += both[task]
    return places if cost_of(problem, places).total < cost_of(problem, start).total else start


@pytest.mark.slow
@pytest.mark.parametrize("hardware", ["dense", "links", "grid", "torus", "tree"])
@pytest.mark.parametrize("nodes", [0, 1024])
def test_every_turn_is_the_best_one(hardware, nodes, random_problem, monkeypatch):
    """Tests tables and formulas of distances against the definition, in whole numbers so that ties are ties."""
    monkeypatch.setattr(instance, "DENSE_NODES", nodes)
    for seed, rule in enumerate(RULES * 3):
        options = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed > 4}
        problem = random_problem(rule, seed, hardware=hardware, whole=True, **options)
        start = launch_order(problem)
        assert search(problem, start).tolist() == by_hand(problem, start).tolist()


def test_plain_and_compiled_formulas_of_grids_agree(random_problem, monkeypatch, request):
    """Tests sums along axes, the same in Python and compiled."""
    monkeypatch.setattr(instance, "DENSE_NODES", 0)
    problems = [random_problem("capacity", seed, hardware="torus", pins=True) for seed in range(4)]
    starts = [launch_order(problem) for problem in problems]
    compiled = [search(*pair) for pair in zip(problems, starts, strict=True)]
    request.getfixturevalue("plain")
    assert all((search(p, s) == c).all() for p, s, c in zip(problems, starts, compiled, strict=True))


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


@pytest.mark.slow
def test_time_limits_are_heard():
    """Tests 4,096 tasks, whose construction takes longer than the limit."""
    graph = nx.gnm_random_graph(4096, 40_000, seed=1)
    problem = Problem(tasks=task_graph_of(graph), topology=build("torus:16x16x16"), rule="one-to-one")
    start, begun = np.arange(4096), time.monotonic()
    search(problem, start, Deadline(begun + 0.1))
    assert time.monotonic() - begun < 10


def test_bug_few_tasks_on_many_nodes_need_little_memory():
    """Tests three tasks on 65,536 nodes, whose distances would fill 32 GiB."""
    problem = Problem(tasks=task_graph_of(nx.path_graph(3)), topology=build("torus:256x256"), rule="one-to-one")
    places = search(problem, np.array([0, 500, 9000]))
    assert cost_of(problem, places).total == 2


def test_pinned_tasks_draw_the_others_near():
    """Tests that traffic with a pinned task counts."""
    problem = Problem(
        tasks=task_graph_of(nx.path_graph(2)), topology=build("grid:9"), rule="one-to-one", pinned={"0": "7"}
    )
    assert search(problem, np.array([7, 0])).tolist() == [7, 6]
