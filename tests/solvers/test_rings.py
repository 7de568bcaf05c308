"""Tests of the search for the order of a ring, and of the objective `ring`."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import tiger
from tiger.bounds.ring import bound_ring
from tiger.errors import InputError
from tiger.mapping.mapper import solve
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.ring import find_ring
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.objectives.cost import cost_of, violations
from tiger.objectives.ring import SlowestHop
from tiger.solvers.rings.ring_order import RingOrder, RingParams, applies
from tiger.solvers.rings.ring_set import RingSet


def problem_of(traffic, away, slots=None, rule="one-to-one", memory=(None, None)):
    """Return the problem of a matrix of traffic on a matrix of distances, with the memory of tasks and of nodes."""
    size, nodes = len(traffic), len(away)
    names, traffic = tuple(f"t{k}" for k in range(size)), sp.csr_array(np.asarray(traffic, float))
    tasks = TaskGraph(names=names, traffic=traffic, memory=memory[0])
    metric, slots = DenseMetric(np.asarray(away, float)), () if slots is None else slots
    topology = Topology(names=tuple(f"n{k}" for k in range(nodes)), metric=metric, slots=slots, memory=memory[1])
    return Problem(tasks=tasks, topology=topology, rule=rule)


def ring_traffic(order, there, back):
    """Return the traffic of a ring through tasks in an order."""
    traffic = np.zeros((len(order), len(order)))
    traffic[order, np.roll(order, -1)], traffic[np.roll(order, -1), order] = there, back
    return traffic


def random_problem(rng, *, alike):
    """Return a small problem whose tasks form a ring."""
    size, nodes = rng.integers(3, 6), rng.integers(2, 6)
    volumes = rng.integers([1, 0], [4, 3], size=(1 if alike else size, 2)).T
    away = rng.integers(0, 6, size=(nodes, nodes))
    away = away if alike and not rng.integers(2) else np.minimum(away, away.T)
    np.fill_diagonal(away, 0)
    slots = rng.integers(1, 4, nodes)
    shared = nodes < size or rng.integers(2)
    slots = slots if shared else np.ones(nodes, int)
    memory = np.full(size, rng.integers(0, 3)), rng.integers(0, 6, nodes)
    slots = np.minimum(slots, memory[1] // memory[0][0]) if memory[0][0] else slots
    if slots.sum() < size:
        return random_problem(rng, alike=alike)
    return problem_of(
        ring_traffic(rng.permutation(size), *volumes), away, slots, "capacity" if shared else "one-to-one", memory
    )


def mappings(problem):
    """Return every feasible mapping, of those that no node has too few slots for."""
    size, nodes = problem.tasks.size, np.arange(problem.topology.size)
    every = np.indices((len(nodes),) * size).reshape(size, -1).T
    crowded = ((every[:, :, None] == nodes).sum(axis=1) > problem.topology.slots).any(axis=1)
    return [places for places in every[~crowded] if not violations(problem, places)]


def ways(problem, places):
    """Return the slowest hop and the sum of all hops, written out."""
    traffic = problem.tasks.traffic.toarray()
    away = problem.topology.metric.between(places[:, None], places[None, :])
    return (traffic * away).max(), (traffic * away).sum()


@pytest.mark.parametrize("seed", range(20))
def test_small_rings_are_solved_and_bounded(seed):
    """Against all mappings: the least sum, the least slowest hop and the least sum with that, and both bounds."""
    problem = random_problem(np.random.default_rng(seed), alike=seed % 2)
    everything = [(ways(problem, places), places) for places in mappings(problem)]
    slowest, total = (min(values[k] for values, _ in everything) for k in (0, 1))
    bounds = bound_ring(problem)
    assert bounds.slowest <= slowest
    assert bounds.total <= total
    start = everything[0][1]
    assert SlowestHop(problem=problem).value(start) == ways(problem, start)[0]
    if applies(problem):
        shortest = RingOrder().search(problem, start, effort=1, seed=0, stop=bool)
        fastest = RingOrder(slowest=0.0).search(problem, start, effort=1, seed=0, stop=bool)
        assert shortest.proved
        assert fastest.proved
        assert ways(problem, shortest.places)[1] == total
        assert ways(problem, fastest.places) == min(values for values, _ in everything)
        # Without the table, local search finds the same here.
        local = RingOrder(params=RingParams(slots=1, kicks=200))
        assert ways(problem, local.search(problem, start, effort=1, seed=0, stop=bool).places)[1] <= 1.5 * total
        local = RingOrder(slowest=0.0, params=RingParams(slots=1, kicks=200))
        assert ways(problem, local.search(problem, start, effort=1, seed=0, stop=bool).places)[0] <= 2 * slowest


@pytest.mark.parametrize("slowest", [None, 0.0])
def test_local_search_keeps_to_the_seats(slowest):
    """Tests that mappings by local search are feasible, as good as the start, and the same for the same seed."""
    rng = np.random.default_rng(0)
    away = rng.random((14, 14)) + np.tri(14)
    np.fill_diagonal(away, 0)
    problem = problem_of(ring_traffic(rng.permutation(20), 2, 1), away, rng.integers(0, 4, 14) + 1, "capacity")
    slots = np.repeat(np.arange(14), problem.topology.slots)
    start = rng.permutation(slots)[:20]
    brief = RingOrder(slowest=slowest, params=RingParams(kicks=300))
    found = [brief.search(problem, start, effort=1, seed=3, stop=bool).places for _ in range(2)]
    assert (found[0] == found[1]).all()
    assert not violations(problem, found[0])
    assert ways(problem, found[0])[slowest is None] < ways(problem, start)[slowest is None]


def test_stopped_at_once_it_returns_the_start():
    """Tests the search with no time left."""
    problem = tiger_problem(32)
    start = np.arange(32)
    for slowest in (None, 0.0):
        found = RingOrder(slowest=slowest).search(problem, start, effort=1, seed=0, stop=lambda: True)
        assert (found.places == start).all()


def tiger_problem(size):
    """Return a ring on nodes at random in the plane."""
    points = np.random.default_rng(1).random((size, 2))
    return problem_of(
        ring_traffic(np.arange(size), 1, 0), np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    )


def test_rings_in_the_plane_reach_the_bound_on_the_slowest_hop():
    """Tests 16 nodes against the bound by biconnected components, and the sum against the search for costs alone."""
    report = solve(tiger_problem(16), objective="ring", seed=1)
    assert report.objective.value == report.objective.bound < report.objective.baseline
    assert report.optimal
    assert report.cost < 1.06 * solve(tiger_problem(16), seed=1).cost


@pytest.mark.parametrize(
    "traffic",
    [
        np.zeros((3, 3)),
        np.eye(3),
        [[0, 1], [1, 0]],
        ring_traffic(np.arange(5), 1, 0) + np.diag([1, 1, 0], 2),
        np.kron(np.eye(2), [[0, 1], [1, 0]]),
        np.diag(np.ones(4), 1),
    ],
)
def test_other_graphs_are_no_rings(traffic):
    """Tests no traffic, self-loops, a pair, a chord, two pairs and a path."""
    problem = problem_of(traffic, np.ones((6, 6)))
    assert find_ring(problem) is None
    assert bound_ring(problem) == (0, 0)
    with pytest.raises(InputError, match="traffic that forms rings of three tasks or more"):
        solve(problem, objective="ring")


def two_rings(rng, away, slots):
    """Return the problem of rings of three and of four tasks, of other volumes, whose tasks are in any order."""
    traffic = np.zeros((7, 7))
    tasks = rng.permutation(7)
    for ring, volume in ((tasks[:3], 2), (tasks[3:], 1)):
        traffic[ring, np.roll(ring, -1)] = volume
    return problem_of(traffic, away, slots, "capacity")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_several_rings_are_bounded_and_improved(seed):
    """Tests two rings against all mappings: bounds hold, and the search never falls behind where it starts."""
    rng = np.random.default_rng(seed)
    away = np.minimum(*(lambda table: (table, table.T))(rng.integers(1, 6, size=(4, 4))))
    np.fill_diagonal(away, 0)
    problem = two_rings(rng, away, np.array([2, 2, 2, 2]))
    feasible = mappings(problem)
    everything = [ways(problem, places) for places in feasible]
    bounds, start = bound_ring(problem), feasible[0]
    assert bounds.slowest <= min(everything)[0]
    assert bounds.total <= min(total for _, total in everything)
    found = RingSet(slowest=bounds.slowest).search(problem, start, effort=1, seed=0, stop=bool).places
    assert not violations(problem, found)
    assert ways(problem, found) <= ways(problem, start)


@pytest.mark.parametrize("slots", [16, 1])
def test_each_of_several_rings_is_ordered_on_its_own_places(slots):
    """Tests two rings that start in a random order in the plane: shorter hops, and the same once more."""
    rng = np.random.default_rng(2)
    points = rng.random((16, 2))
    away = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    problem, start = problem_of(np.kron(np.eye(2), ring_traffic(np.arange(8), 1, 0)), away), rng.permutation(16)
    search = RingSet(slowest=0.0, params=RingParams(slots=slots))
    found = [search.search(problem, start, effort=1, seed=3, stop=bool).places for _ in range(2)]
    assert (found[0] == found[1]).all()
    assert {*found[0][:8]} == {*start[:8]}
    assert ways(problem, found[0]) < ways(problem, start)
    assert (search.search(problem, start, effort=1, seed=3, stop=lambda: True).places == start).all()


def test_rings_of_a_job_are_ordered_with_proof():
    """Tests four rings of eight in four racks: one rack each, and its hosts in the order of their switches."""
    report = tiger.assign("++".join(["ring:8"] * 4), "tree:4x2x4@1,3,30", objective="ring", seed=1)
    assert (report.objective.value, report.optimal) == (3, True)
    assert report.cost == report.lower_bound == 4 * (6 * 1 + 2 * 3)


def test_rings_on_parts_that_do_not_reach_each_other_are_bounded():
    """Tests rings of three and of four hosts, of which only the smaller one could be on the smaller part."""
    graph = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(4))
    report = tiger.assign("ring:4++ring:3", graph, objective="ring", seed=1)
    assert (report.objective.value, report.objective.bound, report.optimal) == (1, 1, True)
    assert report.cost == report.lower_bound == 7


def test_rings_take_free_hosts_and_no_more():
    """Tests two rings on five hosts of two slots: what one leaves free, the other may take."""
    report = tiger.assign("ring:4++ring:4*2", "grid:5", slots=2, objective="ring", solver="identity")
    better = tiger.assign("ring:4++ring:4*2", "grid:5", slots=2, objective="ring", seed=1)
    assert better.feasible
    assert better.objective.bound <= better.objective.value <= report.objective.value


@pytest.mark.parametrize("stated", [{"pinned": {"0": "4,1"}}, {"forbidden": [("0", "0,0")]}])
def test_terms_of_rings_are_kept(stated):
    """Tests that rings with terms are mapped by weighted hops alone."""
    report = tiger.assign("ring:4++ring:4", "grid:5x2", objective="ring", seed=1, **stated)
    assert report.feasible
    assert report.objective.value <= 2


def test_pins_are_kept():
    """Tests that rings with pinned tasks are mapped by weighted hops, since their tasks are not alike."""
    report = tiger.assign(nx.cycle_graph(9), "grid:3x4", pinned={"0": "0,0", "4": "2,3"}, objective="ring", seed=1)
    assert report.feasible
    assert report.objective.value <= 2


@pytest.mark.slow
def test_a_tree_and_rails_are_ordered_with_proof():
    """Tests eight machines of four devices in shuffled order: two crossings a machine, and no more."""
    machines = np.random.default_rng(0).permutation(32) // 4
    for across in (10.0, 4.0):
        rail = np.random.default_rng(1).permutation(32) % 4 if across == 4 else np.zeros(32, int)
        rail = np.argsort(np.argsort(machines * 32 + np.arange(32))) % 4 if across == 4 else rail
        away = np.where(machines[:, None] == machines, 1.0, across + (rail[:, None] != rail))
        np.fill_diagonal(away, 0)
        report = solve(problem_of(ring_traffic(np.arange(32), 1, 0), away), objective="ring", seed=1)
        assert report.objective.value == report.objective.bound == across
        assert report.cost == report.lower_bound == 24 + 8 * across
        assert report.optimal
        assert cost_of(report_problem := problem_of(ring_traffic(np.arange(32), 1, 0), away), places(report)).total == (
            report.cost
        )
        assert not violations(report_problem, places(report))


def places(report):
    """Return the node indices of a report's mapping."""
    return np.array([int(report.mapping[f"t{k}"][1:]) for k in range(32)])


def test_bug_tasks_without_memory_take_every_slot():
    """Four tasks of 0 bytes fit on two nodes with 2 slots and 1 byte each."""
    memory = np.zeros(4, int), np.ones(3, int)
    problem = problem_of(
        ring_traffic(np.arange(4), 1, 0), [[0, 1, 9], [1, 0, 9], [9, 9, 0]], [2, 2, 2], "capacity", memory
    )
    assert solve(problem).cost == 2


def test_bug_a_ring_beside_messages_to_itself_was_proved_without_these():
    """Tests that a task which sends itself more than to the next goes where that costs least, and not into the ring."""
    traffic = ring_traffic(np.arange(3), 1, 0) + np.diag([10, 0, 0])
    report = solve(problem_of(traffic, [[1, 1, 1, 3], [1, 1, 1, 3], [1, 1, 1, 3], [3, 3, 3, 0]]), solver="search")
    assert report.lower_bound <= report.cost == 7


def test_bug_the_sum_counted_for_nothing_where_the_slowest_hop_was_proved_before():
    """A greedy mapping meets the bound on the slowest hop, and its sum of 9 was left as it was."""
    away = [[0, 2, 3, 3, 1], [2, 0, 3, 1, 1], [3, 3, 0, 3, 1], [3, 1, 3, 0, 1], [1, 1, 1, 1, 0]]
    report = solve(problem_of(ring_traffic(np.arange(5), 1, 0), away), solver="greedy", objective="ring")
    assert (report.objective.value, report.cost) == (3, 8)
