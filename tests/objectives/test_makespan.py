"""The makespan, against an event simulation, and its bound, stress and surrogate."""

import heapq

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives import makespan as module
from tiger.objectives.cost import cost_of
from tiger.objectives.makespan import Makespan, makespan, schedule_of

SEEDS = st.integers(0, 2**32 - 1)


def direct(problem):
    """Return the problem with traffic from lower to higher numbers alone, none under levels being lost."""
    tasks = problem.tasks
    traffic = tasks.traffic if problem.rule == "levels" else sp.csr_array(sp.triu(tasks.traffic, 1))
    other = TaskGraph(names=tasks.names, traffic=traffic, work=tasks.work, memory=tasks.memory)
    return Problem(tasks=other, topology=problem.topology, rule=problem.rule)


def simulate(problem, places):
    """Return the makespan by events: a task begins when its last input is there and the one before it has ended."""
    traffic, size = problem.tasks.traffic.toarray(), problem.tasks.size
    level = problem.group_of.tolist()
    if problem.rule != "levels":
        graph = nx.DiGraph(list(zip(*traffic.nonzero(), strict=True)))
        graph.add_nodes_from(range(size))
        depth = {t: k for k, layer in enumerate(nx.topological_generations(graph)) for t in layer}
        level = [depth[t] for t in range(size)]
    queues = {p: sorted(np.flatnonzero(places == p), key=lambda t: (level[t], t)) for p in set(places.tolist())}
    waiting, arrived, free = (traffic > 0).sum(axis=0), np.zeros(size), dict.fromkeys(queues, 0.0)
    events = [(0.0, t, -1) for t in range(size) if not waiting[t]]
    ended, ready = {}, set()
    while events:
        now, task, sender = heapq.heappop(events)
        if sender >= 0:
            waiting[task] -= 1
            arrived[task] = now
        ready |= {task} if not waiting[task] else set()
        for p, queue in queues.items():
            while queue and queue[0] in ready:
                t = queue.pop(0)
                ended[t] = free[p] = max(arrived[t], free[p]) + problem.tasks.work[t] * problem.topology.cost[p]
                for u in np.flatnonzero(traffic[t]):
                    way = float(problem.metric.between(places[t], places[u]))
                    heapq.heappush(events, (ended[t] + traffic[t, u] * way, u, t))
    return max(ended.values())


def crossing(**fields):
    """Return a (work 2) that sends 3 to b (work 4), c (work 5) alone, on two nodes one apart of prices 1 and 2."""
    traffic = sp.csr_array(np.array([[0.0, 3, 0], [0, 0, 0], [0, 0, 0]]))
    tasks = TaskGraph(names=("a", "b", "c"), traffic=traffic, work=np.array([2.0, 4.0, 5.0]))
    line = Topology(names=("x", "y"), metric=GridMetric((2,), (False,)), cost=np.array([1.0, 2.0]))
    return Problem(tasks=tasks, topology=line.with_slots([3, 3]), rule="capacity", **fields)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([0, 0, 1], 10.0),
        ([0, 0, 0], 11.0),
        ([0, 1, 0], 13.0),
        ([1, 1, 1], 22.0),
        ([1, 1, 0], 12.0),
    ],
)
def test_makespan_literals(places, expected):
    """With c apart it ends at 5 * 2; on one node c waits for a and b for c; across, 2 + 3 + 4 * 2."""
    assert makespan(crossing(), np.array(places)) == expected


@pytest.mark.slow
@given(seed=SEEDS, rule=st.sampled_from(["one-to-one", "levels", "capacity"]))
def test_makespan_is_that_of_a_simulation(random_problem, random_feasible, seed, rule):
    """For every rule and hardware, several tasks of a level on a node among them; never above the cost."""
    problem = direct(random_problem(rule, seed, nodes=6, whole=True))
    places = random_feasible(problem, np.random.default_rng(seed))
    assert makespan(problem, places) == pytest.approx(simulate(problem, places))
    assert makespan(problem, places) <= cost_of(problem, places).total * (1 + 1e-12)


@pytest.mark.parametrize("graph", [nx.path_graph(3), nx.DiGraph([(0, 1), (1, 0)]), nx.DiGraph([(0, 0)])])
def test_undirected_and_cyclic_graphs_have_none(graph):
    """Nothing says what comes first."""
    topology = Topology(names=tuple("xyz"), metric=GridMetric((3,), (False,)))
    problem = Problem(tasks=task_graph_of(graph), topology=topology, rule="one-to-one")
    assert schedule_of(problem) is None
    assert makespan(problem, np.arange(problem.tasks.size)) is None


def test_levels_of_the_rule_order_tasks():
    """Four roots on two nodes are two levels, so that each node runs two of them in turn."""
    tasks = TaskGraph(names=tuple("abcd"), traffic=sp.csr_array((4, 4)), work=np.array([1.0, 2.0, 3.0, 4.0]))
    hardware = Topology(names=("x", "y"), metric=GridMetric((2,), (False,)), cost=np.ones(2))
    problem = Problem(tasks=tasks, topology=hardware, rule="levels")
    assert makespan(problem, np.array([0, 1, 0, 1])) == 6.0
    assert makespan(problem, np.array([0, 1, 1, 0])) == 5.0


def test_stress_is_one_along_the_critical_path():
    """On x, c runs between a and b, so that all three are critical; what a sends b is not, as b waits for c."""
    aim = Makespan(schedule=schedule_of(crossing()))
    assert aim.stress(np.array([0, 0, 0])).tolist() == [1.0, 1.0, 1.0, pytest.approx(6 / 11)]
    assert aim.stress(np.array([0, 1, 0])).tolist() == [1.0, 1.0, pytest.approx(7 / 13), 1.0]


def test_stress_of_nothing_is_nothing():
    """Tasks without work or traffic take no time."""
    tasks = TaskGraph(names=("a",), traffic=sp.csr_array((1, 1)), work=np.zeros(1))
    problem = Problem(tasks=tasks, topology=crossing().topology, rule="capacity")
    assert Makespan(schedule=schedule_of(problem)).stress(np.array([1])).tolist() == [0.0]


@given(seed=SEEDS, rule=st.sampled_from(["one-to-one", "levels", "capacity"]))
def test_stress_is_at_most_one_and_reaches_it(random_problem, random_feasible, seed, rule):
    """Some task ends last, and no way is longer than the makespan."""
    problem = direct(random_problem(rule, seed, whole=True))
    places = random_feasible(problem, np.random.default_rng(seed))
    stress = Makespan(schedule=schedule_of(problem)).stress(places)
    assert stress.min() >= 0
    assert stress.max() == pytest.approx(1 if makespan(problem, places) else 0)


def test_the_surrogate_weighs_work_and_traffic():
    """Tasks first, then traffic entries."""
    problem = crossing()
    other = Makespan(schedule=schedule_of(problem)).surrogate(np.array([1.0, 0.5, 2.0, 3.0]))
    assert other.tasks.work.tolist() == [2.0, 2.0, 10.0]
    assert other.tasks.traffic.data.tolist() == [9.0]
    assert problem.tasks.traffic.data.tolist() == [3.0]


@pytest.mark.parametrize(
    ("fields", "bound"),
    [({}, 22 / 3), ({"pinned": {"b": "y"}}, 12.0), ({"forbidden": frozenset({("c", "x")})}, 10.0)],
)
def test_bound_literals(fields, bound):
    """11 units of work at speeds 1 and 1/2; b on y lasts 8 after a there, which is sooner; c on y lasts 10."""
    assert Makespan(schedule=schedule_of(crossing(**fields))).bound() == pytest.approx(bound)


def test_tasks_that_cannot_meet_pay_for_the_way():
    """One to one, and with one slot a node, three tasks in a row cross two links at least."""
    chain = TaskGraph(names=tuple("abc"), traffic=sp.csr_array(np.diag([2.0, 3.0], 1)))
    away = DenseMetric(np.array([[0.0, 1, 4], [1, 0, 2], [4, 2, 0]]))
    for rule in ("one-to-one", "capacity"):
        problem = Problem(tasks=chain, topology=Topology(names=tuple("xyz"), metric=away), rule=rule)
        assert Makespan(schedule=schedule_of(problem)).bound() == 5.0
    shared = Problem(tasks=chain, topology=problem.topology.with_slots([2, 2, 2]), rule="capacity")
    assert Makespan(schedule=schedule_of(shared)).bound() == 0.0


def test_a_level_needs_as_many_nodes():
    """Two roots of work 3 and 2 on prices 1, 2, 9: 3 at 1 and 2 at 2, whatever is forbidden."""
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array((2, 2)), work=np.array([2.0, 3.0]))
    hardware = Topology(names=tuple("xyz"), metric=GridMetric((3,), (False,)), cost=np.array([9.0, 1.0, 2.0]))
    assert Makespan(schedule=schedule_of(Problem(tasks=tasks, topology=hardware, rule="levels"))).bound() == 4.0


def test_bounds_of_large_problems_are_coarse(monkeypatch):
    """Beyond the limit the path is over the cheapest node and nothing travels; no bound rises by that."""
    problem = crossing(pinned={"b": "y"})
    fine = Makespan(schedule=schedule_of(problem)).bound()
    monkeypatch.setattr(module, "CELLS", 1)
    coarse = Makespan(schedule=schedule_of(problem)).bound()
    assert coarse == pytest.approx(22 / 3)
    assert coarse < fine


def test_bounds_are_found_in_portions(monkeypatch, random_problem):
    """A level with many inputs is looked at a part at a time."""
    problem = random_problem("levels", 5)
    whole = Makespan(schedule=schedule_of(problem)).bound()
    monkeypatch.setattr(module, "PORTION", 1)
    assert Makespan(schedule=schedule_of(problem)).bound() == whole
