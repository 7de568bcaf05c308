"""Hardware of two parts: a network between nodes, and what is inside each of them.

A unit inside a node is called NODE/UNIT. Units of a node are as far apart as its inside says, units of different nodes
as far as their nodes are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tiger.errors import InputError
from tiger.formats.allocation import resolve_names
from tiger.formats.hardware.plain import find_nearest
from tiger.model.arrays import FloatArray, IntArray, lock
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, TreeMetric
from tiger.model.resources import UNBOUND, Resources, join_cores
from tiger.model.text import FileText
from tiger.model.topology import Links, Topology
from tiger.model.values import WHOLE_LIMIT
from tiger.model.wiring import keep_between
from tiger.model.wording import describe
from tiger.topologies.coordinates import NODE_LIMIT

FIELD = "node_topology"
# Rows of distances that are made together: 16 MiB at the largest size with a dense table.
BLOCK = 256


class HostContents(NamedTuple):
    """Say what is inside some hosts, listed as in `gpu[0-3],n7`, or without hosts inside all."""

    hosts: str | None
    source: "str | Path | FileText | Topology"


def list_insides(given: "Mapping[str, Path | str] | Sequence[HostContents] | Path | str | None") -> list[HostContents]:
    """Return the contents of hosts, and the hosts that have them."""
    if given is None:
        return []
    if isinstance(given, str | Path):
        return [HostContents(None, given)]
    insides = [
        HostContents(hosts, source) for hosts, source in (given.items() if isinstance(given, Mapping) else given)
    ]
    if not insides:
        raise InputError(FIELD, "expected what is inside the nodes, got nothing")
    if len(insides) > 1 and any(inside.hosts is None for inside in insides):
        raise InputError(FIELD, "expected HOSTS=FILE for each of several, got a file for all nodes")
    return insides


def find_insides(nodes: Topology, hosts: Sequence[str | None], known: Sequence[str]) -> IntArray:
    """Return which of the lists every node that holds tasks is in; None stands for all nodes.

    Lists may name all nodes that are known, of which those of an allocation may be the only ones left. Raises
    InputError of `node_topology` for a node that is in none or in two, and for a list without any.
    """
    if hosts[0] is None:
        return np.zeros(len(nodes.hosts), np.int64)
    found = dict[str, int]()
    for k, listed in enumerate(hosts):
        names = resolve_names(FIELD, listed or "", known)
        if not names:
            raise InputError(FIELD, f"expected hosts for each of {len(hosts)} insides, got none")
        for name in names:
            if name in found:
                raise InputError(FIELD, f"expected different nodes, got {describe(name)} twice")
            found[name] = k
    which = np.array([found.get(name, -1) for name in nodes.names])
    missing = nodes.hosts[which[nodes.hosts] < 0]
    if missing.size:
        name = describe(nodes.names[missing[0]])
        raise InputError(FIELD, f"expected the inside of every node that holds tasks, got none for {name}")
    return which[nodes.hosts]


def compose(network: Topology, insides: Sequence[Topology], which: IntArray) -> Topology:
    """Return the units of all nodes that hold tasks, `which[h]` being the inside of the h-th of them; O(m^2).

    A tree whose nodes are trees of one kind is a tree, of up to a million units, with nodes and switches of the network
    as switches. Elsewhere units and nodes are at most 8,192. Where the network has links its nodes stay, without slots,
    and each has a link to its units: half as long as the farthest distance inside, and as much wider than the widest
    link of the node as that distance is shorter than the least one between nodes. Where that is too much, nodes go that
    are not between those that hold tasks, and where it still is, all links. Slots and memory are those of the units,
    but slots that nodes are granted are spread evenly over theirs; a unit of work costs what node and unit ask
    together, and units have the turn of their node. Raises InputError of `node_topology` for more units, and for memory
    that the network states, or some of the insides alone.
    """
    if network.memory is not None:
        raise InputError(FIELD, "expected memory stated inside the nodes alone, got it for the nodes of the network")
    if len({inside.memory is None for inside in insides}) > 1:
        raise InputError(FIELD, "expected memory stated inside all nodes or none, got it inside some")
    _check_granted(network, insides, which)
    outer, inner = network.metric, insides[0].metric
    if len(insides) == 1 and isinstance(outer, TreeMetric) and isinstance(inner, TreeMetric):
        metric = TreeMetric(outer.fanouts + inner.fanouts, inner.distances + outer.distances)
        # Of a larger tree the nodes of an allocation may be few enough for a matrix.
        if metric.size <= NODE_LIMIT or len(which) * inner.size > DENSE_LIMIT:
            return _compose_trees(network, insides[0], metric, inner)
    return _compose_tables(network, insides, which)


def fill_nodes(network: Topology, insides: Sequence[Topology], which: IntArray) -> Topology:
    """Return the nodes with the slots of all that is inside them, of which a job may be granted some.

    `which[h]` is the inside of the h-th of the nodes that hold tasks.
    """
    slots, resources = np.zeros_like(network.slots), [UNBOUND] * network.size
    slots[network.hosts] = np.array([int(inside.slots.sum()) for inside in insides])[which]
    if network.slots_granted:
        slots = np.minimum(slots, network.slots)
    for node, kind in zip(network.hosts.tolist(), which.tolist(), strict=True):
        resources[node] = join_cores(insides[kind].resources)
    return replace(network.with_slots(slots), slots_stated=True, resources=tuple(resources))


def _check_granted(network: Topology, insides: Sequence[Topology], which: IntArray) -> None:
    """Raise InputError of `allocation` for a node with more slots than its inside states."""
    if not network.slots_granted:
        return
    room = np.array([inside.slots.sum() if inside.slots_stated else WHOLE_LIMIT for inside in insides])[which]
    for host, slots in zip(network.hosts.tolist(), room.tolist(), strict=True):
        if network.slots[host] > slots:
            what = f"expected at most {slots} slots on {describe(network.names[host])}, which its inside has"
            raise InputError("allocation", f"{what}, got {network.slots[host]}")


def _compose_trees(network: Topology, inside: Topology, metric: TreeMetric, inner: TreeMetric) -> Topology:
    """Return the leaves of a tree whose upper levels are a network."""
    if metric.size > NODE_LIMIT:
        raise InputError(FIELD, f"expected at most {NODE_LIMIT} units in all nodes, got {metric.size}")
    node, unit = np.divmod(np.arange(metric.size), inside.size)
    names = tuple(f"{above}/{name}" for above in network.names for name in inside.names)
    switches = _name_subtrees(network, inside, inner)
    return Topology(
        names=names,
        metric=metric,
        switches=switches if len({*names, *switches}) == len(names) + len(switches) else (),
        slots=_share_slots(network, node, inside.slots[unit]),
        cost=network.cost[node] + inside.cost[unit],
        memory=None if inside.memory is None else inside.memory[unit],
        slots_stated=inside.slots_stated or network.slots_granted,
        slots_granted=network.slots_granted,
        host=network.host,
        turn=network.turn[node],
        remarks=network.remarks + inside.remarks,
        resources=inside.resources * network.size,
    )


def _name_subtrees(network: Topology, inside: Topology, inner: TreeMetric) -> tuple[str, ...]:
    """Return the names of the subtrees of the whole tree, innermost first: each inside's root is its node."""
    above, below = (
        replace(tree, links=None, switches=() if tree.links else tree.switches).link_ends[tree.size :]
        for tree in (network, inside)
    )
    names, begin = list[str](), 0
    for count in (inner.size // inner.leaves[1:]).tolist():
        names += [f"{node}/{name}" for node in network.names for name in below[begin : begin + count]]
        begin += count
    return (*names, *network.names, *above)


def _compose_tables(network: Topology, insides: Sequence[Topology], which: IntArray) -> Topology:
    """Return the units of all hosts and, where the network has links, its nodes behind them."""
    sizes = np.array([len(inside.hosts) for inside in insides])[which]
    count, wired = int(sizes.sum()), network.with_links()
    if wired is not None and count > DENSE_LIMIT - wired.size and (wired.switches or len(which) < wired.size):
        wired = keep_between(wired)
        wired = None if wired is None or count > DENSE_LIMIT - wired.size else wired
        network = wired or network
    links = None if wired is None else wired.links
    hubs = 0 if links is None else network.size
    if not 0 < count <= DENSE_LIMIT - hubs:
        what = f"1 to {DENSE_LIMIT} units{' and nodes of the network' if hubs else ''}, or trees of trees of one kind"
        raise InputError(FIELD, f"expected {what}, got {count + hubs}")
    node = np.repeat(network.hosts, sizes)
    # Positions of units among the nodes of all insides, one inside behind the other.
    first = np.cumsum([0, *(inside.size for inside in insides)])
    unit = np.concatenate([first[kind] + insides[kind].hosts for kind in which])
    names = list(chain.from_iterable(inside.names for inside in insides))
    slots, cost, memory = (np.concatenate(each) for each in _list_amounts(insides))
    own = [f"{network.names[a]}/{names[b]}" for a, b in zip(node.tolist(), unit.tolist(), strict=True)]
    none = np.zeros(hubs, np.int64)
    return Topology(
        names=(*own, *network.names[:hubs]),
        metric=DenseMetric(lock(_measure(network, insides, which, hubs))),
        links=None if links is None else _hang_units(network, links, insides, which),
        switches=() if wired is None else wired.switches,
        slots=np.concatenate([_share_slots(network, node, slots[unit]), none]),
        cost=np.concatenate([network.cost[node] + cost[unit], none]),
        memory=np.concatenate([memory[unit], none]) if memory.size else None,
        slots_stated=network.slots_granted or any(inside.slots_stated for inside in insides),
        slots_granted=network.slots_granted,
        host=network.host,
        turn=np.concatenate([network.turn[node], none]),
        remarks=(*network.remarks, *chain.from_iterable(inside.remarks for inside in insides)),
        resources=_list_resources(insides, unit, hubs),
    )


def _list_resources(insides: Sequence[Topology], unit: IntArray, hubs: int) -> tuple[Resources, ...]:
    """Return what units at positions among those of all insides are of their hosts; nodes behind them are nothing."""
    if not any(inside.resources for inside in insides):
        return ()
    known = list(chain.from_iterable(inside.resources or (UNBOUND,) * inside.size for inside in insides))
    return (*(known[k] for k in unit.tolist()), *(UNBOUND,) * hubs)


def _share_slots(network: Topology, node: IntArray, slots: IntArray) -> IntArray:
    """Return the slots of units: their own, or those that their nodes are granted, spread evenly over them.

    `node[k]` is the node of unit k, one node's units behind the other's; they share in proportion to their own slots.
    """
    own = np.where(network.slots[node] > 0, slots, 0)
    if not network.slots_granted:
        return own
    total = np.bincount(node, own, network.size).astype(np.int64)
    upto = np.cumsum(own)
    upto -= (upto - own)[np.searchsorted(node, node)]
    whole, rest = np.divmod(network.slots[node], np.maximum(total[node], 1))
    # Rounded up, so that the first unit has the first slot; in two parts, as a product may leave the range of int64.
    ends, begins = (part * whole - -part * rest // np.maximum(total[node], 1) for part in (upto, upto - own))
    return np.asarray(ends - begins, np.int64)


def _list_amounts(insides: Sequence[Topology]) -> tuple[list[IntArray], list[FloatArray], list[IntArray]]:
    """Return slots, costs and memory of every inside; no memory where it is not stated."""
    memory = [np.zeros(0, np.int64) if inside.memory is None else inside.memory for inside in insides]
    return [inside.slots for inside in insides], [inside.cost for inside in insides], memory


def _measure(network: Topology, insides: Sequence[Topology], which: IntArray, hubs: int) -> FloatArray:
    """Return the distances between units, node by node, and the nodes of the network behind them."""
    sizes = np.array([len(inside.hosts) for inside in insides])[which]
    places = np.concatenate([np.repeat(network.hosts, sizes), np.arange(hubs)])
    table = np.empty((len(places), len(places)))
    for begin in range(0, len(places), BLOCK):
        table[begin : begin + BLOCK] = network.metric.between(places[begin : begin + BLOCK, None], places[None, :])
    own = [inside.metric.between(inside.hosts[:, None], inside.hosts[None, :]) for inside in insides]
    for begin, size, kind in zip(np.cumsum(sizes) - sizes, sizes, which, strict=True):
        table[begin : begin + size, begin : begin + size] = own[kind]
    return table


def _hang_units(network: Topology, links: Links, insides: Sequence[Topology], which: IntArray) -> Links:
    """Return the links of the network between its nodes behind the units, and those from its nodes to their units."""
    sizes = np.array([len(inside.hosts) for inside in insides])[which]
    count = int(sizes.sum())
    widest = np.zeros(1 + max(network.size - 1, links.u.max(initial=0), links.v.max(initial=0)))
    for ends in (links.u, links.v):
        np.maximum.at(widest, ends, links.bandwidth)
    # A node that is alone, and a unit that is, have no distance to compare.
    farthest = np.array([inside.metric.farthest for inside in insides])[which]
    nearest = find_nearest(network) or farthest.max(initial=0.0) or 1.0
    farthest = np.repeat(np.where(farthest > 0, farthest, nearest), sizes)
    node = np.repeat(network.hosts, sizes)
    width = np.where(widest[node] > 0, widest[node], 1.0) * nearest / farthest
    return Links(
        u=np.concatenate([count + links.u, np.arange(count)]),
        v=np.concatenate([count + links.v, count + node]),
        weight=np.concatenate([links.weight, farthest / 2]),
        bandwidth=np.concatenate([links.bandwidth, width]),
    )
