"""Tests of folding lattices onto axes and levels."""

import math

import numpy as np
import pytest

from tiger.solvers.geometry.folding import Axis, Digit, TreeLevel, factorisations, foldings, orderings
from tiger.solvers.geometry.lattices import Lattice


def box(*dims, wrap=None, pull=None):
    """Return a lattice in its natural numbering."""
    coords = np.indices(dims).reshape(len(dims), -1).T
    return Lattice(dims, wrap or (False,) * len(dims), coords, np.array(pull or [1.0] * len(dims)))


def axes(*extents, wrap=True):
    """Return the axes of a grid or torus."""
    return tuple(Axis(column, extent, extent if wrap else 0, 1.0) for column, extent in enumerate(extents))


def best(lattice, stages):
    """Return the cost of the cheapest folding."""
    return foldings(lattice, stages, 1)[0][0]


def test_factorisations_are_all_ordered_products():
    """Tests 12 in two and 4 in three factors, and that products and numbers agree."""
    assert factorisations(12, 2) == ((1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1))
    assert len(factorisations(4, 3)) == 6
    assert {math.prod(numbers) for numbers in factorisations(36, 4)} == {36}


def test_orderings_differ_where_strides_do():
    """Tests 6 over two axes: 2 x 3 in either order along an axis, in one within a level."""
    assert orderings(6, 2, True) == (
        *(((1, 6),), ((0, 2), (1, 3)), ((1, 3), (0, 2))),
        *(((0, 3), (1, 2)), ((1, 2), (0, 3)), ((0, 6),)),
    )
    assert orderings(6, 2, False) == (((1, 6),), ((0, 2), (1, 3)), ((0, 3), (1, 2)), ((0, 6),))


@pytest.mark.parametrize(
    ("lattice", "stages", "cost"),
    [
        (box(8, 8, 8), axes(8, 8, 8), 1344),
        (box(16, 16, 16), axes(8, 8, 8), 5376),
        (box(64, 8), axes(8, 8, 8), 952),
        (box(4096), axes(16, 16, 16), 4095),
        (box(32, 32), axes(*[2] * 10, wrap=False), 1984),
        (box(16, 16, wrap=(True, True)), axes(16, 16), 512),
        (box(6, wrap=(True,)), axes(6, wrap=False), 10),
        (box(100, 10), axes(10, 10, wrap=False), 630),
    ],
)
def test_known_foldings_are_found(lattice, stages, cost):
    """Tests foldings without a stretched edge, blocks of tasks, and a cycle on a line."""
    assert best(lattice, stages) == cost


def test_levels_of_a_tree_cut_cubes():
    """Tests 32^3 on a tree of 8 x 8 x 4, a cycle that is cut open once, and that the heavy axis is spared."""
    assert best(box(32, 32, 32), (TreeLevel(0, 8, 100), TreeLevel(1, 8, 10), TreeLevel(2, 4, 1))) == 376832
    assert best(box(8, wrap=(True,)), (TreeLevel(0, 2, 10), TreeLevel(1, 2, 1))) == 22
    found = foldings(box(8, 8, pull=[1.0, 9.0]), (TreeLevel(0, 4, 1),), 1)
    assert found == [(24.0, (Digit(0, 0, 4),))]


def test_digits_that_cut_through_layers_come_last():
    """Tests a level of 8 on 30 x 20 x 12: the 20 is halved before the 30 is quartered."""
    _, folding = foldings(box(30, 20, 12), (TreeLevel(0, 8, 1),), 1)[0]
    assert folding == (Digit(1, 0, 2), Digit(0, 0, 4))


def test_axes_are_tried_in_every_order():
    """Tests that the order of the axes does not change the cost."""
    assert best(box(12, 20), axes(4, 6, 10)) == best(box(12, 20), axes(10, 4, 6)) == best(box(20, 12), axes(6, 10, 4))
