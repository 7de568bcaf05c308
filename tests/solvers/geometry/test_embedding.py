"""Tests of embeddings of grids of boxes in grids and trees of nodes."""

import math

import numpy as np
import pytest

from tiger.solvers.geometry.embedding import Boxes, digit_choices, embed, lay
from tiger.solvers.geometry.folding import Axis, TreeLevel


def axes(*extents, wrap=True):
    """Return the axes of a torus or grid."""
    return tuple(Axis(column, extent, extent * wrap, 1.0) for column, extent in enumerate(extents))


def distances(stages, one, other):
    """Return the distances between coordinates."""
    gaps = np.abs(one - other)
    if isinstance(stages[0], TreeLevel):
        levels = np.array([stage.distance for stage in stages])
        return np.where(gaps > 0, levels, 0).max(axis=-1)
    around = np.array([stage.around or 2 * stage.extent for stage in stages])
    return np.minimum(gaps, around - gaps).sum(axis=-1)


def steps(parts, stages, wrap=None):
    """Return the mean distance of boxes that touch along each axis, by the first embedding of equal traffic."""
    boxes = Boxes(parts, np.ones(len(parts)), wrap or (False,) * len(parts))
    at = lay(embed(boxes, stages, 1)[0], parts, stages).reshape(*parts, len(stages))
    return [
        float(distances(stages, *(np.take(at, np.arange(k, n - 1 + k), axis) for k in (0, 1))).mean())
        for axis, n in enumerate(parts)
    ]


@pytest.mark.parametrize(
    ("parts", "extents"), [((8, 8), (8, 8)), ((5, 7), (8, 6)), ((64,), (4, 4, 4)), ((16, 3), (4, 4, 3))]
)
def test_gray_neighbours_are_one_step_apart(parts, extents):
    """Tests axes that are laid along whole axes, alone or several: no step is longer than one."""
    assert set(steps(parts, axes(*extents, wrap=False))) == {1.0}


@pytest.mark.parametrize(
    ("parts", "stages"),
    [
        ((8, 4, 4, 4), axes(8, 8, 8)),
        ((7, 3), axes(5, 5)),
        ((5, 6, 2), axes(4, 16)),
        ((6, 5), (TreeLevel(0, 4, 4.0), TreeLevel(1, 9, 2.0))),
    ],
)
def test_no_two_boxes_share_a_node(parts, stages):
    """Tests all embeddings that are found: each is one to one, and within the extents."""
    found = embed(Boxes(parts, np.ones(len(parts)), (False,) * len(parts)), stages, 50)
    for embedding in found:
        at = lay(embedding, parts, stages)
        assert len({tuple(node) for node in at.tolist()}) == math.prod(parts)
        assert (at >= 0).all()
        assert (at < [stage.extent for stage in stages]).all()
    assert bool(found) == (parts != (7, 3))


def test_runs_around_a_cycle_turn():
    """Tests 4 x 2 boxes around a cycle of 8: a half laid backwards is 2 away in the mean, one laid forwards is 4."""
    assert steps((4, 2), axes(8)) == [1.0, 2.0]
    assert steps((4, 2), axes(8, wrap=False)) in ([1.0, 4.0], [2.0, 1.0])


def test_cycles_close():
    """Tests a cycle of 16 boxes on a grid of 4 x 4: the last one is next to the first."""
    stages = axes(4, 4, wrap=False)
    at = lay(embed(Boxes((16,), np.ones(1), (True,)), stages, 1)[0], (16,), stages)
    assert distances(stages, at[0], at[-1]) == 3
    assert steps((16,), stages, (True,)) == [1.0]


def test_trees_are_cut_across_the_least_traffic():
    """Tests 6 x 4 boxes on 6 subtrees of 4 leaves: the axis whose steps have most traffic stays inside of one."""
    stages = TreeLevel(0, 6, 10.0), TreeLevel(1, 4, 1.0)
    embedding = embed(Boxes((6, 4), np.array([1.0, 6.0]), (False, False)), stages, 1)[0]
    assert embedding.digits.tolist() == [[6, 1], [1, 4]]


def test_digits_are_no_larger_than_they_need_be():
    """Tests numbers up to 7 in one digit, or in two."""
    assert digit_choices(7, (8, 4)) == ((2, 4), (3, 3), (4, 2), (7, 1))
    assert digit_choices(7, (2, 2)) == ()


def test_many_axes_of_nodes_are_left_to_foldings():
    """Tests a hypercube of five axes."""
    assert embed(Boxes((8, 4), np.ones(2), (False, False)), axes(2, 2, 2, 2, 2), 1) == []
