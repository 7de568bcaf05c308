"""The order of ranks: hosts, slots and units, by hand and as laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.launchers.orders import BY_CORE, NODES, SWAPPED, launch_nodes, orders
from tiger.errors import InputError
from tiger.launchers.order import LaunchNodes, check_hosts, order_ranks
from tiger.launchers.permutation import describe_permutation
from tiger.model.resources import Resources
from tiger.model.topology import Links, Topology


def test_slots_of_a_host_go_to_its_ranks_in_turn() -> None:
    """The first rank of a host has its slot 0."""
    assert [binding[1:3] for binding in SWAPPED.bindings] == [("n1", 0), ("n0", 0), ("n1", 1), ("n0", 1), ("n2", 0)]
    assert (SWAPPED.counts, SWAPPED.free) == ({"n0": 2, "n1": 2, "n2": 1}, {"n2": 1})


def test_units_are_slots_of_their_host() -> None:
    """A host is what stands before the slash; its slots are counted through its nodes."""
    assert [binding[:4] for binding in BY_CORE.bindings] == [
        ("0", "n1", 1, "core1"),
        ("1", "n0", 0, "core0"),
        ("2", "n1", 0, "core0"),
    ]
    assert (BY_CORE.hosts, BY_CORE.bindings[0].number("core"), BY_CORE.bindings[0].number("gpu")) == (
        {"n0": 2, "n1": 2},
        1,
        None,
    )


def test_bug_nodes_of_one_machine_are_its_units() -> None:
    """The machine is the host, and its slots are counted through all of its nodes."""
    counts = np.array([2, 1])
    nodes = LaunchNodes(names=("core0", "core1"), counts=counts, turn=np.zeros_like(counts), slots_given=True, host="m")
    order = order_ranks({"0": "core1", "1": "core0"}, nodes)
    assert [binding[:4] for binding in order.bindings] == [("0", "m", 2, "core1"), ("1", "m", 0, "core0")]
    assert (order.hosts, order.free) == ({"m": 3}, {"m": 1})


def test_ranks_take_the_cores_of_their_slots() -> None:
    """Four for each slot, where no cores are described; else those of their node, shared out to its threads."""
    nodes = replace(NODES, cores_per_rank=4)
    order = order_ranks({"0": "n1", "1": "n0", "2": "n1"}, nodes)
    assert [binding.cores for binding in order.bindings] == [(0, 1, 2, 3), (0, 1, 2, 3), (4, 5, 6, 7)]
    assert {binding.bound.threads for binding in order.bindings} == {4}
    halves = tuple(Resources(cores=tuple(range(first, first + 8))) for first in (0, 8, 0))
    order = order_ranks({"0": "n0", "1": "n0", "2": "n1"}, replace(NODES, resources=halves))
    assert [(b.cores[0], len(b.cores), b.bound.threads) for b in order.bindings] == [(0, 8, 4), (0, 8, 4), (8, 8, 8)]
    assert [binding.cores for binding in BY_CORE.bindings] == [(1,), (0,), (0,)]


def test_tasks_that_are_numbered_are_the_ranks_of_their_numbers() -> None:
    """Whatever order they come in; tasks of other names are ranks in their order."""
    assert [binding.task for binding in order_ranks({"1": "n0", "0": "n1"}, NODES).bindings] == ["0", "1"]
    assert [binding.task for binding in order_ranks({"b": "n0", "a": "n1"}, NODES).bindings] == ["b", "a"]
    assert [binding.task for binding in order_ranks({"2": "n0", "1": "n1"}, NODES).bindings] == ["2", "1"]


def test_nodes_without_slots_are_no_hosts() -> None:
    """Switches, and hosts outside the allocation, only forward traffic."""
    nodes = Topology.from_links(("n0", "switch", "n1"), Links.unit([(0, 1), (1, 2)]), np.array([1, 0, 1]))
    assert (LaunchNodes.of(nodes).slots, LaunchNodes.of(nodes).slots_given) == ({"n0": 1, "n1": 1}, False)


def test_launchers_fill_hosts_in_the_order_of_the_allocation() -> None:
    """The processes of a permutation are started in that order, and its command lists the hosts in it."""
    hosts = Topology.from_links(("n0", "n1", "n2"), Links.unit([(0, 1), (1, 2)]), np.array([2, 1, 1]))
    order = order_ranks({"0": "n0", "1": "n2", "2": "n0"}, LaunchNodes.of(hosts.allocated(["n2", "n0"])))
    assert (order.hosts, order.launched) == ({"n2": 1, "n0": 2}, (1, 0, 2))
    assert "--host n2:1,n0:2 " in describe_permutation(order)


def test_ranks_run_at_once() -> None:
    """Tasks of different levels that share a slot are no ranks."""
    with pytest.raises(InputError, match=r"^emit: expected ranks that run at once, got more tasks on 'n0'"):
        order_ranks({"0": "n0", "1": "n0", "2": "n0"}, NODES)


@given(order=orders())
def test_slots_are_taken_once_and_launched_in_order(order) -> None:
    """No two ranks have the same slot, and a launcher fills host by host and slot by slot."""
    bindings = [(binding.host, binding.slot) for binding in order.bindings]
    assert len(set(bindings)) == len(bindings)
    hosts = list(order.hosts)
    places = [(hosts.index(order.bindings[rank].host), order.bindings[rank].slot) for rank in order.launched]
    assert places == sorted(places)
    assert sum(order.counts.values()) + sum(order.free.values()) == sum(order.hosts.values())


@pytest.mark.parametrize("name", ["0,0", "a b", "-a", "a=b", "a:1", "é", "a\nb"])
def test_hosts_have_names_that_launchers_take(name) -> None:
    """No blank, comma or other sign that separates, and no leading dash, which would be an option."""
    order = order_ranks({"0": name}, launch_nodes({name: 1}))
    with pytest.raises(InputError, match=r"^emit: expected hosts named by letters"):
        check_hosts(order)
