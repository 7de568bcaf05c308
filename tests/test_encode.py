"""Tests of the QUBO: its energy is the cost, and its ground state is the optimum."""

import numpy as np
import pytest

from tiger.decode import decode
from tiger.encode import COUPLER_LIMIT, coupler_count, encode
from tiger.model.window import Block, fold, whole
from tiger.objective import cost_of
from tiger.penalties import Penalties, safe_penalties

RULES = ("one-to-one", "levels", "capacity")


def energy_of(window, places):
    """Return the energy of a mapping at the safe bound, slacks filled in; of no variables it is the offset."""
    qubo = encode(window)
    bqm = qubo.bqm(safe_penalties(window))
    return bqm.energies((qubo.sample(window.local(places)), range(qubo.size)))[0] if qubo.size else bqm.offset


def draws(random_problem, random_feasible, rule, count, **options):
    """Yield problems with five random feasible mappings each, `count` mappings in all."""
    rng, seed = np.random.default_rng(7), 0
    while count > 0:
        problem = random_problem(rule, seed, **options)
        seed += 1
        mappings = [random_feasible(problem, rng) for _ in range(5)]
        if mappings[0] is not None:
            count -= 5
            yield problem, mappings


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("limits", [{}, {"pins": True, "forbidden": True}], ids=["free", "limited"])
def test_energy_is_the_cost_of_every_feasible_mapping(rule, limits, random_problem, random_feasible):
    """Tests |energy - cost| <= 1e-9 max(1, |cost|) on 1,000 random mappings for each rule, with limits and without."""
    for problem, mappings in draws(random_problem, random_feasible, rule, 1000, memory=rule == "capacity", **limits):
        window = fold(problem, whole(problem), mappings[0])
        qubo = encode(window)
        bqm = qubo.bqm(safe_penalties(window))
        samples = np.array([qubo.sample(window.local(places)) for places in mappings])
        energies = bqm.energies((samples, range(qubo.size))) if qubo.size else [bqm.offset] * 5
        for energy, places in zip(energies, mappings, strict=True):
            cost = cost_of(problem, places).total
            assert abs(energy - cost) <= 1e-9 * max(1.0, abs(cost))


@pytest.mark.parametrize("rule", RULES)
def test_energy_of_a_window_is_the_cost_of_the_full_mapping(rule, random_problem, random_feasible):
    """Tests the law on blocks of three tasks, everything else folded into biases and offset."""
    rng = np.random.default_rng(3)
    for problem, (places, *_) in draws(random_problem, random_feasible, rule, 500, pins=True, forbidden=True):
        tasks = np.sort(rng.permutation(problem.free)[:3])
        window = fold(problem, Block(tasks=tasks, nodes=problem.topology.hosts), places)
        assert energy_of(window, places) == pytest.approx(cost_of(problem, places).total, rel=1e-9, abs=1e-9)


def ground(problem, places):
    """Return the lowest energy of a whole problem, its samples, and the QUBO, by complete enumeration."""
    window = fold(problem, whole(problem), places)
    qubo = encode(window)
    samples = (np.arange(1 << qubo.size)[:, None] >> np.arange(qubo.size) & 1).astype(np.int8)
    energies = qubo.bqm(safe_penalties(window)).energies((samples, range(qubo.size)))
    return energies.min(), samples[energies <= energies.min() + 1e-9], qubo


SMALL = {
    "one-to-one": [{"tasks": 4, "nodes": 4}, {"tasks": 3, "nodes": 5}, {"tasks": 3, "nodes": 4, "forbidden": True}],
    "levels": [
        {"tasks": 5, "nodes": 3},
        {"tasks": 4, "nodes": 4, "pins": True},
        {"tasks": 5, "nodes": 3, "forbidden": True},
    ],
    "capacity": [{"tasks": 4, "nodes": 2}, {"tasks": 3, "nodes": 3}, {"tasks": 4, "nodes": 2, "forbidden": True}],
}


@pytest.mark.parametrize("rule", RULES)
def test_ground_state_is_feasible_and_optimal_at_the_safe_bound(rule, random_problem, brute_force):
    """Tests, on 200 random instances of at most 16 bits, that the states of least energy are optimal mappings."""
    count = seed = 0
    while count < 200:
        seed += 1
        problem = random_problem(rule, seed, whole=True, **SMALL[rule][seed % 3])
        optimum = brute_force(problem)
        if optimum is None or encode(fold(problem, whole(problem), optimum[1])).size > 16:
            continue
        count += 1
        lowest, samples, qubo = ground(problem, optimum[1])
        assert lowest == pytest.approx(optimum[0], abs=1e-6), seed
        assert decode(qubo, samples).feasible.all(), seed


@pytest.mark.parametrize("rule", RULES)
def test_the_safe_bound_is_not_idle(rule, random_problem, brute_force):
    """Tests that at a twentieth of it ground states are no mappings any more, on some of 20 instances."""
    broken = 0
    for seed in range(20):
        problem = random_problem(rule, seed, whole=True, **SMALL[rule][0])
        _, places = brute_force(problem)
        window = fold(problem, whole(problem), places)
        qubo = encode(window)
        if 0 < qubo.size <= 16:
            samples = (np.arange(1 << qubo.size)[:, None] >> np.arange(qubo.size) & 1).astype(np.int8)
            energies = qubo.bqm(safe_penalties(window).scaled(0.05)).energies((samples, range(qubo.size)))
            broken += not decode(qubo, samples[[energies.argmin()]]).feasible[0]
    assert broken


def test_square_one_to_one_needs_half_the_penalty(random_problem, brute_force):
    """Tests that tasks that fill the nodes get the equality on both sides, at half of the largest rearranged cost."""
    problem = random_problem("one-to-one", 1, tasks=4, nodes=4, hardware="grid")
    window = fold(problem, whole(problem), np.arange(4))
    penalties = safe_penalties(window)
    assert encode(window).filled
    assert penalties.exclusive == penalties.one_hot[0] == penalties.one_hot[3]


def test_variables_are_only_made_for_allowed_pairs(path_problem):
    """Tests that the path problem has 9 bits, and 6 couplers per constraint family."""
    qubo = encode(fold(path_problem, whole(path_problem), np.arange(3)))
    assert (qubo.size, len(qubo.same_task.row), len(qubo.clash.row)) == (9, 9, 9)
    assert len(qubo.cost.row) == 3 * 6


def test_couplers_never_exceed_the_count(random_problem):
    """Tests that the estimate taken before building is an upper bound."""
    for seed in range(60):
        problem = random_problem(RULES[seed % 3], seed, forbidden=True, memory=seed % 3 == 2)
        window = fold(problem, whole(problem), problem.pins)
        assert encode(window).couplers <= coupler_count(window)


def test_a_model_above_the_coupler_limit_is_refused(random_problem, monkeypatch):
    """Tests that nothing is built above the limit."""
    problem = random_problem("one-to-one", 1)
    window = fold(problem, whole(problem), problem.pins)
    monkeypatch.setattr("tiger.encode.COUPLER_LIMIT", coupler_count(window) - 1)
    with pytest.raises(ValueError, match="couplers"):
        encode(window)
    assert COUPLER_LIMIT == 5_000_000


def test_scaled_penalties_keep_their_proportions():
    """Tests that a scale is relative to the safe bound, however often it is changed."""
    penalties = Penalties(one_hot=np.array([2.0, 4.0]), exclusive=4.0, capacity=8.0)
    again = penalties.scaled(0.5).scaled(0.25)
    assert again.one_hot.tolist() == [0.5, 1.0]
    assert (again.exclusive, again.capacity, again.scale) == (1.0, 2.0, 0.25)
