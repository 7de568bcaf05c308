"""Tests of descent at the borders of devices."""

from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.lattices import interpret, is_within, lattice
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.throughput import descent, state
from tiger.placement.operators.throughput.descent import DescentParams, descend
from tiger.placement.operators.throughput.greedy import spread

SQUARES = DescentParams(doublings=(1,))


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch, descent, state)


@pytest.mark.parametrize("seed", range(6))
def test_the_mean_falls_within_memory(seed: int) -> None:
    """Of the squares, where these are what is asked for."""
    terms = draw_terms(seed)
    start = spread(terms)
    if start is not None:
        found = descend(terms, start, SQUARES, seed, never_stop)
        before, after = (np.square(np.sum(loads_s(terms, place), axis=0)).sum() for place in (start, found))
        assert after <= before * (1 + 1e-9)
        assert is_within(terms, found)


def test_a_group_on_the_wrong_side_comes_back() -> None:
    """The third of a row of eight, where messages cost the most."""
    terms = lattice(1, 8, "aa")
    terms = replace(terms, send=10 * terms.send)
    place = descend(terms, np.array([0, 0, 1, 0, 1, 1, 1, 1]), SQUARES, 0, never_stop)
    assert place.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_full_device_takes_no_group() -> None:
    """The first has not a byte left."""
    start = np.array([0, 1, 0, 0, 1, 1, 1, 1])
    assert (descend(lattice(1, 8, "aa", 3.0), start, DescentParams(), 0, never_stop) == start).all()


def test_stopping_leaves_the_start() -> None:
    """At once."""
    start = np.array([0, 1, 0, 0, 1, 1, 1, 1])
    assert (descend(lattice(1, 8, "aa"), start, DescentParams(), 0, lambda: True) == start).all()
