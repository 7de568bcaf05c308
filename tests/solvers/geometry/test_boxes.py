"""Tests of box partitions of lattices, one box a node."""

import numpy as np
import pytest

from tests.solvers.geometry.test_geometry import grid, problem_of, search
from tiger.solvers.geometry.boxes import box_numbers, list_boxes, part_counts, surfaces
from tiger.solvers.geometry.lattices import recognise


def lattice_of(*dims, periodic=False):
    """Return the lattice of a grid or torus."""
    return recognise(problem_of(grid(dims, periodic=periodic), "grid:100x100"))


@pytest.mark.parametrize("extent", range(1, 60))
def test_parts_are_as_few_as_their_longest_allows(extent):
    """Tests all lengths of parts, one after another."""
    assert part_counts(extent).tolist() == sorted({-(-extent // side) for side in range(1, extent + 1)})


def test_boxes_fit_and_the_least_surface_comes_first():
    """Tests 8 x 12 tasks on 6 nodes of 16 slots: 4 x 4 boxes cut 8 + 2 * 12 edges."""
    lattice = lattice_of(8, 12)
    ways = list_boxes(lattice, 16, 6)
    sides = -(-np.array(lattice.dims) // ways)
    assert (sides.prod(axis=1) <= 16).all()
    assert (ways.prod(axis=1) <= 6).all()
    assert sorted((-(-np.array(lattice.dims) // ways[0])).tolist()) == [4, 4]
    assert surfaces(lattice, ways)[0] == 28


def test_no_box_fits_where_slots_are_scattered():
    """Tests 10 x 10 tasks on 9 nodes of 12 slots, which 3 x 4 boxes leave no node for the rest on."""
    assert not len(list_boxes(lattice_of(10, 10), 12, 9))


def test_boxes_along_an_axis_differ_by_one_layer():
    """Tests 7 x 5 tasks in 3 x 2 boxes."""
    lattice = lattice_of(7, 5)
    counts = np.bincount(box_numbers(lattice, (3, 2)))
    assert sorted(counts.tolist()) == [4, 4, 6, 6, 6, 9]


def test_cycles_cost_one_cut_more():
    """Tests a torus of 6 x 6 tasks, whole along one axis."""
    assert surfaces(lattice_of(6, 6, periodic=True), np.array([[1, 3], [2, 1]])).tolist() == [18, 12]


def test_the_numbering_of_tasks_plays_no_part():
    """Tests the cost of 5 x 6 x 7 tasks on 6 x 8 nodes over several numberings."""
    problems = [problem_of(grid((5, 6, 7), seed), "torus:6x8", 5) for seed in range(4)]
    assert len({search(problem)[1] for problem in problems}) == 1
