"""Labels and objects for nodes of Kubernetes, read back as their controllers do."""

from dataclasses import replace

import pytest
from hypothesis import given

from tests.launchers.orders import NODES, SWAPPED, hosts_of, launch_nodes, orders
from tests.launchers.readers import read_hypernode, select_nodes
from tiger.errors import InputError
from tiger.launchers.nodes import describe_jobset, write_hypernode, write_jobset
from tiger.launchers.order import order_ranks

PAIRS = order_ranks({"0": "n1", "1": "n1", "2": "n0", "3": "n0"}, NODES)


def test_child_jobs_have_consecutive_ranks() -> None:
    """The pods of child job 0 go to the host of ranks 0 and 1."""
    assert select_nodes(write_jobset(PAIRS), 2) == hosts_of(PAIRS)
    assert describe_jobset(PAIRS).endswith("replicas: 2 and parallelism: 2 in the replicated job")


def test_other_orders_are_refused_for_a_jobset() -> None:
    """Ranks in turns, and hosts with different numbers of ranks."""
    turns = order_ranks({"0": "n0", "1": "n1", "2": "n0", "3": "n1"}, NODES)
    with pytest.raises(InputError, match=r"^emit: expected consecutive ranks .*, got 4 runs of ranks on 2 hosts$"):
        write_jobset(turns)
    with pytest.raises(InputError, match=r"^emit: expected as many ranks on every host that has any for JobSet"):
        write_jobset(SWAPPED)


@pytest.mark.parametrize("write", [write_jobset, write_hypernode])
def test_machines_without_a_name_are_no_nodes(write) -> None:
    """As for patches of pods."""
    order = order_ranks({"0": "core0"}, replace(launch_nodes({"core0": 1}), host="localhost"))
    with pytest.raises(InputError, match=r"^emit: expected the names of nodes of Kubernetes, got 'localhost'"):
        write(order)


@given(order=orders())
def test_a_hypernode_has_the_hosts_of_the_job(order) -> None:
    """Each once, by the lowest rank."""
    assert read_hypernode(write_hypernode(order)) == list(dict.fromkeys(hosts_of(order)))
