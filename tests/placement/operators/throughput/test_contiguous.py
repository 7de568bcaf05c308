"""Tests of the search for contiguous stages, against all of them."""

import dataclasses
import itertools

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tests.placement.operators.mixtures import chain
from tiger.model.arrays import IntArray
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.linear_orders import arcs
from tiger.placement.operators.loads import held_bytes
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput import contiguous
from tiger.placement.operators.throughput.annealer import AnnealerParams, largest_load_s
from tiger.placement.operators.throughput.contiguous import OrderedPlacement, order_stages, split


def ignore(stage: str, place: IntArray, load: float) -> None:
    """Take what is reported."""


def least_of_all(terms: Terms) -> float:
    """Return the smallest largest load of all lines."""
    source, target = arcs(terms)
    stages = np.array(list(itertools.product(range(terms.devices), repeat=terms.groups)))
    stages = stages[(stages[:, source] <= stages[:, target]).all(axis=1)]
    orders = np.array(list(itertools.permutations(range(terms.devices))))
    places = np.unique(orders[:, stages].reshape(-1, terms.groups), axis=0)
    fits = [place for place in places if (held_bytes(terms, place) <= terms.capacity).all()]
    return min((largest_load_s(terms, place) for place in fits), default=np.inf)


def is_in_order(terms: Terms, line: OrderedPlacement) -> bool:
    """Return whether every device holds one stage, and no arc goes backwards."""
    stage, (source, target) = np.full(terms.devices, -1), arcs(terms)
    stage[list(line.devices)] = np.arange(len(line.devices))
    at = stage[line.place]
    return bool(set(at.tolist()) == set(range(len(line.devices))) and (at[source] <= at[target]).all())


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try less."""
    monkeypatch.setattr(contiguous, "PARAMS", contiguous.ContiguousParams(tries_per_group=100))


@pytest.mark.long
@pytest.mark.parametrize(
    "seed", [seed for seed in range(30) if draw_terms(seed).devices ** draw_terms(seed).groups < 200]
)
def test_small_searches_are_exact(seed: int) -> None:
    """The best of all lines, and none where there is none."""
    terms = draw_terms(seed)
    line = split(terms, AnnealerParams(), never_stop, ignore)
    assert (np.inf if line is None else largest_load_s(terms, line.place)) == pytest.approx(least_of_all(terms))
    assert line is None or is_in_order(terms, line)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 9))
def test_stages_are_in_order(seed: int) -> None:
    """And reported once a stage of the search, each no worse than the one before."""
    terms, reported = draw_terms(seed), list[tuple[str, float]]()
    line = split(terms, AnnealerParams(seed=seed), never_stop, lambda stage, _, load: reported.append((stage, load)))
    assert line is None or is_in_order(terms, line)
    assert line is None or [stage for stage, _ in reported] == ["linear", "annealing"]
    assert all(late <= early for (_, early), (_, late) in itertools.pairwise(reported))


@pytest.mark.slow
def test_the_same_seed_gives_the_same_line() -> None:
    """Places and order."""
    first, second = (split(draw_terms(4), AnnealerParams(seed=2), never_stop, ignore) for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.place == second.place).all()
    assert first.devices == second.devices


def test_nothing_is_found_where_nothing_fits() -> None:
    """Too little memory."""
    terms = draw_terms(4)
    assert (
        split(dataclasses.replace(terms, capacity=np.zeros(terms.devices)), AnnealerParams(), never_stop, ignore)
        is None
    )


def test_places_are_stages_where_no_two_devices_wait_for_each_other() -> None:
    """A chain of three over two devices: the middle one on its own is no stage."""
    terms = Terms.from_operators(chain([1.0] * 3, 1.0, [0.0] * 3), cluster("aaa"), {})
    made = order_stages(terms, np.array([2, 2, 0]))
    assert made is not None
    assert made.devices == (2, 0)
    assert order_stages(terms, np.array([0, 1, 0])) is None


def test_stopping_at_once_finds_one_line() -> None:
    """Whoever has little time has an answer."""
    assert split(draw_terms(4), AnnealerParams(), lambda: True, ignore) is not None
