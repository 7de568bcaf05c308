"""Rank orders of Cray MPICH, read back by a parser of their documentation."""

import numpy as np
from hypothesis import assume, given

from tests.launchers.orders import NODES, hosts_of, orders
from tests.launchers.readers import read_rank_order
from tiger.launchers.cray import describe_cray, write
from tiger.launchers.order import LaunchNodes, order_ranks

TURNS = order_ranks({"0": "n0", "1": "n1", "2": "n0", "3": "n1"}, NODES)


def test_a_rank_order_by_hand() -> None:
    """A line a host, and the command that fills hosts equally."""
    assert write(TURNS) == "# n0\n0,2\n# n1\n1,3\n"
    sizes = "--nodelist=n0,n1 --nodes=2 --ntasks=4 --ntasks-per-node=2"
    assert describe_cray(TURNS).endswith(f"MPICH_RANK_REORDER_FILE=FILE srun {sizes} --distribution=block PROGRAM")


def test_bug_slurm_sorts_the_hosts_of_a_command() -> None:
    """A warning says so where the order is another, and numbers count by value."""
    for hosts, warned in (("n10 n2", True), ("n2 n10", False), ("a2 a10 b1", False), ("b1 a2", True)):
        names = tuple(hosts.split())
        one = np.ones(len(names), np.int64)
        nodes = LaunchNodes(names=names, counts=one, turn=0 * one, slots_given=True)
        order = order_ranks({str(k): name for k, name in enumerate(names)}, nodes)
        assert ("Slurm has the hosts in this order" in describe_cray(order)) is warned


@given(order=orders())
def test_ranks_take_the_places_of_their_hosts(order) -> None:
    """Places go host by host, as a launcher starts processes."""
    assume(len(set(order.counts.values())) == 1)
    places = [host for host, count in order.counts.items() for _ in range(count)]
    taken = read_rank_order(write(order))
    assert [places[taken.index(rank)] for rank in range(len(taken))] == hosts_of(order)
