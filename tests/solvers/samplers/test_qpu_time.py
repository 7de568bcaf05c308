"""Tests of budgets of QPU access time."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tiger.errors import InputError
from tiger.solvers.samplers.qpu_time import QpuTime


def settled(limit_s):
    """Return a budget of which a first submission has taken nothing, as one is out alone until then."""
    budget = QpuTime(limit_s)
    budget.settle(budget.claim(0.1), 0.0)
    return budget


def test_what_is_claimed_counts_until_it_is_settled():
    """Tests that estimates are held back while submissions are out, and then what they took."""
    budget = settled(1.0)
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
    budget = settled(10.5)

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


def test_what_is_out_counts_at_what_submissions_have_taken():
    """Tests that several which are out at once are dearer by what the slowest of them took, and no more than that."""
    budget = settled(1.0)
    for used_s in (0.2, 0.2):
        out = [budget.claim(0.1), budget.claim(0.1)]
        budget.settle(out[0], used_s)
        budget.settle(out[1], used_s)
    with pytest.raises(InputError, match=r"0.8 s taken, 0.4 s more needed"):
        budget.claim(0.2)


def test_the_first_submission_is_out_alone():
    """Tests that a second one waits to know what the first took, and is refused where it took too much."""
    budget = QpuTime(1.0)
    first = budget.claim(0.1)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.claim, 0.1)
        with pytest.raises(TimeoutError):
            second.result(timeout=0.05)
        budget.settle(first, 0.95)
        with pytest.raises(InputError, match=r"0.95 s taken, 0.95 s more needed"):
            second.result(timeout=5)
