"""Tests of the times of collectives."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.hardware.collectives import all_gather_s, all_reduce_s, all_to_all_s

FAST, SLOW = Curve.affine(4.0, 1.0), Curve.affine(1.0, 1.0)


def ring_of(link, fast=FAST):
    """Return a cluster with a fast curve, 0, and a slow one, 1."""
    size = len(link)
    return Cluster(
        names=tuple(map(str, range(size))),
        speed=np.ones(size),
        memory_bytes=np.full(size, np.inf),
        curves=(fast, SLOW),
        link=np.array(link),
    )


def test_all_reduce_of_equal_links():
    """Three ranks take four steps, each a latency of 1 and a third of 24 bytes at 4 bytes per second."""
    assert all_reduce_s(ring_of(np.zeros((3, 3), int)), [0, 1, 2], [0.0, 24.0]).tolist() == [0, 12]


def test_the_slowest_link_of_the_ring_counts():
    """One slow link of the ring slows every step down; one that the ring does not use does not.

    Between machines the order is the one that is given, inside one the order changes nothing.
    """
    link = np.zeros((4, 4), int)
    link[0, 2] = link[2, 0] = 1
    apart = replace(ring_of(link), machine=np.arange(4))
    assert float(all_reduce_s(apart, [0, 1, 2, 3], 16.0)) == 12
    assert float(all_reduce_s(apart, [0, 2, 1, 3], 16.0)) == 30
    assert float(all_reduce_s(ring_of(link), [0, 2, 1, 3], 16.0)) == 12


def test_one_rank_has_nothing_to_do():
    """A single rank takes no time."""
    assert all_reduce_s(ring_of([[-1]]), [0], [0.0, 5.0]).tolist() == [0, 0]


def test_times_beyond_float64_are_infinite():
    """Times that are too long for a number are infinite, without a warning."""
    endless = Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.array([1e308, 1e308]))
    cluster = ring_of(np.zeros((2, 2), int), endless)
    assert float(all_reduce_s(cluster, [0, 1], 1.0)) == np.inf


@pytest.mark.parametrize("ranks", [2, 3])
def test_without_a_link_it_takes_for_ever(ranks):
    """A ring over a missing link never ends, unless there is nothing to send."""
    assert all_reduce_s(ring_of(np.full((3, 3), -1)), range(ranks), [0.0, 5.0]).tolist() == [0, np.inf]


def test_a_gather_is_half_of_an_all_reduce():
    """The slowest of rings side by side counts: here the second, over slow links."""
    link = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    cluster = ring_of(link)
    assert all_gather_s(cluster, np.array([[0, 2], [1, 3]]), 8.0) == all_reduce_s(cluster, [2, 3], 8.0) / 2 == 5
    assert all_gather_s(cluster, np.array([[0], [1]]), 8.0) == 2


def test_all_exchange_with_all():
    """Two messages of each of three ranks, of 2 s by a third of 12 bytes; none of one rank, or of nothing."""
    cluster = ring_of(np.zeros((3, 3), int))
    assert all_to_all_s(cluster, np.array([[0], [1], [2]]), [12.0, 0.0]).tolist() == [4, 0]
    assert all_to_all_s(cluster, np.array([[0]]), [12.0]).tolist() == [0]
