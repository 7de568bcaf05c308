"""Tests of the random traces of experts that tables are measured on."""

import numpy as np

from benchmarks.experts import draw_trace, scale_table


def test_tables_are_scaled_to_sums_of_rows_and_columns() -> None:
    """So that experts of each layer are asked for as stated."""
    rows, columns = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.1, 0.8])
    table = scale_table(np.random.default_rng(0).random((3, 3)) + 0.1, rows, columns)
    assert np.allclose(table.sum(axis=1), rows)
    assert np.allclose(table.sum(axis=0), columns)


def test_traces_are_as_skew_as_stated() -> None:
    """In every layer the busiest of eight experts has 1 / (1 + 1/2 + .. + 1/8) of the tokens at Zipf's exponent 1."""
    trace = draw_trace((8, 6), 20_000, 0.2, 1.0, seed=0)
    assert trace.shape == (20_000, 6)
    shares = [np.bincount(column, minlength=8).max() / len(trace) for column in trace.T]
    assert np.allclose(shares, 1 / sum(1 / k for k in range(1, 9)), atol=0.02)
