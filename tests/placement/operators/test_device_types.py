"""Tests of devices that may be exchanged."""

import dataclasses

import numpy as np
import pytest

from tests.placement.operators.instances import cluster, draw_terms
from tiger.placement.operators.device_types import drop_cpus, keep_linked, label_devices
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.terms import Terms
from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.models.operators import Operators

PAIR = Operators(names=("a", "b"), seconds=np.ones(2), source=np.array([0]), target=np.array([1]))


def even(speed: list[float]) -> Cluster:
    """Return devices of these speeds, all linked alike."""
    size = len(speed)
    return Cluster(
        names=tuple(map(str, range(size))),
        speed=np.array(speed),
        memory_bytes=np.full(size, np.inf),
        curves=(Curve.affine(1.0, 0.0),),
        link=np.zeros((size, size), np.int64),
    )


def test_speeds_tell_devices_apart() -> None:
    """Labels rise as they come."""
    assert label_devices(Terms.from_operators(PAIR, even([1.0, 2.0, 1.0, 2.0]), {})).tolist() == [0, 1, 0, 1]


def test_pins_tell_devices_apart() -> None:
    """The device that something is pinned to is of a kind of its own."""
    assert label_devices(Terms.from_operators(PAIR, even([1.0, 1.0, 1.0]), {0: 1})).tolist() == [0, 1, 0]


@pytest.mark.parametrize("seed", range(6))
def test_exchanging_two_of_a_kind_changes_no_load(seed: int) -> None:
    """But for its device."""
    terms, rng = draw_terms(seed), np.random.default_rng(seed)
    label = label_devices(terms)
    place = rng.integers(0, terms.devices, terms.groups)
    swap = np.arange(terms.devices)
    alike = np.flatnonzero(label == label[rng.integers(terms.devices)])
    swap[alike] = np.roll(alike, 1)
    np.testing.assert_allclose(sum(loads_s(terms, swap[place]))[swap], sum(loads_s(terms, place)), atol=1e-12)


def test_links_tell_devices_apart() -> None:
    """The ends of a line of three may be exchanged, the middle with neither."""
    assert label_devices(Terms.from_operators(PAIR, cluster("aaa"), {})).tolist() == [0, 1, 0]


def test_linked_devices_reach_each_other() -> None:
    """In a ring of four without diagonals, two of them; even numbers leave all."""
    terms = Terms.from_operators(PAIR, even([1.0] * 4), {})
    far = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) == 2
    ring = dataclasses.replace(terms, link=np.where(far, -1, terms.link))
    for number in range(1, 10, 2):
        kept = np.flatnonzero(keep_linked(ring, number).allowed[0])
        assert len(kept) == 2
        assert ring.link[kept[0], kept[1]] == 0
    assert keep_linked(ring, 2).allowed.all()
    assert keep_linked(terms, 1) is terms


def test_cpus_are_left_out_now_and_then() -> None:
    """Unless a group has to be on one."""
    terms = Terms.from_operators(PAIR, cluster("aac"), {})
    assert [drop_cpus(terms, number).allowed[0].tolist() for number in (1, 2)] == [[True] * 3, [True, True, False]]
    assert drop_cpus(terms, 4) is terms
    pinned = Terms.from_operators(PAIR, cluster("aac"), {0: 2})
    assert drop_cpus(pinned, 3) is pinned
