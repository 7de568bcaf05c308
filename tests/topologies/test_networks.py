"""Complete graphs, fat trees and dragonflies."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiger.errors import InputError
from tiger.topologies.networks import complete, dragonfly, fat_tree


def apart(topology, a, b):
    """Return the distance between two nodes by name."""
    return float(topology.metric.between(np.array(topology.names.index(a)), np.array(topology.names.index(b))))


def degrees(topology):
    """Return the number of links of every node by name."""
    count = np.bincount(np.concatenate([topology.links.u, topology.links.v]), minlength=topology.size)
    return dict(zip(topology.names, count.tolist(), strict=True))


def test_a_complete_graph_links_any_two():
    """Four nodes, six links, all distances 1."""
    topology = complete(4)
    assert (topology.names, len(topology.links.u)) == (("0", "1", "2", "3"), 6)
    assert topology.metric.between(np.arange(4)[:, None], np.arange(4)).tolist() == (1 - np.eye(4)).tolist()


def test_a_single_node_is_complete():
    """One node has no links."""
    assert len(complete(1).links.u) == 0


@pytest.mark.parametrize("nodes", [0, 2049, 10**7])
def test_complete_graphs_out_of_range_are_refused(nodes):
    """The number of links bounds the number of nodes."""
    with pytest.raises(InputError, match=r"^topology: expected at"):
        complete(nodes)


def test_a_fat_tree_has_these_nodes():
    """Four ports: 16 hosts, 8 edge, 8 aggregation and 4 core switches, 48 links."""
    topology = fat_tree(4)
    assert (topology.size, topology.hosts.size, len(topology.links.u)) == (36, 16, 48)
    assert topology.names[:2] == ("0,0,0", "0,0,1")
    assert topology.names[16::8] == ("edge:0,0", "agg:0,0", "core:0")
    assert topology.slots.tolist() == [1] * 16 + [0] * 20


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_every_switch_of_a_fat_tree_uses_all_ports(k):
    """Hosts have one link, switches k."""
    found = degrees(fat_tree(k))
    assert all(degree == (k if ":" in name else 1) for name, degree in found.items())


def test_distances_in_a_fat_tree():
    """2 under an edge switch, 4 in a pod, 6 between pods."""
    topology = fat_tree(4)
    assert [apart(topology, "0,0,0", end) for end in ("0,0,0", "0,0,1", "0,1,0", "3,1,1")] == [0, 2, 4, 6]


def test_core_switches_serve_one_aggregation_switch_of_a_pod():
    """Aggregation switch 1 reaches core switches 2 and 3 alone."""
    topology = fat_tree(4)
    assert [apart(topology, "agg:2,1", f"core:{c}") for c in range(4)] == [3, 3, 1, 1]


@pytest.mark.parametrize("k", [-2, 0, 1, 3, 32, 10**9])
def test_fat_trees_out_of_range_are_refused(k):
    """An odd, tiny or huge number of ports is bad input."""
    with pytest.raises(InputError, match=r"^topology: expected"):
        fat_tree(k)


def test_a_dragonfly_has_these_nodes():
    """4 routers, 2 global links each, 9 groups: 72 hosts, 36 routers, 72 + 54 + 36 links."""
    topology = dragonfly(4, 2, 9)
    assert (topology.size, topology.hosts.size, len(topology.links.u)) == (108, 72, 162)
    assert (topology.names[0], topology.names[71], topology.names[72]) == ("0,0,0", "8,3,1", "router:0,0")


def test_global_links_of_a_dragonfly_are_relative():
    """Ports 0 to 3 of group 0 lead to groups 1 to 4; two ports a router."""
    topology = dragonfly(2, 2, 5)
    far = ["router:1,1", "router:2,1", "router:3,0", "router:4,0"]
    assert [apart(topology, f"router:0,{port // 2}", far[port]) for port in range(4)] == [1, 1, 1, 1]


@given(a=st.integers(1, 4), h=st.integers(1, 3))
def test_a_full_dragonfly_links_any_two_groups_once(a, h):
    """With g = a h + 1 every router has a - 1 local, h global links and h hosts."""
    topology = dragonfly(a, h, a * h + 1)
    found = degrees(topology)
    assert all(degree == (a - 1 + 2 * h if ":" in name else 1) for name, degree in found.items())
    assert topology.links.bandwidth.tolist() == [1.0] * len(topology.links.u)


@given(a=st.integers(1, 4), h=st.integers(1, 3), groups=st.integers(1, 13))
def test_groups_of_a_dragonfly_share_as_many_links_as_fit(a, h, groups):
    """Any two groups have floor(a h / (g - 1)) links, and hosts are at most five hops apart."""
    g = min(groups, a * h + 1)
    topology = dragonfly(a, h, g)
    group = np.array([int(name.removeprefix("router:").split(",")[0]) for name in topology.names])
    across = group[topology.links.u] != group[topology.links.v]
    shared = a * h // (g - 1) if g > 1 else 0
    assert topology.links.bandwidth[across].sum() == shared * g * (g - 1) / 2
    assert topology.metric.table.max() <= 5


def test_parallel_links_add_their_bandwidth():
    """Two groups of one router with three global links: one link three wide."""
    topology = dragonfly(1, 3, 2)
    assert topology.links.bandwidth[topology.links.u == 6].tolist() == [3.0]


@pytest.mark.parametrize("shape", [(0, 1, 1), (1, 0, 1), (1, 1, 0), (2, 2, 6), (1, 1, 10**9), (64, 64, 64)])
def test_dragonflies_out_of_range_are_refused(shape):
    """Numbers below 1, more groups than ports and too many nodes are bad input."""
    with pytest.raises(InputError, match=r"^topology: expected"):
        dragonfly(*shape)


def test_a_dragonfly_of_too_many_links_is_refused():
    """One group of 4,096 routers would have eight million links."""
    with pytest.raises(InputError, match="262,144 links"):
        dragonfly(4096, 1, 1)
