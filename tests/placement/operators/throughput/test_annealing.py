"""Tests of annealing, as plain Python."""

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.plain import interpret
from tiger.model.arrays import IntArray
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput import annealing
from tiger.placement.operators.throughput.annealing import AnnealingRun, Best, Energy
from tiger.placement.operators.throughput.proposals import make_proposal
from tiger.placement.operators.throughput.state import make_state
from tiger.placement.operators.throughput.tables import Tables, make_tables
from tiger.solvers.generator import seed_state

NONE: IntArray = np.empty(0, np.int64)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


def begin(terms: Terms, seed: int) -> tuple[Tables, AnnealingRun]:
    """Return a run from random places."""
    made, size = make_tables(terms, np.arange(terms.groups), NONE), terms.groups
    now = make_state(terms, made, np.random.default_rng(seed).integers(0, terms.devices, size))
    changed, mark = np.zeros((2, size), np.int64)
    best = Best(now.place.copy(), np.array([np.inf]), changed, mark, np.zeros(1, np.int64))
    return made, AnnealingRun(now, make_proposal(size, seed_state(seed)), best, now.load.copy(), now.held.copy())


@pytest.mark.parametrize("seed", range(8))
def test_loads_are_right_at_the_end(seed: int) -> None:
    """After hot annealing, sets and swaps taken back included; and so is the best."""
    terms = draw_terms(seed)
    made, run = begin(terms, seed)
    annealing.anneal(made, run, Energy(3, 1.0), np.array([2.0]), 150)
    np.testing.assert_allclose(run.state.load, sum(loads_s(terms, run.state.place)), atol=1e-9)
    np.testing.assert_allclose(run.state.held, held_bytes(terms, run.state.place), atol=1e-9)
    if np.isfinite(run.best.value[0]):
        assert float(sum(loads_s(terms, run.best.place)).max()) == pytest.approx(run.best.value[0])
        assert (held_bytes(terms, run.best.place) <= terms.capacity).all()
        assert run.best.value[0] <= run.state.load.max() + 1e-9 or (run.state.held > terms.capacity).any()


def test_energy_is_the_power_mean() -> None:
    """Of loads 3 and 4 of power 2, 5; and what is too much counts by its weight."""
    terms = next(terms for terms in map(draw_terms, range(99)) if terms.devices == 2)
    made, run = begin(terms, 0)
    run.state.load[:] = 3.0, 4.0
    run.state.held[:] = 0.0
    assert annealing.energy_of(made, run.state, Energy(1, 2.0)) == pytest.approx(5.0)
    run.state.held[0] = made.capacity[0] + 1.5
    assert annealing.energy_of(made, run.state, Energy(1, 2.0)) == pytest.approx(8.0)


def test_idle_devices_have_no_energy() -> None:
    """Nor do they divide by zero."""
    terms = draw_terms(0)
    made, run = begin(terms, 0)
    run.state.load[:] = run.state.held[:] = 0.0
    assert annealing.energy_of(made, run.state, Energy(4, 1.0)) == 0.0
