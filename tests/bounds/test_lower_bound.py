"""Tests of the lower bound and of the penalties built on the same rearrangement."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from tiger.bounds import lower_bound as bounds
from tiger.bounds.lower_bound import lower_bound, quick_bound, rearrangement_bound, strong_bound
from tiger.feasibility.start import launch_order
from tiger.formats.files import read_tasks, read_topology
from tiger.formats.graphs import task_graph_of
from tiger.mapping.mapper import solve
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import fold, whole
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")
HARDWARE = ("dense", "links", "grid", "torus", "tree", "split")
EXAMPLES = Path(__file__).parents[2] / "examples"
QAPLIB = Path(__file__).parents[3] / "shared" / "data" / "qaplib"
NUG12 = (
    "052410062111 503022204500 230000055222 4000522A0055 12050A000511 0202A0511540 "
    "0202050A5233 605A01A00050 2450015000AA 152055200050 10251435A502 10251030A020"
)
# The published Gilmore-Lawler bounds (QAPLIB) and the best known values.
PUBLISHED = {
    "nug12": (493, 578),
    "nug20": (2057, 2570),
    "nug30": (4539, 6124),
    "had20": (6166, 6922),
    "tai20a": (580674, 703482),
    "tai20b": (0, 122455319),
    "kra30a": (68360, 88900),
    "tho30": (90578, 149936),
    "bur26a": (5315200, 5426670),
    "chr20a": (2150, 2192),
    "lipa40a": (31497, 31538),
    "esc32a": (35, 130),
    "wil100": (210949, 273038),
    "tho150": (4123652, 8133398),
}
# Rule, mesh, the bound that every change must keep, and the optimum (butko11.ram, proved by branch and bound).
ORIGINAL = (
    ("levels", "mesh_2x2_het", 353, 388),
    ("levels", "mesh_4x4_het", 248, 268),
    ("levels", "mesh_4x4_homo", 248, 268),
    ("one-to-one", "mesh_4x4_het", 491, 542),
    ("one-to-one", "mesh_4x4_homo", 376, 396),
)


def fits(bound, optimum):
    """Return whether a bound is none above an optimum, rounding apart."""
    return bound <= optimum + 1e-9 * max(1.0, abs(optimum))


@pytest.mark.parametrize("rule", RULES)
def test_the_bound_never_exceeds_the_optimum(rule, random_problem, brute_force, monkeypatch):
    """Tests both forms of the bound against brute force, with pins, forbidden pairs and memory."""
    for seed in range(12):
        limited = seed % 2 == 0
        problem = random_problem(rule, seed, tasks=5, nodes=6, pins=limited, forbidden=limited, memory=seed % 3 == 0)
        optimum, places = brute_force(problem)
        for cells in (1 << 22, 0):
            monkeypatch.setattr(bounds, "DENSE_CELLS", cells)
            assert fits(lower_bound(problem, places), optimum)


@pytest.mark.long
@pytest.mark.parametrize("hardware", HARDWARE)
@pytest.mark.parametrize("rule", RULES)
def test_no_bound_exceeds_the_optimum_on_any_hardware(rule, hardware, random_problem, brute_force):
    """Tests the default and the strong bound against brute force where costs are whole and nodes are few."""
    nodes = 3 if rule == "capacity" else 6
    for seed in range(12):
        limits = {"pins": seed % 3 == 0, "forbidden": seed % 3 == 1, "memory": seed % 2 == 0}
        problem = random_problem(rule, seed, tasks=6, nodes=nodes, hardware=hardware, whole=True, **limits)
        optimum, places = brute_force(problem)
        bound, strong = lower_bound(problem, places), strong_bound(problem, places, iterations=6)
        assert bound <= strong
        assert fits(strong, optimum)


def qaplib(name):
    """Return a QAPLIB instance, or skip the test where its file is missing."""
    if not (QAPLIB / f"{name}.dat").exists():
        pytest.skip("the QAPLIB files are not part of the repository")
    found = read_tasks(QAPLIB / f"{name}.dat")
    return Problem(tasks=found.tasks, topology=found.topology, rule="one-to-one")


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_bound_lies_between_that_of_gilmore_and_lawler_and_the_best_known_value(name):
    """Tests against published figures."""
    problem, (published, best) = qaplib(name), PUBLISHED[name]
    assert published <= lower_bound(problem, launch_order(problem)) <= best


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("nug12", 516), ("tai20b", 76e6), ("bur26a", 5.33e6), ("nug30", 5452)])
def test_the_strong_bound_reaches_further(name, least):
    """Tests the ascents: over placements of pairs (nug12, bur26a) and over diagonals (tai20b, nug30)."""
    problem = qaplib(name)
    assert least <= strong_bound(problem, launch_order(problem), iterations=3 if name == "bur26a" else 16)


def test_the_rearranged_bound_of_nug12_is_the_published_one(monkeypatch):
    """Tests 493, raised to the next even number because every pair of tasks is listed twice."""
    volumes = np.array([[int(digit, 16) for digit in row] for row in NUG12.split()], float)
    tasks = TaskGraph(names=tuple(map(str, range(12))), traffic=volumes)
    problem = Problem(tasks=tasks, topology=build("grid:3x4"), rule="one-to-one")
    assert lower_bound(problem, np.arange(12)) == 494
    monkeypatch.setattr(bounds, "SPECTRAL_SLOTS", 0)
    monkeypatch.setattr(bounds, "_grain", lambda _: 1)
    assert lower_bound(problem, np.arange(12)) == 493


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "mesh", "least", "optimum"), ORIGINAL)
def test_the_bounds_of_the_original_tools_example(rule, mesh, least, optimum):
    """Tests against proved optima, and that the strong bound proves one of them."""
    problem = Problem(
        tasks=read_tasks(EXAMPLES / "butko11.ram").tasks,
        topology=read_topology(str(EXAMPLES / f"{mesh}.arc")),
        rule=rule,
    )
    places = launch_order(problem)
    assert lower_bound(problem, places) == least
    assert least <= strong_bound(problem, places, iterations=16) <= optimum
    if mesh == "mesh_2x2_het":
        assert strong_bound(problem, places, iterations=64) == optimum


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_costs_that_all_mappings_share_move_the_bound_alone(rule, random_problem):
    """Tests that a cost added to every node adds the work times that cost."""
    for seed in range(8):
        problem = random_problem(rule, seed, tasks=5, nodes=6)
        dearer = replace(problem, topology=replace(problem.topology, cost=problem.topology.cost + 3))
        places = launch_order(problem)
        moved = lower_bound(problem, places) + 3 * problem.tasks.work.sum()
        assert lower_bound(dearer, places) == pytest.approx(moved)


def test_a_fan_out_pays_for_all_but_its_heaviest_edge():
    """Tests that under levels only one of three tasks of a level can lie where their common source does."""
    tasks = TaskGraph(names=tuple("abcd"), traffic=np.vstack([[0.0, 3, 2, 1], np.zeros((3, 4))]))
    problem = Problem(tasks=tasks, topology=build("grid:2x2"), rule="levels")
    assert lower_bound(problem, np.arange(4)) == 3


def test_a_star_pays_for_what_lies_beyond_its_neighbours():
    """Tests a hub with eight leaves on a grid: four of them are at least two hops away."""
    problem = Problem(tasks=task_graph_of(nx.star_graph(8)), topology=build("grid:5x5"), rule="one-to-one")
    assert lower_bound(problem, launch_order(problem)) == 12


@pytest.mark.parametrize(("parts", "cut"), [("grid:2", 8), ("tree:4@1", 16)])
def test_halves_and_quarters_of_a_hypercube_are_bounded_by_its_spectrum(parts, cut):
    """Tests the capacity rule where half of the neighbours of every task fit beside it."""
    nodes = build(parts)
    nodes = replace(nodes, slots=np.full(nodes.size, 16 // nodes.size))
    problem = Problem(tasks=task_graph_of(nx.hypercube_graph(4)), topology=nodes, rule="capacity")
    assert cut * 3 / 4 <= lower_bound(problem, launch_order(problem)) <= cut


@pytest.mark.parametrize("cells", [1 << 20, 0], ids=["dense", "sparse"])
def test_memory_limits_how_many_tasks_share_a_node(cells, monkeypatch):
    """Tests four tasks that all talk, two of which fit on a node by memory and all by slots."""
    tasks = TaskGraph(names=tuple("abcd"), traffic=np.ones((4, 4)) - np.eye(4), memory=np.full(4, 3))
    nodes = replace(build("grid:4"), slots=np.full(4, 4))
    monkeypatch.setattr(bounds, "DENSE_CELLS", cells)
    assert lower_bound(Problem(tasks=tasks, topology=nodes, rule="capacity"), np.zeros(4, np.int64)) == 0
    problem = Problem(tasks=tasks, topology=replace(nodes, memory=np.full(4, 6)), rule="capacity")
    assert lower_bound(problem, np.array([0, 0, 1, 1])) == 8


def test_nodes_that_pins_take_are_nobodys_neighbours():
    """Tests two tasks that talk on a path whose middle is taken."""
    tasks = TaskGraph(names=tuple("abc"), traffic=np.array([[0.0, 1, 0], [0, 0, 0], [0, 0, 0]]))
    problem = Problem(tasks=tasks, topology=build("grid:3"), rule="one-to-one", pinned={"c": "1"})
    assert lower_bound(problem, launch_order(problem)) == 2


def test_a_cost_in_coarse_units_is_bounded_in_those():
    """Tests that volumes in thousands give a bound in thousands, twice that where both directions are listed."""
    triangle = np.array([[0.0, 3000, 0], [0, 0, 0], [3000, 6000, 0]])
    for traffic, bound in ((triangle, 15000), (triangle + triangle.T, 30000)):
        tasks = TaskGraph(names=tuple("abc"), traffic=traffic)
        nodes = Topology(names=tuple("xyz"), metric=DenseMetric(np.array([[0, 1, 1], [1, 0, 2.0], [1, 2, 0]])))
        problem = Problem(tasks=tasks, topology=nodes, rule="one-to-one")
        assert lower_bound(problem, np.arange(3)) == bound


def test_work_goes_to_cheap_nodes_in_the_bound_for_large_problems(monkeypatch):
    """Tests that the dearest of three nodes takes the least work one to one, and none where two slots are cheap."""
    monkeypatch.setattr(bounds, "DENSE_CELLS", 0)
    tasks = TaskGraph(names=tuple("abc"), traffic=np.zeros((3, 3)), work=np.array([1.0, 5, 2]))
    nodes = replace(build("grid:3"), cost=np.array([3.0, 1, 2]), slots=np.array([1, 2, 1]))
    for rule, bound in (("one-to-one", 5 + 4 + 3), ("capacity", 5 + 2 + 2)):
        assert lower_bound(Problem(tasks=tasks, topology=nodes, rule=rule), np.arange(3)) == bound


@pytest.mark.parametrize(("slots", "bound"), [(4, 0), (3, 1), (2, 3)])
def test_traffic_is_free_for_large_problems_where_all_partners_share_a_node(slots, bound, monkeypatch):
    """Tests a star of three leaves whose traffic flows both ways on nodes of few slots."""
    monkeypatch.setattr(bounds, "DENSE_CELLS", 0)
    tasks = TaskGraph(names=tuple("abcd"), traffic=np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0.0]]))
    nodes = replace(build("torus:4"), slots=np.full(4, slots))
    assert quick_bound(Problem(tasks=tasks, topology=nodes, rule="capacity"), np.zeros(4, int)) == bound


@pytest.mark.slow
def test_a_short_time_left_is_for_a_quicker_bound():
    """Tests a random graph on a grid, whose corners the quicker bound takes for its middle."""
    tasks = task_graph_of(nx.gnm_random_graph(64, 300, seed=1))
    problem = Problem(tasks=tasks, topology=build("grid:8x8"), rule="one-to-one")
    start = launch_order(problem)
    late, hurried, whole = (quick_bound(problem, start, left_s) for left_s in (-1.0, 1e-3, 1.0))
    assert 0 < late == hurried < whole == quick_bound(problem, start)


def test_bug_dense_traffic_leaves_time_for_a_search():
    """Tests traffic between all of 64 tasks, whose bound took more than is left of some milliseconds."""
    traffic = np.random.default_rng(0).integers(1, 9, (64, 64)).astype(float)
    tasks = TaskGraph(names=tuple(map(str, range(64))), traffic=traffic)
    problem = Problem(tasks=tasks, topology=build("grid:8x8"), rule="one-to-one")
    hurried, whole = (quick_bound(problem, np.arange(64), left_s) for left_s in (5e-3, 1.0))
    assert 0 < hurried < whole == quick_bound(problem, np.arange(64))


def test_a_cost_that_meets_the_bound_is_optimal():
    """Tests a ring that launch order lays out without loss: the gap is 0 and no search is needed."""
    problem = Problem(tasks=task_graph_of(nx.cycle_graph(8)), topology=build("torus:8"), rule="one-to-one")
    report = solve(problem, solver="identity")
    assert (report.cost, report.lower_bound, report.gap, report.optimal) == (8, 8, 0, True)


def test_the_strong_bound_gives_way_where_pairs_are_too_many(path_problem, monkeypatch):
    """Tests the limits of both ascents, and a problem all of whose tasks are pinned."""
    monkeypatch.setattr(bounds, "PAIR_CELLS", 0)
    monkeypatch.setattr(bounds, "SPECTRAL_SLOTS", 0)
    places = launch_order(path_problem)
    assert strong_bound(path_problem, places, iterations=4) == lower_bound(path_problem, places)
    fixed = replace(path_problem, pinned=path_problem.mapping(places))
    assert strong_bound(fixed, places, iterations=4) == lower_bound(fixed, places) == 7


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_rearrangement_brackets_the_traffic_of_every_task(rule, random_problem, random_feasible):
    """Tests least <= traffic cost of a task <= worst on random feasible mappings."""
    for seed in range(20):
        problem = random_problem(rule, seed)
        places = random_feasible(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        local = window.local(places)
        away = window.distance[np.ix_(local, local)]
        traffic = window.traffic.toarray()
        paid = (traffic * away).sum(axis=1) + (traffic * away).sum(axis=0)
        row = np.arange(len(local)), local
        assert (rearrangement_bound(window, worst=False)[row] <= paid + 1e-9).all()
        assert (rearrangement_bound(window, worst=True)[row] >= paid - 1e-9).all()


def test_the_bound_of_the_path_problem_is_its_optimum(path_problem):
    """Tests a bound that can be worked out by hand: every pair at least 1 apart, one of them 2."""
    assert lower_bound(path_problem, launch_order(path_problem)) in (6.0, 7.0)


@pytest.mark.slow
def test_the_bound_holds_where_slots_are_too_many_to_match(random_problem, brute_force, monkeypatch):
    """Tests capacity problems whose assignment onto slots is left out."""
    monkeypatch.setattr(bounds, "SLOT_CELLS", 0)
    for seed in range(10):
        problem = random_problem("capacity", seed, tasks=5, nodes=5)
        optimum, places = brute_force(problem)
        for cells in (1 << 22, 0):
            monkeypatch.setattr(bounds, "DENSE_CELLS", cells)
            assert fits(lower_bound(problem, places), optimum)


def test_whole_numbers_round_the_bound_up(path_problem):
    """Tests that whole volumes and distances give a whole bound."""
    assert lower_bound(path_problem, np.arange(3)).is_integer()


def test_every_edge_of_a_stencil_costs_at_least_a_hop(monkeypatch):
    """Tests the bound for large problems: 112 edges of an 8 x 8 stencil on a torus, which a mapping reaches."""
    problem = Problem(tasks=task_graph_of(nx.grid_2d_graph(8, 8)), topology=build("torus:8x8"), rule="one-to-one")
    assert lower_bound(problem, launch_order(problem)) == 112
    monkeypatch.setattr(bounds, "DENSE_CELLS", 0)
    assert lower_bound(problem, launch_order(problem)) == 112


def test_the_bound_for_large_problems_holds_on_dense_metrics(random_problem, brute_force, monkeypatch):
    """Tests a matrix whose diagonal is larger than other entries, where sharing a node is dear."""
    tasks = TaskGraph(names=("a", "b", "c"), traffic=np.ones((3, 3)) - np.eye(3))
    table = np.array([[5.0, 1.0], [1.0, 5.0]])
    nodes = Topology(names=("x", "y"), metric=DenseMetric(table), slots=np.array([2, 2]))
    problem = Problem(tasks=tasks, topology=nodes, rule="capacity")
    monkeypatch.setattr(bounds, "DENSE_CELLS", 0)
    assert lower_bound(problem, launch_order(problem)) <= brute_force(problem)[0]


def test_bug_a_strong_bound_that_is_stopped_at_once_is_the_default_one(random_problem):
    """Tests that ascents which have found nothing yet say nothing."""
    problem = random_problem("capacity", 1, tasks=6, nodes=3, hardware="torus", whole=True)
    places = launch_order(problem)
    assert strong_bound(problem, places, iterations=6, stop=lambda: True) >= lower_bound(problem, places)
