"""Tests of decoding and repair."""

import numpy as np
import pytest

from tiger.feasibility.start import launch_order
from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import fold, whole
from tiger.objectives.cost import violations
from tiger.qubo.decode import decode, repair
from tiger.qubo.encode import encode

RULES = ("one-to-one", "levels", "capacity")


@pytest.mark.parametrize("rule", RULES)
def test_decoding_undoes_encoding(rule, random_problem, random_feasible):
    """Tests decode(encode(mapping)) == mapping, and that it counts as feasible."""
    for seed in range(12):
        problem = random_problem(rule, seed, forbidden=True, memory=True)
        places = random_feasible(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        qubo = encode(window)
        reads = decode(qubo, qubo.sample(window.local(places))[None, :])
        assert reads.feasible.tolist() == [True]
        assert (window.place(places, reads.local(0)) == places).all()


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_reads_are_feasible_exactly_where_nothing_is_violated(rule, random_problem):
    """Tests the flag on random one-hot samples against the violations of the mapping."""
    rng = np.random.default_rng(1)
    for seed in range(12):
        problem = random_problem(rule, seed, memory=True, hardware="grid")
        window = fold(problem, whole(problem), problem.pins)
        qubo = encode(window)
        local = np.array([rng.choice(np.flatnonzero(row)) for row in window.allowed])
        places = window.place(problem.pins, local)
        assert decode(qubo, qubo.sample(local)[None, :]).feasible[0] == (not violations(problem, places))


def test_a_task_on_two_nodes_or_none_is_not_feasible(path_problem):
    """Tests both ways to break a one-hot constraint."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    qubo = encode(window)
    samples = np.array([qubo.sample(np.arange(3))] * 3)
    samples[1, qubo.index[0, 0]] = 0
    samples[2, qubo.index[0, 1]] = 1
    assert decode(qubo, samples).feasible.tolist() == [True, False, False]


def test_shares_of_broken_constraints_by_hand(path_problem):
    """Tests four reads: all well, a missing, a also on y where b is, and c with b on y."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    qubo = encode(window)
    samples = np.array([qubo.sample(np.arange(3))] * 4)
    samples[1, qubo.index[0, 0]] = 0
    samples[2, qubo.index[0, 1]] = 1
    samples[3, qubo.index[2]] = [0, 1, 0]
    reads = decode(qubo, samples)
    assert reads.missed.tolist() == [0.5, 0.0, 0.0]
    assert reads.crowded.tolist() == [0.0, 0.5, 0.0]
    assert reads.feasible.tolist() == [True, False, False, False]


def make_window(load, memory, slots):
    """Return the window of tasks with memory and no traffic on a path of two nodes."""
    size = len(load)
    tasks = TaskGraph(names=tuple("abcdef"[:size]), traffic=np.zeros((size, size)), memory=np.array(load))
    line = GridMetric((2,), (False,))
    nodes = Topology(names=("x", "y"), metric=line, slots=np.array(slots), memory=np.array(memory))
    problem = Problem(tasks=tasks, topology=nodes, rule="capacity")
    return fold(problem, whole(problem), problem.pins)


def test_nodes_are_crowded_by_slots_or_by_memory():
    """Tests loads of 4, 3 and 1 on nodes of 2 slots and 7 and 4 bytes: all on x, b and c on y, a and c on x."""
    window = make_window([4, 3, 1], [7, 4], [2, 2])
    qubo = encode(window)
    samples = np.array([qubo.sample(np.array(local)) for local in ([0, 0, 0], [0, 1, 1], [1, 1, 0], [0, 1, 0])])
    reads = decode(qubo, samples)
    assert reads.crowded.tolist() == [0.25, 0.25]
    assert reads.feasible.tolist() == [False, True, False, True]
    assert not reads.missed.any()


@pytest.mark.parametrize("capacity", ["slack", "slack-free"])
def test_slack_bits_are_not_looked_at(capacity):
    """Tests that a mapping that fits is feasible however its slack is filled, coarsened or not there at all."""
    window = make_window([400, 300, 101], [701, 402], [3, 3])
    qubo = encode(window, capacity)
    samples = np.array([qubo.sample(np.array([0, 0, 1]))] * 2)
    samples[1, (qubo.index >= 0).sum() :] = 0
    assert decode(qubo, samples).feasible.tolist() == [True, True]


def test_what_coarsening_lets_pass_is_not_feasible():
    """Tests one byte too many, which the loads in units of 22 bytes do not show."""
    window = make_window([401, 300, 101], [700, 402], [3, 3])
    qubo = encode(window)
    assert decode(qubo, qubo.sample(np.array([0, 0, 1]))[None, :]).feasible.tolist() == [False]


def test_no_reads_break_nothing(path_problem):
    """Tests shares of nothing."""
    qubo = encode(fold(path_problem, whole(path_problem), np.arange(3)))
    reads = decode(qubo, np.zeros((0, 9), np.int8))
    assert (reads.missed.tolist(), reads.crowded.tolist(), reads.feasible.tolist()) == ([0] * 3, [0] * 3, [])


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["one-to-one", "levels"])
def test_repair_of_noise_is_feasible(rule, random_problem):
    """Tests that random bits become a feasible mapping under groups, pins and forbidden pairs included."""
    rng = np.random.default_rng(2)
    for seed in range(12):
        problem = random_problem(rule, seed, pins=True, forbidden=True)
        start = launch_order(problem)
        window = fold(problem, whole(problem), start)
        local = repair(window, rng.random(window.shape) < 0.3)
        assert not violations(problem, window.place(start, local))


def test_repair_under_capacities_is_feasible_or_says_so(random_problem):
    """Tests that a repaired mapping respects slots and memory, and that most reads can be repaired."""
    rng, found = np.random.default_rng(2), 0
    for seed in range(12):
        problem = random_problem("capacity", seed, memory=True)
        start = launch_order(problem)
        window = fold(problem, whole(problem), start)
        local = repair(window, rng.random(window.shape) < 0.3)
        if local is not None:
            found += 1
            assert not violations(problem, window.place(start, local))
    assert found > 7


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_repair_leaves_a_feasible_read_alone(rule, random_problem, random_feasible):
    """Tests that nothing is moved where nothing is wrong."""
    for seed in range(12):
        problem = random_problem(rule, seed, memory=True)
        places = random_feasible(problem, np.random.default_rng(seed))
        window = fold(problem, whole(problem), places)
        bits = np.zeros(window.shape, bool)
        bits[np.arange(len(bits)), window.local(places)] = True
        assert (repair(window, bits) == window.local(places)).all()


def test_repair_keeps_as_many_bits_as_can_be(path_problem):
    """Tests that two tasks on one node cost a single change: the third keeps its node."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    bits = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], bool)
    local = repair(window, bits)
    assert sorted(local.tolist()) == [0, 1, 2]
    assert bits[np.arange(3), local].sum() == 2


def test_repair_gives_up_where_memory_is_too_tight():
    """Tests that 4 + 4 on a node of 10 leaves no room for the last 3, although 4 + 3 + 3 would fit twice."""
    window = make_window([4, 4, 3, 3, 3, 3], [10, 10], [6, 6])
    wish = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1]], bool)
    assert repair(window, wish) is None
