"""Tests of the compiled moves, as plain Python against the definitions, and compiled against plain."""

import itertools

import networkx as nx
import numpy as np
import pytest

from tiger.formats.graphs import task_graph_of
from tiger.model.metrics import DENSE, DenseMetric, GridMetric, TreeMetric
from tiger.model.problem import Problem
from tiger.model.window import whole
from tiger.objectives.cost import cost_of, violations
from tiger.solvers.annealing import cost_changes, moves
from tiger.solvers.instance import differences, instance_of, mark_fixed, restrict, state_of
from tiger.topologies.spec import build

RULES = ("one-to-one", "levels", "capacity")
METRICS = (
    DenseMetric(np.arange(36.0).reshape(6, 6)),
    GridMetric((2, 3), (False, False), 2.5),
    GridMetric((3, 5), (True, False)),
    GridMetric((4, 2, 3), (True, True, True)),
    TreeMetric((2, 3, 2), (1.0, 4.0, 9.0)),
)


@pytest.fixture(autouse=True)
def _plain(plain):
    """Run this file's kernels as plain Python."""


@pytest.fixture
def drawn(random_problem, random_feasible):
    """Return a function that draws a problem, its arrays, and a feasible mapping."""

    def draw(rule, seed, **options):
        limits = {"pins": seed % 2 == 0, "forbidden": seed % 3 == 0, "memory": seed % 4 == 0}
        problem = random_problem(rule, seed, **(limits | options))
        return problem, instance_of(problem), random_feasible(problem, np.random.default_rng(seed))

    return draw


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_distances_are_those_of_the_metric(metric, drawn):
    """Tests every pair of nodes of every kind of metric."""
    arrays, (_, inst, _) = metric.arrays(), drawn("one-to-one", 1)
    away, row, col = differences(metric)
    tabled = inst._replace(distances=away, row=row, col=col)
    walked = inst._replace(row=row[:0], kind=arrays.kind, shape=arrays.shape, steps=arrays.steps)
    for p, q in itertools.product(range(metric.size), repeat=2):
        away = metric.between(np.int64(p), np.int64(q))
        assert cost_changes.distance(tabled, p, q) == away
        assert arrays.kind == DENSE or cost_changes.distance(walked, p, q) == pytest.approx(away)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_total_is_the_cost(rule, drawn):
    """Tests against the objective, asymmetric distances and self-loops included."""
    for seed in range(10):
        problem, inst, places = drawn(rule, seed)
        assert cost_changes.total(inst, places) == pytest.approx(cost_of(problem, places).total)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_cost_changes_are_differences_of_costs(rule, drawn):
    """Tests every relocation and every swap of a mapping, legal or not."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        before = cost_of(problem, places).total
        for t, q in itertools.product(range(problem.tasks.size), range(problem.topology.size)):
            other = places.copy()
            other[t] = q
            change = cost_of(problem, other).total - before
            assert cost_changes.move_change(inst, places, t, q, -1) == pytest.approx(change, abs=1e-7)
        for t, u in itertools.permutations(range(problem.tasks.size), 2):
            other = places.copy()
            other[[t, u]] = other[[u, t]]
            change = cost_of(problem, other).total - before
            assert cost_changes.swap_change(inst, places, t, u) == pytest.approx(change, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_moves_are_legal_exactly_where_nothing_is_violated(rule, drawn):
    """Tests every relocation and every swap within a group of a feasible mapping."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        state, fixed = state_of(problem, places), mark_fixed(inst)
        for t, q in itertools.product(problem.free.tolist(), range(problem.topology.size)):
            other = places.copy()
            other[t] = q
            if q != places[t]:
                assert moves.can_move(inst, state, t, q) == (not violations(problem, other))
        for t, u in itertools.permutations(problem.free.tolist(), 2):
            other = places.copy()
            other[[t, u]] = other[[u, t]]
            if places[t] != places[u] and problem.group_of[t] == problem.group_of[u]:
                assert moves.can_swap(inst, state, fixed, t, u) == (not violations(problem, other))


def test_pinned_tasks_do_not_swap(drawn):
    """Tests that a task that may not move is no partner, nor is one on the same node."""
    problem, inst, places = drawn("capacity", 2)
    state, fixed = state_of(problem, places), mark_fixed(inst)
    pinned = np.flatnonzero(problem.pins >= 0)
    assert len(pinned)
    for t, u in itertools.product(problem.free.tolist(), pinned.tolist()):
        assert not moves.can_swap(inst, state, fixed, t, u)
    assert not moves.can_swap(inst, state, fixed, int(problem.free[0]), int(problem.free[0]))


def same(problem, state, other):
    """Return whether two states agree on all that the rule keeps up, but for the order of slots at a node."""
    parts = ("place", "occupant", "occupied") if problem.groups else ("place", "occupant", "occupied", "used")
    plain = all(np.array_equal(getattr(state, part), getattr(other, part)) for part in parts)
    if problem.groups:
        return plain
    placed = np.array_equal(state.slot_task[state.slot_of], np.arange(problem.tasks.size))
    within = state.slot_of - state.slot_start[state.place]
    return bool(plain and placed and (within >= 0).all() and (within < state.occupied[state.place]).all())


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_state_follows_every_move(rule, drawn):
    """Tests long random walks against a state made anew, and that they stay feasible."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        if not inst.movable.size:
            continue
        state, fixed = state_of(problem, places), mark_fixed(inst)
        np.random.seed(seed)  # noqa: NPY002
        for _ in range(60):
            moves.try_move(inst, state, fixed, int(np.random.choice(inst.movable)), np.inf)  # noqa: NPY002
            assert not violations(problem, state.place)
            assert same(problem, state, state_of(problem, state.place))


@pytest.mark.parametrize("rule", RULES)
def test_descent_ends_where_no_move_gains(rule, drawn):
    """Tests all single moves of the result, and that another round changes nothing."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        state, fixed = state_of(problem, places), mark_fixed(inst)
        moves.descend(inst, state, fixed, 1000)
        assert not violations(problem, state.place)
        assert cost_changes.total(inst, state.place) <= cost_changes.total(inst, places) + 1e-9
        assert all(moves.best_move(inst, state, fixed, t, inst.tolerance)[1] < 0 for t in inst.movable)
        assert not moves.descend(inst, state, fixed, 1)


@pytest.mark.parametrize("rule", RULES)
def test_compiled_descent_is_the_plain_one(rule, drawn):
    """Tests the same path in both."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        if not inst.movable.size:
            continue
        from tiger.solvers.annealing.local import Polish

        state = state_of(problem, places)
        moves.descend(inst, state, mark_fixed(inst), 1000)
        assert (Polish(problem).improve(places, whole(problem), bool) == state.place).all()


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_annealing_keeps_the_cheapest_mapping(rule, drawn):
    """Tests over two calls that it is feasible, and as cheap as the start and the states they end in."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        if not inst.movable.size:
            continue
        state, fixed, best = state_of(problem, places), mark_fixed(inst), places.copy()
        costs = [cost_of(problem, places).total]
        for temperatures in ([np.inf, 5.0], [1.0, 0.0]):
            moves.anneal(inst, state, fixed, best, np.array(temperatures), 40, seed)
            costs.append(cost_of(problem, state.place).total)
        assert cost_of(problem, best).total <= min(costs) * (1 + 1e-9)
        assert not violations(problem, best)


@pytest.mark.parametrize("rule", RULES)
def test_kicks_never_end_dearer(rule, drawn):
    """Tests iterated local search from a local optimum, and its state."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        if not inst.movable.size:
            continue
        state, fixed = state_of(problem, places), mark_fixed(inst)
        moves.descend(inst, state, fixed, 1000)
        before = cost_changes.total(inst, state.place)
        moves.iterate_local_search(inst, state, state_of(problem, places), fixed, 8, seed)
        assert cost_changes.total(inst, state.place) <= before + 1e-9
        assert not violations(problem, state.place)
        assert same(problem, state, state_of(problem, state.place))


@pytest.mark.parametrize("rule", RULES)
def test_the_spread_is_of_legal_moves_and_moves_nothing(rule, drawn):
    """Tests sizes >= 0 and an untouched mapping."""
    problem, inst, places = drawn(rule, 1)
    state, found = state_of(problem, places), np.full(64, -1.0)
    moves.sample_moves(inst, state, mark_fixed(inst), found, 3)
    assert (found >= 0).all()
    assert (state.place == places).all()


@pytest.mark.parametrize("rule", RULES)
def test_proposals_are_hosts(rule, drawn):
    """Tests that switches are never drawn, wherever the neighbours lie."""
    problem, inst, places = drawn(rule, 5)
    state = state_of(problem, places)
    np.random.seed(1)  # noqa: NPY002
    drawn_nodes = {moves.propose(inst, state, t) for t in inst.movable for _ in range(50)}
    assert drawn_nodes <= set(problem.topology.hosts.tolist())
    assert len(drawn_nodes) > 1


def test_a_limited_instance_moves_its_own_tasks_alone(drawn):
    """Tests movable tasks and hosts of a block."""
    problem, inst, places = drawn("one-to-one", 1)
    part = restrict(inst, problem.free[:2], places[problem.free[:2]])
    state = state_of(problem, places)
    moves.descend(part, state, mark_fixed(part), 100)
    assert (np.delete(state.place, problem.free[:2]) == np.delete(places, problem.free[:2])).all()
    assert sorted(state.place[problem.free[:2]]) == sorted(places[problem.free[:2]])


def single_moves(problem, places):
    """Return the legal mappings that one relocation, or a swap within a group, of each free task leads to."""
    for t, q in itertools.product(problem.free.tolist(), problem.topology.hosts.tolist()):
        others = [u for u in problem.free.tolist() if places[u] == q and problem.group_of[u] == problem.group_of[t]]
        for moved in [[t], *([t, u] for u in others)]:
            other = places.copy()
            other[moved] = [q, places[t]][: len(moved)]
            if places[t] != q and not violations(problem, other):
                yield t, other


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_best_move_is_the_best_of_all(rule, drawn):
    """Tests its cost change against trying every single move of the task."""
    for seed in range(4):
        problem, inst, places = drawn(rule, seed)
        state, fixed, before = state_of(problem, places), mark_fixed(inst), cost_of(problem, places).total
        changes = {t: [0.0] for t in inst.movable.tolist()}
        for t, other in single_moves(problem, places):
            changes[t].append(cost_of(problem, other).total - before)
        for t, found in changes.items():
            change, node, _ = moves.best_move(inst, state, fixed, t, inst.tolerance)
            assert (change if node >= 0 else 0.0) == pytest.approx(min(found), abs=1e-7)


@pytest.mark.parametrize("size", [12, 300])
def test_the_same_seed_anneals_to_the_same_mapping(size):
    """Tests small and large problems, which keep the cheapest mapping at every step or every temperature."""
    problem = Problem(tasks=task_graph_of(nx.cycle_graph(size)), topology=build(f"ring:{size}"), rule="one-to-one")
    start = np.random.default_rng(3).permutation(size)
    ends = []
    for seed in (5, 5, 6):
        inst, state, best = instance_of(problem), state_of(problem, start), start.copy()
        moves.anneal(inst, state, mark_fixed(inst), best, np.array([2.0, 1.0, 0.0]), 200, seed)
        assert cost_changes.total(inst, best) < cost_changes.total(inst, start)
        ends.append(best.tolist())
    assert ends[0] == ends[1] != ends[2]


def test_rounds_of_descent_can_be_counted(path_problem):
    """Tests that no round tells of no gain, and that one round from the dearest mapping gains."""
    inst, state = instance_of(path_problem), state_of(path_problem, np.array([0, 2, 1]))
    assert not moves.descend(inst, state, mark_fixed(inst), 0)
    assert moves.descend(inst, state, mark_fixed(inst), 1)
    assert cost_changes.total(inst, state.place) == 7
