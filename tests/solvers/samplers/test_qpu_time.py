"""Tests of budgets of QPU access time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tiger.errors import InputError
from tiger.solvers.samplers.qpu_time import QpuTime


def test_what_is_claimed_counts_until_it_is_settled():
    """Tests that estimates are held back while submissions are out, and then what they took."""
    budget = QpuTime(1.0)
    first, second = budget.claim(0.4), budget.claim(0.4)
    with pytest.raises(InputError, match=r"ising/qpu_time_s: .* 0.8 s taken, 0.4 s more needed"):
        budget.claim(0.4)
    budget.settle(first, 0.2)
    third = budget.claim(0.4)
    budget.settle(second, None)
    budget.settle(third, 0.1)
    with pytest.raises(InputError, match=r"0.7 s taken"):
        budget.claim(0.31)


def test_threads_never_claim_more_than_there_is():
    """Tests a hundred claims of eight threads, of which ten fit."""
    budget = QpuTime(10.5)

    def claim(_):
        try:
            return budget.claim(1.0)
        except InputError:
            return 0.0

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(claim, range(100))) == 10.0


def test_without_an_estimate_there_is_no_budget():
    """Tests a machine that publishes no times."""
    with pytest.raises(InputError, match="publishes no times"):
        QpuTime(1.0).claim(None)


def test_estimates_that_were_too_low_are_raised():
    """Tests that a machine which takes twice as long as it says does not exceed the budget a second time."""
    budget = QpuTime(1.0)
    budget.settle(budget.claim(0.3), 0.6)
    with pytest.raises(InputError, match=r"0.6 s taken, 0.6 s more needed"):
        budget.claim(0.3)
