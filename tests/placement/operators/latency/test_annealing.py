"""Tests of moves judged by list scheduling."""

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.lattices import interpret, is_within, lattice
from tiger.placement.operators.latency import annealing, list_scheduling
from tiger.placement.operators.latency.annealing import anneal, cost_of, move_arrays
from tiger.placement.operators.latency.list_scheduling import make_jobs, makespan_s, renumber_by_list
from tiger.placement.operators.loads import loads_s
from tiger.solvers import generator
from tiger.solvers.generator import seed_state

BOTH = np.array([1.0, 10.0])


@pytest.mark.parametrize("seed", range(8))
def test_the_cost_is_that_of_makespan_and_load(seed: int) -> None:
    """Each by its weight."""
    terms = draw_terms(seed)
    place = np.random.default_rng(seed).integers(0, terms.devices, terms.groups)
    load = np.sum(loads_s(terms, place), axis=0).max()
    cost = cost_of(move_arrays(terms, renumber_by_list(make_jobs(terms)), place, BOTH), np.inf)
    assert cost == pytest.approx(makespan_s(terms, place) + 10 * load)


@pytest.mark.parametrize("seed", range(8))
def test_a_limit_that_holds_changes_nothing(seed: int) -> None:
    """And one that does not gives infinity, or the cost."""
    terms = draw_terms(seed)
    place = np.random.default_rng(seed).integers(0, terms.devices, terms.groups)
    room = move_arrays(terms, renumber_by_list(make_jobs(terms)), place, np.array([1.0, 0.0]))
    cost = cost_of(room, np.inf)
    assert cost_of(room, cost) == cost
    assert cost_of(room, cost / 2) in (cost, np.inf)


@pytest.mark.parametrize("seed", range(5))
def test_a_walk_keeps_the_best_within_memory(seed: int) -> None:
    """With the cost that it says, no more than that of the start."""
    terms = lattice(4, 5, "aaaa", 6.0)
    start = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), 5))
    jobs, best = make_jobs(terms), start.copy()
    room = move_arrays(terms, renumber_by_list(jobs), start, BOTH)
    cost = np.full(2, cost_of(room, np.inf))
    before = cost[1]
    anneal(jobs, room, np.geomspace(1.0, 0.01, 300), cost, best, seed_state(seed))
    assert cost[1] == pytest.approx(cost_of(move_arrays(terms, renumber_by_list(jobs), best, BOTH), np.inf))
    assert cost[1] < before
    assert is_within(terms, best)
    assert (room.held == np.bincount(room.place, terms.memory, 4)).all()


def test_full_devices_exchange_groups() -> None:
    """There is no room for anything else."""
    terms = lattice(4, 5, "aaaa", 5.0)
    start = np.random.default_rng(0).permutation(np.repeat(np.arange(4), 5))
    jobs, best = make_jobs(terms), start.copy()
    room = move_arrays(terms, renumber_by_list(jobs), start, BOTH)
    cost = np.full(2, cost_of(room, np.inf))
    anneal(jobs, room, np.full(300, 1.0), cost, best, seed_state(0))
    assert (room.place != start).any()
    assert np.bincount(room.place).tolist() == [5, 5, 5, 5]


def test_compiled_and_plain_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every move of a anneal."""
    terms = lattice(3, 3, "aac", 4.0)
    found = []
    for plain in (False, True):
        if plain:
            interpret(monkeypatch, annealing, generator, list_scheduling)
        start = np.zeros(9, np.int64) + 2
        jobs, best = make_jobs(terms), start.copy()
        room = move_arrays(terms, renumber_by_list(jobs), start, BOTH)
        anneal(jobs, room, np.full(60, 1.0), np.full(2, np.inf), best, seed_state(1))
        found.append(room.place.tolist())
    assert found[0] == found[1]
