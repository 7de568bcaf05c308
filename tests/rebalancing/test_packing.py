"""Tests of packing: the fewest devices within a time."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import tiger
from tiger.rebalancing.layer_times import LayerTimes
from tiger.rebalancing.packing import pack_line, quickest_plan

Make = Callable[..., tiger.Rebalancer]


def test_equal_devices_are_as_few_as_hold_the_time(make: Make) -> None:
    """With one less, iterations are too long."""
    rebalancer = make(12, 4)
    line, times = rebalancer.line, rebalancer.times
    for target in (0.2, 0.3, 0.6):
        packed = pack_line(line, times, target)
        assert quickest_plan(packed, times).iteration_s <= target
        if packed.positions > 1:
            shorter = replace(packed, devices=packed.devices[:-1])
            assert quickest_plan(shorter, times).iteration_s > target


def test_the_slowest_of_unlike_devices_goes_first(make: Make) -> None:
    """Half of the work is in the way of nobody on the quicker two."""
    line = make(12, 3).line
    unlike = replace(line, cluster=replace(line.cluster, speed=np.array([1.0, 0.2, 1.0])))
    assert pack_line(unlike, make(12, 3).times, 0.4).devices == (0, 2)


def test_bug_a_time_close_to_zero_frees_nothing(make: Make) -> None:
    """The devices that it would take are no number that there is."""
    decision = make().pack(5e-324)
    assert (decision.action, decision.freed) == ("keep", ())


def test_bug_one_device_is_enough_where_two_would_wait(make: Make) -> None:
    """Over slow links no two are as quick as one alone, which was not tried."""
    line = make(12, 3, bandwidth=1e2).line
    unlike = replace(line, cluster=replace(line.cluster, speed=np.array([0.5, 1.0, 0.6])))
    assert pack_line(unlike, make(12, 3).times, 0.45).devices == (1,)


def test_many_unlike_devices_go_one_by_one(make: Make) -> None:
    """There are too many choices of nine to try all; the slowest are left out."""
    line = make(18, 9).line
    unlike = replace(line, cluster=replace(line.cluster, speed=np.linspace(0.8, 1.2, 9)))
    assert pack_line(unlike, LayerTimes.of(line.layers), 0.5).devices == (4, 5, 6, 7, 8)
