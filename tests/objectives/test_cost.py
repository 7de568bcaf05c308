"""Cost, violations and metrics, against loops over the definitions."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tiger.model.metrics import DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.model.violation import Violation
from tiger.objectives.cost import Cost, cost_of, metrics, violations
from tiger.objectives.shortest_paths import link_loads

SEEDS = st.integers(0, 2**32 - 1)
RULES = st.sampled_from(["one-to-one", "levels", "capacity"])
HARDWARE = st.sampled_from(["dense", "links", "grid", "torus", "tree", "split"])
FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("pins", "forbidden", "memory")})
LINE = Topology(names=("x", "y", "z"), metric=GridMetric((3,), (False,)))


def measure(problem, places):
    """Return the metrics of a mapping."""
    return metrics(problem, places, link_loads(problem, places))


def silent(names="abc", **fields):
    """Return tasks that do not talk."""
    return TaskGraph(names=tuple(names), traffic=sp.csr_array((len(names), len(names))), **fields)


def said(problem, places):
    """Return the messages of what a mapping breaks."""
    return [violation.message for violation in violations(problem, np.array(places))]


@given(seed=SEEDS, rule=RULES, hardware=HARDWARE)
def test_cost_is_the_sum_of_its_definition(random_problem, random_places, naive_cost, seed, rule, hardware):
    """For any mapping, feasible or not."""
    problem = random_problem(rule, seed, hardware=hardware)
    places = random_places(problem, np.random.default_rng(seed))
    assert cost_of(problem, places).total == pytest.approx(naive_cost(problem, places), rel=1e-12)


def test_cost_literals(path_problem):
    """On a path with b in the middle 3 + 2 + 2 * 1, with c in the middle 2 * 3 + 2 + 1."""
    assert cost_of(path_problem, np.array([0, 1, 2])) == Cost(compute=0.0, communication=7.0)
    assert cost_of(path_problem, np.array([0, 2, 1])).total == 9.0
    assert cost_of(path_problem, np.array([1, 0, 2])).total == 8.0


def test_compute_is_work_times_the_price_of_the_node():
    """Three units of work at price 5 and two at price 0."""
    problem = Problem(
        tasks=silent("ab", work=np.array([3.0, 2.0])),
        topology=Topology(names=("x", "y"), metric=GridMetric((2,), (False,)), cost=np.array([5.0, 0.0])),
        rule="capacity",
    )
    assert cost_of(problem, np.array([0, 1])) == Cost(compute=15.0, communication=0.0)


def test_direction_counts_on_an_asymmetric_matrix():
    """Traffic from a to b pays the way from a's node to b's."""
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array([[0.0, 2.0], [0.0, 0.0]])))
    topology = Topology(names=("x", "y"), metric=DenseMetric(np.array([[0.0, 1.0], [7.0, 0.0]])))
    problem = Problem(tasks=tasks, topology=topology, rule="one-to-one")
    assert cost_of(problem, np.array([0, 1])).total == 2.0
    assert cost_of(problem, np.array([1, 0])).total == 14.0


@given(seed=SEEDS, rule=RULES)
def test_relabelling_tasks_keeps_the_cost(random_problem, random_feasible, seed, rule):
    """Listing the tasks in another order changes neither the cost nor what is broken."""
    problem, rng = random_problem(rule, seed, pins=True, memory=True), np.random.default_rng(seed)
    places, order = random_feasible(problem, rng), rng.permutation(problem.tasks.size)
    tasks = TaskGraph(
        names=tuple(problem.tasks.names[t] for t in order),
        traffic=problem.tasks.traffic[order][:, order],
        work=problem.tasks.work[order],
        memory=problem.tasks.memory[order],
    )
    other = replace(problem, tasks=tasks)
    assert cost_of(other, places[order]).total == pytest.approx(cost_of(problem, places).total, rel=1e-12)
    assert rule == "levels" or not violations(other, places[order])


@given(seed=SEEDS, rule=RULES)
def test_relabelling_nodes_keeps_the_cost(random_problem, random_feasible, seed, rule):
    """Listing the nodes in another order changes neither the cost nor what is broken."""
    problem, rng = random_problem(rule, seed, hardware="dense", pins=True), np.random.default_rng(seed)
    places, order = random_feasible(problem, rng), rng.permutation(problem.topology.size)
    topology = Topology(
        names=tuple(problem.topology.names[p] for p in order),
        metric=DenseMetric(problem.topology.metric.table[np.ix_(order, order)]),
        slots=problem.topology.slots[order],
        cost=problem.topology.cost[order],
    )
    other, moved = replace(problem, topology=topology), np.argsort(order)[places]
    assert cost_of(other, moved).total == pytest.approx(cost_of(problem, places).total, rel=1e-12)
    assert not violations(other, moved)


@given(seed=SEEDS, rule=RULES, hardware=HARDWARE, flags=FLAGS)
def test_violations_are_those_of_the_definition(random_problem, naive_broken, seed, rule, hardware, flags):
    """The kinds that a mapping breaks, also where pins are not kept."""
    problem = random_problem(rule, seed, hardware=hardware, **flags)
    places = np.random.default_rng(seed).integers(0, problem.topology.size, problem.tasks.size)
    assert {violation.kind for violation in violations(problem, places)} == naive_broken(problem, places)


@given(seed=SEEDS, rule=RULES, hardware=HARDWARE, flags=FLAGS)
def test_tasks_not_placed_yet_break_nothing(random_problem, naive_broken, seed, rule, hardware, flags):
    """A place of -1 stands for none: the other tasks are judged without it."""
    problem, rng = random_problem(rule, seed, hardware=hardware, **flags), np.random.default_rng(seed)
    places = rng.integers(-1, problem.topology.size, problem.tasks.size)
    places[rng.random(problem.tasks.size) < 0.3] = -1
    assert {violation.kind for violation in violations(problem, places)} == naive_broken(problem, places)
    assert violations(problem, np.full(problem.tasks.size, -1)) == ()


@pytest.mark.slow
@given(seed=SEEDS, rule=RULES, hardware=HARDWARE, flags=FLAGS)
def test_feasible_mappings_break_nothing(random_problem, random_feasible, seed, rule, hardware, flags):
    """Two independent checkers agree."""
    problem = random_problem(rule, seed, hardware=hardware, **flags)
    assert violations(problem, random_feasible(problem, np.random.default_rng(seed))) == ()


def test_pins_and_forbidden_pairs_are_named():
    """A message names the task, where it should be and where it is."""
    forbidden = frozenset({("b", "y"), ("c", "y")})
    problem = Problem(tasks=silent(), topology=LINE, rule="one-to-one", pinned={"a": "x"}, forbidden=forbidden)
    assert said(problem, [2, 1, 0]) == [
        "task 'a' is pinned to node 'x', not 'z'",
        "task 'b' may not go to node 'y'",
    ]


def test_one_entry_for_each_shared_node():
    """Four tasks on one node are one violation, two on another a second."""
    problem = Problem(tasks=silent("abcdef"), topology=LINE, rule="one-to-one")
    assert said(problem, [2, 0, 2, 2, 0, 2]) == [
        "tasks 'b' and 'e' may not share node 'x'",
        "tasks 'a' and 'c' may not share node 'z'",
    ]


def test_levels_share_nodes_across_levels_alone(ladder):
    """The root joins one of the second level; two of the second level clash."""
    problem = Problem(tasks=ladder, topology=LINE, rule="levels")
    places = np.array([0, 0, 1, 2, 0, 0, 1, 2, 0, 0, 0])
    assert violations(problem, places) == ()
    places[3] = 1
    assert said(problem, places) == ["tasks '2' and '3' may not share node 'y'"]


@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_switches_hold_nothing_under_any_rule(rule):
    """A node with 0 slots is no place for a task, not even for a pinned one."""
    problem = Problem(tasks=silent("a"), topology=LINE.with_slots([0, 1, 1]), rule=rule, pinned={"a": "x"})
    assert said(problem, [0]) == ["node 'x' has 0 slots and holds 1 tasks"]


def test_slots_limit_the_capacity_rule_alone():
    """Under levels a node takes a task of each level, whatever its slots."""
    chain = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0]])))
    assert violations(Problem(tasks=chain, topology=LINE, rule="levels"), np.array([0, 0])) == ()
    overloaded = Problem(tasks=chain, topology=LINE, rule="capacity")
    assert said(overloaded, [0, 0]) == ["node 'x' has 1 slots and holds 2 tasks"]


def test_memory_adds_up_under_capacity_alone():
    """Elsewhere the largest task of a node is what is needed at once."""
    chain = TaskGraph(names=("a", "b"), traffic=sp.csr_array([[0.0, 1.0], [0.0, 0.0]]), memory=np.array([3, 5]))
    small = replace(LINE, slots=np.full(3, 2), memory=np.array([5, 4, 9]))
    assert said(Problem(tasks=chain, topology=small, rule="capacity"), [0, 0]) == ["node 'x' has 5 bytes and needs 8"]
    levelled = Problem(tasks=chain, topology=small, rule="levels")
    assert said(levelled, [0, 0]) == []
    assert said(levelled, [1, 1]) == ["node 'y' has 4 bytes and needs 5"]


def test_disconnected_traffic_is_one_entry():
    """It names the first pair of tasks and counts the others."""
    split = Topology.from_links(("x", "y", "z"), Links.unit([(0, 1)]))
    traffic = sp.csr_array(np.array([[0.0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    problem = Problem(tasks=TaskGraph(names=("a", "b", "c"), traffic=traffic), topology=split, rule="one-to-one")
    assert said(problem, [0, 2, 1]) == ["there is no way between 'a' on 'x' and 'b' on 'z', one of 2 such pairs"]
    problem = replace(problem, tasks=TaskGraph(names=("a", "b"), traffic=traffic[:2, :2]))
    assert said(problem, [2, 1]) == ["there is no way between 'a' on 'z' and 'b' on 'y'"]


def test_violations_become_dictionaries():
    """With the two strings by name."""
    assert Violation(kind="slots", message="full").to_dict() == {"kind": "slots", "message": "full"}


def test_metrics_literals(path_problem):
    """On a path with b in the middle: a-c goes 2 hops, 7 of 6 on the mean, and a-b with a-c load their link with 4."""
    path_metrics = measure(path_problem, np.array([0, 1, 2]))
    assert path_metrics == {"dilation": 2.0, "mean_dilation": 7.0 / 6.0, "max_link_load": 4.0}


def test_metrics_without_traffic():
    """Nothing is stretched and nothing is loaded."""
    problem = Problem(tasks=silent(), topology=LINE, rule="one-to-one")
    nothing = {"dilation": 0.0, "mean_dilation": 0.0, "max_link_load": 0.0, "makespan": 0.0}
    assert measure(problem, np.arange(3)) == nothing


def test_metrics_without_links():
    """A plain matrix says nothing about links."""
    problem = Problem(
        tasks=silent("a"), topology=Topology(names=("x",), metric=DenseMetric(np.ones((1, 1)))), rule="capacity"
    )
    assert measure(problem, np.array([0])) == {"dilation": 0.0, "mean_dilation": 0.0, "makespan": 0.0}


def test_metrics_of_a_directed_graph(ladder):
    """Every rule knows a makespan where edges say what comes first: six hops through seven levels."""
    for rule in ("one-to-one", "levels", "capacity"):
        board = Topology(names=tuple(map(str, range(11))), metric=TreeMetric((11,), (1.0,)))
        problem = Problem(tasks=ladder, topology=board, rule=rule)
        assert measure(problem, np.arange(11))["makespan"] == 6.0


@given(seed=SEEDS, rule=RULES, hardware=HARDWARE)
def test_dilation_is_read_off_the_traffic(random_problem, random_feasible, seed, rule, hardware):
    """The largest and the mean distance, by a loop over the traffic."""
    problem = random_problem(rule, seed, hardware=hardware)
    places = random_feasible(problem, np.random.default_rng(seed))
    volumes = problem.tasks.traffic.toarray()
    ends = [(u, v) for u, v in np.ndindex(volumes.shape) if volumes[u, v] > 0]
    away = [float(problem.metric.between(places[u], places[v])) for u, v in ends]
    found = measure(problem, places)
    assert found["dilation"] == max(away, default=0.0)
    communication = cost_of(problem, places).communication
    assert found["mean_dilation"] * volumes.sum() == pytest.approx(communication, rel=1e-9)


@pytest.mark.slow
def test_large_problems_are_quick():
    """65,536 tasks on 256 nodes are built, priced, checked and measured without loops over tasks."""
    rng, size = np.random.default_rng(0), 65_536
    ends = rng.integers(0, size, (2, 6 * size))
    traffic = sp.csr_array((np.ones(6 * size), tuple(ends)), shape=(size, size))
    tasks = TaskGraph(names=tuple(map(str, range(size))), traffic=traffic)
    topology = Topology(names=tuple(map(str, range(256))), metric=TreeMetric((4, 8, 8), (1.0, 2.0, 3.0)))
    problem = Problem(tasks=tasks, topology=topology.with_slots(np.full(256, 256)), rule="capacity")
    places = np.arange(size) // 256
    assert violations(problem, places) == ()
    mean = measure(problem, places)["mean_dilation"]
    assert cost_of(problem, places).communication == pytest.approx(mean * 6 * size, rel=1e-12)
    assert cost_of(problem, places).compute == 0.0
