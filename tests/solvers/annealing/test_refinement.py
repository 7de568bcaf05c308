"""Tests of refinement: annealing at boundaries and by swaps, chains, and the tiers of machines."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.formats.patterns.spec import build as build_pattern
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.solvers import registry
from tiger.solvers.annealing import boundary_annealing, ejection_chains, refinement, renumbering, swap_annealing
from tiger.solvers.annealing.refinement import Cooling, Refinement, RefineParams
from tiger.solvers.annealing.renumbering import renumber
from tiger.solvers.geometry.geometry import Geometry
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")
SHORT = RefineParams(
    task_proposals=0,
    base_proposals=300,
    shared_from=1,
    boundary=Cooling(hot=0.5, cold=0.1, share=0.8, temperatures=4),
    final=Cooling(hot=0.1, cold=0.01, share=0.2, temperatures=4),
)


def refine(problem, start, effort=1, seed=0, stop=bool, params=None):
    """Return the places a refinement ends at."""
    search = Refinement(params or RefineParams(base_proposals=20_000))
    return search.search(problem, start, effort=effort, seed=seed, stop=stop).places


def mesh(side, topology, slots, rule="capacity"):
    """Return a grid of tasks, and a machine with a number of slots a node."""
    hardware = build(topology)
    hardware = hardware.with_slots([slots] * hardware.size)
    return Problem(tasks=task_graph_of(nx.grid_2d_graph(side, side)), topology=hardware, rule=rule)


def shuffle(problem, seed=0):
    """Return the launch order of tasks in random order."""
    return np.random.default_rng(seed).permutation(launch_order(problem))


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_refinement_never_costs_more_and_keeps_every_rule(rule, random_problem):
    """Tests pins, forbidden pairs, memory and all kinds of hardware."""
    for seed in range(40):
        problem = random_problem(rule, seed, pins=seed % 2 == 0, forbidden=seed % 3 == 0, memory=seed % 4 < 2)
        start = launch_order(problem)
        places = refine(problem, start, params=RefineParams(base_proposals=300, shared_from=1 + 100 * (seed % 2)))
        assert not violations(problem, places)
        assert cost_of(problem, places).total <= cost_of(problem, start).total + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_refinement_in_plain_python_keeps_every_rule(rule, random_problem, plain, monkeypatch):
    """Tests the whole search uncompiled, with few proposals."""
    for module in (boundary_annealing, ejection_chains, swap_annealing):
        for name, kernel in vars(module).copy().items():
            monkeypatch.setattr(module, name, getattr(kernel, "py_func", kernel))
    for seed in range(6):
        problem = random_problem(rule, seed, pins=True, memory=seed % 2 == 0, hardware="tree" if seed % 3 else "grid")
        start = launch_order(problem)
        places = refine(problem, start, seed=seed, params=SHORT)
        assert not violations(problem, places)
        assert cost_of(problem, places).total <= cost_of(problem, start).total + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "topology", "slots", "rule", "most"),
    [
        (16, "tree:2x4@1,10", 32, "capacity", 0.2),
        (16, "torus:4x4", 16, "capacity", 0.5),
        (16, "torus:4x4x4", 4, "capacity", 0.5),
        (12, "torus:12x12", 1, "one-to-one", 0.5),
        (12, "fat-tree:4", 9, "capacity", 0.6),
    ],
)
def test_a_shuffled_mesh_becomes_much_cheaper(side, topology, slots, rule, most):
    """Tests trees, tori and a fat tree, with nodes shared by many and by few."""
    hardware = build(topology)
    hardware = hardware.with_slots(np.where(hardware.slots > 0, slots, 0))
    problem = Problem(tasks=task_graph_of(nx.grid_2d_graph(side, side)), topology=hardware, rule=rule)
    start = shuffle(problem)
    places = refine(problem, start)
    assert not violations(problem, places)
    assert cost_of(problem, places).total < most * cost_of(problem, start).total


@pytest.mark.parametrize(
    ("side", "topology", "slots", "rule"),
    [(16, "tree:2x4@1,10", 32, "capacity"), (8, "torus:4x4", 4, "capacity"), (8, "torus:8x8", 1, "one-to-one")],
)
def test_the_same_seed_gives_the_same_mapping(side, topology, slots, rule):
    """Tests two runs with one seed and one with another, on effort too small for the optimum."""
    problem = mesh(side, topology, slots, rule)
    start = shuffle(problem)
    ends = [refine(problem, start, seed=seed, params=SHORT).tolist() for seed in (1, 1, 2)]
    assert ends[0] == ends[1] != ends[2]


@pytest.mark.parametrize("slots", [1, 4, 64])
def test_a_refinement_that_is_told_to_stop_returns_what_it_has(slots):
    """Tests a stop at once, and after some questions."""
    side = {1: 16, 4: 16, 64: 32}[slots]
    problem = mesh(side, "torus:4x4" if slots == 64 else f"torus:16x{16 // slots}", slots, "capacity")
    start = shuffle(problem)
    assert (refine(problem, start, stop=lambda: True) == start).all()
    answers = iter([False] * 3 + [True] * 1000)
    places = refine(problem, start, stop=lambda: next(answers))
    assert not violations(problem, places)
    assert cost_of(problem, places).total <= cost_of(problem, start).total


def test_directed_distances_come_back_as_they_are():
    """Tests a matrix that differs both ways."""
    metric = DenseMetric(np.array([[0.0, 1, 5], [2, 0, 1], [1, 4, 0]]))
    machine = Topology(names=("x", "y", "z"), metric=metric)
    problem = Problem(tasks=task_graph_of(nx.path_graph(3)), topology=machine, rule="one-to-one")
    assert refine(problem, np.array([2, 0, 1])).tolist() == [2, 0, 1]


@pytest.mark.slow
def test_traffic_never_crosses_disconnected_parts(random_problem):
    """Tests hardware in two parts."""
    for rule in RULES:
        for seed in range(4):
            problem = random_problem(rule, seed, hardware="split")
            start = launch_order(problem)
            assert not violations(
                problem, refine(problem, start, params=RefineParams(base_proposals=300, shared_from=1))
            )


def test_short_slices_keep_the_mapping_feasible(monkeypatch):
    """Tests slices far shorter than a temperature."""
    monkeypatch.setattr(refinement, "CHUNK", 64)
    problem = mesh(8, "tree:2x2@1,10", 16)
    start = shuffle(problem)
    places = refine(problem, start, params=SHORT)
    assert not violations(problem, places)
    assert cost_of(problem, places).total < cost_of(problem, start).total


def test_proposals_grow_with_effort_and_tasks():
    """Tests small and large problems."""
    params = RefineParams(task_proposals=100, base_proposals=1000, most_proposals=300)
    assert params.proposals(2, 1) == 600
    assert params.proposals(1000, 3) == 3 * 101_000


def test_more_effort_is_not_dearer():
    """Tests rounds that each start from the cheapest mapping so far."""
    problem = mesh(16, "torus:4x4x4", 4)
    start = shuffle(problem)
    costs = [cost_of(problem, refine(problem, start, effort=effort, params=SHORT)).total for effort in (1, 7)]
    assert costs[1] < costs[0]


def test_isolated_tasks_and_free_prices_are_no_obstacle():
    """Tests tasks without traffic beside a path, on nodes of different price."""
    graph = nx.path_graph(6)
    graph.add_nodes_from(range(6, 12))
    machine = build("grid:3").with_slots([6, 6, 6])
    machine = Topology(
        names=machine.names, metric=machine.metric, slots=machine.slots, cost=np.array([5.0, 1, 0]), links=machine.links
    )
    problem = Problem(tasks=task_graph_of(graph), topology=machine, rule="capacity")
    start = np.repeat([0, 1], 6)
    places = refine(problem, start, params=SHORT)
    assert not violations(problem, places)
    assert cost_of(problem, places).total <= cost_of(problem, start).total


@pytest.mark.slow
def test_time_that_is_up_half_way_keeps_what_was_gained():
    """Tests a stop after some annealing at boundaries, which leaves nodes overfull."""
    problem = mesh(32, "tree:4x4@1,10", 64)
    start, asked = shuffle(problem), iter(range(10**6))
    places = refine(problem, start, stop=lambda: next(asked) >= 30, params=RefineParams(shared_from=1))
    assert not violations(problem, places)
    assert cost_of(problem, places).total < 0.9 * cost_of(problem, start).total


def test_renumbered_tasks_keep_pins_and_slots(monkeypatch):
    """Tasks in another order end at a mapping of the problem itself, which costs less, and always at the same."""
    plain = mesh(12, "tree:4x4@1,10", 9)
    names, nodes = plain.tasks.names, plain.topology.names
    problem = Problem(tasks=plain.tasks, topology=plain.topology, rule="capacity", pinned={names[5]: nodes[9]})
    start = launch_order(problem)
    monkeypatch.setattr(renumbering, "RENUMBERED_FROM", 0)
    places = refine(problem, start)
    assert places[5] == 9
    assert not violations(problem, places)
    assert cost_of(problem, places).total < cost_of(problem, start).total
    assert (places == refine(problem, start)).all()


def test_renumbering_changes_the_order_alone(monkeypatch):
    """Tasks all over the nodes, with memory and pins, end where the same tasks by node do."""
    plain = mesh(12, "tree:4x4@1,10", 9)
    start = shuffle(plain)
    memory = np.arange(144) % 5
    tasks, rooms = replace(plain.tasks, memory=memory), np.bincount(start, memory, 16).astype(np.int64)
    pinned = {tasks.names[t]: plain.topology.names[start[t]] for t in range(0, 144, 9)}
    hardware = replace(plain.topology, memory=rooms + 4)
    problem = Problem(tasks=tasks, topology=hardware, rule="capacity", pinned=pinned)
    order = np.argsort(start, kind="stable")
    by_node = refine(renumber(problem, order), start[order])
    monkeypatch.setattr(renumbering, "RENUMBERED_FROM", 0)
    places = refine(problem, start)
    assert (places[order] == by_node).all()
    assert not violations(problem, places)
    assert cost_of(problem, places).total < cost_of(problem, start).total


@pytest.mark.slow
def test_bug_seats_of_one_task_were_annealed_hot_after_geometry():
    """One task a node, on hardware with holes: the low temperatures were those of shared nodes alone."""
    hardware = build("torus:8x8x9")
    slots = np.ones(hardware.size, np.int64)
    slots[np.random.default_rng(0).permutation(hardware.size)[:58]] = 0
    tasks = build_pattern("halo:8x8x8,faces=16,corners=1")
    problem = Problem(tasks=tasks, topology=hardware.with_slots(slots), rule="one-to-one")
    start = Geometry().search(problem, launch_order(problem), effort=1, seed=0, stop=bool).places
    # A sixteenth of the proposals tells them apart as well.
    cool = replace(refinement.COOL, task_proposals=15, base_proposals=500_000, most_proposals=250)
    found = [
        [cost_of(problem, refine(problem, start, seed=seed, params=params)).total for seed in range(3)]
        for params in (cool, replace(cool, group_swaps=RefineParams().group_swaps))
    ]
    assert sum(found[0]) < 0.995 * sum(found[1])


def test_bug_planes_that_tasks_are_missing_from_were_annealed_cool():
    """An L of tasks, one a node: what geometry makes of it has much left to gain where nodes are missing as well."""
    shape = nx.grid_2d_graph(20, 20)
    shape.remove_nodes_from([(i, j) for i, j in list(shape) if min(i, j) > 8])
    hardware = build("torus:9x9x9")
    slots = np.ones(hardware.size, np.int64)
    slots[np.random.default_rng(0).permutation(hardware.size)[:72]] = 0
    problem = Problem(tasks=task_graph_of(shape), topology=hardware.with_slots(slots), rule="one-to-one")
    start = Geometry().search(problem, launch_order(problem), effort=1, seed=0, stop=bool).places
    chosen = dict(registry.native_searches(problem))["refinement"].params
    costs = [cost_of(problem, refine(problem, start, params=params)).total for params in (chosen, refinement.COOL)]
    assert costs[0] < 0.95 * costs[1]
