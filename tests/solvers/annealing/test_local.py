"""Tests of descent, polish and annealing."""

import time

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import Block
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import Deadline
from tiger.solvers.annealing import local
from tiger.solvers.annealing.local import Annealing, AnnealParams, Polish
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")

# A local optimum and no more.
DESCENT = Annealing(AnnealParams(restarts=0, kicks=0))


def search(method, problem, start, effort=1, seed=0, stop=bool):
    """Return the places a search ends at."""
    return method.search(problem, start, effort=effort, seed=seed, stop=stop).places


def random_graph(size, topology, rule="one-to-one"):
    """Return a sparse random graph on a topology."""
    graph = nx.gnm_random_graph(size, 4 * size, seed=1)
    return Problem(tasks=task_graph_of(graph), topology=build(topology), rule=rule)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_annealing_is_at_most_as_dear_as_descent(rule, random_problem):
    """Tests that every restart begins below."""
    for seed in range(6):
        problem = random_problem(rule, seed)
        start = launch_order(problem)
        descent = cost_of(problem, search(DESCENT, problem, start)).total
        assert cost_of(problem, search(Annealing(), problem, start)).total <= descent + 1e-9


def test_annealing_in_plain_python_is_feasible(random_problem, plain):
    """Tests the whole search uncompiled, with few moves."""
    params = AnnealParams(restarts=2, moves=1, temperatures=4, kicks=2)
    for rule in RULES:
        problem = random_problem(rule, 2, pins=True, memory=True)
        places = search(Annealing(params), problem, launch_order(problem))
        assert not violations(problem, places)


@pytest.mark.slow
def test_more_effort_is_not_dearer():
    """Tests a problem whose optimum one unit of effort may miss."""
    problem = random_graph(24, "torus:5x5")
    start = launch_order(problem)
    costs = [cost_of(problem, search(Annealing(), problem, start, effort=effort)).total for effort in (1, 8)]
    assert costs[1] <= costs[0]


def test_polish_stays_within_its_block():
    """Tests that only the block's tasks move, and only among its nodes."""
    problem = random_graph(16, "torus:4x4")
    places = launch_order(problem)
    block = Block(tasks=np.arange(5), nodes=places[:5])
    improved = Polish(problem).improve(places, block, bool)
    assert (improved[5:] == places[5:]).all()
    assert sorted(improved[:5]) == sorted(places[:5])
    assert cost_of(problem, improved).total <= cost_of(problem, places).total


def test_a_scan_that_is_too_long_is_left_out(monkeypatch):
    """Tests that descent on very large problems gives the start back."""
    monkeypatch.setattr(local, "SCAN_LIMIT", 10)
    problem = random_graph(16, "torus:4x4")
    places = launch_order(problem)
    assert (search(DESCENT, problem, places) == places).all()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "topology", "effort"), [(512, "torus:8x8x8", 2**63 - 1), (4096, "torus:16x16x16", 1)])
def test_time_limits_are_heard(size, topology, effort):
    """Tests that annealing stops soon, however much effort is left."""
    problem = random_graph(size, topology)
    start = launch_order(problem)
    begun = time.monotonic()
    search(Annealing(), problem, start, effort=effort, stop=Deadline(begun + 0.2))
    assert time.monotonic() - begun < 10


def test_a_search_told_to_stop_at_once_keeps_to_feasible_mappings():
    """Tests that the start or something cheaper comes back."""
    problem = random_graph(16, "torus:4x4")
    start = launch_order(problem)
    places = search(Annealing(), problem, start, stop=lambda: True)
    assert cost_of(problem, places).total <= cost_of(problem, start).total


def test_moves_grow_with_nodes_and_kicks_fall_with_size():
    """Tests how the work of effort 1 is dealt out."""
    params = AnnealParams()
    assert params.moves_at(16, 16) == 128
    assert params.moves_at(11, 64) == 2816
    assert params.moves_at(100_000, 4096) == 20_000
    assert (params.kicks_at(256), params.kicks_at(1024), params.kicks_at(4097)) == (100, 25, 0)


@pytest.mark.slow
def test_traffic_never_crosses_disconnected_parts(random_problem):
    """Tests hardware in two parts, where the distance between them drowns all others."""
    for rule in RULES:
        for seed in range(12):
            problem = random_problem(rule, seed, hardware="split")
            assert not violations(problem, search(Annealing(), problem, launch_order(problem)))


def test_a_problem_without_free_tasks_comes_back():
    """Tests that there is nothing to move."""
    problem = Problem(
        tasks=task_graph_of(nx.path_graph(2)), topology=build("ring:3"), rule="one-to-one", pinned={"0": "0", "1": "2"}
    )
    assert search(Annealing(), problem, np.array([0, 2])).tolist() == [0, 2]
    assert search(DESCENT, problem, np.array([0, 2])).tolist() == [0, 2]


@pytest.mark.parametrize("rule", RULES)
def test_slices_do_not_change_descent(rule, random_problem, monkeypatch):
    """Tests one task at a time, with a question to `stop` in between."""
    problems = [random_problem(rule, seed) for seed in range(8)]
    whole = [search(DESCENT, problem, launch_order(problem)) for problem in problems]
    monkeypatch.setattr(local, "SLICE", 1)
    for problem, places in zip(problems, whole, strict=True):
        assert (search(DESCENT, problem, launch_order(problem)) == places).all()


@pytest.mark.slow
def test_chunks_keep_annealing_feasible(random_problem, monkeypatch):
    """Tests chunks far shorter than a temperature, in shuffles too."""
    monkeypatch.setattr(local, "CHUNK", 7)
    for rule in RULES:
        problem = random_problem(rule, 4, memory=True)
        start = launch_order(problem)
        ends = [search(Annealing(), problem, start, seed=1) for _ in range(2)]
        assert (ends[0] == ends[1]).all()
        assert not violations(problem, ends[0])


def test_rounds_of_descent_have_an_end(monkeypatch):
    """Tests that at most so many rounds are made."""
    monkeypatch.setattr(local, "SWEEPS", 0)
    problem = random_graph(16, "torus:4x4")
    start = launch_order(problem)
    assert (search(DESCENT, problem, start) == start).all()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "topology", "slots"), [(1000, "torus:10x10x10", 1), (900, "grid:2x4", 128)])
def test_descent_hears_time_limits(size, topology, slots):
    """Tests dense traffic, where a single round takes longer than the limit."""
    hardware = build(topology)
    hardware = hardware.with_slots([slots] * hardware.size)
    graph = nx.gnm_random_graph(size, 60 * size, seed=1)
    problem = Problem(tasks=task_graph_of(graph), topology=hardware, rule="capacity" if slots > 1 else "one-to-one")
    start, begun = launch_order(problem), time.monotonic()
    search(DESCENT, problem, start, stop=Deadline(begun + 0.1))
    assert time.monotonic() - begun < 10


def test_bug_many_tasks_a_node_do_not_delay_annealing():
    """Tests that a round of descent counts the swaps on shared nodes too."""
    problem = random_graph(3000, "grid:2x4", "capacity")
    problem = Problem(
        tasks=problem.tasks, topology=problem.topology.with_slots([400] * problem.topology.size), rule="capacity"
    )
    start, begun = launch_order(problem), time.process_time()
    search(Annealing(), problem, start, stop=Deadline(time.monotonic() + 0.2))
    assert time.process_time() - begun < 10


@pytest.mark.slow
@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_bug_the_unit_of_cost_does_not_matter(unit, random_problem):
    """Tests the same mapping whatever the unit of traffic or distance, from a matrix of small numbers too."""
    for seed in range(4):
        problem = random_problem("one-to-one", seed, hardware="dense")
        problem = Problem(tasks=problem.tasks, topology=free_of_charge(problem.topology, 1.0), rule=problem.rule)
        scaled = Problem(tasks=problem.tasks, topology=free_of_charge(problem.topology, unit), rule=problem.rule)
        start = launch_order(problem)
        assert (search(Annealing(), scaled, start) == search(Annealing(), problem, start)).all()


def free_of_charge(topology, unit):
    """Return hardware without node costs, its distances in another unit."""
    metric = DenseMetric(topology.metric.table * unit)
    return Topology(names=topology.names, metric=metric, slots=topology.slots)


def test_temperatures_fall_from_moves_across_parts_to_moves_within_them():
    """Tests a restart from a shuffle and one from the best mapping."""
    params = AnnealParams(temperatures=3, hot=0.5, cold=0.02, reheat=0.1)
    assert params.schedule((1000.0, 10.0), shuffle=True) == pytest.approx([np.inf, 500, 10, 0.2])
    assert params.schedule((10.0, 10.0), shuffle=False) == pytest.approx([0.5, 0.5 * 0.4**0.5, 0.2], rel=1e-2)


def test_annealing_finds_its_part_of_split_hardware(random_problem, brute_force):
    """Tests that nearly all optima are found where tasks have to gather in one of two parts."""
    hits = 0
    for seed in range(5):
        problem = random_problem("one-to-one", seed, hardware="split")
        cost = cost_of(problem, search(Annealing(), problem, launch_order(problem))).total
        hits += cost <= brute_force(problem)[0] + 1e-9
    assert hits >= 4


def test_bug_small_gains_count_beside_a_huge_distance():
    """Tests a pair of tasks 9 apart that has to find the closest nodes, with a node at 1e12 among the others."""
    away = np.full((4, 4), 1e12)
    away[1:, 1:] = [[0, 5, 9], [5, 0, 4], [9, 4, 0]]
    tasks = TaskGraph(names=("a", "b"), traffic=sp.csr_array(np.array([[0.0, 1], [0, 0]])))
    hardware = Topology(names=tuple("wxyz"), metric=DenseMetric(away))
    problem = Problem(tasks=tasks, topology=hardware, rule="capacity")
    found = DESCENT.search(problem, np.array([1, 3]), effort=1, seed=0, stop=bool)
    assert cost_of(problem, found.places).total == 4.0
