"""Tests of multilevel mapping: rules, determinism, and cost where the best mapping is known."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from tiger.feasibility.start import launch_order
from tiger.formats.graphs import task_graph_of
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of, violations
from tiger.solvers import repair
from tiger.solvers.annealing import renumbering
from tiger.solvers.multilevel import coarsening, dissection, fm_bisection, multilevel, outlines, quotient, region_cuts
from tiger.solvers.multilevel.multilevel import Multilevel, MultilevelParams, applies
from tiger.topologies.spec import build


@pytest.fixture
def uncompiled(plain, monkeypatch):
    """Run every kernel of the search as plain Python."""
    for module in (fm_bisection, coarsening, dissection, multilevel, outlines, quotient, region_cuts, repair):
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)


@pytest.fixture
def _always(monkeypatch):
    """Apply the search to dense and small problems too."""
    monkeypatch.setattr(multilevel, "DENSITY", 0)
    monkeypatch.setattr(multilevel, "FEWEST", 2)


def shuffle(graph, seed=0):
    """Return the task graph of a graph whose nodes come in random order."""
    order = np.random.default_rng(seed).permutation(len(graph))
    return task_graph_of(nx.relabel_nodes(nx.convert_node_labels_to_integers(graph), dict(enumerate(order.tolist()))))


def problem_of(graph, topology, slots=1, **limits):
    """Return a problem with so many slots on every node."""
    hardware, rule = build(topology), "one-to-one" if slots == 1 else "capacity"
    hardware = hardware.with_slots(np.full(hardware.size, slots))
    return Problem(tasks=shuffle(graph), topology=hardware, rule=rule, **limits)


def search(problem, effort=1, seed=0, stop=bool, params=None):
    """Return the places found from the launch order."""
    method = Multilevel(params or MultilevelParams())
    return method.search(problem, launch_order(problem), effort=effort, seed=seed, stop=stop).places


@pytest.mark.usefixtures("_always")
@pytest.mark.parametrize("rule", ["one-to-one", "levels", "capacity"])
def test_found_mappings_are_feasible_and_not_dearer(rule, random_problem, random_feasible):
    """Tests all limits on all hardware."""
    for seed in range(5):
        limits = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed % 4 == 0}
        problem = random_problem(rule, seed, **limits)
        start = random_feasible(problem, np.random.default_rng(seed))
        found = Multilevel().search(problem, start, effort=1, seed=seed, stop=bool).places
        assert not violations(problem, found)
        assert cost_of(problem, found).total <= cost_of(problem, start).total * (1 + 1e-12)


@pytest.mark.usefixtures("_always", "uncompiled")
def test_plain_python_maps_as_well(random_problem):
    """Tests the whole search uncompiled, with few sweeps."""
    params = MultilevelParams(sweeps=50, tries=2, starts=2)
    for seed in range(3):
        problem = random_problem("capacity", seed, hardware=("grid", "tree", "dense")[seed], pins=seed > 1)
        assert not violations(problem, search(problem, params=params))


@pytest.mark.slow
def test_a_mesh_finds_its_place_on_a_tree():
    """Tests an 8 x 8 mesh on 4 x 4 nodes of four slots, best cut into squares: 16 edges at 10, 32 at 1."""
    problem = problem_of(nx.grid_2d_graph(8, 8), "tree:4x4@1,10", slots=4)
    assert cost_of(problem, search(problem)).total == 16 * 10 + 32


def test_a_ring_finds_its_place_on_a_ring():
    """Tests that pulls from outside lay a ring of tasks along a ring of nodes."""
    problem = problem_of(nx.cycle_graph(64), "ring:16", slots=4)
    assert cost_of(problem, search(problem)).total <= 18


@pytest.mark.slow
def test_slack_keeps_tasks_together():
    """Tests two cliques, which go to one node each, though all nodes have room."""
    graph = nx.disjoint_union(nx.complete_graph(20), nx.complete_graph(20))
    problem = problem_of(nx.disjoint_union(graph, nx.empty_graph(60)), "torus:4x4", slots=25)
    assert cost_of(problem, search(problem)).total == 0


@pytest.mark.slow
def test_full_nodes_stay_within_their_slots():
    """Tests that unequal slots are filled exactly."""
    problem = problem_of(nx.random_regular_graph(3, 120, seed=1), "hypercube:4", slots=2)
    slots = np.repeat([5, 10], 8)
    problem = replace(problem, topology=problem.topology.with_slots(slots))
    places = search(problem)
    assert (np.bincount(places, minlength=16) == slots).all()


def test_pins_and_forbidden_pairs_attract_the_rest():
    """Tests a path whose ends are pinned to the ends of a line, and a task kept from half of it."""
    tasks, order = shuffle(nx.path_graph(64)), np.random.default_rng(0).permutation(64)
    names = build("grid:16x1").names
    pinned = {str(order[0]): names[15], str(order[63]): names[0]}
    forbidden = frozenset((str(order[40]), name) for name in names[8:])
    line = build("grid:16x1").with_slots(np.full(16, 4))
    problem = Problem(tasks=tasks, topology=line, rule="capacity", pinned=pinned, forbidden=forbidden)
    places = search(problem)
    assert not violations(problem, places)
    assert cost_of(problem, places).total <= 19


def test_cheap_nodes_are_preferred():
    """Tests tasks without traffic on nodes of two prices, of which the cheap ones suffice."""
    hardware = replace(build("grid:4x4"), slots=np.full(16, 8), cost=np.repeat([5.0, 1.0], 8))
    problem = Problem(tasks=shuffle(nx.empty_graph(64)), topology=hardware, rule="capacity")
    assert cost_of(problem, search(problem)).total == 64


def test_memory_is_kept():
    """Tests loads that take most of the memory of every node."""
    problem = problem_of(nx.grid_2d_graph(10, 12), "tree:4x4@1,10", slots=30)
    memory = np.random.default_rng(0).integers(1, 10, 120)
    room = np.full(16, int(memory.sum() / 16 * 1.15))
    problem = replace(problem, tasks=replace(problem.tasks, memory=memory))
    problem = replace(problem, topology=replace(problem.topology, memory=room))
    places = search(problem)
    assert not violations(problem, places)
    assert cost_of(problem, places).total < 0.7 * cost_of(problem, launch_order(problem)).total


@pytest.mark.slow
def test_same_seed_same_mapping():
    """Tests that nothing but the seed decides."""
    problem = problem_of(nx.random_regular_graph(3, 64, seed=1), "torus:4x4", slots=4)
    found = [search(problem, seed=seed) for seed in (5, 6, 5)]
    assert (found[0] == found[2]).all()
    assert (found[0] != found[1]).any()


def test_effort_and_stop():
    """Tests that more effort costs no more, and that a stop gives back the start."""
    problem = problem_of(nx.random_regular_graph(3, 36, seed=1), "torus:6x6")
    costs = [cost_of(problem, search(problem, effort=effort)).total for effort in (1, 2)]
    assert costs[1] <= costs[0]
    assert (search(problem, stop=lambda: True) == launch_order(problem)).all()


def test_a_stop_is_heard_at_any_time():
    """Tests stops after 1, 3, 9, ... questions."""
    problem = problem_of(nx.grid_2d_graph(8, 8), "torus:4x4", slots=4)
    for most in (1, 3, 9, 27, 81, 243):
        asked = iter(range(10**6))
        assert not violations(problem, search(problem, stop=lambda limit=most, asked=asked: next(asked) >= limit))


def test_a_stop_leaves_few_cuts_to_haste():
    """Tests that a quick search that is stopped early cuts the regions that are left all the same, unless many."""
    problem = problem_of(nx.random_regular_graph(3, 512, seed=1), "torus:8x8x8")
    costs = []
    for late, most in ((0, 6), (multilevel.QUICK.late, 6), (0, 10**6)):
        asked, params = itertools.count(), replace(multilevel.QUICK, late=late)
        places = search(problem, stop=lambda limit=most, asked=asked: next(asked) >= limit, params=params)
        assert not violations(problem, places)
        costs.append(cost_of(problem, places).total)
    assert costs[0] > 2 * costs[1]
    assert costs[1] < 1.1 * costs[2]


def test_a_stop_leaves_what_has_been_cut():
    """Tests that a stop half-way gives a mapping by the regions so far, cheaper than the launch order."""
    problem = problem_of(nx.random_regular_graph(3, 512, seed=1), "torus:8x8x8")
    uncut, costs = replace(multilevel.QUICK, late=0), []
    for most in (5, 10, 60, 120):
        asked = iter(range(10**6))
        places = search(problem, stop=lambda limit=most, asked=asked: next(asked) >= limit, params=uncut)
        assert not violations(problem, places)
        costs.append(cost_of(problem, places).total)
    assert cost_of(problem, launch_order(problem)).total > costs[0] > costs[1] > costs[2] > costs[3]


@pytest.mark.parametrize("limits", [{}, {"pinned": {"0": "5,5", "9": "0,0"}}, {"forbidden": frozenset({("3", "0,1")})}])
def test_batches_of_cuts_are_cuts_one_by_one(limits, monkeypatch):
    """Tests a random graph on a grid, with cuts of all regions in one call and in one each."""
    problem = problem_of(nx.random_regular_graph(4, 144, seed=1), "grid:12x12", **limits)
    together = search(problem, params=multilevel.QUICK)
    monkeypatch.setattr(dissection, "MOST", 1)
    monkeypatch.setattr(multilevel, "BATCH", 0)
    assert (search(problem, params=multilevel.QUICK) == together).all()


def test_what_it_applies_to(random_problem):
    """Tests that levels, few tasks and dense traffic are left to others."""
    assert applies(problem_of(nx.grid_2d_graph(8, 8), "torus:8x8"))
    assert not applies(problem_of(nx.complete_graph(20), "torus:8x8"))
    assert not applies(problem_of(nx.path_graph(4), "torus:8x8"))
    assert not applies(random_problem("levels", 1))


def test_starts_are_fewer_for_large_graphs():
    """Tests both ends and the middle."""
    params = MultilevelParams()
    assert [params.starts_at(entries) for entries in (0, 10**4, 2 * 10**5, 10**6)] == [8, 8, 4, 2]


@pytest.mark.slow
def test_regions_share_tasks_with_those_they_talk_to_most():
    """Either side may choose the other; a star keeps all its spokes."""
    traffic = sp.coo_array([[0, 9, 5, 1], [9, 0, 2, 3], [5, 2, 0, 0], [1, 3, 0, 0]])
    close = multilevel._are_close(traffic, 1)
    assert [*zip(traffic.row[close], traffic.col[close], strict=True)] == [
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 3),
        (2, 0),
        (3, 1),
    ]
    assert multilevel._are_close(traffic, 3).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "tree", "slots", "known"),
    [
        (16, "tree:8x8@1,10", 64, 9_216),
        pytest.param(32, "tree:8x8x4@1,10,100", 128, 376_832, marks=pytest.mark.long),
    ],
)
def test_thousands_of_tasks_beat_recursion_without_a_choice(side, tree, slots, known):
    """Tests cubic stencils on trees against a geometric construction: within 2 %."""
    problem = problem_of(nx.grid_graph((side, side, side)), tree, slots=slots)
    assert cost_of(problem, search(problem)).total <= 1.02 * known


def test_tasks_that_are_renumbered_keep_pins_and_slots(monkeypatch):
    """Tasks by the nodes of a mapping end where the same tasks in that order do."""
    tasks, topology = shuffle(nx.grid_2d_graph(12, 12)), build("tree:4x4@1,10")
    topology = topology.with_slots(np.full(16, 10))
    pinned = {tasks.names[5]: topology.names[9]}
    problem = Problem(tasks=tasks, topology=topology, rule="capacity", pinned=pinned)
    start = launch_order(problem)
    search = Multilevel()
    monkeypatch.setattr(renumbering, "RENUMBERED_FROM", 0)
    found = search.search(problem, start, effort=1, seed=0, stop=bool)
    places = found.places
    assert (found.elites == places).all()
    assert places[5] == 9
    assert not violations(problem, places)
    assert cost_of(problem, places).total < cost_of(problem, start).total
    order = np.argsort(start, kind="stable")
    by_node = search.search(renumbering.renumber(problem, order), start[order], effort=1, seed=0, stop=bool).places
    assert (places[order] == by_node).all()
