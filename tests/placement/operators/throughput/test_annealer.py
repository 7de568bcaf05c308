"""Tests of places made better by moves."""

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tiger.model.arrays import IntArray
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import (
    UNSTAGED,
    Annealer,
    AnnealerParams,
    AnnealingParams,
    count_tries,
    ideal_load_s,
    largest_load_s,
    refine,
)


def start(terms: Terms, seed: int) -> IntArray:
    """Return random places."""
    return np.random.default_rng(seed).integers(0, terms.devices, terms.groups)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_refined_places_are_no_worse(seed: int) -> None:
    """Where they fitted before; and they fit after."""
    terms = draw_terms(seed)
    before = start(terms, seed)
    after = refine(terms, before, AnnealerParams(seed=seed), never_stop)
    if (held_bytes(terms, before) <= terms.capacity).all():
        assert largest_load_s(terms, after) <= largest_load_s(terms, before)
        assert (held_bytes(terms, after) <= terms.capacity * (1 + 1e-9)).all()


def test_dear_proposals_are_fewer() -> None:
    """A proposal visits what a group has of operators and edges, so that all together do not take much longer."""
    terms = draw_terms(4)
    visits = (terms.operators + 2 * len(terms.consumer)) // terms.groups + 1
    assert count_tries(terms, 10**12, 7) == 7 * terms.groups
    assert count_tries(terms, 5, 7) == 5
    assert count_tries(terms, 10**12, 10**10) * visits == pytest.approx(20_000_000, rel=1e-3)


def test_the_same_seed_gives_the_same_places() -> None:
    """And another one, of many, others."""
    terms = draw_terms(4)
    found = [refine(terms, start(terms, 0), AnnealerParams(seed=seed), never_stop) for seed in (0, 0, 1, 2, 3, 4)]
    assert (found[0] == found[1]).all()
    assert any((found[0] != other).any() for other in found[2:])


def test_stopping_returns_the_start() -> None:
    """As it was."""
    terms = draw_terms(4)
    before = start(terms, 1)
    assert (refine(terms, before, AnnealerParams(), lambda: True) == before).all()


@pytest.mark.parametrize("seed", range(5))
def test_annealed_groups_stay_together(seed: int) -> None:
    """With the load that is returned."""
    terms = draw_terms(seed)
    label = np.arange(terms.groups) // 2
    moves = Annealer.of(terms, label, UNSTAGED, never_stop)
    place, load = moves.anneal(
        np.zeros(terms.groups, np.int64), ideal_load_s(terms), AnnealingParams(temperature=0.1, tries=2000, seed=seed)
    )
    assert (place == place[np.searchsorted(label, label)]).all()
    assert load == np.inf or load == pytest.approx(float(sum(loads_s(terms, place)).max()))


def test_the_ideal_is_an_even_share() -> None:
    """Of the work where it is fastest; 1 where there is none."""
    terms = draw_terms(4)
    assert ideal_load_s(terms) == pytest.approx(terms.work.min(axis=0).sum() / terms.devices)
    idle = draw_terms(4)
    object.__setattr__(idle, "work", np.zeros_like(idle.work))
    assert ideal_load_s(idle) == 1.0
