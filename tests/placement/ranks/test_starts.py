"""Tests of orders to begin with."""

from dataclasses import replace

import numpy as np

from tiger.placement.ranks.starts import starts


def test_starts_are_orders_of_all_devices(regular):
    """The cluster's own, then the fastest first, then machine by machine, the faster machine first; and others."""
    odd = np.arange(6) % 2
    cluster = replace(regular(2, 3), speed=np.array([1, 2, 1, 2, 3, 2.0]), machine=odd)
    orders = starts(cluster, 0)
    assert orders[:3].tolist() == [[0, 1, 2, 3, 4, 5], [4, 1, 3, 5, 0, 2], [1, 3, 5, 4, 0, 2]]
    assert (np.sort(orders, axis=1) == np.arange(6)).all()


def test_walks_follow_the_widest_links(regular):
    """From each device of two machines of two, the other one of its machine comes next."""
    walks = starts(regular(2, 2), 0)[3:7]
    assert walks[:, :2].tolist() == [[0, 1], [1, 0], [2, 3], [3, 2]]
