"""Rates between the rows of a grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.profile import cases
from tiger.training.timings.interpolation import build_axes, estimate

# Holes: 4 x 16 is missing.
ROWS = np.array([[2, 8], [2, 16], [4, 8], [8, 8], [8, 16]], float)


def test_rows_have_the_rates_that_were_given():
    """In any order of the rows."""
    rates = np.arange(5.0)
    tree = build_axes(ROWS[::-1], rates[::-1])
    assert [estimate(tree, row) for row in ROWS.tolist()] == [(rate, "measured") for rate in rates]


def test_between_rows_rates_are_linear_in_logarithms():
    """Halfway from 2 to 8 in logarithms is 4, and from 8 to 16 the square root of 128."""
    tree = build_axes(np.array([[2.0, 8], [2, 16], [8, 8], [8, 16]]), np.array([0.0, 1, 4, 5]))
    found = estimate(tree, (4, 128**0.5))
    assert found == (pytest.approx(2.5), "interpolated")


def test_beyond_rows_the_rate_of_the_nearest_stays():
    """On either side, and where a hole cuts an axis short."""
    tree = build_axes(ROWS, np.arange(5.0))
    assert estimate(tree, (1, 8)) == (0, "extrapolated")
    assert estimate(tree, (100, 100)) == (4, "extrapolated")
    assert estimate(tree, (4, 16)) == (2, "extrapolated")


@cases(100, 2000)
@given(sizes=st.tuples(*[st.floats(1, 64)] * 2), powers=st.tuples(*[st.floats(-3, 3)] * 2))
def test_power_laws_are_met_inside_the_grid(sizes, powers):
    """Whatever the powers."""
    axes = np.array([[a, b] for a in (1, 3, 10, 64) for b in (1, 7, 64)], float)
    tree = build_axes(axes, np.log(axes) @ powers)
    assert estimate(tree, sizes).log_rate == pytest.approx(np.log(sizes) @ powers, abs=1e-9)


@cases(100, 2000)
@given(st.lists(st.floats(0, 9), min_size=4, max_size=4), st.floats(1, 100), st.floats(1, 100))
def test_times_that_grow_along_rows_grow_between_them(steps, one, other):
    """There is no dip between two rows."""
    tree = build_axes(np.array([[1.0], [4], [20], [100]]), np.cumsum(steps))
    low, high = sorted((one, other))
    assert estimate(tree, (low,)).log_rate <= estimate(tree, (high,)).log_rate + 1e-12
