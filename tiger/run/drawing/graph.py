"""A graph as a picture shows it: vertices with positions, edges, and groups of vertices where there are too many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.document import Document

SCHEMA: Final = "tiger.view/1"
# What a browser lays out and moves without a pause: so many vertices, otherwise groups, and so many edges.
VERTICES, GROUPS, EDGES = 2000, 500, 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView(Document):
    """Show vertices at `x`, `y` in [0, 1], y downwards, and edges from `a` to `b` with a `weight`.

    `counts` is how many vertices of the graph each stands for; `total` and `total_edges` are those of the graph itself.
    Each pair comes once unless `directed`, at most 8,000 of them, the heaviest.
    """

    names: tuple[str, ...]
    x: tuple[float, ...]
    y: tuple[float, ...]
    counts: tuple[int, ...]
    a: tuple[int, ...]
    b: tuple[int, ...]
    weight: tuple[float, ...]
    directed: bool
    total: int
    total_edges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyView(GraphView):
    """Show nodes with their `slots`, 0 for a switch, and links of a length `weight` and a `bandwidth`, if stated."""

    slots: tuple[int, ...]
    bandwidth: tuple[float | None, ...]


class Groups(NamedTuple):
    """Hold the group of each vertex, `group_of[n]`, the names of the groups, and coordinates[g, axes] if they have any.

    A group may be a single vertex.
    """

    group_of: IntArray
    names: tuple[str, ...]
    coordinates: IntArray | None = None

    @property
    def counts(self) -> IntArray:
        """Return how many vertices each group has."""
        return np.bincount(self.group_of, minlength=len(self.names))

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum of each group."""
        return np.bincount(self.group_of, values, len(self.names)).astype(np.float64)


class Merged(NamedTuple):
    """Hold edges `a[k]`, `b[k]` between groups, and the one that each edge of the graph became, -1 for none."""

    a: IntArray
    b: IntArray
    edge_of: IntArray

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sums over the edges that became one."""
        kept = self.edge_of >= 0
        return np.bincount(self.edge_of[kept], values[kept], len(self.a)).astype(np.float64)

    def keep(self, most: int, importance: FloatArray) -> "Merged":
        """Return so many edges at most, the most important ones, in their order."""
        if len(self.a) <= most:
            return self
        kept = np.sort(np.argsort(-importance, kind="stable")[:most])
        number = np.full(len(self.a) + 1, -1)
        number[kept] = np.arange(most)
        # The number of no edge, -1, reads the last entry.
        return Merged(self.a[kept], self.b[kept], number[self.edge_of])


def group_vertices(names: Sequence[str], coordinates: IntArray | None, apart: IntArray | None = None) -> Groups:
    """Return every vertex by itself if there are at most 2,000, else at most 500 groups.

    Vertices with coordinates are grouped by blocks of them, others by runs in their order, none across two values of
    `apart[n]`.
    """
    size = len(names)
    if size <= VERTICES:
        return Groups(np.arange(size), tuple(names), coordinates)
    if coordinates is not None:
        return _group_blocks(names, coordinates)
    kinds = np.zeros(size, np.int64) if apart is None else apart
    run = -(-size // (GROUPS - int(kinds.max())))
    within = np.empty(size, np.int64)
    for kind in range(int(kinds.max()) + 1):
        mine = kinds == kind
        within[mine] = np.arange(int(mine.sum())) // run
    return name_groups(kinds * size + within, names)


def name_groups(label: IntArray, names: Sequence[str], coordinates: IntArray | None = None) -> Groups:
    """Return the groups of equal labels, in their order, named by their first and last member."""
    labels, first, group_of = np.unique(label, return_index=True, return_inverse=True)
    last = len(label) - 1 - np.unique(label[::-1], return_index=True)[1]
    ends = zip(first.tolist(), last.tolist(), strict=True)
    called = tuple(names[a] if a == b else f"{names[a]}..{names[b]}" for a, b in ends)
    return Groups(group_of.astype(np.int64), called, None if coordinates is None else coordinates[labels])


def _group_blocks(names: Sequence[str], coordinates: IntArray) -> Groups:
    """Return blocks of coordinates, of about the same extent on all axes, that are few enough."""
    table = coordinates - coordinates.min(axis=0)
    extent = table.max(axis=0) + 1
    block = np.ones(len(extent), np.int64)
    # The axis with most blocks is halved, or cut by a third, until they are few.
    while int(np.prod(-(-extent // block))) > GROUPS:
        widest = int(np.argmax(extent / block))
        block[widest] += 1 if block[widest] < 4 else block[widest] // 2
    places = table // block
    label = np.ravel_multi_index(tuple(places.T), tuple(-(-extent // block)))
    _, first = np.unique(label, return_index=True)
    groups = name_groups(label, names)
    return Groups(groups.group_of, groups.names, places[first])


def merge_edges(a: IntArray, b: IntArray, group_of: IntArray, *, directed: bool) -> Merged:
    """Return the edges between groups, one for each pair, in both directions together unless directed."""
    low, high = group_of[a], group_of[b]
    if not directed:
        low, high = np.minimum(low, high), np.maximum(low, high)
    key = low * (int(group_of.max(initial=0)) + 1) + high
    outer = low != high
    kept, inverse = np.unique(key[outer], return_inverse=True)
    edge_of = np.full(len(a), -1, np.int64)
    edge_of[outer] = inverse
    size = int(group_of.max(initial=0)) + 1
    return Merged(kept // size, kept % size, edge_of)
