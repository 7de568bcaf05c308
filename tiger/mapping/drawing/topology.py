"""Hardware as a picture shows it: nodes and switches, links, and what each link carries."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric, TreeMetric
from tiger.model.topology import Links, Topology, distinct_links, neighbour_links
from tiger.objectives.shortest_paths import GridRoutes, LinkLoads
from tiger.run.drawing.graph import (
    EDGES,
    VERTICES,
    Groups,
    Merged,
    TopologyView,
    group_vertices,
    merge_edges,
)
from tiger.run.drawing.positions import (
    PIVOTS,
    bend,
    coordinates_of,
    fit,
    place_by_distance,
    place_by_hops,
    place_in_tiers,
    place_on_circle,
    place_on_grid,
)


class Wires(NamedTuple):
    """Hold the names of nodes and switches, and links `a[l]` < `b[l]` between them, one for each pair, sorted by it.

    `bandwidth` is None where none is stated.
    """

    names: tuple[str, ...]
    a: IntArray
    b: IntArray
    length: FloatArray
    bandwidth: FloatArray | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Hardware:
    """Hold hardware with its links, and the groups of its nodes and switches that a picture shows as one vertex."""

    topology: Topology
    wires: Wires
    groups: Groups

    @property
    def node_vertex(self) -> IntArray:
        """Return the vertex of each node."""
        return self.groups.group_of[: self.topology.size]

    def merge(self, importance: FloatArray | None = None) -> Merged:
        """Return the links between vertices, of too many those whose links have the largest importance together."""
        merged = merge_edges(self.wires.a, self.wires.b, self.groups.group_of, directed=False)
        return merged.keep(EDGES, merged.sum(np.zeros(len(self.wires.a)) if importance is None else importance))

    def load(self, loads: LinkLoads) -> FloatArray:
        """Return the load of each link."""
        metric, wires = self.topology.metric, self.wires
        if not isinstance(metric, GridMetric):
            return loads.load
        if isinstance(loads.routes, GridRoutes):
            low, high, numbers = _grid_ends(metric)
        else:
            low, high, _ = _link_ends(self.topology.links or neighbour_links(metric))
            numbers = np.arange(len(low))
        found = np.searchsorted(wires.a * len(wires.names) + wires.b, low * len(wires.names) + high)
        return np.bincount(found, loads.load[numbers], len(wires.a)).astype(np.float64)


def wire(topology: Topology) -> Hardware:
    """Return hardware with its links, those of grids between neighbours and of trees above each subtree."""
    wires = _wires_of(topology)
    return Hardware(topology=topology, wires=wires, groups=_group(topology, wires))


def view_hardware(hardware: Hardware, merged: Merged) -> TopologyView:
    """Return the view of hardware with the links that have been merged, of which the shortest counts."""
    topology, wires, groups = hardware.topology, hardware.wires, hardware.groups
    kept = merged.edge_of >= 0
    length = np.full(len(merged.a), np.inf)
    np.minimum.at(length, merged.edge_of[kept], wires.length[kept])
    width = [None] * len(merged.a) if wires.bandwidth is None else merged.sum(wires.bandwidth).tolist()
    slots = np.concatenate([topology.slots, np.zeros(len(wires.names) - topology.size, np.int64)])
    x, y = _place(hardware, merged)
    return TopologyView(
        names=groups.names,
        x=x,
        y=y,
        counts=tuple(groups.counts.tolist()),
        a=tuple(merged.a.tolist()),
        b=tuple(merged.b.tolist()),
        weight=tuple(length.tolist()),
        directed=False,
        total=len(wires.names),
        total_edges=len(wires.a),
        slots=tuple(np.bincount(groups.group_of, slots, len(groups.names)).astype(np.int64).tolist()),
        bandwidth=tuple(width),
    )


def _wires_of(topology: Topology) -> Wires:
    """Return the links of hardware, none where distances alone are known."""
    metric, links = topology.metric, topology.links
    if isinstance(metric, GridMetric):
        return _grid_wires(topology.names, metric, links)
    if links is not None:
        low, high, chosen = _link_ends(links)
        names = topology.names + topology.switches
        return Wires(names, low, high, links.weight[chosen], links.bandwidth[chosen])
    if isinstance(metric, TreeMetric):
        low, high, lengths = _tree_ends(metric)
        return Wires(topology.link_ends, low, high, lengths, None)
    none = np.empty(0, np.int64)
    return Wires(topology.names, none, none, np.empty(0), None)


def _grid_wires(names: tuple[str, ...], metric: GridMetric, links: Links | None) -> Wires:
    """Return the links of a grid, with what is stated of them, which may be more links than those to neighbours."""
    size, stated = len(names), np.empty(0, np.int64)
    low, high, _ = _grid_ends(metric)
    if links is not None:
        first, second, chosen = _link_ends(links)
        stated = first * size + second
    # Sorting is several times faster than numpy's unique numbers by hashing.
    key = np.sort(np.concatenate([low * size + high, stated]))
    key = key[np.diff(key, prepend=-1) > 0]
    length, bandwidth = np.full(len(key), metric.hop), np.ones(len(key))
    if links is None:
        return Wires(names, key // size, key % size, length, None)
    at = np.searchsorted(key, stated)
    length[at], bandwidth[at] = links.weight[chosen], links.bandwidth[chosen]
    return Wires(names, key // size, key % size, length, bandwidth)


def _link_ends(links: Links) -> tuple[IntArray, IntArray, IntArray]:
    """Return the ends, lower and higher, of one link for each pair, and their numbers among all."""
    chosen = distinct_links(links)
    low, high = np.minimum(links.u, links.v)[chosen], np.maximum(links.u, links.v)[chosen]
    apart = low < high
    return low[apart], high[apart], chosen[apart]


def _tree_ends(metric: TreeMetric) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the lower and upper ends of the links of a tree, and their lengths, which may be 0."""
    counts = metric.size // metric.leaves
    begins = np.cumsum(counts)
    pairs = zip(begins, counts, reversed(metric.fanouts), strict=True)
    above = np.concatenate([begin + np.arange(count) // fanout for begin, count, fanout in pairs])
    lengths = np.repeat(np.diff(metric.distances, prepend=0.0) / 2, counts)
    return np.arange(len(above)), above, lengths


def _grid_ends(metric: GridMetric) -> tuple[IntArray, IntArray, IntArray]:
    """Return the ends, lower and higher, of the links of a grid, and their numbers among the loads of its routes."""
    nodes, low, high, number = np.arange(metric.size), list[IntArray](), list[IntArray](), list[IntArray]()
    stride = metric.size
    for axis, (extent, wrap) in enumerate(zip(metric.dims, metric.wrap, strict=True)):
        stride //= extent
        last = nodes // stride % extent == extent - 1
        there = nodes + np.where(last, 1 - extent, 1) * stride
        real = ~last if extent <= 2 or not wrap else np.ones(metric.size, bool)
        low.append(np.minimum(nodes, there)[real])
        high.append(np.maximum(nodes, there)[real])
        number.append(axis * metric.size + nodes[real])
    return np.concatenate(low), np.concatenate(high), np.concatenate(number)


def _group(topology: Topology, wires: Wires) -> Groups:
    """Return every node and switch by itself, or groups: subtrees, what hangs on a switch, blocks or runs."""
    size = len(wires.names)
    if size <= VERTICES:
        return Groups(np.arange(size), wires.names, _coordinates(topology, size))
    if isinstance(topology.metric, TreeMetric) and topology.links is None:
        held = _group_subtrees(topology.metric, wires)
    else:
        held = None if isinstance(topology.metric, GridMetric) else _group_leaves(wires)
    if held is not None:
        return held
    switch = np.arange(size) >= topology.size
    switch[: topology.size] = topology.slots == 0
    apart = switch.astype(np.int64) if topology.slots.any() and switch.any() else None
    return group_vertices(wires.names, _coordinates(topology, size), apart)


def _coordinates(topology: Topology, size: int) -> IntArray | None:
    """Return the coordinates of the nodes of a grid, or those that nodes are named by where they are no hierarchy."""
    metric = topology.metric
    if isinstance(metric, GridMetric):
        return None if len(metric.dims) == 1 else np.stack(np.unravel_index(np.arange(size), metric.dims), axis=1)
    return None if isinstance(metric, TreeMetric) else coordinates_of(topology.names + topology.switches)


def _group_subtrees(metric: TreeMetric, wires: Wires) -> Groups | None:
    """Return the subtrees of the lowest level at which there are few enough, None where there is no such level."""
    counts = metric.size // metric.leaves
    above = np.append(wires.b, len(wires.names) - 1)
    label = np.arange(len(wires.names))
    for level in range(1, len(counts)):
        # What lies below a level goes up by one, until it is part of its subtree there.
        below = label < counts[:level].sum()
        label[below] = above[label[below]]
        while (label < counts[:level].sum()).any():
            below = label < counts[:level].sum()
            label[below] = above[label[below]]
        if len(label) - counts[:level].sum() <= VERTICES:
            return Groups(label - counts[:level].sum(), wires.names[counts[:level].sum() :])
    return None


def _group_leaves(wires: Wires) -> Groups | None:
    """Return what has a single link as part of what it hangs on, None where that leaves too many."""
    size = len(wires.names)
    degree = np.bincount(np.concatenate([wires.a, wires.b]), minlength=size)
    label = np.arange(size)
    for leaf, other in ((wires.a, wires.b), (wires.b, wires.a)):
        hangs = (degree[leaf] == 1) & (degree[other] > 1)
        label[leaf[hangs]] = other[hangs]
    anchors, group_of = np.unique(label, return_inverse=True)
    if len(anchors) > VERTICES:
        return None
    return Groups(group_of.astype(np.int64), tuple([wires.names[anchor] for anchor in anchors.tolist()]))


def _place(hardware: Hardware, merged: Merged) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return where vertices lie: on their grid, in tiers above the nodes, or by distance."""
    metric, groups = hardware.topology.metric, hardware.groups
    size = len(groups.names)
    if groups.coordinates is not None:
        return fit(place_on_grid(groups.coordinates))
    if isinstance(metric, GridMetric):
        ring = metric.wrap[0] and metric.size > 2
        line = np.stack([np.arange(size), np.zeros(size)], axis=1).astype(np.float64)
        return fit(place_on_circle(size) if ring else line)
    if not len(merged.a) and size > 1:
        return fit(_place_by_distance(hardware))
    tier = _tiers(hardware, merged)
    if tier is None:
        return fit(place_by_hops(size, merged.a, merged.b, np.ones(len(merged.a))))
    spots = place_in_tiers(tier, merged.a, merged.b)
    # Links within a tier, such as those between the routers of a dragonfly, would lie on each other along it.
    level = tier[merged.a] == tier[merged.b]
    return fit(bend(spots)) if level.any() else fit(spots, stretch=(True, True))


def _tiers(hardware: Hardware, merged: Merged) -> IntArray | None:
    """Return how many hops each vertex is above the nodes, None where nodes are linked to each other or are all."""
    topology, groups = hardware.topology, hardware.groups
    size = len(groups.names)
    if isinstance(topology.metric, TreeMetric) and topology.links is None:
        return _levels(topology.metric, groups)
    slots = np.bincount(hardware.node_vertex, topology.slots, size)
    degree = np.bincount(np.concatenate([merged.a, merged.b]), minlength=size)
    bottom = (slots > 0) | (degree == 1)
    if bottom.all() or not bottom.any():
        return None
    tier = np.where(bottom, 0, -1)
    for level in range(size):
        ends = ((merged.a, merged.b), (merged.b, merged.a))
        above = np.concatenate([end[(tier[other] == level) & (tier[end] < 0)] for end, other in ends])
        if not len(above):
            break
        tier[above] = level + 1
    return None if (tier < 0).any() or (bottom[merged.a] & bottom[merged.b]).any() else tier


def _levels(metric: TreeMetric, groups: Groups) -> IntArray | None:
    """Return the level of each vertex of a tree, None where vertices are runs of several."""
    counts = metric.size // metric.leaves
    level = np.repeat(np.arange(len(counts) + 1), [*counts.tolist(), 1])
    hidden = len(level) - len(groups.names)
    whole = groups.group_of[hidden:].tolist() == list(range(len(groups.names)))
    return level[hidden:] - level[hidden] if whole else None


def _place_by_distance(hardware: Hardware) -> FloatArray:
    """Return where nodes without links lie, a group by the first of its nodes."""
    _, nodes = np.unique(hardware.node_vertex, return_index=True)
    pivots = np.linspace(0, len(nodes) - 1, min(PIVOTS, len(nodes))).astype(np.int64)
    return place_by_distance(hardware.topology.metric.between(nodes[:, None], nodes[pivots][None, :]), pivots)
