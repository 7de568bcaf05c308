"""The messages of NAS CG."""

import numpy as np
import pytest

from tiger.formats.patterns.spec import build


def partners(rows: int, columns: int) -> np.ndarray:
    """Return for every rank its transpose partner by the formulas of NAS CG."""
    me = np.arange(rows * columns)
    if rows == columns:
        return me % rows * rows + me // rows
    return 2 * (me // 2 % rows * rows + me // 2 // rows) + me % 2


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (2, 2), (2, 4), (4, 4), (4, 8), (16, 16), (16, 32)])
def test_messages_are_those_of_the_benchmark(rows, columns):
    """Halving distances inside a row, then the transpose, which leaves the ranks on the diagonal alone."""
    expected, me = np.zeros((rows * columns,) * 2), np.arange(rows * columns)
    apart = columns
    while apart > 1:
        target = (me % columns + apart // 2) % apart + me % columns // apart * apart
        expected[me, me // columns * columns + target] += 1
        apart //= 2
    expected[me, partners(rows, columns)] += 1
    np.fill_diagonal(expected, 0)
    assert np.array_equal(build(f"cg:{rows}x{columns}").traffic.toarray(), expected)
    assert np.array_equal(expected, expected.T)
