"""Kinds of connections between pairs of units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.formats.hardware.pairs import PairHardware, find_tree
from tiger.model.metrics import DenseMetric, TreeMetric

KIND = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_distances_of_kinds_may_be_stated():
    """Each alone; a share of a kind is a share of its distance."""
    share = np.ones((3, 3))
    share[0, 1] = share[1, 0] = 0.5
    units = PairHardware(names=("a", "b", "c"), distances={"near": 1.0, "far": 4.0}, kind=KIND, share=share)
    metric = units.topology({"near": 3.0, "other": 9.0}).metric
    assert isinstance(metric, DenseMetric)
    assert metric.table.tolist() == [[0, 1.5, 4], [1.5, 0, 4], [4, 4, 0]]


@given(
    fanouts=st.lists(st.integers(2, 4), min_size=1, max_size=3).map(tuple),
    steps=st.lists(st.floats(0.1, 9), min_size=3, max_size=3),
)
def test_a_regular_tree_is_found_again(fanouts, steps):
    """Whatever its fan-outs and distances."""
    tree = TreeMetric(fanouts, tuple(np.cumsum(steps[: len(fanouts)]).tolist()))
    leaves = np.arange(tree.size)
    assert find_tree(tree.between(leaves[:, None], leaves)) == tree


@pytest.mark.parametrize(
    "table",
    [
        [[0]],
        [[0, 0], [0, 0]],
        [[0, np.inf], [np.inf, 0]],
        [[0, 1, 2], [1, 0, 2], [2, 2, 0]],
        [[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 2], [2, 2, 2, 0]],
        [[0, 2, 1, 2], [2, 0, 2, 1], [1, 2, 0, 2], [2, 1, 2, 0]],
        [[1, 2], [2, 0]],
    ],
)
def test_other_matrices_are_no_tree(table):
    """One unit, equal places, separate parts, uneven groups, units out of order, a unit that is apart from itself."""
    assert find_tree(np.array(table, float)) is None
