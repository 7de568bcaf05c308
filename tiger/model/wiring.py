"""Nodes and links between them before any distance is measured, and what of them a job needs."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray, lock, unset_array
from tiger.model.metrics import DENSE_LIMIT, DenseMetric
from tiger.model.topology import Links, Topology, distinct_links


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Wiring:
    """Hold m nodes and their links, with all else that a `Topology` says of them."""

    names: tuple[str, ...]
    links: Links
    slots: IntArray
    cost: FloatArray = field(default_factory=unset_array)
    memory: IntArray | None = None
    slots_stated: bool = False
    remarks: tuple[str, ...] = ()

    def measure(self) -> Topology:
        """Return the nodes at the lengths of shortest paths; raise InputError as `Topology.from_links` does."""
        bare = Topology.from_links(self.names, self.links, self.slots)
        cost = self.cost if len(self.cost) else bare.cost
        return replace(bare, cost=cost, memory=self.memory, slots_stated=self.slots_stated, remarks=self.remarks)

    def cut(self, needed: Collection[str]) -> "Wiring":
        """Return the nodes needed and those that may be between them, at the same distances from each other."""
        kept, links = cut_links(self.links, np.array([name in needed for name in self.names], bool))
        return replace(
            self,
            names=tuple(name for name, stays in zip(self.names, kept.tolist(), strict=True) if stays),
            links=links,
            slots=self.slots[kept],
            cost=self.cost[kept] if len(self.cost) else self.cost,
            memory=None if self.memory is None else self.memory[kept],
        )


def keep_between(topology: Topology, named: Collection[str] = ()) -> Topology | None:
    """Return the nodes that can hold tasks or are named, and those that may be between two of them.

    Distances are the same. None where there are no links, or more than 8,192 nodes would stay.
    """
    wired = topology.with_links()
    if wired is None or wired.links is None:
        return None
    needed = np.array([end in named for end in wired.link_ends], bool)
    needed[wired.hosts] = True
    kept, links = cut_links(wired.links, needed)
    nodes, ends = np.flatnonzero(kept[: wired.size]), np.flatnonzero(kept).tolist()
    if len(nodes) > DENSE_LIMIT:
        return None
    names = [wired.link_ends[end] for end in ends]
    return replace(
        wired,
        names=tuple(names[: len(nodes)]),
        metric=DenseMetric(lock(wired.metric.between(nodes[:, None], nodes[None, :]))),
        links=links,
        switches=tuple(names[len(nodes) :]),
        slots=wired.slots[nodes],
        cost=wired.cost[nodes],
        memory=None if wired.memory is None else wired.memory[nodes],
        turn=wired.turn[nodes],
    )


def cut_links(links: Links, needed: BoolArray) -> tuple[BoolArray, Links]:
    """Return which ends of links stay for a job that needs some, and the links between those, numbered by their order.

    All that have one link or none go, one after another, but those that are needed: no way between two others leads
    through one that goes, whatever the lengths of links. O(l log l).
    """
    kept = _find_kept(links, needed)
    inside, number = kept[links.u] & kept[links.v], np.cumsum(kept) - 1
    left = Links(
        u=number[links.u[inside]],
        v=number[links.v[inside]],
        weight=links.weight[inside],
        bandwidth=links.bandwidth[inside],
    )
    return kept, left


def _find_kept(links: Links, needed: BoolArray) -> BoolArray:
    """Return which ends of links stay."""
    size, distinct = len(needed), distinct_links(links)
    u, v = links.u[distinct], links.v[distinct]
    degrees, others = np.bincount(np.concatenate([u, v]), minlength=size), np.zeros(size, np.int64)
    # The numbers of all neighbours in one, from which those that go are taken out, until it is that of the last one.
    np.bitwise_xor.at(others, np.concatenate([u, v]), np.concatenate([v, u]))
    kept, degree, other, wanted = np.ones(size, bool), degrees.tolist(), others.tolist(), needed.tolist()
    leaves = np.flatnonzero((degrees <= 1) & ~needed).tolist()
    while leaves:
        leaf = leaves.pop()
        kept[leaf] = False
        if degree[leaf]:
            neighbour, degree[leaf] = other[leaf], 0
            other[neighbour] ^= leaf
            degree[neighbour] -= 1
            if degree[neighbour] <= 1 and not wanted[neighbour]:
                leaves.append(neighbour)
    return kept
