"""Tests of placements for one microbatch to end early."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.lattices import is_within, lattice
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.latency.list_scheduling import makespan_s
from tiger.placement.operators.latency.search import LatencyParams, makespan_bound_s, search_latency
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.terms import Terms

QUICK = LatencyParams(passes=50_000)


def ignore(_stage: str, _place: object, _cost: float) -> None:
    """Take no notice."""


def fitting(terms: Terms) -> list[np.ndarray]:
    """Return all placements within memory."""
    every = map(np.array, itertools.product(range(terms.devices), repeat=terms.groups))
    return [place for place in every if is_within(terms, place)]


def small(seed: int) -> Terms:
    """Return drawn terms with at most a few thousand placements."""
    return next(t for t in map(draw_terms, itertools.count(100 * seed)) if 1 < t.devices**t.groups <= 3000)


@pytest.mark.parametrize("seed", range(5))
def test_small_graphs_are_placed_as_well_as_can_be(seed: int) -> None:
    """By all placements; and the bound holds."""
    terms = small(seed)
    best = min((makespan_s(terms, place) for place in fitting(terms)), default=np.inf)
    found = search_latency(terms, QUICK, [], never_stop, ignore)
    assert (np.inf if found is None else makespan_s(terms, found)) == pytest.approx(best)
    assert makespan_bound_s(terms) <= best * (1 + 1e-9)


def test_the_bound_is_the_longest_path_or_all_work() -> None:
    """Of a row the one, of many groups the other; half the speed of a device counts half."""
    row, grid = lattice(1, 5, "aa"), lattice(6, 6, "aa")
    assert makespan_bound_s(row) == pytest.approx(15.0)
    assert makespan_bound_s(grid) == pytest.approx(54.0)
    assert makespan_bound_s(replace(grid, work=grid.work * np.array([[2.0], [1.0]]))) == pytest.approx(72.0)


def test_the_bound_knows_where_groups_may_go() -> None:
    """All on one device."""
    grid = lattice(6, 6, "aa")
    assert makespan_bound_s(replace(grid, allowed=np.tile([True, False], (36, 1)))) == pytest.approx(108.0)


@pytest.mark.parametrize("seed", range(5))
def test_no_answer_is_dearer_than_a_start(seed: int) -> None:
    """Here a good one, with next to no search."""
    terms = lattice(4, 6, "aaaa")
    start = np.repeat(np.arange(4), 6)
    found = search_latency(terms, LatencyParams(seed=seed, passes=1), [start], never_stop, ignore)
    assert found is not None
    assert makespan_s(terms, found) <= makespan_s(terms, start)


def test_starts_that_do_not_fit_are_left_out() -> None:
    """All on one device."""
    terms = lattice(2, 3, "aa", 4.0)
    found = search_latency(terms, QUICK, [np.zeros(6, np.int64)], never_stop, ignore)
    assert found is not None
    assert is_within(terms, found)


def test_what_fits_nowhere_has_no_placement() -> None:
    """Six bytes on two devices of two."""
    assert search_latency(lattice(2, 3, "aa", 2.0), QUICK, [], never_stop, ignore) is None


def test_loads_weigh_as_asked() -> None:
    """With their weight alone the largest load is smaller, and the makespan longer."""
    terms = lattice(3, 6, "aaa")
    found = [
        search_latency(terms, replace(QUICK, makespan_weight=1.0 - weight, load_weight=weight), [], never_stop, ignore)
        for weight in (0.0, 1.0)
    ]
    early, even = (place for place in found if place is not None)
    assert np.sum(loads_s(terms, even), axis=0).max() < np.sum(loads_s(terms, early), axis=0).max()
    assert makespan_s(terms, early) < makespan_s(terms, even)


def test_the_same_seed_gives_the_same_places() -> None:
    """With every cost told falling."""
    told: list[float] = []
    terms = lattice(4, 4, "aaaa", 5.0)
    first, second = (
        search_latency(terms, QUICK, [], never_stop, lambda _stage, _place, cost: told.append(cost)) for _ in range(2)
    )
    assert first is not None
    assert second is not None
    assert (first == second).all()
    half = told[: len(told) // 2]
    assert half == sorted(half, reverse=True)


def test_stopping_leaves_a_start() -> None:
    """At once."""
    terms, start = lattice(4, 4, "aaaa"), np.repeat(np.arange(4), 4)
    found = search_latency(terms, QUICK, [start], lambda: True, ignore)
    assert found is not None
    assert (found == start).all()


@pytest.mark.slow
def test_a_few_moves_from_cooler_temperatures_improve_what_heft_found() -> None:
    """Ten for each group; from the usual temperatures they end above what they began with."""
    terms = lattice(16, 40, "a" * 8)
    few = LatencyParams(passes=10 * terms.groups * (terms.operators + len(terms.consumer)))
    found = [search_latency(terms, replace(few, plenty=plenty), [], never_stop, ignore) for plenty in (0, few.plenty)]
    usual_s, cooler_s = (makespan_s(terms, place) for place in found if place is not None)
    assert cooler_s < 0.995 * usual_s
