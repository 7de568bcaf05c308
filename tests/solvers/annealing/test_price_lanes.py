"""Tests of the vector instructions of tabu search against plain Python."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from tiger.solvers.annealing.price_lanes import LANES, NEVER, add_products, scan_prices
from tiger.solvers.kernel import kernel


@kernel
def scan(price, barred, rows, lowest):
    """Scan prices at the iteration 5."""
    scan_prices(price, barred, (rows[0], rows[1], rows[2]), (lowest[0], lowest[1]), 5)


@kernel
def add(field, volume, step):
    """Add products to fields."""
    add_products(field, volume, step)


def arrays(tasks):
    """Return random prices above the diagonal, tenures, rows and minima, padded."""
    rng, wide = np.random.default_rng(tasks), -(-tasks // LANES) * LANES
    price, barred = np.full((tasks, wide), NEVER), rng.integers(0, 10, (tasks, wide)).astype(np.int32)
    above = np.triu_indices(tasks, 1, tasks)
    price[above] = rng.standard_normal(len(above[0]))
    rows = rng.standard_normal((3, wide)).astype(np.float32)
    rows[2] = rng.random(wide) < 0.8
    return price, barred, rows, np.zeros((2, wide), np.float32)


@pytest.mark.parametrize("tasks", [1, 2, LANES - 1, LANES, LANES + 1, 3 * LANES + 5])
def test_lanes_round_as_plain_python_does(tasks):
    """Tests prices, their minima and fields, bit by bit."""
    price, barred, rows, lowest = arrays(tasks)
    compiled, plain = (price.copy(), lowest.copy()), (price.copy(), lowest.copy())
    scan(compiled[0], barred, rows, compiled[1])
    scan_prices(plain[0], barred, tuple(rows), tuple(plain[1]), 5)
    above = np.triu_indices(tasks, 1, tasks)
    assert (compiled[0] == plain[0]).all()
    assert (compiled[1] == plain[1]).all()
    assert (compiled[0][above] != price[above]).any() or tasks < 3
    assert (compiled[1][1, :tasks] >= compiled[1][0, :tasks]).all()
    added = price.copy()
    add(added, rows[0], rows[1])
    add_products(price, rows[0], rows[1])
    assert (added == price).all()


def test_bug_arrays_with_gaps_were_misread():
    """Tests columns of a wider array, and every second number of a row."""
    price, barred, rows, lowest = arrays(2 * LANES)
    with pytest.raises(TypingError):
        scan(price[:, :LANES], barred[:, :LANES], rows[:, :LANES], lowest[:, :LANES])
    with pytest.raises(TypingError):
        add(price[:, :LANES].copy(), rows[0], rows[1, ::2])
