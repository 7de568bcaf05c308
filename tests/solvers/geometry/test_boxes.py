"""Tests of halving lattices by straight cuts."""

import math

import numpy as np
import pytest

from tiger.model.metrics import TreeMetric
from tiger.solvers.geometry.boxes import Box, Guillotine, Halving, least_division_cut, place_by_halving
from tiger.solvers.geometry.lattices import Lattice


def box(*dims, pull=None):
    """Return an open lattice in its natural numbering."""
    coords = np.indices(dims).reshape(len(dims), -1).T
    return Lattice(dims, (False,) * len(dims), coords, np.array(pull or [1.0] * len(dims)))


def price(lattice, metric, places):
    """Return the cost of a mapping of an open lattice on a tree."""
    grid, cost = places.reshape(lattice.dims), 0.0
    for axis, pull in enumerate(lattice.pull):
        slab = np.moveaxis(grid, axis, 0)
        cost += pull * metric.between(slab[:-1], slab[1:]).sum()
    return cost


def mapped(lattice, metric, seats):
    """Return the places on a tree."""
    return place_by_halving(lattice, np.array(seats), Guillotine(lattice, metric.fanouts, metric.distances[::-1]))


@pytest.mark.parametrize(
    ("dims", "fanouts", "steps", "cost"),
    [
        ((32, 32, 32), (8, 8, 4), (1, 10, 100), 376832),
        ((6, 5), (5,), (1,), 21),
        ((4, 4), (4, 4), (1, 10), 96),
    ],
)
def test_known_cuts_are_found(dims, fanouts, steps, cost):
    """Tests cubes in cubes, five parts of 6 x 5 as 2 x 3 or 3 x 2, and single tasks."""
    metric, size = TreeMetric(fanouts, steps), math.prod(fanouts)
    places = mapped(box(*dims), metric, [math.prod(dims) // size] * size)
    assert (np.bincount(places, minlength=size) == math.prod(dims) // size).all()
    assert price(box(*dims), metric, places) <= cost


def test_seats_are_kept_whatever_divides():
    """Tests unequal seats, some of them none."""
    seats = np.random.default_rng(1).integers(0, 5, 30)
    lattice = Lattice((int(seats.sum()),), (False,), np.arange(seats.sum())[:, None], np.ones(1))
    assert np.bincount(mapped(lattice, TreeMetric((5, 6), (1, 2)), seats), minlength=30).tolist() == seats.tolist()


def test_many_children_are_halved():
    """Tests 64 and 15 children of one node, a task each."""
    for dims, children in (((8, 8), 64), ((3, 5), 15)):
        places = mapped(box(*dims), TreeMetric((children,), (1,)), [1] * children)
        assert sorted(places.tolist()) == list(range(children))


def test_the_heavy_axis_is_spared():
    """Tests halves of a square with heavy rows."""
    places = mapped(box(4, 4, pull=[1.0, 9.0]), TreeMetric((2,), (1,)), [8, 8])
    assert places.reshape(4, 4)[:, 0].tolist() == [0, 0, 1, 1]


def test_the_first_cut_of_a_level():
    """Tests five children of a long box: two on one side."""
    guillotine = Guillotine(box(20, 3), (5, 2), (10, 1))
    assert guillotine(Box((20.0, 3.0), 0, 10)) == Halving(0, 0.4, 4)
    assert guillotine(Box((4.0, 3.0), 4, 6)) == Halving(0, 0.5, 5)


def test_dividing_a_box_by_multipliers():
    """Tests a cube in eight, a slab that is only cut along its long sides, and no cut at all."""
    assert least_division_cut(((8.0, 1.0),) * 3, 8) == pytest.approx(192)
    assert least_division_cut(((16.0, 1.0), (16.0, 1.0), (1.0, 1.0)), 4) == pytest.approx(32)
    assert least_division_cut(((3.0, 1.0), (4.0, 1.0)), 1) == pytest.approx(0)
    assert least_division_cut(((3.0, 0.0),), 3) == 0
