"""Chunks of PBS, read back as its node file."""

from hypothesis import given

from tests.launchers.orders import NODES, SWAPPED, hosts_of, orders
from tests.launchers.readers import read_node_file
from tiger.launchers.order import order_ranks
from tiger.launchers.pbs import describe_pbs, write


def test_directives_by_hand() -> None:
    """A chunk for every run of ranks on a host."""
    order = order_ranks({"0": "n1", "1": "n1", "2": "n0"}, NODES)
    chunks = "1:ncpus=2:mpiprocs=2:host=n1+1:ncpus=1:mpiprocs=1:host=n0"
    assert write(order) == f"#PBS -l select={chunks}\n#PBS -l place=free\n"
    assert describe_pbs(order).endswith("in the order of $PBS_NODEFILE")


def test_hosts_that_come_several_times_are_told() -> None:
    """As some programs of MPI list each host once."""
    assert describe_pbs(SWAPPED).endswith("the 5 chunks on 3 hosts together, whose ranks are not consecutive")


@given(order=orders())
def test_the_node_file_has_the_hosts_of_ranks(order) -> None:
    """In their order."""
    assert read_node_file(write(order)) == hosts_of(order)
