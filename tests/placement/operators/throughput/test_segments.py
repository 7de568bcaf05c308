"""Tests of what runs of a line come to."""

import dataclasses
import itertools

import numpy as np
import pytest

from tests.placement.operators.instances import draw_terms
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.segments import segments


def with_equal_links(terms: Terms) -> Terms:
    """Return the terms with the first curve between all devices."""
    return dataclasses.replace(terms, link=np.minimum(terms.link, 0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_runs_load_a_device_as_defined(seed: int) -> None:
    """For every run and device, what comes before and after it elsewhere."""
    terms = with_equal_links(draw_terms(seed))
    position = draw_linear_order(terms, seed)
    size, found = position.max() + 1, segments(terms, position, np.arange(terms.devices))
    for device, (i, j) in itertools.product(range(terms.devices), itertools.combinations(range(size + 1), 2)):
        place = np.where((position >= i) & (position < j), device, (device + 1) % terms.devices)
        if terms.devices > 1 and held_bytes(terms, place)[device] <= terms.capacity[device]:
            assert found[device, i, j] == pytest.approx(sum(loads_s(terms, place))[device])


def test_runs_that_do_not_fit_take_for_ever() -> None:
    """For memory, for a group that may not be there, or because there are none."""
    terms = with_equal_links(draw_terms(1))
    position = np.arange(terms.groups)
    none = dataclasses.replace(terms, capacity=np.full(terms.devices, -1.0))
    assert np.isinf(segments(none, position, np.array([0]))).all()
    barred = dataclasses.replace(terms, allowed=np.zeros_like(terms.allowed))
    assert np.isinf(segments(barred, position, np.array([0]))).all()
    assert np.isinf(np.diagonal(segments(terms, position, np.array([0]))[0])).all()
