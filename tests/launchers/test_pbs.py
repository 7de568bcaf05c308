"""Chunks of PBS, read back as its node file."""

from dataclasses import replace

from hypothesis import given

from tests.launchers.orders import NODES, SWAPPED, hosts_of, launch_nodes, orders
from tests.launchers.readers import read_node_file
from tiger.launchers.order import order_ranks
from tiger.launchers.pbs import describe_pbs, write
from tiger.model.resources import Resources


def test_directives_by_hand() -> None:
    """A chunk for every run of ranks on a host, each with a thread, as PBS would make that as many as ncpus."""
    order = order_ranks({"0": "n1", "1": "n1", "2": "n0"}, NODES)
    chunks = "1:ncpus=2:mpiprocs=2:ompthreads=1:host=n1+1:ncpus=1:mpiprocs=1:ompthreads=1:host=n0"
    assert write(order) == f"#PBS -l select={chunks}\n#PBS -l place=free\n"
    assert describe_pbs(order).endswith("in the order of $PBS_NODEFILE")


def test_chunks_have_the_cores_and_threads_of_their_ranks() -> None:
    """Two ranks of two cores each."""
    own = (Resources(cores=(0, 1), threads=2), Resources(cores=(2, 3), threads=2))
    names = ("n0/core0-1", "n0/core2-3")
    nodes = replace(launch_nodes(dict.fromkeys(names, 1)), resources=own, cores_per_rank=2)
    order = order_ranks({"0": names[1], "1": names[0]}, nodes)
    assert write(order).startswith("#PBS -l select=1:ncpus=4:mpiprocs=2:ompthreads=2:host=n0\n")


def test_hosts_that_come_several_times_are_told() -> None:
    """As some programs of MPI list each host once."""
    assert describe_pbs(SWAPPED).endswith("the 5 chunks on 3 hosts together, whose ranks are not consecutive")


@given(order=orders())
def test_the_node_file_has_the_hosts_of_ranks(order) -> None:
    """In their order."""
    assert read_node_file(write(order)) == hosts_of(order)
