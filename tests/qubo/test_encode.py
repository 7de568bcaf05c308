"""Tests of the QUBO: its energy is the cost, and its ground state is the optimum."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.model.metrics import GridMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.window import Block, fold, whole
from tiger.objectives.cost import cost_of
from tiger.qubo.decode import decode
from tiger.qubo.encode import COUPLER_LIMIT, coupler_count, encode
from tiger.qubo.penalties import STEPS, safe_penalties, units

RULES = ("one-to-one", "levels", "capacity")
LIMITS = pytest.mark.parametrize("limits", [{}, {"pins": True, "forbidden": True}], ids=["free", "limited"])


def energies_of(qubo, penalties, samples):
    """Return the energies of samples; of no variables that is the offset."""
    bqm = qubo.bqm(penalties)
    return bqm.energies((np.array(samples), range(qubo.size))) if qubo.size else np.full(len(samples), bqm.offset)


def check_law(problem, window, mappings, size=1.0):
    """Check |energy - cost| <= 1e-9 max(size, |cost|), slacks filled in, at the safe bound and at what it aims at."""
    qubo, safe = encode(window), safe_penalties(window)
    samples = [qubo.sample(window.local(places)) for places in mappings]
    costs = np.array([cost_of(problem, places).total for places in mappings])
    for penalties in (safe, safe.aim):
        off = np.abs(energies_of(qubo, penalties, samples) - costs)
        assert (off <= 1e-9 * np.maximum(size, np.abs(costs))).all()


def draws(random_problem, random_feasible, rule, count, **options):
    """Yield problems with eight random feasible mappings each, `count` mappings in all."""
    rng, seed = np.random.default_rng(7), 0
    while count > 0:
        problem = random_problem(rule, seed, **options)
        seed += 1
        mappings = [random_feasible(problem, rng) for _ in range(8)]
        if mappings[0] is not None:
            count -= 8
            yield problem, mappings


@pytest.mark.parametrize("count", [48, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", RULES)
@LIMITS
def test_energy_is_the_cost_of_every_feasible_mapping(rule, limits, count, random_problem, random_feasible):
    """Tests |energy - cost| <= 1e-9 max(1, |cost|) on random mappings for each rule, with limits and without."""
    for problem, mappings in draws(random_problem, random_feasible, rule, count, memory=rule == "capacity", **limits):
        check_law(problem, fold(problem, whole(problem), mappings[0]), mappings)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_energy_of_a_window_is_the_cost_of_the_full_mapping(rule, random_problem, random_feasible):
    """Tests the law on blocks of three tasks, everything else folded into biases and offset."""
    rng = np.random.default_rng(3)
    for problem, mappings in draws(random_problem, random_feasible, rule, 40, pins=True, forbidden=True):
        for places in mappings:
            tasks = np.sort(rng.permutation(problem.free)[:3])
            check_law(problem, fold(problem, Block(tasks=tasks, nodes=problem.topology.hosts), places), [places])


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_energy_is_the_cost_on_disconnected_hardware(rule, random_problem, random_feasible):
    """Tests the law up to rounding of the distance that stands for no way at all, which has to cancel."""
    for problem, mappings in draws(random_problem, random_feasible, rule, 40, hardware="split", memory=True):
        window = fold(problem, whole(problem), mappings[0])
        check_law(problem, window, mappings, max(1.0, window.distance.max(initial=0.0) * window.traffic.sum()))


def enlarge(problem, unit, rng):
    """Return a problem whose memory is that of another in larger units, loads less up to a third of one."""
    short = rng.integers(0, max(unit // 3, 1), problem.tasks.size)
    load = np.maximum(problem.tasks.memory * unit - short, 0)
    return Problem(
        tasks=replace(problem.tasks, memory=load),
        topology=replace(problem.topology, memory=problem.topology.memory * unit),
        rule=problem.rule,
        pinned=problem.pinned,
        forbidden=problem.forbidden,
    )


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("unit", [1, 7, 10**3, 10**6 + 3, 10**12 + 7])
def test_energy_is_the_cost_whatever_the_unit_of_memory(rule, unit, random_problem, random_feasible):
    """Tests the law on loads without a common divisor in rooms of many units, which are coarsened."""
    rng, coarse = np.random.default_rng(5), 0
    limits = {"pins": unit % 2 == 0, "forbidden": unit % 3 == 0, "memory": True}
    for problem, mappings in draws(random_problem, random_feasible, rule, 40, **limits):
        large = enlarge(problem, unit, rng)
        window = fold(large, whole(large), mappings[0])
        check_law(large, window, mappings)
        coarse += sum(int((units(limit) > np.gcd.reduce(limit.load)).any()) for limit in window.capacities)
    assert (coarse > 0) == (rule == "capacity" and unit > 1)


@cache
def every(size):
    """Return all samples of so many bits."""
    return (np.arange(1 << size)[:, None] >> np.arange(size) & 1).astype(np.int8)


def ground(problem, places):
    """Return the lowest energy of a whole problem, its samples, and the QUBO, by complete enumeration."""
    window = fold(problem, whole(problem), places)
    qubo = encode(window)
    energies = energies_of(qubo, safe_penalties(window), every(qubo.size))
    return energies.min(), every(qubo.size)[energies <= energies.min() + 1e-9], qubo


SMALL = {
    "one-to-one": [{"tasks": 4, "nodes": 4}, {"tasks": 3, "nodes": 5}, {"tasks": 3, "nodes": 4, "forbidden": True}],
    "levels": [
        {"tasks": 5, "nodes": 3},
        {"tasks": 4, "nodes": 4, "pins": True},
        {"tasks": 5, "nodes": 3, "forbidden": True},
    ],
    "capacity": [{"tasks": 4, "nodes": 2}, {"tasks": 3, "nodes": 3}, {"tasks": 4, "nodes": 2, "forbidden": True}],
}


@pytest.mark.parametrize("instances", [18, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("rule", RULES)
def test_ground_state_is_feasible_and_optimal_at_the_safe_bound(rule, instances, random_problem, brute_force):
    """Tests, on random instances of at most 16 bits, that the states of least energy are optimal mappings."""
    count = seed = 0
    while count < instances:
        seed += 1
        problem = random_problem(rule, seed, whole=True, **SMALL[rule][seed % 3])
        optimum = brute_force(problem)
        if optimum is None or encode(fold(problem, whole(problem), optimum[1])).size > 16:
            continue
        count += 1
        lowest, samples, qubo = ground(problem, optimum[1])
        assert lowest == pytest.approx(optimum[0], abs=1e-6), seed
        assert decode(qubo, samples).feasible.all(), seed


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_the_safe_bound_is_not_idle(rule, random_problem, brute_force):
    """Tests that at a twentieth of it ground states are no mappings any more, on some of 8 instances."""
    broken = 0
    for seed in range(8):
        problem = random_problem(rule, seed, whole=True, **SMALL[rule][0])
        _, places = brute_force(problem)
        window = fold(problem, whole(problem), places)
        qubo = encode(window)
        if 0 < qubo.size <= 16:
            energies = energies_of(qubo, safe_penalties(window).scaled(0.05), every(qubo.size))
            broken += not decode(qubo, every(qubo.size)[[energies.argmin()]]).feasible[0]
    assert broken


@pytest.mark.slow
def test_variables_are_only_made_for_allowed_pairs(random_problem):
    """Tests that they are numbered row by row, and that forbidden and taken nodes get none."""
    for seed in range(12):
        problem = random_problem(RULES[seed % 3], seed, pins=True, forbidden=True)
        window = fold(problem, whole(problem), problem.pins)
        qubo = encode(window)
        slack = sum(budget.slack for budget in qubo.budgets)
        assert ((qubo.index >= 0) == window.allowed).all()
        assert qubo.index[window.allowed].tolist() == list(range(qubo.size - slack))
        assert qubo.bqm(safe_penalties(window)).num_variables == qubo.size


def test_interactions_by_hand(path_problem):
    """Tests 9 pairs of each kind of constraint and 6 of each pair of tasks, which centring makes linear on a path."""
    window = fold(path_problem, whole(path_problem), np.arange(3))
    qubo, safe = encode(window), safe_penalties(window)
    assert (qubo.size, qubo.budgets) == (9, ())
    assert qubo.bqm(safe).num_interactions == 9 + 9 + 3 * 6
    centred = qubo.bqm(replace(safe, centred=True))
    assert sum(abs(value) > 1e-9 for value in centred.quadratic.values()) == 9 + 9


def test_centring_makes_couplers_smaller(random_problem):
    """Tests the largest coupler between different tasks on different nodes, on a torus of eight nodes."""
    problem = random_problem("one-to-one", 5, hardware="torus", whole=True)
    window = fold(problem, whole(problem), problem.pins)
    qubo, safe = encode(window), safe_penalties(window)
    task, node = np.nonzero(qubo.index >= 0)
    largest = []
    for penalties in (safe, replace(safe, centred=True)):
        couplers = qubo.bqm(penalties).quadratic.items()
        largest.append(max(abs(v) for (a, b), v in couplers if task[a] != task[b] and node[a] != node[b]))
    assert largest[1] < 0.75 * largest[0]


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_dense_and_sparse_models_are_the_same(rule, random_problem, monkeypatch):
    """Tests a matrix and lists of couplers against each other, centred and not."""
    for seed in range(8):
        problem = random_problem(rule, seed, pins=True, forbidden=True, memory=True)
        window = fold(problem, whole(problem), problem.pins)
        qubo, safe = encode(window), safe_penalties(window)
        for penalties in (safe, safe.aim):
            models = []
            for size in (4096, 0):
                monkeypatch.setattr("tiger.qubo.encode.DENSE_SIZE", size)
                models.append(qubo.bqm(penalties))
            assert models[0].is_almost_equal(models[1], places=9)
            assert models[0].num_interactions == models[1].num_interactions


@pytest.mark.slow
def test_couplers_never_exceed_the_count(random_problem):
    """Tests that the estimate taken before building is an upper bound."""
    for seed in range(21):
        problem = random_problem(RULES[seed % 3], seed, forbidden=True, memory=seed % 3 == 2)
        window = fold(problem, whole(problem), problem.pins)
        assert encode(window).bqm(safe_penalties(window)).num_interactions <= coupler_count(window)


def test_a_model_above_the_coupler_limit_is_refused(random_problem, monkeypatch):
    """Tests that nothing is built above the limit."""
    problem = random_problem("one-to-one", 1)
    window = fold(problem, whole(problem), problem.pins)
    monkeypatch.setattr("tiger.qubo.encode.COUPLER_LIMIT", coupler_count(window) - 1)
    with pytest.raises(ValueError, match="couplers"):
        encode(window)
    assert COUPLER_LIMIT == 5_000_000


def make_window(loads, rooms, slots, traffic=0.0):
    """Return the window of tasks with memory on a path of nodes, each with the same slots."""
    count, size = len(loads), len(rooms)
    volumes = sp.csr_array(np.triu(np.full((count, count), float(traffic)), 1))
    tasks = TaskGraph(names=tuple("abcdefgh"[:count]), traffic=volumes, memory=np.array(loads))
    line = Topology(
        names=tuple(f"p{k}" for k in range(size)),
        metric=GridMetric((size,), (False,)),
        slots=np.full(size, slots),
        memory=np.array(rooms),
    )
    problem = Problem(tasks=tasks, topology=line, rule="capacity")
    return fold(problem, whole(problem), problem.pins)


@pytest.mark.parametrize(
    ("rooms", "slots", "slack"),
    [([6, 6], 3, [2, 2]), ([12, 6], 3, [2]), ([12, 12], 3, []), ([7, 6], 2, [2, 2, 2, 2])],
)
def test_only_nodes_that_can_overflow_have_slack(rooms, slots, slack):
    """Tests three loads of 4, 2 and 6: 3 units of 2 need 2 bits, 12 are enough for all, 2 slots need 2 bits."""
    assert [budget.slack for budget in encode(make_window([4, 2, 6], rooms, slots)).budgets] == slack


@pytest.mark.slow
def test_slack_bits_never_overshoot_the_room():
    """Tests that they add up to the room in units, rounded up by less than one, and are few."""
    for room in (*range(3, 70), 10**6, 2**50 + 1):
        window = make_window([room, room - 1, room // 2], [room, room], 3)
        unit = int(units(window.capacities[1])[0])
        for budget in encode(window).budgets:
            coins = np.round(budget.weight[-budget.slack :] / budget.weight[-budget.slack]).astype(int).tolist()
            sums = {0}
            for coin in coins:
                sums |= {coin + least for least in sums}
            assert sums == set(range(sum(coins) + 1)), room
            assert room - unit < sum(coins) * unit < room + unit, room
            assert len(coins) <= STEPS.bit_length(), room


def lowest(qubo, penalties, local):
    """Return the least energy of local places over all ways to set the slack bits."""
    slack = sum(budget.slack for budget in qubo.budgets)
    places = np.tile(qubo.sample(np.array(local))[: qubo.size - slack], (1 << slack, 1))
    return energies_of(qubo, penalties, np.hstack([places, every(slack)])).min()


def test_an_overflow_costs_at_least_what_a_clash_does():
    """Tests one unit of 2 too much on a node of 8, at the safe bound, with the best slack there is."""
    window = make_window([4, 6, 2], [8, 8], 3, traffic=1.0)
    qubo, safe = encode(window), safe_penalties(window)
    assert lowest(qubo, safe, [0, 1, 0]) == pytest.approx(window.cost(np.array([0, 1, 0])))
    over = lowest(qubo, safe, [0, 0, 1]) - window.cost(np.array([0, 0, 1]))
    assert over == pytest.approx(safe.exclusive[0])


def test_an_overflow_by_more_than_the_rounding_is_seen():
    """Tests rooms of 1,000 in units of 32: loads count as 15, 16 and 12, of which 32 fit at most."""
    window = make_window([500, 521, 399], [1000, 1000], 3, traffic=1.0)
    qubo, safe = encode(window), safe_penalties(window)
    rise = [lowest(qubo, safe, local) - window.cost(np.array(local)) for local in ([0, 1, 0], [0, 0, 1], [0, 0, 0])]
    assert rise[0] == pytest.approx(0.0, abs=1e-9)
    assert rise[1] == pytest.approx(0.0, abs=1e-9)
    assert rise[2] > safe.exclusive[0]


def test_bug_many_slots_on_a_node_are_not_forgotten():
    """Tests 40 tasks of which 36 fit on a node, as loads of 1 are too small to be rounded down."""
    tasks = TaskGraph(names=tuple(map(str, range(40))), traffic=sp.csr_array(np.triu(np.ones((40, 40)), 1)))
    line = Topology(names=("x", "y"), metric=GridMetric((2,), (False,)), slots=np.full(2, 36))
    problem = Problem(tasks=tasks, topology=line, rule="capacity")
    window = fold(problem, whole(problem), problem.pins)
    qubo, safe = encode(window), safe_penalties(window)
    fits, over = np.r_[np.zeros(36, int), np.ones(4, int)], np.zeros(40, int)
    assert lowest(qubo, safe, fits) == pytest.approx(window.cost(fits))
    assert lowest(qubo, safe, over) >= window.cost(over) + safe.exclusive[0]


@pytest.mark.parametrize("large", [10**3, 10**6, 10**9, 10**14])
def test_bug_energy_is_the_cost_where_loads_differ_by_magnitudes(large):
    """Tests three tasks of a few bytes, which alone fit on a node of 10 bytes and two slots, beside large ones."""
    window = make_window([1, 2, 3, large + 1, large, large], [10, 10 * large, 10 * large], 2, traffic=1.0)
    qubo, local = encode(window), np.array([0, 0, 1, 1, 2, 2])
    for penalties in (safe_penalties(window), safe_penalties(window).aim):
        energy = energies_of(qubo, penalties, [qubo.sample(local)])[0]
        assert energy == pytest.approx(window.cost(local), rel=1e-9)


def test_tasks_without_load_are_in_no_budget():
    """Tests that only tasks that take memory are counted, and a node without any room takes the others."""
    qubo = encode(make_window([0, 3, 2], [0, 4], 3))
    assert [(budget.node, len(budget.variable) - budget.slack) for budget in qubo.budgets] == [(1, 2)]
    assert (qubo.index >= 0).tolist() == [[True, True], [False, True], [False, True]]


def test_slack_free_has_no_slack_and_draws_to_balance():
    """Tests that of mappings that cost the same the balanced one has the least energy, which is its cost."""
    window = make_window([1, 1, 1, 1], [4, 4], 3)
    qubo = encode(window, "slack-free")
    locals_ = ([0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0])
    for penalties in (safe_penalties(window), safe_penalties(window).aim):
        energies = energies_of(qubo, penalties, [qubo.sample(np.array(local)) for local in locals_])
        assert (qubo.size, {budget.slack for budget in qubo.budgets}) == (8, {0})
        assert energies[0] == pytest.approx(window.cost(np.array(locals_[0])), abs=1e-9)
        assert energies[0] < energies[1] < energies[2]


def test_slack_free_shares_are_by_room():
    """Tests 12 bytes on rooms of 12 and 6, of which only the smaller can overflow: it is to hold a third of them."""
    budgets = encode(make_window([4, 4, 4], [12, 6], 3), "slack-free").budgets
    assert [(budget.node, budget.limit * 4) for budget in budgets] == [(1, 4.0)]
    assert budgets[0].weight.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("rule", RULES)
def test_a_window_without_tasks_is_a_constant(rule, random_problem, random_feasible):
    """Tests that the model of nothing has the cost of what lies outside as its offset."""
    problem = random_problem(rule, 3, memory=True)
    places = random_feasible(problem, np.random.default_rng(0))
    window = fold(problem, Block(tasks=problem.free[:0], nodes=problem.topology.hosts), places)
    check_law(problem, window, [places])
    assert encode(window).size == 0
