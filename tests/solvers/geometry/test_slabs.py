"""Tests of cutting tasks and nodes alike."""

import numpy as np
import pytest

from tiger.model.metrics import GridMetric
from tiger.solvers.geometry.folding import Digit, foldings
from tiger.solvers.geometry.footprints import regions
from tiger.solvers.geometry.lattices import Lattice
from tiger.solvers.geometry.slabs import cut, fold_lattice, keys_of, priorities, shares


def box(*dims, pull=None):
    """Return an open lattice in its natural numbering."""
    coords = np.indices(dims).reshape(len(dims), -1).T
    return Lattice(dims, (False,) * len(dims), coords, np.array(pull or [1.0] * len(dims)))


def region_of(*dims, slots):
    """Return all of a grid."""
    return next(regions(GridMetric(dims, (False,) * len(dims)), np.array(slots), sum(slots)))


def test_a_cut_deals_tasks_by_label_and_key():
    """Tests two pieces cut in two each."""
    labels, keys = np.array([1, 0, 1, 0, 1]), np.array([5, 9, 3, 2, 4])
    assert cut(labels, keys, np.array([1, 1, 2, 1])).tolist() == [3, 1, 2, 0, 2]


def test_shares_fit():
    """Tests exact shares, and random ones: all tasks dealt, never more than there is room."""
    assert shares(np.array([6]), np.array([[4, 2, 0, 6]])).tolist() == [[2, 1, 0, 3]]
    assert shares(np.array([0]), np.array([[0, 0]])).tolist() == [[0, 0]]
    rng = np.random.default_rng(0)
    room = rng.integers(0, 9, (200, 5))
    counts = rng.integers(0, room.sum(axis=1) + 1)
    dealt = shares(counts, room)
    assert (dealt.sum(axis=1) == counts).all()
    assert ((dealt >= 0) & (dealt <= room)).all()


def test_layers_are_filled_across_their_longest_side():
    """Tests the order of axes, by sides and by traffic, and the keys made of it."""
    lattice = box(2, 3, 4)
    assert priorities(lattice, np.array([2.0, 3.0, 4.0]), 0) == [0, 2, 1]
    assert priorities(box(2, 3, 4, pull=[1.0, 1.0, 9.0]), np.array([2.0, 3.0, 4.0]), 0) == [0, 1, 2]
    assert keys_of(lattice, [2, 1, 0])[:5].tolist() == [0, 6, 12, 18, 2]


def test_a_long_axis_is_folded_back_and_forth():
    """Tests a path of eight on 2 x 4."""
    region = region_of(2, 4, slots=[1] * 8)
    places = fold_lattice(box(8), (Digit(0, 0, 2), Digit(0, 1, 4)), region.footprint)
    assert places.tolist() == [0, 1, 2, 3, 7, 6, 5, 4]


@pytest.mark.parametrize("dims", [(5, 7), (35,), (7, 5)])
def test_exact_seats_are_kept_whatever_divides(dims):
    """Tests 35 tasks on 3 x 4 nodes with three slots, one with two, by every folding."""
    slots = [3] * 11 + [2]
    region = region_of(3, 4, slots=slots)
    lattice = box(*dims)
    for _, folding in foldings(lattice, region.stages, 20):
        places = fold_lattice(lattice, folding, region.footprint)
        assert np.bincount(places, minlength=12).tolist() == slots


def test_nodes_without_seats_stay_empty():
    """Tests a grid with two holes."""
    slots = [1, 1, 0, 1, 1, 1, 0, 1, 1]
    region = region_of(3, 3, slots=slots)
    _, folding = foldings(box(7), region.stages, 1)[0]
    assert np.bincount(fold_lattice(box(7), folding, region.footprint), minlength=9).tolist() == slots
