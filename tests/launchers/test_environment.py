"""The environment of torch.distributed, read back as env(1) takes it."""

import pytest
from hypothesis import assume, given

from tests.launchers.orders import SWAPPED, hosts_of, launch_nodes, orders
from tests.launchers.readers import read_environment
from tiger.errors import InputError
from tiger.launchers.environment import write
from tiger.launchers.order import order_ranks

GPUS = launch_nodes({f"{host}/gpu{k}": 1 for host in ("a", "b") for k in range(4)}, slots_given=False)
ON_GPUS = order_ranks({"0": "b/gpu3", "1": "a/gpu2", "2": "b/gpu1", "3": "a/gpu0"}, GPUS)


def test_variables_are_those_of_torchrun() -> None:
    """Rank 0 has the address that all meet at, and groups count hosts by their lowest rank."""
    host, variables = read_environment(write(ON_GPUS))[1]
    assert host == "a"
    assert variables == {
        "RANK": "1",
        "WORLD_SIZE": "4",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "GROUP_RANK": "1",
        "GROUP_WORLD_SIZE": "2",
        "MASTER_ADDR": "b",
        "MASTER_PORT": "29500",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "0,2",
    }


def test_hosts_need_as_many_ranks_each() -> None:
    """The hosts at fault are named, and how many slots are free."""
    with pytest.raises(InputError, match=r"^emit: .* for torchrun, got 2 on 'n0' and 1 on 'n2'; 1 slots are free$"):
        write(SWAPPED)


def test_bug_devices_were_repeated() -> None:
    """CUDA shows none at all then."""
    shared = order_ranks({"0": "a/gpu1", "1": "a/gpu1"}, launch_nodes({"a/gpu0": 2, "a/gpu1": 2}))
    with pytest.raises(InputError, match=r"^emit: expected one rank on each GPU .*, got 2 on 'a/gpu1'$"):
        write(shared)


@pytest.mark.slow
@given(order=orders())
def test_ranks_are_read_back(order) -> None:
    """Each on its host; the local ranks of a host are 0, 1, .. by slot, and choose the device of the rank's node."""
    assume(len(set(order.counts.values())) == 1)
    rows = read_environment(write(order))
    assert [host for host, _ in rows] == hosts_of(order)
    places = {(host, int(variables["LOCAL_RANK"])) for host, variables in rows}
    assert places == {(host, k) for host, count in order.counts.items() for k in range(count)}
    for binding, (_, variables) in zip(order.bindings, rows, strict=True):
        if (gpu := binding.number("gpu")) is not None:
            assert variables["CUDA_VISIBLE_DEVICES"].split(",")[int(variables["LOCAL_RANK"])] == str(gpu)
