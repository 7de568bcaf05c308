"""The permutation of a communicator."""

import pytest
from hypothesis import given

from tests.launchers.orders import BY_CORE, SWAPPED, hosts_of, launch_nodes, orders
from tests.launchers.readers import read_permutation
from tiger.launchers.order import order_ranks
from tiger.launchers.permutation import describe_permutation, write


def test_a_permutation_by_hand() -> None:
    """The first process is on n0, and becomes rank 1."""
    assert write(SWAPPED) == "1 n0\n3 n0\n0 n1\n2 n1\n4 n2\n"


@pytest.mark.parametrize("host", ["0,0", "localhost"])
def test_hosts_without_names_leave_ranks_alone(host) -> None:
    """No process would find itself by them."""
    assert write(order_ranks({"0": host}, launch_nodes({host: 1}))) == "0\n"


def test_the_command_starts_as_many_processes_on_each_host_as_it_has_ranks() -> None:
    """In the order of the hardware, on cores where these are its nodes."""
    start = "mpirun --host n0:2,n1:2,n2:1 --map-by slot -n 5 python examples/reorder.py FILE"
    assert describe_permutation(SWAPPED) == start
    assert describe_permutation(BY_CORE).startswith("mpirun --host n0:1,n1:2 --map-by core -n 3 ")
    nameless = order_ranks({"0": "0,0"}, launch_nodes({"0,0": 1}))
    assert describe_permutation(nameless).startswith("mpirun --map-by slot -n 1 ")


@given(order=orders())
def test_new_ranks_are_on_their_hosts(order) -> None:
    """Processes that are started host by host have the hosts of their new ranks."""
    started = [host for host, count in order.counts.items() for _ in range(count)]
    new = read_permutation(write(order))
    assert [host for _, host in new] == started
    assert [host for _, host in sorted(new)] == hosts_of(order)
