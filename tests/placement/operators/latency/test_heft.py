"""Tests of devices chosen as operators are listed."""

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tests.placement.operators.lattices import interpret, is_within, lattice
from tiger.model.arrays import IntArray
from tiger.placement.operators.latency import heft as module
from tiger.placement.operators.latency import list_scheduling
from tiger.placement.operators.latency.heft import place_by_heft
from tiger.placement.operators.latency.list_scheduling import make_jobs
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.greedy import spread
from tiger.training.models.operators import Operators


def place_listed(terms: Terms, start: IntArray) -> IntArray:
    """Return the devices of groups that begin from reservations."""
    return place_by_heft(terms, make_jobs(terms), start, 0.0)


def test_what_is_independent_runs_side_by_side() -> None:
    """Two operators without an edge, each on a device of its own."""
    two = Operators(names=("a", "b"), seconds=np.ones(2), source=np.array([], int), target=np.array([], int))
    assert sorted(place_listed(Terms.from_operators(two, cluster("aa"), {}), np.zeros(2, np.int64)).tolist()) == [0, 1]


def test_a_chain_stays_where_it_began() -> None:
    """Messages would only cost."""
    assert len(set(place_listed(lattice(1, 5, "aa"), np.array([0, 1, 0, 1, 0])).tolist())) == 1


def test_a_chain_moves_on_when_memory_is_full() -> None:
    """Three of six on each device, by reservations that change places."""
    place = place_listed(lattice(1, 6, "aa", 3.0), np.array([0, 1, 0, 1, 0, 1]))
    assert np.bincount(place).tolist() == [3, 3]
    assert len(set(place[:3].tolist())) == 1


@pytest.mark.parametrize("seed", range(8))
def test_all_groups_find_room(seed: int) -> None:
    """However tight, from reservations within memory."""
    terms = draw_terms(seed)
    start = spread(terms)
    if start is not None:
        assert is_within(terms, place_listed(terms, start))


@pytest.mark.parametrize("seed", range(5))
def test_seats_without_room_to_spare_are_kept_or_exchanged(seed: int) -> None:
    """Every device is full to the last byte."""
    terms = lattice(4, 5, "aaaa", 5.0)
    start = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), 5))
    assert np.bincount(place_listed(terms, start)).tolist() == [5, 5, 5, 5]


def test_compiled_and_plain_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """On every device."""
    terms = lattice(4, 5, "aaaa", 6.0)
    start = np.repeat(np.arange(4), 5)
    compiled = place_listed(terms, start)
    interpret(monkeypatch, module, list_scheduling)
    assert (place_listed(terms, start) == compiled).all()
