"""Tests of the weights of constraints: safe ones, those they aim at, and how they are changed."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric, GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import Block, Capacity, fold, whole
from tiger.qubo.centring import centre
from tiger.qubo.penalties import MARGIN, TYPICAL, Penalties, fills, safe_penalties, units
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")


CHAIN = [[0, 3, 1], [0, 0, 2], [0, 0, 0]]


def problem_of(traffic, nodes, rule="one-to-one", *, load=None, **topology):
    """Return tasks on a path of nodes."""
    names = tuple("abcdefgh"[: len(traffic)])
    line = Topology(names=tuple(f"p{k}" for k in range(nodes)), metric=GridMetric((nodes,), (False,)), **topology)
    tasks = TaskGraph(names=names, traffic=sp.csr_array(np.array(traffic, float)), memory=load)
    return Problem(tasks=tasks, topology=line, rule=rule)


def window_of(problem):
    """Return the window of a whole problem."""
    return fold(problem, whole(problem), launch_order(problem))


def dense(rule, seed):
    """Return twelve tasks that all talk, on twelve nodes, or three a node on four."""
    rng = np.random.default_rng(seed)
    volumes = np.triu(rng.integers(1, 10, (12, 12)), 1).astype(float)
    size = 12 if rule == "one-to-one" else 4
    topology = Topology(
        names=tuple(map(str, range(size))),
        metric=DenseMetric(rng.uniform(1, 9, (size, size)) * (1 - np.eye(size))),
        slots=np.full(size, 12 // size),
    )
    tasks = TaskGraph(names=tuple(map(str, range(12))), traffic=sp.csr_array(volumes))
    return window_of(Problem(tasks=tasks, topology=topology, rule=rule))


def test_scaled_penalties_keep_their_proportions():
    """Tests that a scale is relative to the safe bound, however often it is changed, and that the aim is dropped."""
    aim = Penalties(one_hot=np.ones(2), exclusive=np.ones(2), capacity=np.ones(2))
    penalties = Penalties(
        one_hot=np.array([2.0, 4.0]), exclusive=np.array([4.0, 6.0]), capacity=np.array([8.0, 1.0]), aim=aim
    )
    again = penalties.scaled(0.5).scaled(0.25)
    assert again.one_hot.tolist() == [0.5, 1.0]
    assert (again.exclusive.tolist(), again.capacity.tolist()) == ([1.0, 1.5], [2.0, 0.25])
    assert (again.scale, again.aim) == (0.25, None)


def test_weighed_penalties_keep_their_scale():
    """Tests factors for tasks and for both kinds of constraints of nodes."""
    penalties = Penalties(
        one_hot=np.array([2.0, 4.0]), exclusive=np.ones(3), capacity=np.full(3, 2.0), scale=0.5, centred=True
    )
    again = penalties.weighed(np.array([1.0, 0.5]), np.array([1.0, 2.0, 3.0]))
    assert again.one_hot.tolist() == [2.0, 2.0]
    assert (again.exclusive.tolist(), again.capacity.tolist()) == ([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert (again.scale, again.centred) == (0.5, True)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_safe_penalties_aim_at_centred_ones(rule, random_problem):
    """Tests that only the aim is centred, has no aim of its own, and that all weights are above 0."""
    for seed in range(15):
        problem = random_problem(rule, seed, pins=True, forbidden=True, memory=True)
        safe = safe_penalties(window_of(problem))
        assert (safe.scale, safe.centred, safe.aim.centred, safe.aim.aim) == (1.0, False, True, None)
        for penalties in (safe, safe.aim):
            for weights in (penalties.one_hot, penalties.exclusive, penalties.capacity):
                assert (weights > 0).all()
                assert np.isfinite(weights).all()


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "capacity"])
def test_the_aim_is_far_below_the_safe_bound_where_all_tasks_talk(rule):
    """Tests the scale on dense problems, and that it is the ratio of the mean weights."""
    for seed in range(20):
        safe = safe_penalties(dense(rule, seed))
        assert 0 < safe.aim.scale < 0.5
        assert safe.aim.scale == pytest.approx(safe.aim.one_hot.mean() / safe.one_hot.mean())


def test_the_aim_is_what_costs_vary_by():
    """Tests that tasks are weighed by the geometric mean of their own and the typical spread."""
    window = dense("one-to-one", 1)
    spread = centre(window).spread
    mean = np.sqrt((spread**2).mean())
    assert safe_penalties(window).aim.one_hot == pytest.approx(TYPICAL * np.sqrt(spread * mean))


def test_a_group_that_fills_the_nodes_needs_half_the_penalty(random_problem):
    """Tests that both equalities then get half of the largest rearranged cost, and the aim one weight for both."""
    problem = random_problem("one-to-one", 1, tasks=4, nodes=4, hardware="grid")
    window = fold(problem, whole(problem), np.arange(4))
    safe = safe_penalties(window)
    assert fills(window)
    assert len(set(safe.one_hot.tolist()) | set(safe.exclusive.tolist())) == 1
    assert safe.aim.exclusive.tolist() == [safe.aim.one_hot.mean()] * 4


def test_a_clash_costs_twice_a_task_where_nodes_stay_free(path_problem):
    """Tests the aim of two tasks on three nodes."""
    window = fold(path_problem, Block(tasks=np.arange(2), nodes=np.arange(3)), np.array([0, 1, 2]))
    aim = safe_penalties(window).aim
    assert not fills(window)
    assert aim.exclusive.tolist() == [2 * aim.one_hot.mean()] * 3
    assert aim.capacity.tolist() == [aim.one_hot.mean()] * 3


def test_only_one_group_with_every_node_allowed_fills_them(path_problem):
    """Tests too few tasks, a forbidden pair, and two levels."""
    whole_window = fold(path_problem, whole(path_problem), np.arange(3))
    banned = Problem(
        tasks=path_problem.tasks,
        topology=path_problem.topology,
        rule="one-to-one",
        forbidden=frozenset({("a", "x")}),
    )
    ladder = problem_of([[0, 1], [0, 0]], 2, "levels")
    assert fills(whole_window)
    assert not fills(fold(banned, whole(banned), np.array([1, 0, 2])))
    assert not fills(window_of(ladder))


def test_safe_penalties_by_hand(path_problem):
    """Tests the path: at an end b could pay 3 x 2 + 2 x 1, more than a and c, and half of that is enough."""
    safe = safe_penalties(window_of(path_problem))
    assert safe.one_hot == pytest.approx([4 * MARGIN] * 3)
    assert safe.exclusive == pytest.approx([4 * MARGIN] * 3)


def test_tasks_short_of_nodes_cover_the_moves_they_force():
    """Tests b with two nodes for a group of three: then all pay for b and for the dearest of the others."""
    problem = problem_of(CHAIN, 4)
    banned = frozenset({("b", "p2"), ("b", "p3")})
    limited = Problem(tasks=problem.tasks, topology=problem.topology, rule="one-to-one", forbidden=banned)
    assert safe_penalties(window_of(problem)).one_hot == pytest.approx(MARGIN * np.array([11.0, 13.0, 8.0]))
    assert safe_penalties(window_of(limited)).one_hot == pytest.approx([MARGIN * (13 + 11)] * 3)


def test_shared_nodes_cover_every_task_where_memory_is_scarce():
    """Tests slots, and memory for all, which need what each task can cost; memory for some needs what all can."""
    each, slots = MARGIN * np.array([8.0, 10.0, 6.0]), np.full(3, 2)
    held = {"load": np.full(3, 2), "slots": slots}
    assert safe_penalties(window_of(problem_of(CHAIN, 3, "capacity", slots=slots))).one_hot == pytest.approx(each)
    for memory, expected in ((6, each), (5, np.full(3, each.sum()))):
        problem = problem_of(CHAIN, 3, "capacity", memory=np.full(3, memory), **held)
        assert safe_penalties(window_of(problem)).one_hot == pytest.approx(expected)


def test_a_unit_too_much_costs_as_much_as_a_clash():
    """Tests that loads of 1 and 3, 2 on average, need four times the weight, as weights are per square of those."""
    held = {"load": np.array([1, 3, 2]), "slots": np.full(3, 3)}
    safe = safe_penalties(window_of(problem_of(CHAIN, 3, "capacity", memory=np.full(3, 4), **held)))
    assert safe.capacity == pytest.approx([4 * MARGIN * safe.one_hot.max()] * 3)
    assert safe.aim.capacity == pytest.approx([safe.aim.one_hot.mean()] * 3)


@pytest.mark.parametrize(
    ("load", "room", "expected"),
    [
        ([4, 6, 0], [7, 64, 1000], [2, 2, 2]),
        ([50, 30], [32, 49, 64, 320, 0, -9], [10, 10, 10, 10, 10, 10]),
        ([51, 30, 40], [45, 64, 120, 190, 10**6], [2, 2, 4, 6, 6]),
        ([1, 1], [5, 64], [1, 1]),
        ([0, 0], [5, 64], [1, 1]),
        ([10**12, 10**12], [32 * 10**12, 33 * 10**12 + 1], [10**12, 10**12]),
    ],
)
def test_units_are_the_common_divisor_or_coarser(load, room, expected):
    """Tests rooms in common divisors of the loads, in 32nds, and in eighths of the typical load where that is less."""
    capacity = Capacity(name="memory", load=np.array(load), room=np.array(room))
    assert units(capacity).tolist() == expected


@pytest.mark.parametrize("rule", RULES)
def test_without_traffic_weights_are_what_tasks_cost(rule):
    """Tests tasks that only compute, on nodes that cost 0, 1 and 2."""
    problem = problem_of(np.zeros((2, 2)), 3, rule, cost=np.array([0.0, 1.0, 2.0]))
    safe = safe_penalties(window_of(problem))
    assert safe.one_hot == pytest.approx([2 * MARGIN] * 2)
    assert safe.aim.one_hot == pytest.approx([TYPICAL * (2 / 3) ** 0.5] * 2)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("tasks", "nodes"), [(1, 1), (1, 3), (2, 2)])
def test_where_every_mapping_costs_the_same_weights_are_still_above_zero(rule, tasks, nodes):
    """Tests a single task, a single node, and tasks without traffic: then the aim is the safe bound itself."""
    safe = safe_penalties(window_of(problem_of(np.zeros((tasks, tasks)), nodes, rule)))
    assert (safe.one_hot > 0).all()
    assert safe.aim.one_hot.tolist() == safe.one_hot.tolist()
    assert safe.aim.scale == 1.0


def test_tasks_that_cost_nothing_keep_a_small_weight():
    """Tests one silent task beside two that talk: a thousandth at the bound, and a share of the mean as its aim."""
    safe = safe_penalties(window_of(problem_of([[0, 3, 0], [0, 0, 0], [0, 0, 0]], 4)))
    assert safe.one_hot[2] == pytest.approx(safe.one_hot[0] / 1000)
    assert 0 < safe.aim.one_hot[2] < safe.aim.one_hot[0] / 20


@pytest.mark.parametrize("rule", RULES)
def test_a_window_without_tasks_has_weights_of_nodes_alone(rule, random_problem):
    """Tests that nothing breaks where everything is pinned."""
    problem = random_problem(rule, 3, memory=True)
    window = fold(problem, Block(tasks=problem.free[:0], nodes=problem.topology.hosts), launch_order(problem))
    for penalties in (safe_penalties(window), safe_penalties(window).aim):
        assert penalties.one_hot.shape == (0,)
        assert (penalties.exclusive > 0).all()
        assert penalties.exclusive.shape == penalties.capacity.shape == problem.topology.hosts.shape


def test_a_fixed_scale_below_the_bound_is_one_of_the_aim():
    """Tests that it goes with centred costs below 1 alone, and that what is left has no aim of its own."""
    safe = safe_penalties(dense("one-to-one", 1))
    for scale, base in ((0.3, safe.aim), (1.0, safe), (2.5, safe)):
        fixed = safe.at(scale)
        assert (fixed.scale, fixed.centred, fixed.aim) == (scale, scale < 1, None)
        assert fixed.one_hot == pytest.approx(base.one_hot * scale / base.scale)
    assert safe.aim.at(0.3).one_hot.tolist() == safe.at(0.3).one_hot.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_bug_weights_are_in_units_of_cost(rule, unit, random_problem, random_feasible):
    """Tests that costs a thousandth as large have penalties a thousandth as large, safe and typical ones."""
    for seed in range(4):
        problem = random_problem(rule, seed, tasks=5, nodes=5)
        window = fold(problem, whole(problem), random_feasible(problem, np.random.default_rng(0)))
        if not window.traffic.nnz:
            continue
        traffic = window.traffic * unit
        scaled = replace(window, linear=window.linear * unit, traffic=traffic, constant=window.constant * unit)
        plain, other = safe_penalties(window), safe_penalties(scaled)
        for a, b in ((plain, other), (plain.aim, other.aim)):
            assert np.allclose(a.one_hot * unit, b.one_hot, rtol=1e-6)
            assert np.allclose(a.exclusive * unit, b.exclusive, rtol=1e-6)
            assert np.allclose(a.capacity * unit, b.capacity, rtol=1e-6)


def test_bug_the_largest_volumes_do_not_overflow():
    """Tests a graph with volumes of 1e155, whose squares are no numbers any more."""
    graph = nx.random_regular_graph(3, 8, seed=1)
    nx.set_edge_attributes(graph, 1e155, "weight")
    problem = Problem(tasks=task_graph_of(graph), topology=build("grid:2x4"), rule="one-to-one")
    aim = safe_penalties(fold(problem, whole(problem), np.arange(8))).aim
    assert np.isfinite(aim.one_hot).all()
    assert 0 < aim.scale < 1
