"""Tests of the margins of floating point."""

from fractions import Fraction

import numpy as np

from tiger.model.rounding import relative_error


def test_a_sum_errs_by_less_than_its_margin():
    """Tests sums of products one after the other against exact ones."""
    rng = np.random.default_rng(0)
    for size in (1, 10, 1000):
        a, b = 10 ** rng.uniform(-9, 12, (2, size))
        total = 0.0
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            total += x * y
        exact = sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True))
        assert abs(Fraction(total) - exact) <= exact * Fraction(relative_error(size))
