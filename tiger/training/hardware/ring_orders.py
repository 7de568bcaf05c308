"""The order in which a ring visits its devices, as NCCL chooses it: the best inside a machine, between them as given.

Processes of a machine know all links inside it, so that the order of its devices in a launch changes nothing; machines
follow each other as the ranks do that come first on them. Source: NCCL, src/graph/search.cc and src/graph/rings.cc.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray

# Devices of a machine in one ring up to which they are put in order; no machine has more, but a cluster may state none.
MOST_DEVICES = 16
# Steps of a search for an order over links up to a limit, after which the next limit is tried.
STEPS = 20_000


@dataclass(slots=True, eq=False)
class RingOrders:
    """Hold what is known of the orders of rings: `link_s[n, n]` ranks links by their seconds, `machine[n]` machines."""

    link_s: FloatArray
    machine: IntArray
    known: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    alike: bool = field(init=False)

    def __post_init__(self) -> None:
        """Find out whether all orders are alike, as they are over equal links inside machines and between them."""
        same = self.machine[:, None] == self.machine
        np.fill_diagonal(same, val=False)
        between = self.link_s[self.machine[:, None] != self.machine]
        starts = np.where(same.any(axis=1), np.argmax(same, axis=1), 0)
        inside = self.link_s[np.arange(len(starts)), starts]
        equal = (self.link_s == inside[:, None])[same].all()
        self.alike = bool(equal) and (not len(between) or bool((between == between[0]).all()))

    def arrange(self, rings: IntArray, axis: int) -> IntArray:
        """Return rings along an axis in the order in which they visit their devices."""
        if self.alike or rings.shape[axis] < 3:
            return rings
        moved = np.moveaxis(rings, axis, -1)
        rows = [self.order(tuple(row)) for row in moved.reshape(-1, moved.shape[-1]).tolist()]
        return np.moveaxis(np.array(rows).reshape(moved.shape), -1, axis)

    def order(self, ring: tuple[int, ...]) -> tuple[int, ...]:
        """Return the order in which a ring visits its devices."""
        if self.alike or len(ring) < 3:
            return ring
        if ring not in self.known:
            groups: dict[int, list[int]] = {}
            for device in ring:
                groups.setdefault(int(self.machine[device]), []).append(device)
            closed = len(groups) == 1
            self.known[ring] = tuple(device for group in groups.values() for device in self._order(group, closed))
        return self.known[ring]

    def _order(self, given: Sequence[int], closed: bool) -> Sequence[int]:  # noqa: FBT001 (a ring or a path, inside alone)
        """Return devices of a machine in the order whose slowest link is quickest, around a ring or along a path."""
        if not len(given) + (not closed) > 2 or len(given) > MOST_DEVICES:
            return given
        devices = sorted(given)
        seconds = self.link_s[np.ix_(devices, devices)]
        limits = np.unique(seconds[~np.eye(len(devices), dtype=bool)])
        # Over all links any order will do.
        for limit in limits[:-1]:
            found = _find_order(seconds <= limit, closed)
            if found:
                return [devices[k] for k in found]
        return devices


def _find_order(linked: BoolArray, closed: bool) -> list[int]:  # noqa: FBT001 (as above)
    """Return an order of all nodes in which neighbours are linked, none where there is none or that takes too long.

    Depth-first search, nodes with fewer links first; a ring begins with node 0.
    """
    links = [sorted(set(np.flatnonzero(row).tolist()) - {node}, reverse=True) for node, row in enumerate(linked)]
    stack: list[tuple[int, ...]] = [(node,) for node in ([0] if closed else range(len(links) - 1, -1, -1))]
    steps = 0
    while stack and steps < STEPS:
        path = stack.pop()
        steps += 1
        if len(path) == len(links):
            if not closed or path[0] in links[path[-1]]:
                return list(path)
            continue
        free = [node for node in links[path[-1]] if node not in path]
        stack += [(*path, node) for node in sorted(free, key=lambda node: (-len(links[node]), -node))]
    return []
