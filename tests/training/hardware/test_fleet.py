"""Tests of machines put together to one cluster."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.training.hardware.connection import Affine
from tiger.training.hardware.device import DeviceType
from tiger.training.hardware.fleet import Fleet, MachineType

INSIDE, LANE, IB, ROCE, ETHERNET = (Affine(float(rate)) for rate in (100, 200, 50, 25, 3))
NICS = {"ib": IB, "roce": ROCE, "ethernet": ETHERNET}


def rates(fleet):
    """Return the bytes per second between any two devices, 0 without a link."""
    seconds = fleet.cluster().table_s(1e6)
    return np.where(np.isinf(seconds) | (seconds == 0), 0, np.rint(1e6 / np.where(seconds > 0, seconds, 1))).tolist()


def test_names_types_and_machines():
    """Machines are numbered over all groups, devices within each machine; a group shares its type."""
    slow = DeviceType(kind="cpu", memory_bytes=5.0, speed=0.5)
    groups = MachineType(count=2, devices=1), MachineType(devices=2, device=slow, inside=INSIDE)
    cluster = Fleet(machines=groups).cluster()
    assert cluster.names == ("m0.gpu0", "m1.gpu0", "m2.cpu0", "m2.cpu1")
    assert (cluster.machine.tolist(), cluster.speed.tolist()) == ([0, 1, 2, 2], [1, 1, 0.5, 0.5])
    assert (cluster.kinds[2:], cluster.memory_bytes.tolist()[1:3]) == (("cpu", "cpu"), [np.inf, 5.0])


def test_links_win_within_a_machine():
    """Joined pairs have their own connection in every machine of the group, other pairs the common one."""
    group = MachineType(count=2, devices=3, inside=INSIDE, links={(0, 2): LANE}, nic="ib")
    table = rates(Fleet(machines=(group,), nics=NICS))
    assert table[0] == [*table[2][:3][::-1], 50, 50, 50] == [0, 100, 200, 50, 50, 50]
    assert table[5] == [50, 50, 50, 200, 100, 0]


def test_machines_with_the_same_network_use_it_and_others_the_fallback():
    """Two kinds of networks meet over the common slower one, as does a machine without any."""
    groups = tuple(MachineType(devices=1, nic=nic) for nic in ("ib", "ib", "roce", None, None))
    table = rates(Fleet(machines=groups, nics=NICS, fallback="ethernet"))
    assert table[0] == [0, 50, 3, 3, 3]
    assert table[2] == [3, 3, 0, 3, 3]
    assert table[4] == [3, 3, 3, 3, 0]


def test_without_a_fallback_different_networks_do_not_meet():
    """Machines without a network in common have no link."""
    groups = tuple(MachineType(count=2, devices=1, nic=nic) for nic in ("ib", None, "roce"))
    cluster = Fleet(machines=groups, nics=NICS).cluster()
    assert cluster.parts().tolist() == [0, 0, 1, 2, 3, 3]


@pytest.mark.parametrize("count", [0, 2**60])
def test_numbers_of_devices_are_bounded(count):
    """None and far too many devices are refused before anything is made."""
    with pytest.raises(InputError, match="1 to 8,192 devices"):
        Fleet(machines=(MachineType(count=count, devices=8),)).cluster()
