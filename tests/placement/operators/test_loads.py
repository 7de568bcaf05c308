"""Tests of what a placement comes to."""

import itertools

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.operators.loads import held_bytes, loads_s
from tiger.placement.operators.terms import Terms
from tiger.training.models.operators import Operators

# a sends 4 bytes to b and c; all take 1 s, on a cpu 10 s, and hold 1, 2 and 3 bytes.
FORK = Operators(
    names=("a", "b", "c"),
    seconds=np.ones(3),
    cpu_s=np.full(3, 10.0),
    memory_bytes=np.array([1.0, 2.0, 3.0]),
    sent_bytes=np.array([4.0, 0.0, 0.0]),
    source=np.array([0, 0]),
    target=np.array([1, 2]),
)


def by_hand(terms: Terms, place: IntArray) -> FloatArray:
    """Return all loads by the definition, operator after operator."""
    at, loads = place[terms.group_of], np.zeros(terms.devices)
    for u, d in enumerate(at):
        consumers = terms.consumer[terms.consumer_start[u] : terms.consumer_start[u + 1]]
        times = {h: terms.send[terms.link[d, h], u] for h in {int(at[v]) for v in consumers} - {int(d)}}
        loads[d] += terms.work[d, u] + terms.pays[d] * max(times.values(), default=0.0)
        for h, seconds in times.items():
            loads[h] += terms.pays[h] * seconds
    return loads


@pytest.mark.parametrize(
    ("place", "compute", "communication"),
    [
        ([0, 0, 0], [3, 0, 0], [0, 0, 0]),
        # The producer pays once, for the slower of two links, and each receiver for its own.
        ([0, 1, 2], [1, 1, 1], [4, 4, 2]),
        ([0, 2, 2], [1, 0, 2], [2, 0, 2]),
    ],
)
def test_a_producer_pays_once(place: list[int], compute: list[float], communication: list[float]) -> None:
    """And every receiving device once, however many consumers it has."""
    found = loads_s(Terms.from_operators(FORK, cluster("aaa"), {}), np.array(place))
    assert [part.tolist() for part in found] == [compute, communication]


def test_a_cpu_pays_nothing() -> None:
    """Who sends to it does."""
    compute, communication = loads_s(Terms.from_operators(FORK, cluster("ac"), {}), np.array([0, 1, 1]))
    assert (compute.tolist(), communication.tolist()) == ([1, 20], [4, 0])


@pytest.mark.slow
def test_loads_are_as_defined() -> None:
    """On any graph, with any placement."""
    rng = np.random.default_rng(0)
    for seed in range(200):
        terms = draw_terms(seed)
        place = rng.integers(0, terms.devices, terms.groups)
        np.testing.assert_allclose(sum(loads_s(terms, place)), by_hand(terms, place), atol=1e-12)


def test_devices_without_a_link_take_for_ever() -> None:
    """Only if something goes from one to the other."""
    terms = Terms.from_operators(FORK, cluster("aa"), {})
    object.__setattr__(terms, "link", np.full((2, 2), -1))
    loads = [sum(loads_s(terms, np.array(place))) for place in itertools.product((0, 1), repeat=3)]
    assert [np.isfinite(load).all() for load in loads] == [True, *[False] * 6, True]


def test_a_cpu_does_not_send_without_a_link_either() -> None:
    """Though it pays for no message."""
    terms = Terms.from_operators(FORK, cluster("cc"), {})
    object.__setattr__(terms, "link", np.full((2, 2), -1))
    compute, communication = loads_s(terms, np.array([0, 1, 0]))
    assert (compute.tolist(), communication.tolist()) == ([20, 10], [np.inf, np.inf])


def test_memory_is_that_of_groups() -> None:
    """By device."""
    assert held_bytes(Terms.from_operators(FORK, cluster("aaa"), {}), np.array([2, 0, 2])).tolist() == [2, 0, 4]
