"""Switched networks: complete graphs, three-tier fat trees and dragonflies; switches are nodes with 0 slots."""

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray
from tiger.model.metrics import DENSE_LIMIT, TreeMetric
from tiger.model.topology import Links, Topology
from tiger.topologies.coordinates import check_count, coordinate_names

# Two million links.
COMPLETE_LIMIT = 2048
# As many as 4 groups of 362 routers have: shortest paths take longer with every link.
LINK_LIMIT = 262_144


def complete(nodes: int) -> Topology:
    """Build nodes that are all 1 apart, with a link between any two; at most 2,048, as links grow with the square."""
    check_count(nodes, COMPLETE_LIMIT)
    links = Links.unit(np.stack(np.triu_indices(nodes, 1), axis=1))
    return Topology(names=coordinate_names((nodes,)), metric=TreeMetric((nodes,), (1.0,)), links=links)


def fat_tree(k: int) -> Topology:
    """Build the three-tier fat tree of k-port switches: k pods, k^3/4 hosts, k^2/2 edge, k^2/2 aggregation, k^2/4 core.

    Aggregation switch j of a pod reaches the core switches j k/2 to (j+1) k/2 - 1. Hosts come first and are named
    `pod,edge,port`; k even, from 2 to 30. Source: Al-Fares et al., SIGCOMM 2008, doi:10.1145/1402958.1402967.
    """
    half = k // 2
    if k < 2 or k % 2:
        raise InputError("topology", f"expected an even number of ports k >= 2, got {k}")
    hosts = k * half * half
    edge, aggregation, core = hosts, hosts + k * half, hosts + 2 * k * half
    check_count(core + half * half, DENSE_LIMIT)
    host = np.arange(hosts)
    pod, low, high = np.indices((k, half, half)).reshape(3, -1)
    pairs = np.concatenate(
        [
            np.stack([host, edge + host // half], axis=1),
            np.stack([edge + pod * half + low, aggregation + pod * half + high], axis=1),
            np.stack([aggregation + pod * half + low, core + low * half + high], axis=1),
        ]
    )
    names = (
        *coordinate_names((k, half, half)),
        *(f"{tier}:{name}" for tier in ("edge", "agg") for name in coordinate_names((k, half))),
        *(f"core:{name}" for name in coordinate_names((half * half,))),
    )
    return Topology.from_links(names, Links.unit(pairs), slots=np.arange(len(names)) < hosts)


def dragonfly(a: int, h: int, g: int) -> Topology:
    """Build a balanced dragonfly: g groups of a routers, linked all to all, with h hosts and h global links each.

    Any two groups share floor(a h / (g-1)) global links; ports left over stay free. Global port t (g-1) + d - 1 of a
    group leads to the group d further on, and router j owns the ports j h to (j+1) h - 1: the relative arrangement,
    which is the palm-tree one with groups counted backwards. Parallel links are one link of their joint bandwidth.
    Hosts come first, named `group,router,port`. At most 8,192 nodes and 262,144 links inside groups. Sources: Kim et
    al., ISCA 2008, doi:10.1109/ISCA.2008.19; Camarero et al., TACO 2014, doi:10.1145/2677038.
    """
    if min(a, h, g) < 1 or g > a * h + 1:
        raise InputError("topology", f"expected a, h, g >= 1 and g <= a*h + 1, got a={a}, h={h}, g={g}")
    hosts, routers = g * a * h, g * a
    check_count(hosts + routers, DENSE_LIMIT)
    inside = routers * (a - 1) // 2
    if inside > LINK_LIMIT:
        raise InputError("topology", f"expected at most {LINK_LIMIT:,} links inside groups, got {inside:,}")
    host = np.arange(hosts)
    first, second = np.triu_indices(a, 1)
    start = hosts + a * np.arange(g)[:, None]
    pairs = np.concatenate(
        [
            np.stack([host, hosts + host // h], axis=1),
            np.stack([(start + first).ravel(), (start + second).ravel()], axis=1),
            hosts + _global_links(a, h, g),
        ]
    )
    ends, count = np.unique(pairs, axis=0, return_counts=True)
    links = Links(u=ends[:, 0], v=ends[:, 1], weight=np.ones(len(ends)), bandwidth=count.astype(np.float64))
    names = (*coordinate_names((g, a, h)), *(f"router:{name}" for name in coordinate_names((g, a))))
    return Topology.from_links(names, links, slots=np.arange(len(names)) < hosts)


def _global_links(a: int, h: int, g: int) -> IntArray:
    """Return every link between groups as a pair of router indices, lower group first."""
    others = max(g - 1, 1)
    group, port = np.indices((g, a * h // others * others if g > 1 else 0)).reshape(2, -1)
    turn, ahead = port // others, port % others + 1
    far = (group + ahead) % g
    far_port = turn * others + g - ahead - 1
    pairs = np.stack([group * a + port // h, far * a + far_port // h], axis=1)
    return np.asarray(pairs[group < far])
