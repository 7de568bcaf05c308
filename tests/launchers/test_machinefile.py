"""Files of hosts in the order of ranks, read back by parsers of their documentation."""

from hypothesis import given

from tests.launchers.orders import NODES, SWAPPED, hosts_of, orders
from tests.launchers.readers import read_hosts, read_machines
from tiger.launchers.machinefile import (
    describe_flux,
    describe_intel,
    describe_mpich,
    describe_slurm,
    write_hosts,
    write_machines,
    write_rings,
)
from tiger.launchers.order import order_ranks


def test_files_by_hand() -> None:
    """A line a rank for Slurm, a line a run of ranks for machine files, a line a host for NCCL."""
    assert write_hosts(SWAPPED) == "n1\nn0\nn1\nn0\nn2\n"
    assert write_machines(SWAPPED) == "n1:1\nn0:1\nn1:1\nn0:1\nn2:1\n"
    assert write_rings(SWAPPED) == "n1\nn0\nn2\n"


@given(order=orders())
def test_hosts_of_ranks_are_read_back(order) -> None:
    """By srun and by Hydra, every rank goes to its host."""
    assert read_hosts(write_hosts(order)) == hosts_of(order)
    assert read_machines(write_machines(order)) == hosts_of(order)


@given(order=orders())
def test_rings_have_every_host_once_by_its_lowest_rank(order) -> None:
    """The order in which NCCL numbers hosts."""
    rings, hosts = read_hosts(write_rings(order)), hosts_of(order)
    assert sorted(rings) == sorted(set(hosts))
    assert sorted(rings, key=hosts.index) == rings


def test_nodes_of_mpich_are_counted_where_they_are_more_than_hosts() -> None:
    """A host that is listed again is another node to it."""
    assert describe_mpich(SWAPPED).endswith("MPICH makes 5 nodes of the 3 hosts, whose ranks are not consecutive")
    block = order_ranks({"0": "n0", "1": "n0", "2": "n2"}, NODES)
    assert describe_mpich(block) == "mpiexec -f FILE -n 3 PROGRAM"


def test_commands_state_the_sizes() -> None:
    """Of ranks, and for Slurm also of hosts."""
    assert describe_slurm(SWAPPED) == "SLURM_HOSTFILE=FILE srun --nodes=3 --ntasks=5 --distribution=arbitrary PROGRAM"
    flux = "flux run --requires=host:n0,n1,n2 --nodes=3 --ntasks=5 --exclusive --taskmap=hostfile:FILE PROGRAM"
    assert describe_flux(SWAPPED) == flux
    assert describe_mpich(SWAPPED).startswith("mpiexec -f FILE -n 5 PROGRAM\n")
    assert describe_intel(SWAPPED) == "mpiexec -machinefile FILE -n 5 PROGRAM"
