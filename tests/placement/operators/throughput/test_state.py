"""Tests of loads that are kept up to date, as plain Python."""

import dataclasses

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.plain import interpret
from tiger.model.arrays import IntArray
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput import state as kernels
from tiger.placement.operators.throughput.state import LoadState, make_state
from tiger.placement.operators.throughput.tables import Tables, make_tables

NONE: IntArray = np.empty(0, np.int64)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


def move(made: Tables, now: LoadState, g: int, b: int) -> None:
    """Put a vertex on a device, unless it is there."""
    if now.place[g] == b:
        return
    kernels.compute_change(made, now, g, b)
    kernels.apply_change(made, now, g, b)
    kernels.move_vertex(made, now, g, b)


def draw_groups(seed: int) -> tuple[Terms, IntArray, Tables]:
    """Return drawn terms, their groups in at most six vertices, and the tables."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    label = np.unique(rng.integers(0, 6, terms.groups), return_inverse=True)[1].astype(np.int64)
    return terms, label, make_tables(terms, label, NONE)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 10))])
def test_loads_after_moves_are_as_defined(seed: int) -> None:
    """And so is what is held, for groups that move by themselves or in vertices."""
    terms, label, made = draw_groups(seed)
    rng = np.random.default_rng(seed)
    place = rng.integers(0, terms.devices, label.max() + 1)
    now = make_state(terms, made, place)
    for _ in range(20):
        move(made, now, int(rng.integers(len(place))), int(rng.integers(terms.devices)))
        at = now.place[label]
        np.testing.assert_allclose(now.load, sum(loads_s(terms, at)), atol=1e-9)
        np.testing.assert_allclose(now.held, held_bytes(terms, at), atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_a_move_back_leaves_everything_as_it_was(seed: int) -> None:
    """Readers too."""
    terms, label, made = draw_groups(seed)
    now = make_state(terms, made, np.zeros(label.max() + 1, np.int64))
    before = now.consumers.copy(), now.load.copy()
    for b in (terms.devices - 1, 0):
        move(made, now, 0, b)
    assert (now.consumers == before[0]).all()
    np.testing.assert_allclose(now.load, before[1], atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_missing_links_take_longer_than_all_else(seed: int) -> None:
    """And are gone without a trace once nothing crosses."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    terms = dataclasses.replace(terms, link=np.full_like(terms.link, -1))
    made = make_tables(terms, np.arange(terms.groups), NONE)
    now = make_state(terms, made, rng.integers(0, terms.devices, terms.groups))
    most = float(terms.work.sum() + terms.send.sum()) + 1.0
    assert (now.load.max() > most) == bool(np.isinf(sum(loads_s(terms, now.place))).any())
    for g in range(terms.groups):
        move(made, now, g, 0)
    assert now.load[0] == pytest.approx(float(terms.work[0].sum()), abs=1e-6)
