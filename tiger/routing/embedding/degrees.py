"""A reason, found without a search, why a growing graph fits a device in no layout: the degrees of its vertices."""

import numpy as np

from tiger.routing.coupling import Coupling


def count_by_degree(coupling: Coupling) -> list[int]:
    """Return how many qubits have d neighbours or more, for d from 0 to the most."""
    degree = (coupling.neighbours >= 0).sum(axis=1)
    counts: list[int] = np.cumsum(np.bincount(degree, minlength=1)[::-1])[::-1].tolist()
    return counts


class DegreeWatch:
    """Watch a graph grow pair by pair, `near[v]`, and find when it has too many vertices of some degree for a device.

    `by_degree[d]` are the device's qubits of d neighbours or more. What does not fit never fits again; O(1) a pair.
    """

    def __init__(self, size: int, by_degree: list[int]) -> None:
        self.near: list[set[int]] = [set() for _ in range(size)]
        self._room = by_degree.copy()

    def admits(self, a: int, b: int) -> bool:
        """Return whether the graph may still fit with one more pair."""
        if b in self.near[a]:
            return True
        first, second, room = len(self.near[a]) + 1, len(self.near[b]) + 1, self._room
        if max(first, second) >= len(room):
            return False
        return room[first] > (first == second) and room[second] > 0

    def add(self, a: int, b: int) -> None:
        """Add a pair."""
        if b not in self.near[a]:
            self.near[a].add(b)
            self.near[b].add(a)
            self._room[len(self.near[a])] -= 1
            self._room[len(self.near[b])] -= 1
