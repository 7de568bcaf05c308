"""Networks of nodes with something inside."""

import numpy as np
import pytest

from tiger.errors import InputError
from tiger.formats.hardware import composition
from tiger.formats.hardware.composition import compose
from tiger.model.metrics import DenseMetric, TreeMetric
from tiger.model.topology import Links, Topology
from tiger.topologies.spec import build

PAIR = build("tree:2@1")


def test_trees_of_one_kind_make_a_tree():
    """Units follow one another node by node, and a node without slots has units without."""
    network = build("tree:2x2@20,60").allocated(["0,0", "1,1"])
    whole = compose(network, [build("tree:2x2@1,4")], np.zeros(2, np.int64))
    assert whole.metric == TreeMetric((2, 2, 2, 2), (1.0, 4.0, 20.0, 60.0))
    assert whole.names[:5] == ("0,0/0,0", "0,0/0,1", "0,0/1,0", "0,0/1,1", "0,1/0,0")
    assert whole.slots.tolist() == [1] * 4 + [0] * 8 + [1] * 4


def test_nodes_and_switches_of_a_tree_stay_switches():
    """Where all is a tree, and where the insides differ; a name that is a unit's too leaves none."""
    network = Topology(names=("a", "b"), metric=TreeMetric((2,), (9.0,)), switches=("s",))
    tree = compose(network, [build("tree:2x2@1,2")], np.zeros(2, np.int64))
    assert tree.switches == ("a/0,0..0,1", "a/1,0..1,1", "b/0,0..0,1", "b/1,0..1,1", "a", "b", "s")
    mixed = compose(network, [PAIR, build("tree:3@1")], np.array([0, 1]))
    assert (mixed.names[-2:], mixed.switches) == (("a", "b"), ("s",))
    ends = [*zip(mixed.links.u.tolist(), mixed.links.v.tolist(), strict=True)]
    assert ends == [(5, 7), (6, 7), (0, 5), (1, 5), (2, 6), (3, 6), (4, 6)]
    taken = Topology(names=("a", "a/0"), metric=TreeMetric((2,), (9.0,)))
    assert compose(taken, [PAIR], np.zeros(2, np.int64)).switches == ()


def test_a_tree_that_is_full_of_units_goes_without_links(monkeypatch):
    """Units and nodes together would be more than a matrix takes."""
    monkeypatch.setattr(composition, "DENSE_LIMIT", 60)
    whole = compose(build("tree:7@9"), [build("torus:2x4")], np.zeros(7, np.int64))
    assert (whole.size, whole.links, whole.switches) == (56, None, ())


@pytest.mark.parametrize(
    ("inside", "granted", "slots"),
    [
        ("tree:4@1", [2, 3], [1, 0, 1, 0, 1, 1, 1, 0]),
        ("ring:4", [4, 6], [1, 1, 1, 1, 2, 1, 2, 1]),
        ("tree:2x2@1,2", [1, 9007199254740991], [1, 0, 0, 0, 2**51, 2**51, 2**51, 2**51 - 1]),
    ],
)
def test_slots_that_nodes_are_granted_spread_over_their_units(inside, granted, slots):
    """Evenly, from the first unit on, and never more or fewer than the node has."""
    network = build("tree:2@9").allocated(["0", "1"], np.array(granted))
    whole = compose(network, [build(inside)], np.zeros(2, np.int64))
    assert [count for name, count in zip(whole.names, whole.slots.tolist(), strict=True) if "/" in name] == slots
    assert (whole.slots_stated, whole.slots_granted) == (True, True)


def test_an_inside_that_states_its_slots_has_room_for_those_of_the_node():
    """They are shared in proportion, and more are bad input."""
    inside = Topology(names=("a", "b"), metric=TreeMetric((2,), (1.0,)), slots=np.array([4, 2]), slots_stated=True)
    network = build("tree:2@9")
    assert compose(network.allocated(["0"], np.array([3])), [inside], np.zeros(1, np.int64)).slots.tolist()[:2] == [
        2,
        1,
    ]
    with pytest.raises(InputError, match="allocation: expected at most 6 slots on '1', which its inside has, got 7"):
        compose(network.allocated(["1"], np.array([7])), [inside], np.zeros(1, np.int64))


def test_limits_count_the_nodes_that_hold_tasks(monkeypatch):
    """Of a tree what is between them stays with its links, of a torus distances alone where that is too much."""
    monkeypatch.setattr(composition, "NODE_LIMIT", 40)
    monkeypatch.setattr(composition, "DENSE_LIMIT", 15)
    tree = compose(build("tree:5x5@1,9").allocated(["0,0", "0,1", "4,4"]), [build("tree:2@0.5")], np.zeros(3, np.int64))
    assert (tree.names[-3:], tree.switches[0], len(tree.links.u)) == (("0,0", "0,1", "4,4"), "0,0..0,4", 11)
    torus = compose(build("torus:5x5").allocated(["0,0", "2,2"]), [build("ring:4")], np.zeros(2, np.int64))
    assert (torus.size, torus.links, torus.metric.between(0, 4)) == (8, None, 4)


@pytest.mark.parametrize("kind", ["dense", "links", "grid", "tree"])
def test_distances_are_those_of_the_inside_and_of_the_nodes(kind, random_topology):
    """Tests all pairs, with an inside of two and one of three units."""
    network = random_topology(kind, 3, nodes=6).with_slots([1, 1, 0, 1, 1, 1])
    insides = [random_topology("dense", 1, nodes=2), random_topology("dense", 2, nodes=3)]
    which = np.array([0, 1, 1, 0, 0])
    whole = compose(network, insides, which)
    units = [(a, k, u) for a, k in zip(network.hosts, which, strict=True) for u in range(insides[k].size)]
    assert whole.hosts.tolist() == list(range(len(units)))
    for i, (a, k, u) in enumerate(units):
        assert whole.names[i] == f"{network.names[a]}/{insides[k].names[u]}"
        for j, (b, _, v) in enumerate(units):
            apart = insides[k].metric.between(u, v) if a == b else network.metric.between(a, b)
            assert whole.metric.between(i, j) == apart


def test_nodes_of_links_stay_and_have_links_to_their_units():
    """Units are 1 apart and nodes 8, so that a unit's link is eight times as wide as the widest one of its node."""
    links = Links(u=np.array([0, 1]), v=np.array([1, 2]), weight=np.array([8.0, 8.0]), bandwidth=np.array([2.0, 3.0]))
    network = Topology.from_links(("a", "s", "b"), links, [1, 0, 1])
    whole = compose(network.with_slots([1, 1, 0]), [PAIR], np.zeros(2, np.int64))
    assert whole.names == ("a/0", "a/1", "s/0", "s/1", "a", "s", "b")
    assert whole.slots.tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert whole.links is not None
    ends = list(zip(whole.links.u.tolist(), whole.links.v.tolist(), strict=True))
    assert ends == [(4, 5), (5, 6), (0, 4), (1, 4), (2, 5), (3, 5)]
    assert whole.links.weight.tolist() == [8, 8, 0.5, 0.5, 0.5, 0.5]
    assert whole.links.bandwidth.tolist() == [2, 3, 16, 16, 24, 24]


def test_slots_costs_and_memory_are_those_of_the_units():
    """A unit of work costs what the node and the unit ask together."""
    network = Topology(names=("a", "b"), metric=DenseMetric(np.array([[0.0, 9], [9, 0]])), cost=np.array([1.0, 2]))
    inside = Topology(
        names=("x", "y"), metric=PAIR.metric, slots=np.array([3, 4]), cost=np.array([0.0, 5]), memory=np.array([7, 8])
    )
    whole = compose(network, [inside], np.zeros(2, np.int64))
    assert (whole.slots.tolist(), whole.cost.tolist()) == ([3, 4, 3, 4], [1, 6, 2, 7])
    assert whole.memory is not None
    assert whole.memory.tolist() == [7, 8, 7, 8]


def test_bad_parts_are_refused(monkeypatch):
    """More units than a table takes or a tree has, and memory of nodes."""
    nothing = np.zeros(4096, np.int64)
    with pytest.raises(InputError, match=r"node_topology: expected 1 to 8192 units and nodes .* got 12288"):
        compose(build("torus:64x64"), [PAIR], nothing)
    monkeypatch.setattr(composition, "NODE_LIMIT", 15)
    monkeypatch.setattr(composition, "DENSE_LIMIT", 15)
    with pytest.raises(InputError, match="node_topology: expected at most 15 units in all nodes, got 16"):
        compose(build("tree:8@1"), [PAIR], nothing)
    heavy = Topology(names=("a",), metric=TreeMetric((1,), (1.0,)), memory=np.array([1]))
    with pytest.raises(InputError, match="node_topology: expected memory stated inside the nodes alone"):
        compose(heavy, [PAIR], nothing[:1])
    with pytest.raises(InputError, match="node_topology: expected memory stated inside all nodes or none"):
        compose(build("tree:2@4"), [PAIR, heavy], np.array([0, 1]))
