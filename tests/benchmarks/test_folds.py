"""Tests of the enumeration of box partitions and folds."""

import math

import numpy as np
import pytest

from benchmarks.folds import Pair, draw_pairs, find_best


def pair(ranks, kind, extents, slots, *, closed=False):
    """Return a pair."""
    return Pair(ranks, closed=closed, kind=kind, extents=extents, slots=slots)


@pytest.mark.parametrize(
    ("halo", "cost"),
    [
        (pair((8, 8), "torus", (4, 4), 4), 96),
        (pair((8, 8), "tree", (4, 4), 4), 2 * (16 * 4 + 32 * 2)),
        (pair((4, 2), "torus", (8,), 1), 2 * (6 + 8)),
        (pair((4, 2), "grid", (8,), 1), 2 * (6 * 2 + 4)),
        (pair((8, 8, 8, 8), "torus", (8, 8, 8), 8), 2 * 9728),
        (pair((16,), "grid", (4, 4), 1, closed=True), 2 * (15 + 3)),
    ],
)
def test_known_folds_are_found(halo, cost):
    """Tests boxes, subtrees, half of a cycle laid backwards, strides, four axes on three, and a closed row."""
    assert find_best(halo, halo.problem()) == cost


def test_what_has_no_box_partition_has_no_best():
    """Tests 10 x 10 ranks on 9 nodes of 12 slots."""
    halo = pair((10, 10), "grid", (3, 3), 12)
    assert math.isinf(find_best(halo, halo.problem()))


@pytest.mark.slow
def test_halos_that_are_drawn_fill_half_of_their_nodes():
    """Tests all pairs, and that the same ones are drawn again."""
    drawn = list(draw_pairs())
    assert drawn == list(draw_pairs())
    room = [np.prod(each.extents) * each.slots for each in drawn]
    assert all(2 * math.prod(each.ranks) + 1 >= most for each, most in zip(drawn, room, strict=True))
