"""Trees of switches as batch systems state them, and the topologies that they make."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import IntArray, lock
from tiger.model.metrics import DENSE_LIMIT, DenseMetric, TreeMetric
from tiger.model.topology import Links, Topology


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwitchTree:
    """Hold hosts under switches that form a tree, or several that do not reach each other.

    `leaf[h]` is the switch of host `h`, `parent[s]` the switch above switch `s`, -1 above a root.
    """

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    leaf: IntArray
    parent: IntArray

    def topology(self) -> Topology:
        """Return the hosts, as far apart as there are links on the way between them.

        A regular tree is its hosts and a tree metric. Any other has its switches as further nodes without a slot, and
        links of length 1; raises InputError of `topology` where hosts and switches are more than 8,192.
        """
        levels = self._levels()
        fanouts = find_fanouts(levels)
        if fanouts is not None:
            return Topology(names=self.hosts, metric=TreeMetric(fanouts, _rise(2.0, len(levels))))
        count = len(self.hosts)
        check_irregular("hosts and switches", count + len(self.switches))
        below = np.flatnonzero(self.parent >= 0)
        ends = np.concatenate([self.leaf, self.parent[below]])
        links = Links.unit(np.column_stack([np.concatenate([np.arange(count), count + below]), count + ends]))
        slots = np.repeat([1, 0], [count, len(self.switches)])
        return Topology.from_links(self.hosts + self.switches, links, slots)

    def _levels(self) -> list[IntArray]:
        """Return the switches over every host from the root down, nothing where hosts are not equally deep."""
        levels, above = list[IntArray](), self.leaf
        while (above >= 0).all():
            levels.insert(0, above)
            above = self.parent[above]
        return [] if (above >= 0).any() else levels


def group_topology(hosts: tuple[str, ...], levels: Sequence[IntArray]) -> Topology:
    """Return hosts without links in nested groups: 1 apart in a group of the last level, and 1 more for each above.

    `levels[l][h]` is the group of a host, outermost first; the first level is one group of all. Raises InputError of
    `topology` for more than 8,192 hosts in groups that differ in size.
    """
    fanouts = find_fanouts(levels)
    if fanouts is not None:
        return Topology(names=hosts, metric=TreeMetric(fanouts, _rise(1.0, len(levels))))
    check_irregular("hosts", len(hosts))
    table = np.ones((len(hosts), len(hosts)))
    for group in levels:
        table += group[:, None] != group[None, :]
    np.fill_diagonal(table, 0.0)
    return Topology(names=hosts, metric=DenseMetric(lock(table)))


def find_fanouts(levels: Sequence[IntArray]) -> tuple[int, ...] | None:
    """Return the fan-outs of nested groups, outermost first; None unless they make one regular tree.

    In a regular tree the groups of a level hold as many hosts, one after another, and the first level is one group.
    """
    sizes = list[int]()
    for group in levels:
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        held = np.diff(begins, append=len(group))
        if len(np.unique(group)) != len(begins) or (held != held[0]).any():
            return None
        sizes.append(int(held[0]))
    if not sizes or sizes[0] != len(levels[0]):
        return None
    return tuple(outer // inner for outer, inner in pairwise([*sizes, 1]))


def check_irregular(what: str, count: int) -> None:
    """Raise InputError where so many nodes need a dense matrix of distances that is never built."""
    if count > DENSE_LIMIT:
        regular = "a regular tree, with as many hosts under every switch or block of a level and listed in that order"
        raise InputError("topology", f"expected {regular}, or at most {DENSE_LIMIT} {what}, got {count} in another")


def _rise(step: float, count: int) -> tuple[float, ...]:
    """Return so many distances, innermost first, each a step above the one before."""
    return tuple(step * level for level in range(1, count + 1))
