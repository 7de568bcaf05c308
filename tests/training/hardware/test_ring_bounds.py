"""Tests of the fastest rings."""

import numpy as np
import pytest

from tiger.training.hardware.ring_bounds import has_ring, ring_bound_s

# Four devices in a square of fast links (kind 0), with slow diagonals (kind 1); the last kind is the device itself.
SQUARE = np.array([[2, 0, 1, 0], [0, 2, 0, 1], [1, 0, 2, 0], [0, 1, 0, 2]])
SECONDS = np.array([[1.0, 5.0], [3.0, 4.0], [0.0, 0.0]])


@pytest.mark.parametrize(
    ("ranks", "floors"),
    [(1, [0, 0]), (2, [1, 4]), (3, [3, 5]), (4, [1, 5]), (5, [np.inf, np.inf])],
)
def test_floors_are_those_of_the_best_ring(ranks, floors):
    """A square is a ring of four and no triangle; in the second column the diagonals are the fast ones."""
    assert ring_bound_s(SECONDS, SQUARE, ranks).tolist() == floors


def test_a_path_is_no_ring():
    """Three nodes in a row have none of three."""
    assert not has_ring(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool), 3)


def test_a_long_search_counts_as_found():
    """Between two sides of nine and ten nodes no ring of odd length exists, which takes too long to see."""
    side = np.arange(19) < 9
    assert has_ring(side[:, None] != side, 17)
