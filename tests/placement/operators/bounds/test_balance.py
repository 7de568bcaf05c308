"""Tests of work divided at will."""

import dataclasses

import numpy as np
import pytest

from tests.placement.operators.instances import cluster
from tests.placement.operators.mixtures import chain
from tiger.placement.operators.bounds.balance import balance_s
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.terms import Terms


def test_equal_devices_share_the_work() -> None:
    """12 s of work on three devices: 4 s."""
    terms = Terms.from_operators(chain([5.0, 7.0], 1.0, [0.0, 0.0]), cluster("aaa"), {})
    assert balance_s(DeviceTypeCosts.of(terms)) == pytest.approx(4.0)


def test_work_goes_where_it_is_relatively_cheap() -> None:
    """Two groups of 6 s, one of which a cpu does in 3 s: that takes it all, and two accelerators share the other.

    Better: the cpu is free for 6 - 3 s more, and so on; the best is 3 s everywhere.
    """
    operators = dataclasses.replace(chain([6.0, 6.0], 1.0, [0.0, 0.0]), cpu_s=np.array([3.0, 60.0]))
    terms = Terms.from_operators(operators, cluster("aac"), {})
    assert balance_s(DeviceTypeCosts.of(terms)) == pytest.approx(3.0, rel=1e-6)


def test_a_group_without_a_device_takes_forever() -> None:
    """It holds 9 bytes, and the devices have 8."""
    terms = Terms.from_operators(chain([1.0], 0.0, [9.0]), cluster("aa", 8.0), {})
    assert balance_s(DeviceTypeCosts.of(terms)) == np.inf
