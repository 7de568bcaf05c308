"""Hardware: its defaults, its checks, and distances over links."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from tiger.errors import InputError
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, GridMetric, TreeMetric
from tiger.model.topology import Links, LinkShare, Topology, distinct_links, link_matrix

LINE = GridMetric((3,), (False,))
NAMES = ("x", "y", "z")


def test_defaults():
    """One slot a node, work costs nothing, memory has no limit."""
    line = Topology(names=NAMES, metric=LINE)
    assert line.slots.tolist() == [1, 1, 1]
    assert line.cost.tolist() == [0.0, 0.0, 0.0]
    assert line.memory is None
    assert line.links is None
    assert line.size == 3


def test_hosts_are_nodes_with_slots():
    """A switch has 0 slots and hosts nothing."""
    assert Topology(names=NAMES, metric=LINE, slots=np.array([2, 0, 1])).hosts.tolist() == [0, 2]


def test_arrays_are_safe_from_their_caller():
    """Slots, cost and memory are read-only copies."""
    given_slots = np.array([1, 2, 3])
    line = Topology(names=NAMES, metric=LINE, slots=given_slots, cost=np.ones(3), memory=np.ones(3, int))
    given_slots[:] = 0
    assert line.slots.tolist() == [1, 2, 3]
    assert not any(array.flags.writeable for array in (line.slots, line.cost, line.memory))


def test_with_slots_leaves_the_rest():
    """Only the slots differ."""
    line = Topology(names=NAMES, metric=LINE, cost=np.arange(3.0), memory=np.arange(3), links=Links.unit([(0, 1)]))
    other = line.with_slots([4, 0, 1])
    assert other.slots.tolist() == [4, 0, 1]
    assert (other.names, other.metric, other.links) == (line.names, line.metric, line.links)
    assert other.cost.tolist() == line.cost.tolist()
    assert other.memory.tolist() == line.memory.tolist()


@pytest.mark.parametrize(
    ("field", "values"),
    [("slots", [1, 2]), ("slots", [1, 0.5, 1]), ("cost", [0, np.inf, 0]), ("cost", [-1, 0, 0]), ("memory", [1, 2, -3])],
)
def test_refuses_bad_vectors(field, values):
    """The error names the vector."""
    with pytest.raises(InputError, match="expected") as caught:
        Topology(names=NAMES, metric=LINE, **{field: np.array(values)})
    assert caught.value.field == f"topology/{field}"


@pytest.mark.parametrize("names", [(), ("x", "x", "z"), ("x", "y")])
def test_refuses_names_that_do_not_fit(names):
    """There is one different name for each node of the metric."""
    with pytest.raises(InputError, match="expected") as caught:
        Topology(names=names, metric=LINE)
    assert caught.value.field == "topology"


def test_refuses_links_to_nodes_that_are_not_there():
    """A link ends at a node."""
    with pytest.raises(InputError, match="node indices below 3, got 7") as caught:
        Topology(names=NAMES, metric=LINE, links=Links.unit([(0, 1), (7, 2)]))
    assert caught.value.field == "topology/links"


def test_bug_from_links_refuses_links_to_nodes_that_are_not_there():
    """The error is the same before distances are computed."""
    with pytest.raises(InputError, match="node indices below 3, got 3"):
        Topology.from_links(NAMES, Links.unit([(0, 3)]))


@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(["links", "split"]))
def test_from_links_measures_shortest_paths(random_topology, seed, kind):
    """Distances are those that networkx finds on the same links, infinite between parts."""
    topology, graph = random_topology(kind, seed, nodes=8), nx.MultiGraph()
    graph.add_nodes_from(range(8))
    links = topology.links
    graph.add_weighted_edges_from(zip(links.u.tolist(), links.v.tolist(), links.weight.tolist(), strict=True))
    expected = np.full((8, 8), np.inf)
    for a, row in nx.all_pairs_dijkstra_path_length(graph):
        expected[a, list(row)] = list(row.values())
    assert np.allclose(topology.metric.table, expected, rtol=1e-12)


def test_bug_from_links_is_symmetric_to_the_last_digit():
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in float64; the distances one way and the other do not."""
    links = Links(u=[0, 1, 2], v=[1, 2, 3], weight=[0.1, 0.2, 0.3], bandwidth=np.ones(3))
    assert Topology.from_links((*NAMES, "w"), links).metric.symmetric


def test_parallel_links_count_as_the_shortest():
    """In either direction, and a link from a node to itself changes nothing."""
    links = Links(u=[0, 1, 0, 1], v=[1, 0, 1, 1], weight=[5.0, 2.0, 3.0, 1.0], bandwidth=np.ones(4))
    assert Topology.from_links(("x", "y"), links).metric.table.tolist() == [[0.0, 2.0], [2.0, 0.0]]
    assert link_matrix(links, 2).toarray().tolist() == [[0.0, 2.0], [0.0, 1.0]]


def test_of_equally_short_parallel_links_the_widest_counts():
    """Links are chosen by length first, by bandwidth second."""
    links = Links(u=[0, 1, 0], v=[1, 0, 1], weight=[2.0, 2.0, 3.0], bandwidth=[1.0, 4.0, 9.0])
    assert distinct_links(links).tolist() == [1]


def test_from_links_without_links():
    """Every node is a part of its own."""
    lonely = Topology.from_links(NAMES, Links.unit([]))
    assert np.isinf(lonely.metric.table).sum() == 6
    assert sorted(lonely.parts.tolist()) == [0, 1, 2]


def test_from_links_takes_slots():
    """Slots are given along."""
    assert Topology.from_links(NAMES, Links.unit([(0, 1), (1, 2)]), [0, 2, 0]).hosts.tolist() == [1]


def test_from_links_refuses_too_many_nodes():
    """The limit is checked before anything of that size is built."""
    names = tuple(map(str, range(DENSE_LIMIT + 1)))
    with pytest.raises(InputError, match="at most 8192 nodes"):
        Topology.from_links(names, Links.unit([]))


def test_parts_are_the_connected_ones():
    """Two nodes have the same label exactly where there is a way between them."""
    parts = Topology.from_links((*NAMES, "w"), Links.unit([(0, 2), (1, 3)])).parts
    assert parts[0] == parts[2]
    assert parts[1] == parts[3]
    assert parts[0] != parts[1]


def test_parts_of_connected_hardware():
    """Grids, and matrices without infinity, are in one piece."""
    assert Topology(names=NAMES, metric=LINE).parts.tolist() == [0, 0, 0]
    assert Topology(names=NAMES, metric=DenseMetric(np.ones((3, 3)))).parts.tolist() == [0, 0, 0]


def test_parts_need_a_way_there_and_back():
    """A one-way street does not join two nodes."""
    table = np.array([[0.0, 1.0], [np.inf, 0.0]])
    assert len(set(Topology(names=("x", "y"), metric=DenseMetric(table)).parts.tolist())) == 2


@pytest.mark.parametrize(
    ("field", "values"),
    [("u", [-1]), ("v", [0.5]), ("weight", [0.0]), ("weight", [np.inf]), ("bandwidth", [0.0]), ("bandwidth", [np.nan])],
)
def test_links_refuse(field, values):
    """Ends are indices; lengths and bandwidths are finite and > 0."""
    good = {"u": [0], "v": [1], "weight": [1.0], "bandwidth": [1.0]}
    with pytest.raises(InputError, match="expected") as caught:
        Links(**{**good, field: values})
    assert caught.value.field == f"topology/links/{field}"


def test_links_refuse_vectors_of_different_length():
    """Every link has two ends."""
    with pytest.raises(InputError, match="expected 2 numbers"):
        Links(u=[0, 1], v=[1], weight=[1.0, 1.0], bandwidth=[1.0, 1.0])


def test_allocated_nodes_keep_their_slots_and_the_others_lose_theirs():
    """Names, distances and links stay, and launchers fill the nodes in the order of the names."""
    hardware = Topology(names=NAMES, metric=LINE, slots=np.array([2, 3, 4]), slots_stated=True)
    part = hardware.allocated([NAMES[2], NAMES[0]])
    assert (part.slots.tolist(), part.hosts.tolist(), part.slots_stated) == ([2, 0, 4], [0, 2], True)
    assert (part.names, part.metric) == (NAMES, LINE)
    assert (part.launch_hosts.tolist(), hardware.launch_hosts.tolist()) == ([2, 0], [0, 1, 2])
    assert part.with_slots([0, 0, 1]).launch_hosts.tolist() == [2]


def test_allocated_nodes_have_the_slots_that_are_granted():
    """By the order of the names, and as stated."""
    part = Topology(names=NAMES, metric=LINE).allocated([NAMES[2], NAMES[0]], np.array([5, 7]))
    assert (part.slots.tolist(), part.slots_stated, part.slots_granted) == ([7, 0, 5], True, True)


def test_bug_units_of_a_machine_are_filled_in_its_order():
    """A launcher binds processes to cores by their number, whatever the order of an allocation."""
    part = Topology(names=NAMES, metric=LINE, host="m").allocated([NAMES[2], NAMES[0]])
    assert (part.slots.tolist(), part.launch_hosts.tolist()) == ([1, 0, 1], [0, 2])


@pytest.mark.parametrize(
    ("names", "field", "reason"),
    [
        ([], "allocation", "expected at least one node, got none"),
        (["x", "q"], "allocation/1", "expected a node of the topology, got 'q'"),
        (["x", "y", "x"], "allocation/2", "expected different nodes, got 'x' twice"),
        (["z"], "allocation/0", "expected a node that can hold tasks, got 'z'"),
    ],
)
def test_allocations_refuse(names, field, reason):
    """The position says which name is at fault."""
    hardware = Topology(names=("x", "y", "z"), metric=LINE, slots=np.array([1, 1, 0]))
    with pytest.raises(InputError, match=reason) as caught:
        hardware.allocated(names)
    assert caught.value.field == field


@pytest.mark.parametrize("seed", range(8))
def test_nodes_with_one_link_are_as_far_apart_as_a_search_says(seed):
    """Trees, pairs, lone nodes and rings with hosts: distances are those of a search from every node."""
    rng = np.random.default_rng(seed)
    size = 14
    pairs = {(int(k), int(rng.integers(k))) for k in range(1, size) if rng.random() < 0.8}
    pairs |= {(5, 2), (7, 5), (7, 2)} if seed % 2 else {(k, k % 4) for k in range(4, size)}
    ends = np.array(sorted(pairs))
    links = Links(u=ends[:, 0], v=ends[:, 1], weight=rng.random(len(ends)) + 0.1, bandwidth=np.ones(len(ends)))
    table = Topology.from_links(tuple(map(str, range(size))), links).metric.table
    expected = dijkstra(link_matrix(links, size), directed=False)
    assert np.allclose(table, expected, rtol=1e-12)
    assert (table == table.T).all()
    assert (table.diagonal() == 0).all()


def test_links_in_use_are_longer_and_narrower():
    """Half of the bandwidth left is twice the length; a way around may be shorter then."""
    ring = Topology.from_links(NAMES, Links.unit([(0, 1), (1, 2), (0, 2)]), slots=[1, 2, 3])
    busy = ring.shared([LinkShare("y", "x", 0.5), LinkShare("x", "z", 0.75)])
    assert busy.links.weight.tolist() == [2.0, 1.0, 4.0]
    assert busy.links.bandwidth.tolist() == [0.5, 1.0, 0.25]
    assert busy.metric.table.tolist() == [[0, 2, 3], [2, 0, 1], [3, 1, 0]]
    assert busy.slots.tolist() == [1, 2, 3]


@pytest.mark.parametrize("wrap", [True, False])
@pytest.mark.parametrize("dims", [(4,), (2, 3), (1, 2, 3), (3, 3)])
def test_a_grid_with_idle_links_stays_as_it_is(dims, wrap):
    """Its links are those between neighbours."""
    metric = GridMetric(dims, (wrap,) * len(dims), 2.5)
    grid = Topology(names=tuple(map(str, range(metric.size))), metric=metric)
    nodes = np.arange(metric.size)
    assert np.array_equal(grid.shared([]).metric.table, metric.between(nodes[:, None], nodes[None, :]))


@pytest.mark.parametrize(
    ("running", "reason"),
    [
        ([("x", "w", 0.5)], "running/0: expected nodes with a link between them, got 'x' and 'w'"),
        ([("x", "y", 0.5), ("x", "z", 0.5)], "running/1: expected nodes with a link"),
        ([("x", "x", 0.5)], "running/0: expected nodes with a link"),
        ([("x", "y", 0.5), ("y", "x", 0.1)], "running/1: expected different links"),
        ([("x", "y", 1.0)], "running/0: expected a share >= 0 and < 1, got 1.0"),
        ([("x", "y", -0.1)], "running/0: expected a share >= 0 and < 1"),
        ([("x", "y", float("nan"))], "running/0: expected a share >= 0 and < 1"),
    ],
)
def test_shares_of_links_that_cannot_be_are_refused(running, reason):
    """The position is named."""
    with pytest.raises(InputError, match=reason):
        Topology(names=NAMES, metric=LINE).shared([LinkShare(*share) for share in running])


@pytest.mark.parametrize("metric", [DenseMetric(np.ones((2, 2))), TreeMetric((2, 2), (1.0, 1.0))])
def test_distances_alone_have_no_links_to_share(metric):
    """A matrix has none, nor has a tree with a level that adds nothing to the distance."""
    hardware = Topology(names=NAMES[:2] if metric.size == 2 else tuple("abcd"), metric=metric)
    with pytest.raises(InputError, match=r"topology: expected links that have a length, .* got distances alone"):
        hardware.shared([LinkShare("a", "b", 0.5)])


@pytest.mark.parametrize("switches", [(), ("left", "right", "top")])
def test_links_of_a_tree_are_those_above_its_subtrees(switches):
    """Half of the link above the left half is 1 longer; subtrees without names are called by their leaves."""
    tree = Topology(names=tuple("abcd"), metric=TreeMetric((2, 2), (1.0, 3.0)), switches=switches)
    left, _, top = tree.link_ends[4:]
    assert (left, top) == (("left", "top") if switches else ("a..b", "a..d"))
    busy = tree.shared([LinkShare(top, left, 0.5)])
    assert busy.metric.table.tolist() == [[0, 1, 4, 4], [1, 0, 4, 4], [4, 4, 0, 1], [4, 4, 1, 0]]
    assert (busy.names, busy.link_ends) == (tree.names, tree.link_ends)
    assert busy.links.bandwidth.tolist() == [1, 1, 1, 1, 0.5, 1]


def test_distances_that_are_not_of_the_links_rise_as_those_do():
    """A link over a switch gets 2 longer, the other one is free, and the distance of 7 says neither."""
    table = np.array([[0.0, 7, 1], [7, 0, 1], [1, 1, 0]])
    links = Links.unit([(0, 3), (3, 1), (1, 2), (0, 2)])
    hardware = Topology(names=NAMES, metric=DenseMetric(table), links=links, switches=("s",))
    busy = hardware.shared([LinkShare("x", "z", 0.5), LinkShare("y", "z", 0.0)])
    assert busy.metric.table.tolist() == [[0, 7, 2], [7, 0, 1], [2, 1, 0]]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"switches": ("s",), "metric": TreeMetric((3, 1), (1.0, 2.0))}, "topology/switches: expected 4, one for each"),
        ({"switches": ("x",), "links": Links.unit([(0, 3)])}, "topology: expected different names, got 'x' twice"),
        ({"switches": ("s",), "links": Links.unit([(0, 4)])}, "topology/links: expected node indices below 4, got 4"),
    ],
)
def test_switches_that_cannot_be_are_refused(fields, reason):
    """Those without links are the subtrees of a tree."""
    with pytest.raises(InputError, match=f"^{reason}"):
        Topology(**{"names": NAMES, "metric": LINE, **fields})
