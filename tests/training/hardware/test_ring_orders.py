"""Tests of the orders in which rings visit their devices."""

from itertools import permutations

import numpy as np
import pytest

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.ring_orders import MOST_DEVICES, RingOrders


def drawn(size: int, seed: int) -> FloatArray:
    """Return symmetric seconds between devices, of a few values, with none on the diagonal."""
    upper = np.triu(np.random.default_rng(seed).integers(1, 5, (size, size)), 1).astype(float)
    return upper + upper.T


def orders_of(link_s: FloatArray, machine: IntArray) -> RingOrders:
    """Return the orders over links of which none is a wire."""
    return RingOrders(link_s, machine, np.zeros(link_s.shape, bool))


def slowest(link_s: FloatArray, order: tuple[int, ...], *, closed: bool = True) -> float:
    """Return the slowest link of a ring, or of a path."""
    links = link_s[list(order), list(np.roll(order, -1))]
    return float((links if closed else links[:-1]).max())


@pytest.mark.parametrize("seed", range(12))
def test_the_ring_of_a_machine_is_the_best(seed: int) -> None:
    """Of all orders none has a quicker slowest link, and the order that is given changes nothing."""
    link_s = drawn(6, seed)
    orders = orders_of(link_s, np.zeros(6, np.int64))
    best = min(slowest(link_s, order) for order in permutations(range(6)))
    found = orders.order((0, 1, 2, 3, 4, 5))
    assert sorted(found) == list(range(6))
    assert slowest(link_s, found) == best
    assert orders.order((3, 5, 0, 2, 4, 1)) == found


@pytest.mark.parametrize("seed", range(6))
def test_machines_follow_as_ranks_do(seed: int) -> None:
    """Each is left by its own best path, however its ranks are mixed with those of others."""
    link_s = drawn(8, seed)
    orders = orders_of(link_s, np.arange(8) // 4)
    found = orders.order((6, 1, 5, 0, 2, 7, 3, 4))
    assert [device // 4 for device in found] == [1, 1, 1, 1, 0, 0, 0, 0]
    for path in (found[:4], found[4:]):
        best = min(slowest(link_s, order, closed=False) for order in permutations(path))
        assert slowest(link_s, path, closed=False) == best


def test_rings_of_an_array_are_arranged_alike() -> None:
    """Each by itself; rings of two have one order."""
    orders = orders_of(drawn(6, 3), np.zeros(6, np.int64))
    rings = np.random.default_rng(0).permutation(6).reshape(1, 3, 2)
    arranged = orders.arrange(np.swapaxes(rings, 1, 2))
    for column in range(2):
        assert tuple(arranged[0, column].tolist()) == orders.order(tuple(rings[0, :, column].tolist()))
    assert orders.arrange(rings) is rings


def test_equal_links_need_no_order() -> None:
    """Inside machines, and between all of them."""
    machine = np.array([0, 0, 0, 1, 1, 1])
    link_s = np.where(machine[:, None] == machine, 1.0, 2.0)
    assert orders_of(link_s, machine).alike
    link_s[0, 4] = link_s[4, 0] = 3.0
    assert not orders_of(link_s, machine).alike
    link_s = np.where(machine[:, None] == machine, 1.0, 2.0)
    link_s[0, 1] = link_s[1, 0] = 0.5
    assert not orders_of(link_s, machine).alike
    assert orders_of(np.zeros((1, 1)), np.zeros(1, np.int64)).alike


def test_more_devices_than_a_machine_has_stay_as_they_are() -> None:
    """A cluster that states no machines is no machine."""
    size = MOST_DEVICES + 1
    orders = orders_of(drawn(size, 0), np.zeros(size, np.int64))
    ring = tuple(np.random.default_rng(1).permutation(size).tolist())
    assert orders.order(ring) == ring
