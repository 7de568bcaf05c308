"""Even shares of hosts and their parts."""

from pathlib import Path

import networkx as nx
import pytest

import tiger
from tiger.mapping.entry import problem_of
from tiger.run.spread import limit_hosts

TWO_HOSTS = {"topology": "tree:2@9", "node_topology": "tree:2x2@1,4"}


def slots_of(tasks: int, **options) -> list[int]:
    """Return the slots of the hardware that tasks without messages are given."""
    return problem_of(nx.empty_graph(tasks), **options).topology.slots.tolist()


@pytest.mark.parametrize(
    ("tasks", "options", "expected"),
    [
        (6, {"slots": 4}, [2, 2, 2]),
        (7, {"slots": 4}, [3, 2, 2]),
        (7, {"slots": 4, "pack": True}, [4, 4, 4]),
        (12, {"slots": 4}, [4, 4, 4]),
        (2, {"slots": 4}, [1, 1, 1]),
        (7, {"slots": 4, "imbalance": 0.5}, [4, 4, 4]),
        (7, {}, [3, 3, 3]),
        (7, {"slots": 4, "pinned": dict.fromkeys(range(4), "2")}, [3, 2, 4]),
        (7, {"slots": 4, "forbidden": [(0, "0")]}, [4, 4, 4]),
        (7, {"slots": 4, "allocation": "2 0"}, [3, 0, 4]),
    ],
)
def test_hosts_take_their_even_share(tasks, options, expected) -> None:
    """The floor or the ceiling of it, the first of the allocation the ceiling, unless constraints say more."""
    assert slots_of(tasks, topology="grid:3", **options) == expected


def test_hosts_with_more_slots_take_more() -> None:
    """In proportion to them."""
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 8, 1: 4}, "slots")
    assert slots_of(6, topology=graph, rule="capacity") == [4, 2]


def test_parts_of_a_host_take_their_even_share() -> None:
    """Two cores of each host are in different halves of it; pinned ones are among them."""
    assert slots_of(4, **TWO_HOSTS) == [1, 0, 1, 0, 1, 0, 1, 0]
    assert slots_of(4, **TWO_HOSTS, pinned={0: "1/1,1"}) == [1, 0, 1, 0, 1, 0, 0, 1]
    assert slots_of(4, **TWO_HOSTS, pack=True) == [1] * 8


def test_gpus_of_a_machine_are_left_to_the_search() -> None:
    """They are no nearer to memory far from each other; of several hosts the first are taken."""
    four = Path(__file__).parents[2] / "examples" / "nvlinks4.xml"
    assert slots_of(2, topology=four) == [1] * 4
    assert slots_of(4, topology="tree:2@9", node_topology=four)[:8] == [1, 1, 0, 0] * 2


def test_nodes_to_be_chosen_have_room_for_an_even_share() -> None:
    """Of three hosts two are taken, with three tasks each."""
    report = tiger.assign(nx.cycle_graph(6), "grid:3", slots=6, nodes=2)
    counts = sorted(list(report.mapping.values()).count(node) for node in set(report.mapping.values()))
    assert counts == [3, 3]


def test_a_job_spreads_over_two_hosts_unless_it_is_packed() -> None:
    """Sixteen ranks on two hosts of 16 cores."""
    ask = {"topology": "tree:2@9", "node_topology": "tree:16@1"}
    hosts = [
        {node.partition("/")[0] for node in tiger.assign("halo:4x4", **ask, pack=pack).mapping.values()}
        for pack in (False, True)
    ]
    assert [len(each) for each in hosts] == [2, 1]


def test_hosts_are_limited_with_all_their_parts() -> None:
    """Two slots on each are in its two halves."""
    whole = problem_of(nx.empty_graph(8), **TWO_HOSTS).topology
    assert limit_hosts(whole, 2).slots.tolist() == [1, 0, 1, 0] * 2
