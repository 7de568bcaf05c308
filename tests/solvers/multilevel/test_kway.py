"""Tests of mappings by clusters: what they apply to, slots, determinism, interruption and cost."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tests.solvers.multilevel.test_multilevel import problem_of
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.instance import instance_of
from tiger.solvers.multilevel import coarsening, kway, label_propagation
from tiger.solvers.multilevel.kway import KWay, KWayParams, applies, map_by_clusters
from tiger.solvers.multilevel.multilevel import Multilevel, MultilevelParams
from tiger.solvers.registry import QUICK_FROM, native_searches

GRID = nx.grid_2d_graph(24, 24)
SMALL = KWayParams(parts=4)


@pytest.fixture
def uncompiled(plain, monkeypatch):
    """Run the kernels of the search as plain Python."""
    for module in (coarsening, kway, label_propagation):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


def search(problem, stop=bool, seed=0, effort=1):
    """Return the places found from the launch order."""
    return KWay(SMALL).search(problem, launch_order(problem), effort=effort, seed=seed, stop=stop).places


def random_cost(problem):
    """Return the cost of a random mapping."""
    return cost_of(problem, np.random.default_rng(0).permutation(launch_order(problem))).total


@pytest.mark.parametrize(("topology", "slots"), [("torus:4x4", 36), ("tree:4x4@1,10", 40), ("dragonfly:2,2,4", 36)])
def test_every_task_gets_a_slot_and_costs_fall(topology, slots):
    """Tests hardware of every kind of metric, full and with room to spare."""
    problem = problem_of(GRID, topology, slots)
    found = search(problem)
    assert not violations(problem, found)
    assert cost_of(problem, found).total < 0.3 * random_cost(problem)


@pytest.mark.slow
def test_bug_power_law_graphs_were_given_up():
    """Tests graphs whose hubs draw most tasks to a few nodes, from where no neighbour led on."""
    for graph in (nx.barabasi_albert_graph(1000, 8, seed=1), nx.powerlaw_cluster_graph(1000, 8, 0.3, seed=2)):
        problem = problem_of(graph, "torus:4x4", 64)
        found = map_by_clusters(problem, instance_of(problem), KWayParams(), 0, bool)
        assert found is not None
        assert not violations(problem, found)
        assert cost_of(problem, found).total < 0.85 * random_cost(problem)
        kept = KWayParams(spill=np.inf)
        assert map_by_clusters(problem, instance_of(problem), kept, 0, bool) is None


def test_what_is_far_dearer_than_the_start_is_given_up():
    """Tests a limit just below and above what a pass costs, and that the start comes back from one much cheaper."""
    problem = problem_of(GRID, "torus:4x4", 36)
    inst = instance_of(problem)
    cost = cost_of(problem, map_by_clusters(problem, inst, SMALL, 0, bool)).total
    assert map_by_clusters(problem, inst, replace(SMALL, dearest=0.9 * cost), 0, bool) is None
    assert map_by_clusters(problem, inst, replace(SMALL, dearest=1.1 * cost), 0, bool) is not None
    squares = np.arange(576) // 24 // 6 * 4 + np.arange(576) % 24 // 6
    assert (KWay(SMALL).search(problem, squares, effort=1, seed=0, stop=bool).places == squares).all()


@pytest.mark.slow
def test_a_grid_on_a_tree_is_cut_into_blocks():
    """Tests the cost against square blocks of 12 x 12, and of 6 x 6 in these."""
    problem = problem_of(GRID, "tree:4x4@1,10", 36)
    assert cost_of(problem, search(problem, effort=4)).total <= 1.15 * (2 * 24 * 10 + 4 * 24)


def test_a_second_pass_is_kept_where_it_is_cheaper_and_given_up_when_time_is_up():
    """Tests two passes against one each, and against one alone where there are too many entries for two."""
    problem = problem_of(nx.random_geometric_graph(576, 0.1, seed=2), "tree:4x4@1,10", 36)
    start, costs = launch_order(problem), []
    for params in (replace(SMALL, passes=1), SMALL, replace(SMALL, entries=0)):
        found = [KWay(params).search(problem, start, effort=1, seed=seed, stop=bool).places for seed in range(3)]
        costs.append([cost_of(problem, places).total for places in found])
    once, twice, limited = costs
    assert all(map(float.__le__, twice, once))
    assert twice != once == limited
    calls = iter(range(1000))
    timed = KWay(replace(SMALL, passes=2)).search(problem, start, effort=1, seed=0, stop=lambda: next(calls) > 3).places
    assert not violations(problem, timed)
    assert cost_of(problem, timed).total < 0.3 * random_cost(problem)


@pytest.mark.slow
def test_answers_follow_from_the_seed():
    """Tests that a seed gives one mapping."""
    problem = problem_of(GRID, "torus:4x4", 36)
    assert (search(problem, seed=3) == search(problem, seed=3)).all()
    assert (search(problem, seed=3) != search(problem, seed=4)).any()


@pytest.mark.parametrize("calls", [0, 1, 3, 10])
def test_an_interrupted_search_has_a_good_mapping(calls):
    """Tests that time being up leaves refinement out, and no task without a slot."""
    problem, left = problem_of(GRID, "tree:4x4@1,10", 36), calls

    def stop():
        nonlocal left
        left -= 1
        return left < 0

    found = map_by_clusters(problem, instance_of(problem), SMALL, 0, stop)
    assert not violations(problem, found)
    assert cost_of(problem, found).total < 0.3 * random_cost(problem)


def test_a_thorough_search_is_given_up_when_time_is_up():
    """Tests that it leaves the mapping that there is, which is of more use than a hasty one."""
    problem = problem_of(GRID, "tree:4x4@1,10", 36)
    thorough = replace(SMALL, completes=False, first=MultilevelParams())
    assert map_by_clusters(problem, instance_of(problem), thorough, 0, lambda: True) is None
    assert not violations(problem, map_by_clusters(problem, instance_of(problem), thorough, 0, bool))


def test_nothing_but_slots_may_limit_the_tasks():
    """Tests which problems the search leaves as they are."""
    assert applies(problem_of(GRID, "torus:4x4", 36), SMALL)
    for problem in (
        problem_of(GRID, "torus:4x4", 36, pinned={"0": problem_of(GRID, "torus:4x4", 36).topology.names[3]}),
        problem_of(GRID, "torus:10x10", 6),
        problem_of(nx.path_graph(16), "torus:4x4"),
    ):
        assert not applies(problem, SMALL)
        assert (search(problem) == launch_order(problem)).all()


def test_bug_clusters_take_the_place_of_tasks_in_large_problems_alone(monkeypatch):
    """Tests who is bisected: 8,192 tasks near each other cost 5 % more by clusters."""
    problem = problem_of(nx.path_graph(QUICK_FROM), "tree:2x2@1,10", 256)
    assert isinstance(dict(native_searches(problem))["multilevel"], Multilevel)
    monkeypatch.setattr("tiger.solvers.registry.CLUSTERED_FROM", QUICK_FROM)
    assert isinstance(dict(native_searches(problem))["multilevel"], KWay)


def test_bug_hardware_without_a_table_of_distances_is_left_to_bisection():
    """Tests a tree of so many levels that its distances are too many for a table: its searches did nothing."""
    levels = 15
    problem = problem_of(nx.path_graph(QUICK_FROM), f"tree:{'x'.join('2' * levels)}@{','.join('1' * levels)}", 64)
    assert not instance_of(problem).plain
    assert "bisection" in dict(native_searches(problem))


def test_plain_and_compiled_kernels_agree(request):
    """Tests the kernels as Python, where random numbers are the same."""
    problem = problem_of(nx.grid_2d_graph(12, 12), "tree:2x2@1,10", 36)
    compiled = search(problem)
    request.getfixturevalue("uncompiled")
    assert (search(problem) == compiled).all()


def test_a_large_problem_has_an_answer_in_a_short_time():
    """Tests that the portfolio maps clusters, which find a mapping soon."""
    problem = problem_of(nx.random_geometric_graph(2048, 0.05, seed=1), "tree:4x4@1,10", 128)
    report = solve(problem, time_limit_s=0.3)
    assert "clusters" in [stage.name for stage in report.stages]
    assert report.cost < 0.3 * report.baseline_cost
