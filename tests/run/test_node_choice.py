"""Which nodes a job takes out of those that are free."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import networkx as nx
import pytest

import tiger
from tiger.errors import InputError
from tiger.formats.nodelink import read_topology

# Three racks, of which the first has two nodes left and the second five.
FREE = "0,0 0,3 1,0 1,1 1,2 1,4 1,5 2,2"


def nodes_of(report):
    """Return the nodes that hold tasks."""
    return {*report.mapping.values()}


@pytest.mark.slow
def test_as_many_nodes_are_taken_as_asked_for():
    """They share a rack where one has enough of them."""
    report = tiger.assign("halo:4x4", "tree:3x6@1,10", slots=4, allocation=FREE, nodes=4)
    assert len(nodes_of(report)) == 4
    assert {node[0] for node in nodes_of(report)} == {"1"}


@pytest.mark.slow
def test_nodes_are_no_worse_than_any_others():
    """Of few nodes, all choices can be tried."""
    ask = {"slots": 4, "seed": 1}
    best = min(
        tiger.assign("halo:3x4", "torus:3x3", allocation=list(chosen), **ask).cost
        for chosen in combinations(["0,0", "0,1", "1,1", "1,2", "2,0"], 3)
    )
    found = tiger.assign("halo:3x4", "torus:3x3", allocation="0,0 0,1 1,1 1,2 2,0", nodes=3, **ask)
    assert found.cost == best


def test_nodes_with_few_slots_are_left_out():
    """Each must hold an even share."""
    hosts = {f"n{k}": slots for k, slots in enumerate([1, 3, 3, 1])}
    topology = {"nodes": [{"id": name, "slots": slots} for name, slots in hosts.items()],
                "links": [{"source": f"n{k}", "target": f"n{k + 1}"} for k in range(3)]}  # fmt: skip
    report = tiger.assign("ring:6", read_topology(topology), rule="capacity", nodes=2)
    assert nodes_of(report) == {"n1", "n2"}


@pytest.mark.long
def test_slots_that_nobody_states_hold_an_even_share():
    """Of nine nodes with a slot each, four hold sixteen tasks by four; the choice is a stage."""
    report = tiger.assign("halo:4x4", "ring:9", nodes=4, emit="slurm")
    assert sorted(Counter(report.emitted.split()).values()) == [4, 4, 4, 4]
    assert [stage.name for stage in report.stages[:2]] == ["nodes", "baseline"]


@pytest.mark.slow
def test_the_choice_is_the_same_for_the_same_seed():
    """Also where another thread runs parts of the work."""
    with ThreadPoolExecutor(2) as pool:
        one, other = (tiger.assign("halo:4x4", "torus:3x3", slots=4, nodes=4, executor=e) for e in (None, pool))
    assert one.mapping == other.mapping


def test_parts_that_do_not_reach_each_other_give_a_report():
    """Two parts of two nodes hold no ring on three."""
    graph = nx.Graph([("a", "b"), ("c", "d")])
    report = tiger.assign("ring:6", graph, slots=2, nodes=3)
    assert not report.feasible
    assert report.violations


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"nodes": 0, "slots": 4}, "whole number from 1"),
        ({"nodes": True, "slots": 4}, "whole number from 1"),
        ({"nodes": 17, "slots": 4}, "1 to 16, one for each task"),
        ({"nodes": 10, "slots": 4}, "at most 9, as no more have the 2 slots"),
        ({"nodes": 2, "slots": 4}, "more, as an even share is 8 tasks and nodes have at most 4 slots, got 2"),
        ({"nodes": 4, "slots": 4, "pinned": {"0": "0,0"}}, "no pinned tasks"),
        ({"nodes": 4, "slots": 4, "forbidden": [("0", "0,0")]}, "no forbidden pairs"),
    ],
)
def test_what_cannot_be_chosen_is_refused(options, reason):
    """The field is named."""
    with pytest.raises(InputError, match=f"nodes: expected {reason}|nodes: expected .*{reason}"):
        tiger.assign("halo:4x4", "torus:3x3", **options)


def test_one_to_one_takes_a_node_for_each_task():
    """There is nothing to choose, and no fewer will do."""
    assert len(nodes_of(tiger.assign("ring:4", "torus:3x3", nodes=4))) == 4
    with pytest.raises(InputError, match="nodes: expected the capacity rule"):
        tiger.assign("ring:4", "torus:3x3", nodes=3)


@pytest.mark.parametrize(
    ("tasks", "rule", "most"), [("ring:8", None, 1), ("ring:8", "capacity", 1), ("ring:20", None, 3)]
)
def test_bug_nodes_with_something_inside_are_hosts(tasks, rule, most):
    """Those that are taken lie in one rack, with all their units, of which each has an even share of open slots."""
    ask = {"node_topology": "tree:4@1", "rule": rule, "nodes": 2}
    report = tiger.assign(tasks, "tree:3x3@1,10", allocation="0,0 1,0 1,1 2,2", **ask)
    assert {node.partition("/")[0] for node in nodes_of(report)} == {"1,0", "1,1"}
    assert max(Counter(report.mapping.values()).values()) == most


def test_bug_units_of_uneven_hosts_are_counted_by_host():
    """A host with few units is left out."""
    insides = {"0": "tree:2@1", "[1-2]": "tree:4@1", "3": "tree:2@1"}
    report = tiger.assign("ring:8", "ring:4", node_topology=insides, nodes=2)
    assert {node.partition("/")[0] for node in nodes_of(report)} == {"1", "2"}
