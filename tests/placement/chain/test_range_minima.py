"""Tests of minima over windows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tiger.placement.chain.range_minima import Windows


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), min_size=1, max_size=12))
def test_minima_are_those_of_every_window(entries: list[tuple[int, int]]) -> None:
    """Windows of any length, also empty and in no order, have the minimum that a slice has."""
    values = np.array([[float(value) for value, _ in entries]])
    last = np.array([min(max(end, start), len(entries) - 1) for start, (_, end) in enumerate(entries)])
    expected = [min(values[0, start + 1 : end + 1], default=np.inf) for start, end in enumerate(last.tolist())]
    assert Windows.of(last).minima(values)[0].tolist() == expected


def test_windows_to_the_end_need_no_spans() -> None:
    """Their minima are running ones, from the end."""
    windows = Windows.of(np.array([2, 2, 2]))
    assert windows.spans == ()
    assert windows.minima(np.array([[5.0, 3.0, 4.0]])).tolist() == [[3.0, 4.0, np.inf]]
