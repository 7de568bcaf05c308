"""Tests of the times of collectives."""

from dataclasses import replace

import numpy as np
import pytest

from tiger.training.hardware.cluster import Cluster, Curve
from tiger.training.hardware.collectives import Collective, RingTable
from tiger.training.hardware.messages import MessageTable
from tiger.training.hardware.ring_links import WHOLE, RingLinks, nic_shares

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


def ring_s(cluster, ring, size_bytes, collective: Collective = "both", share=WHOLE):
    """Return the seconds of a collective around one ring or several `[.., r]`."""
    rings, size = np.array(ring), np.atleast_1d(np.asarray(size_bytes, float))
    table = RingTable(cluster=cluster, size_bytes=size, ranks=rings.shape[-1], collective=collective)
    return table.seconds(RingLinks.of(cluster, rings, share))


def test_all_reduce_of_equal_links():
    """Three ranks take four steps, each a latency of 1 and a third of 24 bytes at 4 bytes per second."""
    assert ring_s(ring_of(np.zeros((3, 3), int)), [0, 1, 2], [0.0, 24.0]).tolist() == [0, 12]


def test_the_slowest_link_of_the_ring_counts():
    """One slow link of the ring slows every step down; one that the ring does not use does not.

    Between machines the order is the one that is given, inside one the order changes nothing.
    """
    link = np.zeros((4, 4), int)
    link[0, 2] = link[2, 0] = 1
    apart = replace(ring_of(link), machine=np.arange(4))
    assert float(ring_s(apart, [0, 1, 2, 3], 16.0)[0]) == 12
    assert float(ring_s(apart, [0, 2, 1, 3], 16.0)[0]) == 30
    assert float(ring_s(ring_of(link), [0, 2, 1, 3], 16.0)[0]) == 12


def test_one_rank_has_nothing_to_do():
    """A single rank takes no time."""
    assert ring_s(ring_of([[-1]]), [0], [0.0, 5.0]).tolist() == [0, 0]


def test_times_beyond_float64_are_infinite():
    """Times that are too long for a number are infinite, without a warning."""
    endless = Curve(size_bytes=np.array([0.0, 1.0]), seconds=np.array([1e308, 1e308]))
    cluster = ring_of(np.zeros((2, 2), int), endless)
    assert ring_s(cluster, [0, 1], 1.0).tolist() == [np.inf]


@pytest.mark.parametrize("ranks", [2, 3])
def test_without_a_link_it_takes_for_ever(ranks):
    """A ring over a missing link never ends, unless there is nothing to send."""
    assert ring_s(ring_of(np.full((3, 3), -1)), list(range(ranks)), [0.0, 5.0]).tolist() == [0, np.inf]


def test_a_gather_is_half_of_an_all_reduce():
    """Of two rings side by side the second is slower; one of one rank takes no time."""
    link = np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    cluster = ring_of(link)
    assert ring_s(cluster, [[0, 1], [2, 3]], 8.0, "gather").tolist() == [[2], [5]]
    assert ring_s(cluster, [[0, 1], [2, 3]], 8.0, "all-reduce").tolist() == [[4], [10]]
    assert ring_s(cluster, [[0]], 8.0).tolist() == [[0]]


def test_all_exchange_with_all():
    """Two messages of each of three ranks, of 2 s by 4 bytes each; none of one rank, or of nothing."""
    cluster = ring_of(np.zeros((3, 3), int))
    messages = MessageTable(cluster=cluster, size_bytes=np.array([4.0, 0.0]))
    assert messages.all_to_all_s(np.array([0, 1, 2]), WHOLE).tolist() == [4, 0]
    assert messages.all_to_all_s(np.array([0]), WHOLE).tolist() == [0, 0]


def machines_of(machines, devices, nics=0, reduces=0.0):
    """Return machines of devices at 4 bytes per second inside, 1 by each of their NICs, after 1 s and 3 s."""
    machine = np.repeat(np.arange(machines), devices)
    size = len(machine)
    return Cluster(
        names=tuple(map(str, range(size))),
        speed=np.ones(size),
        memory_bytes=np.full(size, np.inf),
        curves=(FAST, Curve.affine(1.0, 3.0)),
        link=(machine[:, None] != machine).astype(int),
        machine=machine,
        nics=np.full(size, nics),
        reduces=np.full(size, reduces),
    )


def test_rings_leave_machines_by_all_their_nics():
    """Four ranks on each of two machines have four; of 64 bytes 7 x 8 pass each link, a quarter of that each NIC.

    Six steps start inside a machine and one between two. Ranks in turn on both machines make the same rings.
    """
    cluster = machines_of(2, 4)
    wide = ring_s(cluster, list(range(8)), 64.0, "gather")
    assert wide.tolist() == [6 * 1 + 3 + 7 * 64 / 8 / 4]
    assert ring_s(cluster, [0, 4, 1, 5, 2, 6, 3, 7], 64.0, "gather").tolist() == wide.tolist()
    # One rank on the second machine, so that there is one NIC.
    assert ring_s(cluster, [0, 1, 2, 4], 64.0, "gather").tolist() == [2 * 1 + 3 + 3 * 64 / 4]


def test_ranks_that_send_at_once_share_nics():
    """Eight ranks have two NICs: half of those of two rings, and a quarter of those of four messages."""
    cluster = machines_of(2, 4, nics=2)
    share = nic_shares(cluster, np.arange(8)[None])[0]
    assert share.tolist() == [0.5] * 8
    rings = np.array([[0, 1, 4, 5], [2, 3, 6, 7]])
    assert ring_s(cluster, rings, 64.0, "gather", share[rings]).tolist() == [[2 * 1 + 3 + 3 * 64 / 4 / 1]] * 2
    # The first ring alone has both.
    alone = nic_shares(cluster, rings[:1])[0]
    assert ring_s(cluster, rings[0], 64.0, "gather", alone).tolist() == [2 * 1 + 3 + 3 * 64 / 4 / 2]
    messages = MessageTable(cluster=cluster, size_bytes=np.array([8.0]))
    assert messages.seconds((np.arange(4), np.arange(4, 8)), share[:4]).tolist() == [[3 + 8 / 0.5]] * 4
    assert messages.seconds((np.arange(2), np.arange(2, 4)), share[:2]).tolist() == [[1 + 8 / 4]] * 2


def test_small_sums_go_through_trees_and_large_ones_around_rings():
    """Of sixteen machines a tree has four levels, and starts twice as many messages up and down, a ring thirty."""
    cluster = machines_of(16, 1)
    ring, every = list(range(16)), np.array([1.0, 1e6])
    tree_s, around_s = 2 * 4 * 3 + 2 * every / 0.92, 2 * 15 * (3 + every / 16)
    assert ring_s(cluster, ring, every, "all-reduce") == pytest.approx(np.minimum(tree_s, around_s))
    assert tree_s[0] < around_s[0]
    assert tree_s[1] > around_s[1]
    assert ring_s(cluster, ring, every) == pytest.approx(around_s)


def test_a_switch_adds_up_inside_its_machine():
    """Every device sends its bytes and an eighth of the sum once, at 85 % of its links; two machines have no such."""
    cluster = machines_of(2, 8, reduces=0.85)
    inside, across = ring_s(cluster, [list(range(8)), list(range(4, 12))], 8e3, "all-reduce")[:, 0]
    assert inside == pytest.approx(25e-6 + 9 / 8 * 8e3 / 0.85 / 4)
    assert across == ring_s(machines_of(2, 8), list(range(4, 12)), 8e3, "all-reduce")[0]
    assert ring_s(cluster, list(range(8)), 8e3) == pytest.approx(2 * 7 * (1 + 1e3 / 4))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("collective", ["gather", "both", "all-reduce"])
def test_no_ring_is_below_the_bound_of_any_of_its_links(seed: int, collective: Collective) -> None:
    """Rings of drawn devices, on machines with and without NICs for all and switches that add up."""
    rng = np.random.default_rng(seed)
    cluster = machines_of(4, 4, nics=int(rng.integers(0, 4)), reduces=0.85 * rng.integers(2))
    ring = rng.permutation(16)[: rng.integers(2, 17)]
    size = rng.uniform(0.1, 100, 3)
    table = RingTable(cluster=cluster, size_bytes=size, ranks=len(ring), collective=collective)
    spent = table.seconds(RingLinks.of(cluster, ring[None], nic_shares(cluster, ring[None])))
    inside, between = table.bound_rows(max(min(len(ring) // 2, 4), 1))
    several = len(np.unique(cluster.machine[ring])) > 1
    assert (spent >= (between[1] if several else inside[0]) * (1 - 1e-12)).all()
