"""Tests of the first mapping and of the reasons why there is none."""

import numpy as np
import pytest

from tiger import feasibility
from tiger.feasibility import launch_order
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Links, Topology
from tiger.objective import violations

RULES = ("one-to-one", "levels", "capacity")


def tasks_of(count, pairs=(), memory=None):
    """Return tasks t0, t1, .. with unit traffic along pairs."""
    traffic = np.zeros((count, count))
    for u, v in pairs:
        traffic[u, v] = 1
    return TaskGraph(names=tuple(f"t{k}" for k in range(count)), traffic=traffic, memory=memory)


def nodes_of(count, **fields):
    """Return nodes p0, p1, .. in a line."""
    return Topology(names=tuple(f"p{k}" for k in range(count)), metric=GridMetric((count,), (False,)), **fields)


SPLIT = Topology.from_links(tuple(f"p{k}" for k in range(5)), Links.unit([(0, 1), (2, 3), (3, 4)]))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("hardware", [None, "split"])
def test_a_mapping_is_found_exactly_where_one_exists(rule, hardware, random_problem, random_feasible):
    """Tests against complete backtracking on problems that may be unsatisfiable, on connected and split hardware."""
    seen = set()
    for seed in range(120):
        options = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed % 5 < 3, "feasible": False}
        problem = random_problem(rule, seed, tasks=5, nodes=5, hardware=hardware, **options)
        found = launch_order(problem)
        exists = random_feasible(problem, np.random.default_rng(seed)) is not None
        seen.add(exists)
        assert isinstance(found, np.ndarray) == exists, seed
        assert not exists or not violations(problem, found)
    assert seen == {True, False}


def test_tasks_fill_the_nodes_in_order():
    """Tests the order of a launcher: two slots a node, tasks in input order."""
    problem = Problem(tasks=tasks_of(5), topology=nodes_of(3, slots=np.array([2, 2, 2])), rule="capacity")
    assert launch_order(problem).tolist() == [0, 0, 1, 1, 2]


def test_tasks_of_a_level_fill_the_nodes_anew():
    """Tests that each level starts at the first node."""
    problem = Problem(tasks=tasks_of(3, [(0, 1), (0, 2)]), topology=nodes_of(3), rule="levels")
    assert launch_order(problem).tolist() == [0, 0, 1]


CASES = {
    "more tasks than slots": (tasks_of(3), nodes_of(2), "capacity", {}, "slots", "3 tasks need 3 slots, there are 2"),
    "more tasks than nodes": (tasks_of(3), nodes_of(2), "one-to-one", {}, "slots", "3 nodes with a slot, there are 2"),
    "memory in total": (
        tasks_of(2, memory=np.array([8, 8])),
        nodes_of(2, slots=np.array([2, 2]), memory=np.array([9, 6])),
        "capacity",
        {},
        "memory",
        "need 16 bytes, the nodes have 15",
    ),
    "memory of one task": (
        tasks_of(1, memory=np.array([7])),
        nodes_of(2, memory=np.array([6, 6])),
        "one-to-one",
        {},
        "memory",
        "'t0' needs 7 bytes",
    ),
    "memory that cannot be packed": (
        tasks_of(3, memory=np.array([6, 6, 6])),
        nodes_of(2, slots=np.array([3, 3]), memory=np.array([10, 10])),
        "capacity",
        {},
        "memory",
        "the memory of the nodes",
    ),
    "two pins on one node": (
        tasks_of(2),
        nodes_of(2),
        "one-to-one",
        {"pinned": {"t0": "p0", "t1": "p0"}},
        "one-to-one",
        "'t0' and 't1'",
    ),
    "a pin onto a forbidden pair": (
        tasks_of(2),
        nodes_of(2),
        "one-to-one",
        {"pinned": {"t0": "p0"}, "forbidden": frozenset({("t0", "p0")})},
        "forbidden",
        "'t0' may not go to node 'p0'",
    ),
    "a pin onto a switch": (
        tasks_of(1),
        nodes_of(2, slots=np.array([1, 0])),
        "one-to-one",
        {"pinned": {"t0": "p1"}},
        "slots",
        "'p1' has 0 slots",
    ),
    "a task that may go nowhere": (
        tasks_of(2),
        nodes_of(2),
        "one-to-one",
        {"forbidden": frozenset({("t1", "p0"), ("t1", "p1")})},
        "forbidden",
        "'t1' has no node",
    ),
    "three tasks for two nodes": (
        tasks_of(3),
        nodes_of(3),
        "one-to-one",
        {"forbidden": frozenset((f"t{k}", "p2") for k in range(3))},
        "one-to-one",
        "have only 2 nodes ('p0', 'p1')",
    ),
    "traffic across parts": (
        tasks_of(4, [(0, 1), (1, 2), (2, 3)]),
        SPLIT,
        "one-to-one",
        {},
        "disconnected",
        "connected",
    ),
    "pins across parts": (
        tasks_of(3, [(0, 1), (1, 2)]),
        SPLIT,
        "one-to-one",
        {"pinned": {"t0": "p0", "t2": "p2"}},
        "disconnected",
        "disconnected parts",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_met_is_named(case):
    """Tests the kind and the words of the first violation."""
    tasks, topology, rule, limits, kind, words = CASES[case]
    found = launch_order(Problem(tasks=tasks, topology=topology, rule=rule, **limits))
    assert isinstance(found, tuple)
    assert found[0].kind == kind
    assert words in found[0].message


def test_components_of_the_tasks_find_the_parts_they_fit_in():
    """Tests that three talking tasks go to the part of three nodes although first fit begins with the other."""
    problem = Problem(tasks=tasks_of(5, [(0, 1), (1, 2), (3, 4)]), topology=SPLIT, rule="one-to-one")
    assert sorted(launch_order(problem)[:3].tolist()) == [2, 3, 4]


def test_a_level_that_is_pinned_whole_needs_no_matching():
    """Tests that only the second level, where first fit ends in a dead end, is matched."""
    limits = {"pinned": {"t0": "p1"}, "forbidden": frozenset({("t2", "p1")})}
    problem = Problem(tasks=tasks_of(3, [(0, 1), (0, 2)]), topology=nodes_of(2), rule="levels", **limits)
    assert launch_order(problem).tolist() == [1, 1, 0]


def test_a_dead_end_of_a_problem_too_large_to_decide_says_so(monkeypatch):
    """Tests that an undecided problem is not called impossible."""
    monkeypatch.setattr(feasibility, "OPEN_CELLS", 1)
    tasks, topology, rule, limits, _, _ = CASES["three tasks for two nodes"]
    found = launch_order(Problem(tasks=tasks, topology=topology, rule=rule, **limits))
    assert [violation.kind for violation in found] == ["undecided"]


def test_running_out_of_time_says_so(monkeypatch):
    """Tests that a programme cut short is not called impossible."""
    monkeypatch.setattr(feasibility, "MILP_LIMIT_S", 0.0)
    tasks, topology, rule, limits, _, _ = CASES["memory that cannot be packed"]
    found = launch_order(Problem(tasks=tasks, topology=topology, rule=rule, **limits))
    assert found[0].kind in ("undecided", "memory")


def test_a_large_problem_is_filled_quickly():
    """Tests 65,536 tasks on 256 nodes, which first fit has to do in about linear time."""
    import time

    problem = Problem(tasks=tasks_of(1), topology=nodes_of(1), rule="one-to-one")
    names = tuple(map(str, range(65_536)))
    import scipy.sparse as sp

    tasks = TaskGraph(names=names, traffic=sp.csr_array((65_536, 65_536)))
    problem = Problem(tasks=tasks, topology=nodes_of(256, slots=np.full(256, 256)), rule="capacity")
    begun = time.perf_counter()
    assert np.bincount(launch_order(problem)).tolist() == [256] * 256
    assert time.perf_counter() - begun < 5
