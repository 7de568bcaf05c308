"""Tests of sums in a fixed order."""

import numpy as np
import pytest

from tiger.solvers.annealing.fixed_sums import sum_steps
from tiger.solvers.kernel import kernel


@kernel
def compiled(rows, total):
    """Put the sum into `total[1]`."""
    total[0] = sum_steps(rows[0], rows[1], rows[2], rows[3])


@pytest.mark.parametrize("terms", [0, 1, 7, 8, 9, 100, 251])
def test_bug_sums_are_rounded_the_same_on_every_processor(terms):
    """Tests compiled sums, bit by bit, against plain Python, whose rounding no processor changes.

    The compiler split sums into as many as the vectors of the processor hold.
    """
    rows, total = np.random.default_rng(terms).random((4, terms)), np.zeros(1)
    compiled(rows, total)
    assert total[0] == sum_steps(*rows)
    assert total[0] == pytest.approx(((rows[0] - rows[1]) * (rows[2] - rows[3])).sum(), abs=1e-12)
