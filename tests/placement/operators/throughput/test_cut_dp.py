"""Tests of the cuts of a line, against all of them."""

import dataclasses
import itertools

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tests.placement.operators.plain import interpret
from tiger.model.arrays import IntArray
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput import cut_dp
from tiger.placement.operators.throughput.cut_dp import cut


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as plain Python."""
    interpret(monkeypatch)


def with_equal_links(seed: int) -> Terms:
    """Return drawn terms with the first curve between all devices."""
    terms = draw_terms(seed)
    return dataclasses.replace(terms, link=np.minimum(terms.link, 0))


def least_of_all(terms: Terms, position: IntArray) -> float:
    """Return the smallest largest load of all lines along an order."""
    size, best = int(position.max()) + 1, np.inf
    for used in range(1, min(terms.devices, size) + 1):
        for cuts in itertools.combinations(range(1, size), used - 1):
            stage = np.searchsorted(np.array(cuts), position, side="right")
            for devices in itertools.permutations(range(terms.devices), used):
                place = np.array(devices)[stage]
                if (held_bytes(terms, place) <= terms.capacity).all():
                    best = min(best, float(sum(loads_s(terms, place)).max()))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_cuts_are_the_best_of_all(seed: int) -> None:
    """Along their order, on any of the devices."""
    terms = with_equal_links(seed)
    position = draw_linear_order(terms, seed)
    least, found = least_of_all(terms, position), cut(terms, position, 0)
    assert (found is None) == (least == np.inf)
    if found:
        assert float(sum(loads_s(terms, found.place)).max()) == pytest.approx(least)
        assert sorted(set(found.place.tolist())) == sorted(found.devices)


@pytest.mark.parametrize("seed", range(5))
def test_many_kinds_are_taken_in_one_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best of these orders is the best of all, when all are drawn."""
    terms = with_equal_links(seed)
    position = draw_linear_order(terms, seed)
    monkeypatch.setattr(cut_dp, "STATES", 0)
    lines = [cut(terms, position, order) for order in range(30)]
    loads = [float(sum(loads_s(terms, found.place)).max()) for found in lines if found]
    assert min(loads, default=np.inf) == pytest.approx(least_of_all(terms, position))


@pytest.mark.parametrize(("limit", "most"), [("WIDEST", 2), ("CELLS", 8)])
def test_wide_lines_are_cut_in_blocks(monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    """Every group still has a device, and the order is kept."""
    monkeypatch.setattr(cut_dp, limit, most)
    terms = with_equal_links(3)
    position = draw_linear_order(terms, 0)
    found = cut(terms, position, 0)
    assert found is not None
    stage = np.array([found.devices.index(device) for device in found.place.tolist()])
    assert (np.diff(stage[np.argsort(position)]) >= 0).all()
