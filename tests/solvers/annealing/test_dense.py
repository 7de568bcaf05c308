"""Tests of the dense search against brute force, on every kind of one-to-one problem."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

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
from tiger.objectives.cost import cost_of, violations
from tiger.run.deadline import Deadline
from tiger.solvers.annealing import fields
from tiger.solvers.annealing.dense import Dense, applies
from tiger.solvers.annealing.memetic import MemeticParams
from tiger.topologies.spec import build

SHORT = Dense(params=MemeticParams(least_work=20_000, work=100))
HARDWARE = ("dense", "links", "grid", "torus", "tree")


@pytest.fixture
def uncompiled(monkeypatch):
    """Replace every kernel by its plain Python function."""
    for name, kernel in vars(fields).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(fields, name, kernel.py_func)


def search(problem, method=SHORT, effort=1, seed=0, stop=bool):
    """Return the answer of a search from the launch order."""
    return method.search(problem, launch_order(problem), effort=effort, seed=seed, stop=stop)


def uniform_problem(size, seed=0):
    """Return random traffic between all tasks on a line."""
    volumes = np.random.default_rng(seed).integers(0, 100, (size, size)).astype(float)
    tasks = TaskGraph(names=tuple(map(str, range(size))), traffic=volumes)
    return Problem(tasks=tasks, topology=build(f"grid:{size}x1"), rule="one-to-one")


@pytest.mark.slow
@pytest.mark.parametrize("hardware", HARDWARE)
def test_optima_of_small_problems_are_found(hardware, random_problem, brute_force):
    """Tests pins, forbidden pairs, memory, node costs, self-loops, idle nodes and both kinds of asymmetry."""
    for seed in range(4):
        limits = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed % 4 == 0}
        problem = random_problem("one-to-one", seed, hardware=hardware, **limits)
        found = search(problem, Dense()).places
        assert not violations(problem, found)
        assert cost_of(problem, found).total == pytest.approx(brute_force(problem)[0])


def test_plain_python_finds_the_same(random_problem, uncompiled, monkeypatch):
    """Tests that compiled and plain kernels agree on whole numbers."""
    problem = random_problem("one-to-one", 4, whole=True)
    plain = search(problem).places
    monkeypatch.undo()
    assert (search(problem).places == plain).all()


def test_problems_it_is_not_made_for_come_back(random_problem):
    """Tests shared nodes, levels and split hardware."""
    others = [random_problem("capacity", 1), random_problem("levels", 1)]
    for problem in [*others, random_problem("one-to-one", 1, hardware="split")]:
        assert not applies(problem)
        assert (search(problem).places == launch_order(problem)).all()


def test_infeasible_starts_come_back():
    """Tests a start that uses a forbidden pair."""
    tasks = task_graph_of(nx.path_graph(3))
    problem = Problem(tasks=tasks, topology=build("ring:3"), rule="one-to-one", forbidden=frozenset({("0", "0")}))
    answer = SHORT.search(problem, np.arange(3), effort=1, seed=0, stop=bool)
    assert answer.places.tolist() == [0, 1, 2]


def test_same_seed_same_mapping():
    """Tests two runs, and that another seed takes another way."""
    problem = uniform_problem(24)
    runs = [search(problem, effort=3, seed=seed).elites for seed in (0, 0, 1)]
    assert (runs[0] == runs[1]).all()
    assert runs[0].shape != runs[2].shape or (runs[0] != runs[2]).any()


def test_threads_find_what_a_single_one_finds():
    """Tests four halves at once, whose compiled code shares nothing."""
    problem = uniform_problem(30)
    alone = [search(problem, effort=4, seed=seed).elites for seed in range(4)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda seed: search(problem, effort=4, seed=seed).elites, range(4)))
    for one, other in zip(alone, together, strict=True):
        assert (one == other).all()


def test_elites_are_taken_up_and_handed_on(random_feasible):
    """Tests that a search from elites is never worse than them, and that what is not feasible is dropped."""
    problem = uniform_problem(24)
    first = search(problem, effort=4).elites
    rubbish = np.zeros((1, 24), np.int64)
    answer = search(problem, replace(SHORT, elites=np.concatenate([first[::-1], rubbish])), seed=7)
    assert cost_of(problem, answer.places).total <= cost_of(problem, first[0]).total
    assert (answer.places == answer.elites[0]).all()
    for places in answer.elites:
        assert not violations(problem, places)


def test_told_to_stop_at_once_it_is_not_dearer():
    """Tests that the start or something cheaper comes back."""
    problem = uniform_problem(20)
    found = search(problem, Dense(), stop=lambda: True).places
    assert not violations(problem, found)
    assert cost_of(problem, found).total <= cost_of(problem, launch_order(problem)).total


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 250])
def test_time_limits_are_heard(size):
    """Tests that it stops soon, however much effort is left."""
    problem = uniform_problem(size)
    begun = time.monotonic()
    search(problem, Dense(), effort=2**63 - 1, stop=Deadline(begun + 0.2))
    assert time.monotonic() - begun < 10


def test_problems_without_traffic_or_cost_end_at_once():
    """Tests that no swap changes anything."""
    tasks = TaskGraph(names=("a", "b", "c"), traffic=np.zeros((3, 3)))
    problem = Problem(tasks=tasks, topology=build("ring:3"), rule="one-to-one")
    assert search(problem, Dense(), effort=1000).places.tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [2.0**-300, 2.0**300])
def test_the_unit_of_cost_does_not_matter(unit):
    """Tests the same mapping whatever the unit of traffic."""
    problem = uniform_problem(15)
    tasks = replace(problem.tasks, traffic=problem.tasks.traffic * unit)
    scaled = Problem(tasks=tasks, topology=problem.topology, rule=problem.rule)
    assert (search(scaled).places == search(problem).places).all()


def test_one_unit_of_effort_suffices_for_a_score_of_tasks():
    """Tests a ring on a torus, whose optimum, a Hamiltonian cycle, costs one hop for each of 20 edges."""
    graph = nx.relabel_nodes(nx.cycle_graph(20), dict(enumerate(np.random.default_rng(1).permutation(20).tolist())))
    problem = Problem(tasks=task_graph_of(graph), topology=build("torus:4x5"), rule="one-to-one")
    costs = [cost_of(problem, search(problem, Dense(), seed=seed).places).total for seed in range(5)]
    assert min(costs) == 20


@pytest.mark.parametrize("scale", [1.0, 1e-12])
def test_bug_prices_decide_where_there_is_no_traffic(scale):
    """Tests small prices against the rearrangement of works and prices."""
    work, price = np.random.default_rng(1).random((2, 30))
    hardware = replace(build("grid:6x5"), cost=scale * price)
    tasks = TaskGraph(names=tuple(map(str, range(30))), traffic=np.zeros((30, 30)), work=work)
    problem = Problem(tasks=tasks, topology=hardware, rule="one-to-one")
    least = scale * np.sort(work) @ np.sort(price)[::-1]
    assert cost_of(problem, search(problem, Dense()).places).total == pytest.approx(least, rel=1e-4)


def test_bug_costs_below_the_largest_single_one_are_searched_too():
    """Tests traffic of 1 between pairs on a ring of twelve nodes that lies 1e13 from six others."""
    ring = np.arange(12)
    away = np.full((18, 18), 1e13)
    away[:12, :12] = np.minimum((ring[:, None] - ring) % 12, (ring - ring[:, None]) % 12)
    pairs = sp.csr_array((np.ones(6), (np.arange(6), np.arange(6, 12))), shape=(12, 12))
    tasks = TaskGraph(names=tuple(map(str, ring)), traffic=pairs)
    hardware = Topology(names=tuple(map(str, range(18))), metric=DenseMetric(away))
    problem = Problem(tasks=tasks, topology=hardware, rule="one-to-one")
    assert cost_of(problem, Dense().search(problem, ring[::-1] + 6, effort=1, seed=0, stop=bool).places).total == 6.0
