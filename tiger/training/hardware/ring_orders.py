"""The order in which a ring visits its devices, as NCCL chooses it: the best inside a machine, between them as given.

Processes of a machine know all links inside it, so that the order of its devices in a launch changes nothing; machines
follow each other as the ranks do that come first on them. Source: NCCL, src/graph/search.cc and src/graph/rings.cc.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray

# Devices of a machine in one ring up to which they are put in order; no machine has more, but a cluster may state none.
MOST_DEVICES = 16
# Steps of a search for an order over links up to a limit, after which the next limit is tried.
STEPS = 20_000


@dataclass(slots=True, eq=False)
class RingOrders:
    """Hold what is known of the orders of rings: `link_s[n, n]` ranks links by their seconds, `machine[n]` machines.

    `wire[n, n]` says which links are wires of their own between two devices.
    """

    link_s: FloatArray
    machine: IntArray
    wire: BoolArray
    known: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict)
    widths: dict[tuple[int, ...], float] = field(default_factory=dict)
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

    def arrange(self, rings: IntArray) -> IntArray:
        """Return rings `[.., r]` in the order in which they visit their devices, those of a machine together."""
        if rings.shape[-1] < 3:
            return rings
        if self.alike:
            machine = self.machine[rings]
            if (machine[..., 1:] >= machine[..., :-1]).all():
                return rings
            return np.take_along_axis(rings, np.argsort(machine, axis=-1, kind="stable"), axis=-1)
        rows = [self.order(tuple(row)) for row in rings.reshape(-1, rings.shape[-1]).tolist()]
        return np.array(rows).reshape(rings.shape)

    def order(self, ring: tuple[int, ...]) -> tuple[int, ...]:
        """Return the order in which a ring visits its devices."""
        if len(ring) < 3:
            return ring
        if ring not in self.known:
            groups: dict[int, list[int]] = {}
            for device in ring:
                groups.setdefault(int(self.machine[device]), []).append(device)
            closed = len(groups) == 1
            ordered = groups.values() if self.alike else (self._order(group, closed) for group in groups.values())
            self.known[ring] = tuple(device for group in ordered for device in group)
        return self.known[ring]

    def rotate(self, ring: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return rings side by side over several machines, as many as each has ranks: each leaves by another one."""
        runs = [tuple(run) for _, run in groupby(self.order(ring), key=lambda device: int(self.machine[device]))]
        if len(runs) == 1 or len(ring) < 3:
            return [self.order(ring)]
        return [tuple(device for run in runs for device in (*run[k:], *run[:k])) for k in range(min(map(len, runs)))]

    def count_wires(self, rings: IntArray) -> FloatArray:
        """Return how many times the rate of their slowest link rings `[.., r]`, in order, have inside machines.

        NCCL makes as many rings as wires allow: each device sends all that its wires to the others carry. 1 without
        wires, which are shared.
        """
        if not self.wire.any() or rings.shape[-1] < 2:
            return np.ones(rings.shape[:-1])
        rows = rings.reshape(-1, rings.shape[-1])
        return np.array([self._width(tuple(row)) for row in rows.tolist()]).reshape(rings.shape[:-1])

    def _width(self, ring: tuple[int, ...]) -> float:
        """Return how wide a ring in order is inside all of its machines."""
        if ring not in self.widths:
            devices = np.array(ring)
            same = self.machine[devices[:, None]] == self.machine[devices]
            np.fill_diagonal(same, val=False)
            before = np.roll(devices, 1)
            inner = self.machine[devices] == self.machine[before]
            width = 1.0
            if inner.any() and self.wire[devices, before][inner].all():
                slowest = self.link_s[devices, before][inner].max()
                wired = same & self.wire[np.ix_(devices, devices)]
                rates = np.where(wired, slowest / np.where(wired, self.link_s[np.ix_(devices, devices)], 1.0), 0.0)
                # A device that is alone on its machine sends over no wire.
                width = max(float(rates.sum(axis=1)[same.any(axis=1)].min()), 1.0)
            self.widths[ring] = width
        return self.widths[ring]

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
