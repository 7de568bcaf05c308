"""Tests of blocks that change places, as plain Python."""

import numpy as np
import pytest
import scipy.sparse as sp

from tiger.solvers.multilevel import quotient
from tiger.solvers.multilevel.quotient import Quotient


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    """Run the kernels as plain Python."""
    for name, kernel in vars(quotient).copy().items():
        if hasattr(kernel, "py_func"):
            monkeypatch.setattr(quotient, name, kernel.py_func)


def ring(size, size_class):
    """Return a ring of blocks that all but neighbours are numbered at random on a line of places."""
    order = np.random.default_rng(1).permutation(size)
    half = sp.coo_array((np.ones(size), (order, np.roll(order, 1))), shape=(size, size))
    flow = (half + half.T).tocsr()
    places = np.arange(size)
    away = np.abs(places[:, None] - places).astype(float)
    near = np.stack([(places - 1) % size, (places + 1) % size], axis=1)
    return Quotient(flow.indptr.astype(np.int64), flow.indices.astype(np.int64), flow.data, away, near, size_class)


def cost(most_regions, place):
    """Return twice the cost, by the definition."""
    rows = np.repeat(np.arange(len(place)), np.diff(most_regions.indptr))
    return float((most_regions.flow * most_regions.distances[place[rows], place[most_regions.indices]]).sum())


@pytest.mark.parametrize("width", [1, 3, 7])
def test_the_closest_places_are_listed(width):
    """Tests distances with many equals, of which the first behind a place come first."""
    away = np.random.default_rng(3).integers(1, 4, (8, 8)).astype(float)
    near = np.empty((8, width), np.int64)
    quotient.list_near(away, near)
    for p, found in enumerate(near.tolist()):
        behind = [(p + step) % 8 for step in range(1, 8)]
        assert found == sorted(behind, key=lambda q: away[p, q])[:width]


def test_the_change_is_that_of_the_cost():
    """Tests the sum of changes against the definition, hot, where most swaps are made."""
    most_regions, place, block_at = ring(10, np.zeros(10, np.int64)), np.arange(10), np.arange(10)
    before = cost(most_regions, place)
    change = quotient.anneal_quotient(most_regions, place, block_at, np.full(20, 10.0), 0)
    assert cost(most_regions, place) - before == pytest.approx(2 * change)
    assert (block_at[place] == np.arange(10)).all()


def test_cooling_unfolds_a_ring():
    """Tests that the ring ends near the best cost on a line, which is 2 (size - 1)."""
    most_regions, place, block_at = ring(8, np.zeros(8, np.int64)), np.arange(8), np.arange(8)
    quotient.anneal_quotient(most_regions, place, block_at, np.geomspace(4.0, 0.1, 300), 1)
    assert cost(most_regions, place) / 2 <= 16


def test_places_of_different_sizes_are_not_exchanged():
    """Tests that blocks stay within their sort, and those of sort -1 where they are."""
    size_class = np.array([0, 0, 0, 1, 1, 1, -1, -1])
    most_regions, place, block_at = ring(8, size_class), np.arange(8), np.arange(8)
    quotient.anneal_quotient(most_regions, place, block_at, np.full(20, 10.0), 2)
    assert (place[6:] == [6, 7]).all()
    assert set(place[:3]) == {0, 1, 2}
