"""Tests of measured times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.training.hardware.tables import curve_of_csv, curve_of_pairs

APEX = """gpu,num_nodes,num_gpus_per_node,dtype,size(kb),time(us)
M,1,2,half,1,5
M,1,2,half,2,7
M,2,1,half,1,30
M,2,1,half,2,26
M,2,1,half,4,40
"""


def csv_of(sizes, times):
    """Return measurements as CSV."""
    rows = [f"{size!r},{time!r}" for size, time in zip(sizes, times, strict=True)]
    return "\n".join(["bytes,seconds", *rows])


def test_pairs():
    """Pairs of bytes and seconds are the curve's points."""
    curve = curve_of_pairs("at", [[0, 1], [10, 2.5]])
    assert (curve.size_bytes.tolist(), curve.seconds.tolist()) == ([0, 10], [1, 2.5])


@pytest.mark.parametrize(
    ("pairs", "field"),
    [
        (None, "at"),
        ([], "at"),
        ([[0, 1]], "at"),
        ([[0, 1], [1]], "at/1"),
        ([[0, 1], 1], "at/1"),
        ([[0, 1], [True, 1]], "at/1/0"),
        ([[0, 1], [1, float("nan")]], "at/1/1"),
        ([[0, 1], [0, 1]], "at"),
        ([[0, 2], [1, 1]], "at"),
    ],
)
def test_malformed_pairs(pairs, field):
    """Pairs have to be two numbers each, of rising sizes and times that do not fall."""
    with pytest.raises(InputError) as caught:
        curve_of_pairs("at", pairs)
    assert caught.value.field == field


def test_csv_of_bytes_and_seconds():
    """Columns come in any order, with blanks, a quoted cell and blank lines; times of one size are averaged."""
    curve = curve_of_csv('\nseconds, bytes\n "3",4\n1,2\n\n2,2\n')
    assert (curve.size_bytes.tolist(), curve.seconds.tolist()) == ([2, 4], [1.5, 3])


def test_csv_of_a_benchmark():
    """Sizes are KiB and times microseconds; a time that falls is pooled with the one before it."""
    near = curve_of_csv(APEX, {"num_nodes": "1"})
    far = curve_of_csv(APEX, {"num_nodes": "2", "gpu": "M"})
    assert near.size_bytes.tolist() == [1024, 2048]
    assert np.allclose(near.seconds, [5e-6, 7e-6], rtol=1e-15)
    assert np.allclose(far.seconds, [28e-6, 28e-6, 40e-6], rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "where", "reason"),
    [
        ("", {}, "header"),
        ("bytes,seconds", {}, "rows below"),
        ("bytes,bytes\n1,2", {}, "different columns"),
        ("bytes,hours\n1,2", {}, "expected columns"),
        ("size,time\n1,2", {}, "expected columns"),
        ("bytes,seconds\n1,2\n3", {}, "line 3: expected 2 values, got 1"),
        ("bytes,seconds\n1,nan\n3,4", {}, "numbers, got 'nan'"),
        ("bytes,seconds\n1,\n3,4", {}, "numbers, got ''"),
        ("bytes,seconds\n1,2\n1,4", {}, "at least two"),
        ('bytes,seconds\n1,"2', {}, "CSV"),
        (APEX, {}, "'1' and '2' in num_"),
        (APEX, {"nodes": "1"}, "a column 'nodes'"),
        (APEX, {"num_nodes": "3"}, "one of 1, 2 in num_nodes"),
        (APEX, {"num_nodes": "2", "num_gpus_per_node": "2"}, "one of 1 in num_gpus_per_node"),
    ],
)
def test_malformed_csv(text, where, reason):
    """Faults of a CSV text, and more than one series, are bad input."""
    with pytest.raises(InputError, match=reason) as caught:
        curve_of_csv(text, where, field="at")
    assert caught.value.field == "at"


@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=9))
def test_noise_is_smoothed_by_the_nearest_rising_times(times):
    """The fit never falls, keeps the sum, is nearer than the running maximum, and leaves rising times alone."""
    sizes = list(range(len(times)))
    fit = curve_of_csv(csv_of(sizes, times)).seconds
    assert np.isclose(fit.sum(), sum(times))
    assert ((fit - times) ** 2).sum() <= ((np.maximum.accumulate(times) - times) ** 2).sum() + 1e-6
    again = curve_of_csv(csv_of(sizes, fit.tolist())).seconds
    assert np.array_equal(again, fit)


@given(st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1e3)), min_size=6, max_size=12))
def test_smoothing_agrees_with_scipy(rows):
    """Repeated sizes weigh as often as they were measured."""
    from scipy.optimize import isotonic_regression

    sizes, times = map(np.array, zip(*rows, (6, 0.0), strict=True))
    distinct, group, count = np.unique(sizes, return_inverse=True, return_counts=True)
    peer = isotonic_regression(np.bincount(group, times) / count, weights=count.astype(float)).x
    assert np.allclose(curve_of_csv(csv_of(sizes.tolist(), times.tolist())).seconds, peer)
    assert len(distinct) == len(peer)
