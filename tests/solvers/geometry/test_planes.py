"""Tests of reordering the planes of a grid of nodes."""

import itertools

import numpy as np

from tiger.model.metrics import GridMetric
from tiger.solvers.geometry import planes
from tiger.solvers.geometry.footprints import regions
from tiger.solvers.geometry.planes import arrange, reorder, runs


def line(count):
    """Return distances on a line."""
    return np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(float)


def price(flow, away, position):
    """Return the cost of an arrangement."""
    return float((flow * away[np.ix_(position, position)]).sum())


def test_small_arrangements_are_near_the_best():
    """Tests random flows: never above the identity, and often the best of all permutations."""
    hits = 0
    for seed in range(20):
        flow = np.random.default_rng(seed).integers(0, 9, (5, 5)).astype(float)
        flow = np.triu(flow, 1) + np.triu(flow, 1).T
        found = price(flow, line(5), arrange(flow, line(5)))
        least = min(price(flow, line(5), np.array(p)) for p in itertools.permutations(range(5)))
        assert least <= found <= price(flow, line(5), np.arange(5))
        hits += found == least
    assert hits >= 15


def test_neighbours_that_are_in_order_stay():
    """Tests a path on a line."""
    flow = (line(6) == 1).astype(float)
    assert arrange(flow, line(6)).tolist() == list(range(6))


def test_wide_arrangements_are_exchanged_alone():
    """Tests a path on a line of 20, two of its planes exchanged."""
    order = np.arange(20)
    order[[3, 15]] = 15, 3
    flow = (line(20) == 1).astype(float)[np.ix_(order, order)]
    assert price(flow, line(20), arrange(flow, line(20))) == 38


def test_rounds_are_limited(monkeypatch):
    """Tests that one round is one exchange: the middle of a path that lies on its ends."""
    monkeypatch.setattr(planes, "ROUNDS", 1)
    flow = np.zeros((4, 4))
    flow[0, 3] = flow[3, 0] = flow[1, 2] = flow[2, 1] = 1.0
    assert (arrange(flow, line(4)) != np.arange(4)).sum() == 2


def test_runs_are_permutations():
    """Tests reversals and shifts of every run of four."""
    assert all(sorted(row) == [0, 1, 2, 3] for row in runs(4).tolist())
    assert [3, 0, 1, 2] in runs(4).tolist()
    assert [0, 3, 2, 1] in runs(4).tolist()


def test_planes_move_as_a_whole():
    """Tests tasks on the columns 0, 2, 4, 1, 3 of a grid, which come to lie in order."""
    region = next(regions(GridMetric((2, 5), (False, False)), np.ones(10, np.int64), 10))
    places = np.array([[0, 2, 4, 1, 3], [5, 7, 9, 6, 8]])
    tail, head = np.arange(10).reshape(2, 5)[:, :-1].ravel(), np.arange(10).reshape(2, 5)[:, 1:].ravel()
    found = reorder(region, places.ravel(), (tail, head, np.ones(8)))
    assert (np.abs(found[tail] - found[head]) == 1).all()
    assert sorted(found.tolist()) == list(range(10))


def test_nodes_with_other_seats_stay():
    """Tests that planes which hold unequal numbers are left alone."""
    region = next(regions(GridMetric((4,), (False,)), np.array([1, 2, 1, 1]), 5))
    places = np.array([0, 1, 1, 2, 3])
    edges = np.array([0, 0]), np.array([4, 3]), np.ones(2)
    assert reorder(region, places, edges) is places
