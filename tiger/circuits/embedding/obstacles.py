"""Reasons, found without a search, why a growing graph fits a device in no layout."""

from functools import lru_cache

import numpy as np

from tiger.circuits.coupling import FAR, KEPT, Coupling

# The length of a cycle where there is none.
ENDLESS = 1 << 30


class Bounds:
    """Hold what a device has at most: qubits by degree, edges, the largest part, the shortest cycle, two colours."""

    def __init__(self, coupling: Coupling) -> None:
        degree = (coupling.neighbours >= 0).sum(axis=1)
        self.qubits = coupling.size
        self.edges = len(coupling.edges)
        self.by_degree = np.cumsum(np.bincount(degree, minlength=1)[::-1])[::-1].tolist()
        self.part = int(np.bincount(coupling.part).max(initial=0))
        self.part_edges = int(np.bincount(coupling.part[coupling.edges[:, 0]]).max(initial=0))
        self.cycle, self.bipartite = _shortest_cycle(coupling)


@lru_cache(maxsize=KEPT)
def bounds_of(coupling: Coupling) -> Bounds:
    """Return the bounds of a device, once for all circuits that go on it."""
    return Bounds(coupling)


class Obstacles:
    """Watch a graph grow pair by pair, and find when it cannot fit any more.

    Counts edges, degrees and the sizes of connected components, measures the cycle that every pair closes when it is
    shorter than any of the device, and colours the vertices when the device has two colours. What does not fit never
    fits again. A pair costs O(1), and O(n) where it closes a cycle; all merges together O(n log n).
    """

    def __init__(self, size: int, bounds: Bounds) -> None:
        self.bounds = bounds
        self.near: list[set[int]] = [set() for _ in range(size)]
        self._room: list[int] = list(bounds.by_degree)
        self._edges = 0
        self._root, self._colour = list(range(size)), [0] * size
        self._members = [[v] for v in range(size)]
        self._inside = [0] * size

    def admits(self, a: int, b: int) -> bool:
        """Return whether the graph may still fit with one more pair."""
        if b in self.near[a]:
            return True
        if not (self._degrees_fit(a, b) and self._sizes_fit(a, b)):
            return False
        if self._root[a] != self._root[b]:
            return True
        # An odd cycle fits no device with two colours.
        if self.bounds.bipartite and self._colour[a] == self._colour[b]:
            return False
        # Every cycle of the graph lies on one of the device, which has no shorter one than its girth.
        return not self._closes_short_cycle(a, b)

    def add(self, a: int, b: int) -> None:
        """Add a pair."""
        if b in self.near[a]:
            return
        self.near[a].add(b)
        self.near[b].add(a)
        self._edges += 1
        self._room[len(self.near[a])] -= 1
        self._room[len(self.near[b])] -= 1
        # Every vertex is renamed at most log2 n times when it is the smaller side that joins.
        big, small = self._root[a], self._root[b]
        if big != small:
            if len(self._members[big]) < len(self._members[small]):
                big, small = small, big
            self._merge(big, small, flip=self._colour[a] == self._colour[b])
        self._inside[big] += 1

    def _merge(self, big: int, small: int, flip: bool) -> None:  # noqa: FBT001 (a parity, not a mode)
        """Let the smaller component join the larger one, in its colours."""
        for v in self._members[small]:
            self._root[v] = big
            self._colour[v] ^= flip
        self._members[big] += self._members[small]
        self._inside[big] += self._inside[small]

    def _degrees_fit(self, a: int, b: int) -> bool:
        """Return whether the device has as many qubits of the degrees that a and b would have."""
        first, second, room = len(self.near[a]) + 1, len(self.near[b]) + 1, self._room
        if first >= len(room) or second >= len(room):
            return False
        return room[first] > (first == second) and room[second] > 0

    def _sizes_fit(self, a: int, b: int) -> bool:
        """Return whether there are edges enough, and a part that may hold the component of a and b."""
        one, other, bounds = self._root[a], self._root[b], self.bounds
        if self._edges == bounds.edges or one == other:
            return self._edges < bounds.edges and self._inside[one] < bounds.part_edges
        inside = self._inside[one] + self._inside[other] + 1
        return inside <= bounds.part_edges and len(self._members[one]) + len(self._members[other]) <= bounds.part

    def _closes_short_cycle(self, a: int, b: int) -> bool:
        """Return whether a pair would close a cycle shorter than any of the device."""
        seen, front = {a}, {a}
        for _ in range(min(self.bounds.cycle - 2, len(self.near))):
            front = {w for v in front for w in self.near[v]} - seen
            seen |= front
            if b in front or not front:
                return b in front
        return False


def _shortest_cycle(coupling: Coupling) -> tuple[int, bool]:
    """Return the length of a shortest cycle, ENDLESS in a forest, and whether all cycles are even; O(N e)."""
    # An edge whose ends are equally far from a qubit closes an odd walk, which holds an odd cycle no longer than it.
    ends = coupling.hops[:, coupling.edges].astype(np.int64)
    flat = (ends[:, :, 0] == ends[:, :, 1]) & (ends[:, :, 0] < FAR)
    odd = int((2 * ends[:, :, 0] + 1)[flat].min(initial=ENDLESS))
    return min(odd, _shortest_even_cycle(coupling)), odd == ENDLESS


def _shortest_even_cycle(coupling: Coupling) -> int:
    """Return twice the distance at which a qubit has two neighbours nearer to another qubit, ENDLESS if none has."""
    shortest = ENDLESS
    real = coupling.neighbours >= 0
    for away in coupling.hops.astype(np.int64):
        nearer = real & (away[coupling.neighbours] == away[:, None] - 1)
        shortest = min(shortest, int(2 * away[nearer.sum(axis=1) > 1].min(initial=ENDLESS)))
    return shortest
