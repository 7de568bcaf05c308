"""Tests of the neighbours of an order."""

import numpy as np

from tiger.placement.ranks.order_moves import neighbours, prefixes


def test_neighbours_are_one_move_away():
    """From 0 1 2, with 3 unused: swaps, reversals, moves, replacements, one fewer, one more."""
    found = {tuple(row[row >= 0].tolist()) for row in neighbours(np.array([0, 1, 2]), np.array([3]), 4)}
    swaps = {(1, 0, 2), (2, 1, 0), (0, 2, 1)}
    moves = {(1, 2, 0), (2, 0, 1)}
    replaced = {(3, 1, 2), (0, 3, 2), (0, 1, 3)}
    fewer = {(1, 2), (0, 2), (0, 1)}
    more = {(3, 0, 1, 2), (0, 3, 1, 2), (0, 1, 3, 2), (0, 1, 2, 3)}
    assert found == swaps | moves | replaced | fewer | more


def test_neighbours_use_no_device_twice():
    """Every neighbour of five devices out of seven has different ones, -1 behind the last."""
    for row in neighbours(np.array([4, 2, 6, 0, 1]), np.array([3, 5]), 6):
        used = row[row >= 0]
        assert len(set(used.tolist())) == len(used)
        assert (row[: len(used)] >= 0).all()


def test_a_single_device_is_not_left_out():
    """One device, none unused, has no neighbours."""
    assert neighbours(np.array([0]), np.array([], np.int64), 1).shape == (0, 1)


def test_prefixes_are_all_beginnings():
    """Of 2 0 1: 2, then 2 0, then all."""
    assert prefixes(np.array([[2, 0, 1]])).tolist() == [[2, -1, -1], [2, 0, -1], [2, 0, 1]]
