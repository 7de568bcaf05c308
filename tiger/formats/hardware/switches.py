"""Trees of switches as batch systems and fabrics state them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.levels import FIELD, fill_distances, find_fanouts
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import DENSE_LIMIT, TreeMetric
from tiger.model.topology import Links, Topology
from tiger.model.wiring import Wiring

# Hosts that meet at their own switch differ in the node alone; those that meet at the next one also in the rack.
NAMES = ("node", "rack")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SwitchTree:
    """Hold hosts under switches that form a tree, or several that do not reach each other.

    `leaf[h]` is the switch of host `h`, `parent[s]` the switch above switch `s`, -1 above a root. `remarks` are what a
    reader found odd, `needed` the hosts and switches of a job where others play no part.
    """

    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    leaf: IntArray
    parent: IntArray
    remarks: tuple[str, ...] = ()
    needed: frozenset[str] | None = None

    @property
    def distances(self) -> dict[str, float]:
        """Return the links between hosts that meet at a switch of each height: `node`, `rack`, `tier3` and so on."""
        tallest = int(self._heights().max(initial=0))
        names = (*NAMES, *(f"tier{height}" for height in range(len(NAMES) + 1, tallest + 1)))
        return {name: 2.0 * height for height, name in enumerate(names[:tallest], 1)}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes: all hosts, and the switches of a tree that is not regular."""
        return self.hosts if find_fanouts(self._levels()) is not None else self.hosts + self.switches

    def cut(self, needed: Collection[str]) -> "SwitchTree":
        """Return the tree for a job that needs some hosts and switches."""
        return replace(self, needed=frozenset(needed))

    def topology(self, given: Mapping[str, float]) -> Topology:
        """Return the hosts, as far apart as there are links on the way between them, or as is stated.

        A regular tree is its hosts and a tree metric, and knows the names of its switches. Any other has its switches
        as further nodes without a slot, and links of length 1, but of half of what a level adds to the distance where
        one is stated; of a tree that is cut, the hosts and switches needed and those between them. Raises InputError of
        `topology` where these are more than 8,192, and of `levels` for distances that fall from a level to the one
        around it, or do not rise there.
        """
        distances = fill_distances(self.distances, given)
        levels = self._levels()
        fanouts = find_fanouts(levels)
        _check_rise(distances, strictly=fanouts is None)
        if fanouts is not None:
            metric = TreeMetric(fanouts, tuple(distances.values()))
            subtrees = self._name_subtrees(levels)
            return Topology(names=self.hosts, metric=metric, switches=subtrees, remarks=self.remarks)
        count = len(self.hosts)
        below = np.flatnonzero(self.parent >= 0)
        ends = np.concatenate([self.leaf, self.parent[below]])
        links = Links.unit(np.column_stack([np.concatenate([np.arange(count), count + below]), count + ends]))
        if not distances.keys().isdisjoint(given):
            links = replace(links, weight=self._lengths(np.array([0.0, *distances.values()]), below))
        slots = np.repeat([1, 0], [count, len(self.switches)])
        wiring = Wiring(names=self.hosts + self.switches, links=links, slots=slots)
        if self.needed is not None:
            wiring = wiring.cut(self.needed)
        _check_irregular(len(wiring.names))
        return replace(wiring.measure(), remarks=self.remarks)

    def _levels(self) -> list[IntArray]:
        """Return the switches over every host from the root down, nothing where hosts are not equally deep."""
        levels, above = list[IntArray](), self.leaf
        while (above >= 0).all():
            levels.insert(0, above)
            above = self.parent[above]
        return [] if (above >= 0).any() else levels

    def _name_subtrees(self, levels: Sequence[IntArray]) -> tuple[str, ...]:
        """Return the names of the switches of a regular tree, those of leaves first, level by level up to the root."""
        return tuple(
            self.switches[number]
            for above in reversed(levels)
            for number in above[np.flatnonzero(np.diff(above, prepend=-1))].tolist()
        )

    def _heights(self) -> IntArray:
        """Return the number of switches on the longest way from every switch down to a host, itself included."""
        heights = np.zeros(len(self.parent), np.int64)
        above, height = self.leaf, 1
        while above.size:
            heights[above] = height
            above = np.unique(self.parent[above])
            above, height = above[above >= 0], height + 1
        return heights

    def _lengths(self, distances: FloatArray, below: IntArray) -> FloatArray:
        """Return the length of the links of hosts, then of the switches that have one above."""
        heights = self._heights()
        low = np.concatenate([np.zeros(len(self.hosts), np.int64), heights[below]])
        high = np.concatenate([heights[self.leaf], heights[self.parent[below]]])
        lengths: FloatArray = (distances[high] - distances[low]) / 2
        return lengths


def _check_rise(distances: Mapping[str, float], *, strictly: bool) -> None:
    """Raise InputError where a level is nearer than the one inside it, or as near where links have to have a length."""
    for (inner, near), (outer, far) in pairwise([("a node to itself", 0.0), *distances.items()]):
        if far < near or (strictly and far == near):
            what = f"expected {'more than' if strictly else 'at least'} {near:g}, the distance of {inner}"
            raise InputError(f"{FIELD}/{outer}", f"{what}, got {far:g}")


def _check_irregular(count: int) -> None:
    """Raise InputError where there are too many nodes for a dense matrix of distances."""
    if count > DENSE_LIMIT:
        regular = "a regular tree, with as many hosts under every switch or block of a level and listed in that order"
        what = f"expected {regular}, or at most {DENSE_LIMIT} hosts and switches, of an allocation where there is one"
        raise InputError("topology", f"{what}, got {count} in another")
