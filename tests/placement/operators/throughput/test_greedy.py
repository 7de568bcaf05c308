"""Tests of simple placements within memory."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.lattices import interpret, is_within, lattice
from tiger.placement.operators.throughput import greedy
from tiger.placement.operators.throughput.greedy import fill, spread


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch, greedy)


def test_a_line_is_filled_in_turn() -> None:
    """Six groups of three seconds each, onto two of three devices."""
    place = fill(lattice(1, 6, "aaa"), np.arange(6), 2)
    assert place is not None
    assert place.tolist() == [0, 0, 0, 1, 1, 1]


def test_memory_ends_a_stage() -> None:
    """At two bytes, though all could be on one device."""
    place = fill(lattice(1, 6, "aaa", 2.0), np.arange(6), 1)
    assert place is not None
    assert place.tolist() == [0, 0, 1, 1, 2, 2]


def test_the_fastest_device_comes_first() -> None:
    """The second one; the others follow."""
    terms = lattice(1, 4, "aa")
    place = fill(replace(terms, work=terms.work * np.array([[2.0], [1.0]])), np.arange(4), 1)
    assert place is not None
    assert place.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("count", [1, 2])
def test_what_does_not_fit_is_no_placement(count: int) -> None:
    """Five bytes on devices of two."""
    terms = lattice(1, 5, "aa", 2.0)
    assert fill(terms, np.arange(5), count) is None
    assert spread(terms) is None


def test_spread_groups_balance_memory() -> None:
    """Of five, three at most on a device."""
    place = spread(lattice(1, 5, "aa"))
    assert place is not None
    assert sorted(np.bincount(place).tolist()) == [2, 3]


@pytest.mark.parametrize("seed", range(8))
def test_placements_keep_to_memory(seed: int) -> None:
    """And to where groups may go."""
    terms = draw_terms(seed)
    allowed = np.random.default_rng(seed).random(terms.allowed.shape) < 0.8
    terms = replace(terms, allowed=allowed)
    for place in (spread(terms), *(fill(terms, np.arange(terms.groups), k + 1) for k in range(terms.devices))):
        assert place is None or is_within(terms, place)
