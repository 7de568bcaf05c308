"""Tests of placements of very many groups."""

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from tests.placement.operators.lattices import is_within, lattice
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.throughput import multilevel
from tiger.placement.operators.throughput.annealer import ideal_load_s, largest_load_s
from tiger.placement.operators.throughput.multilevel import CycleParams, run_cycle, search_multilevel

QUICK = CycleParams(per_device=8, tries=5_000)


def ignore(_stage: str, _place: object, _cost: float) -> None:
    """Take no notice."""


@pytest.mark.parametrize("kinds", ["aaaa", "aaac"])
def test_a_grid_is_cut_evenly(kinds: str) -> None:
    """Within a tenth of equal shares, communication and all, and within memory."""
    terms = lattice(12, 24, kinds, 85.0)
    place = search_multilevel(terms, QUICK, never_stop, ignore)
    assert place is not None
    assert largest_load_s(terms, place) <= 1.1 * ideal_load_s(terms)
    assert is_within(terms, place)


def test_a_cycle_joins_no_groups_of_different_devices() -> None:
    """So that what it begins with can be what it ends with, or better."""
    terms = lattice(10, 20, "aaaa", 60.0)
    start = np.repeat(np.arange(4), 50)
    found = run_cycle(terms, start, QUICK, 0, never_stop)
    assert found is not None
    assert (
        np.square(np.sum(loads_s(terms, found), axis=0)).sum() < np.square(np.sum(loads_s(terms, start), axis=0)).sum()
    )


@pytest.mark.slow
def test_groups_stay_where_they_may_go() -> None:
    """Every tenth is bound to a device."""
    terms = lattice(10, 20, "aaaa", 60.0)
    allowed = np.ones((200, 4), np.bool_)
    allowed[::10] = np.arange(20)[:, None] % 4 == np.arange(4)
    terms = replace(terms, allowed=allowed)
    place = search_multilevel(terms, QUICK, never_stop, ignore)
    assert place is not None
    assert is_within(terms, place)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_places() -> None:
    """And the reported loads fall."""
    terms, reported = lattice(10, 20, "aaa", 80.0), list[float]()
    first, second = (
        search_multilevel(terms, QUICK, never_stop, lambda _stage, _place, load: reported.append(load))
        for _ in range(2)
    )
    assert first is not None
    assert second is not None
    assert (first == second).all()
    half = reported[: len(reported) // 2]
    assert half == sorted(half, reverse=True)


def test_what_fits_nowhere_has_no_placement() -> None:
    """A hundred bytes on two devices of forty."""
    assert search_multilevel(lattice(10, 10, "aa", 40.0), QUICK, never_stop, ignore) is None


def test_stopping_leaves_a_line() -> None:
    """With one, no cycle begins."""
    terms, reported = lattice(10, 10, "aa", 60.0), list[str]()
    place = search_multilevel(terms, QUICK, lambda: True, lambda stage, _place, _load: reported.append(stage))
    assert place is not None
    assert set(reported) == {"lines"}


@pytest.mark.parametrize("heard", [0, 1, 2])
def test_bug_a_cycle_ends_where_time_is_over(monkeypatch: pytest.MonkeyPatch, heard: int) -> None:
    """While it joins groups: no more of them are, and its places are those it began with."""
    terms, joins = lattice(10, 20, "aaaa", 60.0), mock.Mock(side_effect=multilevel.cluster_labels)
    monkeypatch.setattr(multilevel, "cluster_labels", joins)
    monkeypatch.setattr(multilevel, "_anneal", mock.Mock(side_effect=AssertionError))
    start = np.repeat(np.arange(4), 50)
    calls = iter(range(99))
    assert run_cycle(terms, start, QUICK, 0, lambda: next(calls) >= heard) is start
    assert joins.call_count == heard


def test_bug_places_are_carried_to_all_groups_where_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """No finer level is improved once annealing has taken the rest."""
    terms, over = lattice(10, 20, "aaaa", 60.0), list[bool]()
    annealed = multilevel._anneal

    def late(*given: Any) -> Any:
        over.append(True)
        return annealed(*given[:-1], never_stop)

    monkeypatch.setattr(multilevel, "_anneal", late)
    monkeypatch.setattr(multilevel, "descend", mock.Mock(side_effect=AssertionError))
    place = run_cycle(terms, None, QUICK, 0, lambda: bool(over))
    assert place is not None
    assert is_within(terms, place)
