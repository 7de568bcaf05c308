"""Tests of the search for devices, against all placements."""

import dataclasses
import itertools

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tiger.model.arrays import IntArray
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.loads import held_bytes
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput import search
from tiger.placement.operators.throughput.annealer import largest_load_s
from tiger.placement.operators.throughput.search import AnnealerParams, StageParams, search_placement
from tiger.training.models.operators import Operators


def ignore(stage: str, place: IntArray, load: float) -> None:
    """Take what is reported."""


def least_of_all(terms: Terms) -> float:
    """Return the smallest largest load of all placements that fit."""
    best = np.inf
    for devices in itertools.product(range(terms.devices), repeat=terms.groups):
        place = np.array(devices)
        if (held_bytes(terms, place) <= terms.capacity).all() and terms.allowed[np.arange(len(place)), place].all():
            best = min(best, largest_load_s(terms, place))
    return best


def least_load(terms: Terms, seed: int = 0) -> float:
    """Return the largest load that is found, infinite for none."""
    place = search_placement(terms, AnnealerParams(seed=seed), never_stop, ignore)
    return np.inf if place is None else largest_load_s(terms, place)


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try less."""
    monkeypatch.setattr(search, "STAGES", StageParams(tries_per_group=200))


@pytest.mark.parametrize(
    "seed", [seed for seed in range(16) if draw_terms(seed).devices ** draw_terms(seed).groups < 300]
)
def test_small_searches_are_exact(seed: int) -> None:
    """The best of all placements, and none where there is none."""
    terms = draw_terms(seed)
    assert least_load(terms) == pytest.approx(least_of_all(terms))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 8, 16])
def test_missing_links_are_kept_to(seed: int) -> None:
    """Half of them gone, and pins."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    gone = np.triu(rng.random(terms.link.shape) < 0.5, 1)
    allowed = rng.random(terms.allowed.shape) < 0.8
    terms = dataclasses.replace(terms, link=np.where(gone | gone.T, -1, terms.link), allowed=allowed)
    if terms.devices**terms.groups < 300:
        assert least_load(terms) == pytest.approx(least_of_all(terms))


def test_nothing_is_found_where_nothing_fits() -> None:
    """For a group without a device, or too little memory."""
    terms = draw_terms(4)
    assert least_load(dataclasses.replace(terms, allowed=np.zeros_like(terms.allowed))) == np.inf
    assert least_load(dataclasses.replace(terms, capacity=np.zeros_like(terms.capacity))) == np.inf


def test_the_same_seed_gives_the_same_places() -> None:
    """And stages are reported in order, each no worse than the one before."""
    terms, reported = draw_terms(4), list[tuple[str, float]]()
    first = search_placement(
        terms, AnnealerParams(seed=3), never_stop, lambda stage, _, load: reported.append((stage, load))
    )
    second = search_placement(terms, AnnealerParams(seed=3), never_stop, ignore)
    assert first is not None
    assert second is not None
    assert (first == second).all()
    assert [stage for stage, _ in reported] == ["linear", "annealing", "relinking"]
    assert all(late <= early for (_, early), (_, late) in itertools.pairwise(reported))
    assert reported[-1][1] == largest_load_s(terms, first)


@pytest.mark.long
@pytest.mark.parametrize(("size", "devices"), [(1, 1), (5, 1), (1, 3), (6, 64)])
def test_degenerate_sizes(size: int, devices: int) -> None:
    """One operator, one device, more devices than operators; no edges, and no work."""
    names, none = tuple(map(str, range(size))), np.empty(0, np.int64)
    operators = Operators(names=names, seconds=np.arange(float(size)), source=none, target=none)
    terms = Terms.from_operators(operators, cluster("a" * devices), {})
    assert least_load(terms) == (sum(range(size)) if devices == 1 else size - 1)
    idle = dataclasses.replace(terms, work=np.zeros_like(terms.work))
    assert least_load(idle) == 0.0


def test_stopping_at_once_finds_what_there_is() -> None:
    """One line, cut where that is best."""
    reported: list[str] = []
    assert (
        search_placement(draw_terms(4), AnnealerParams(), lambda: True, lambda stage, *_: reported.append(stage))
        is not None
    )
    assert reported[0] == "linear"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_scattered_groups_with_few_tries_are_annealed_cold(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A chain in groups of twenty anywhere: lower loads, with no more tries than of runs that begin hot."""
    terms, found = scattered_terms(2000, 20, seed), []
    for plenty in (0, 800):
        monkeypatch.setattr(search, "STAGES", StageParams(tries_per_group=40, plenty=plenty))
        found.append(least_load(terms, seed))
    assert found[1] < found[0]


def test_small_groups_are_annealed_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ten operators each, however few the tries."""
    terms, found = scattered_terms(500, 10, 0), []
    for plenty in (0, 800):
        monkeypatch.setattr(search, "STAGES", StageParams(tries_per_group=4, plenty=plenty))
        found.append(least_load(terms))
    assert found[1] == found[0]


def scattered_terms(size: int, together: int, seed: int) -> Terms:
    """Return a chain of operators on four devices in groups of so many, a fifth of the operators anywhere."""
    rng = np.random.default_rng(seed)
    chain = Operators(
        names=tuple(map(str, range(size))),
        seconds=rng.uniform(1.0, 2.0, size),
        sent_s=np.full(size, 0.1),
        source=np.arange(size - 1),
        target=np.arange(1, size),
        colour=np.where(rng.random(size) < 0.8, np.arange(size), rng.permutation(size)) // together,
    )
    return Terms.from_operators(chain, cluster("aaaa"), {})
