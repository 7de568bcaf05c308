"""Slots for several cores, and ranks of each host."""

from pathlib import Path

import networkx as nx
import pytest

import tiger
from tiger.errors import InputError
from tiger.mapping.entry import problem_of
from tiger.model.text import FileText

TWO_NUMA = Path(__file__).parents[1] / "data" / "hwloc" / "two_numa.xml"


def state(tasks: int, **options):
    """Return the problem of tasks without messages."""
    return problem_of(nx.empty_graph(tasks), **options)


@pytest.mark.parametrize(
    ("options", "slots"),
    [
        ({"slots": 16, "cores_per_rank": 5}, [3, 3, 3]),
        ({"slots": 16, "cores_per_rank": 16}, [1, 1, 1]),
        ({"slots": 16, "cores_per_rank": 4, "ranks_per": "node=3"}, [3, 3, 3]),
        ({"ranks_per": "node=3"}, [3, 3, 3]),
        ({"ranks_per": "node=9"}, [9, 9, 9]),
        ({"ranks_per": "node=3", "cores_per_rank": 8}, [3, 3, 3]),
    ],
)
def test_slots_of_hosts_are_for_cores(options, slots) -> None:
    """As many of them as a rank needs, and no more than each host is to have."""
    problem = state(9, topology="grid:3", pack=True, **options)
    assert (problem.topology.slots.tolist(), problem.topology.slots_stated) == (slots, True)


def test_hosts_with_too_few_slots_take_none() -> None:
    """Where others have as many as a rank needs."""
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: 8, 1: 2, 2: 4}, "slots")
    hardware = problem_of(nx.empty_graph(2), graph, slots=None, rule="capacity").topology
    assert hardware.slots_stated
    assert state(3, topology=graph, cores_per_rank=4).topology.slots.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topology": "grid:3", "cores_per_rank": 2}, "cores_per_rank: expected the inside of hosts beside it"),
        ({"topology": "grid:3", "slots": 2, "cores_per_rank": 3}, "cores_per_rank: expected at most 2, the slots of"),
        ({"topology": "grid:3", "ranks_per": "numa=1"}, "ranks_per: expected node alone for hosts whose inside"),
        ({"topology": "grid:3", "ranks_per": "node=4"}, "ranks_per: expected as many ranks as fill hosts of 4 each"),
        (
            {"topology": "tree:2@9", "node_topology": "tree:4@1", "cores_per_rank": 2},
            "cores_per_rank: expected hosts with slots beside it, or machines that lstopo describes, got other units",
        ),
        (
            {"topology": "tree:2@9", "node_topology": TWO_NUMA, "slots": 16, "cores_per_rank": 4},
            "slots: expected none beside cores_per_rank with the inside of hosts",
        ),
        ({"topology": "grid:3", "cores_per_rank": 0}, "cores_per_rank: expected a whole number from 1 to"),
        ({"topology": "grid:3", "cores_per_rank": "4"}, "cores_per_rank: expected a whole number from 1 to"),
    ],
)
def test_what_hosts_cannot_give_is_refused(options, message) -> None:
    """The option at fault is named."""
    with pytest.raises(InputError) as caught:
        state(9, **options)
    assert str(caught.value).startswith(message)


def test_hosts_as_a_whole_bind_nothing() -> None:
    """Ranks may use all slots of theirs as cores, with threads for some of them."""
    report = tiger.assign("ring:4", "tree:2@1", slots=8, cores_per_rank=4, units="host")
    assert {(at.cores, at.bound.threads) for at in report.rank_order.bindings} == {(tuple(range(8)), 4)}
    assert report.rank_order.counts == {"0": 2, "1": 2}
    report = tiger.assign("ring:4", "tree:2@1", slots=2, units="host")
    assert [(at.cores, at.bound.threads) for at in report.rank_order.bindings] == [((0, 1), 1)] * 4
    assert tiger.assign("ring:4", "tree:2@1", units="host").rank_order.bindings[0].cores == ()


def test_units_without_known_cores_are_limited_too() -> None:
    """Two of the four on each host, in its two halves."""
    problem = state(4, topology="tree:2@9", node_topology="tree:2x2@1,4", ranks_per="node=2")
    assert problem.topology.slots.tolist() == [1, 0, 1, 0] * 2


def test_bug_a_packed_mapping_is_improved_where_it_is() -> None:
    """Its slots stay open beside those of even shares, so that it is a mapping that the problem allows."""
    packed = tiger.assign("ring:4", "grid:3", slots=4, pack=True)
    assert packed.cost == 0
    again = tiger.assign("ring:4", "grid:3", slots=4, start=packed)
    assert (again.cost, again.moved) == (0, 0)
    with pytest.raises(InputError, match=r"^start: expected a mapping that the problem allows"):
        tiger.assign("ring:4", "grid:3", slots=2, start=packed)


@pytest.mark.parametrize("given", [{"slots": 4}, {"node_topology": TWO_NUMA}])
def test_bug_slots_of_whole_hosts_were_for_one_task(given) -> None:
    """With fewer tasks than hosts the rule was one-to-one, which no choice of nodes and no pins on one host go with."""
    ask = {"topology": "grid:3", "units": "host", **given}
    assert tiger.assign("ring:2", **ask, nodes=1).cost == 0
    assert tiger.assign("ring:2", **ask, pinned={"0": "0", "1": "0"}).feasible


@pytest.mark.parametrize("inside", [None, TWO_NUMA])
def test_bug_tasks_of_slurm_were_taken_for_cores(inside) -> None:
    """Two tasks of four cores on each node have room for as many ranks of four, and for four of two."""
    job = FileText("allocation", "0 2 SLURM_TASKS_PER_NODE=2(x2) SLURM_CPUS_PER_TASK=4")
    ask = {"topology": "grid:3", "allocation": job, "node_topology": inside}
    assert tiger.assign("ring:4", **ask, cores_per_rank=4).rank_order.counts == {"0": 2, "2": 2}
    assert tiger.assign("ring:8", **ask, cores_per_rank=2).rank_order.counts == {"0": 4, "2": 4}
    assert tiger.assign("ring:4", **ask).rank_order.counts == {"0": 2, "2": 2}
    assert not tiger.assign("ring:5", **ask).feasible


@pytest.mark.parametrize("inside", [None, TWO_NUMA])
def test_slots_of_host_files_are_for_cores(inside) -> None:
    """A host of eight slots has room for two ranks of four cores, one of two for none, whatever is inside."""
    granted = {"0": 16, "1": 2, "2": 8}
    report = tiger.assign("ring:6", "grid:3", allocation=granted, node_topology=inside, cores_per_rank=4)
    assert report.rank_order.counts == {"0": 4, "2": 2}
    whole = tiger.assign("ring:6", "grid:3", allocation=granted, node_topology=inside, cores_per_rank=4, units="host")
    assert whole.rank_order.counts == {"0": 4, "2": 2}
    with pytest.raises(InputError, match=r"^cores_per_rank: expected at most 16, "):
        tiger.assign("ring:6", "grid:3", allocation=granted, node_topology=inside, cores_per_rank=17)
    with pytest.raises(InputError, match=r"^slots: expected none beside hosts that come with their slots"):
        tiger.assign("ring:6", "grid:3", allocation=granted, slots=4, cores_per_rank=4)
