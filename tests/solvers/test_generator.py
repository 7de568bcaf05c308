"""Tests of random numbers, as plain Python."""

import numpy as np
import pytest

from tests.placement.operators.plain import interpret
from tiger.solvers import generator


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


def test_numbers_are_spread_evenly() -> None:
    """In [0, 1), with the mean and the variance of even ones."""
    state = generator.seed_state(0)
    numbers = np.array([generator.draw_uniform(state) for _ in range(2000)])
    assert (numbers >= 0).all()
    assert (numbers < 1).all()
    assert numbers.mean() == pytest.approx(1 / 2, abs=0.02)
    assert numbers.var() == pytest.approx(1 / 12, abs=0.01)


def test_whole_numbers_are_all_drawn() -> None:
    """Those below five, each about as often."""
    state = generator.seed_state(3)
    counts = np.bincount([generator.draw_below(state, 5) for _ in range(1000)])
    assert len(counts) == 5
    assert counts.min() > 150


def test_paths_have_numbers_of_their_own() -> None:
    """And the same path the same ones."""
    assert generator.seed_state(1, 2)[0] == generator.seed_state(1, 2)[0]
    assert generator.seed_state(1, 2)[0] != generator.seed_state(2, 1)[0]


def test_changes_are_accepted_by_metropolis_rule() -> None:
    """Tests changes on both sides of what the rule allows, where bounds on the logarithm decide and where they do not.

    A number of 0 accepts whatever is finite, unless the temperature is 0, at which no rise is accepted.
    """
    state = generator.seed_state(5)
    for _ in range(500):
        number, temperature = generator.draw_uniform(state), 10 ** (6 * generator.draw_uniform(state) - 3)
        allowed = -temperature * np.log(number)
        for factor in (-1.0, 0.0, 0.1, 0.999, 1.001, 2.0, 50.0):
            assert generator.is_accepted(factor * allowed, temperature, number) == (factor < 1.0)
    assert generator.is_accepted(-1.0, 0.0, 0.5)
    assert not generator.is_accepted(1e-9, 0.0, 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert generator.is_accepted(1e300, 1.0, 0.0)
        assert generator.is_accepted(-1.0, 0.0, 0.0)
        assert not generator.is_accepted(1e-9, 0.0, 0.0)
        assert not generator.is_accepted(np.nan, 1.0, 0.0)
