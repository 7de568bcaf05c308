"""Growth of a partial embedding ear by ear: paths of a guest between two vertices placed, the shortest first.

An ear goes where the target has one path alone of as many hops between the nodes of its ends, over nodes that are free.
An edge that is not the target's rarely closes such an ear, so that what it leads to is left until it is known from
elsewhere; where cycles are long, growth vertex by vertex follows it for many steps before anything tells. Only where no
ear fits does one vertex go where it is plainest.
"""

import heapq
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel
from tiger.solvers.matching.growth import SHARE, Growth, choose_node
from tiger.solvers.matching.neighbourhoods import Neighbourhoods

# Hops of the longest ear. Cycles of heavy hexagons have twelve edges, and more where one is missing: with 12 to 18 as
# the longest, twelve each of 409 and 1,795 vertices with a twentieth of their edges moved end at 1.01 of their place.
LONGEST = 14
# Vertices that go where it is plainest, at first and for each one placed, before a seed is taken for wrong: right ones
# take 0.1 to 0.2 for each. With 4 to 20 at first, or 0.15 to 0.4 for each, the same graphs end as close.
FIRST, EACH = 10, 0.25


class BreadthFirst(NamedTuple):
    """Hold a breadth-first search over the free vertices of a graph of n, in arrays [n].

    A vertex that `seen` has the number of the search for is `depth` hops from the start, by way of the one `before` it.
    `counters` are the number, and how many of the `queue` have been left and entered.
    """

    depth: IntArray
    before: IntArray
    seen: IntArray
    queue: IntArray
    counters: IntArray

    @classmethod
    def allocate(cls, size: int) -> "BreadthFirst":
        """Return the arrays of a graph of so many vertices."""
        return cls(*(np.zeros(room, np.int64) for room in (size, size, size, size, 3)))


class EarSearch(NamedTuple):
    """Hold searches of a `guest` and a `target`, and the vertices and nodes of one ear, `path` and `nodes`."""

    guest: BreadthFirst
    target: BreadthFirst
    path: IntArray
    nodes: IntArray

    @classmethod
    def allocate(cls, vertices: int, nodes: int) -> "EarSearch":
        """Return the arrays for a guest and a target of so many vertices and nodes."""
        room = (np.zeros(LONGEST + 1, np.int64) for _ in range(2))
        return cls(BreadthFirst.allocate(vertices), BreadthFirst.allocate(nodes), *room)


@allocating_kernel
def grow_by_ears(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, search: EarSearch, work: int) -> None:
    """Place vertices around those placed (in place) until too few ears fit, or neighbours and witnesses are `work`."""
    heap = [(0, 0, 0, 0)]
    heap.pop()
    placed, steps = 0, 0
    for v in range(len(growth.place)):
        if growth.place[v] >= 0:
            placed += 1
            if growth.counts[1] < work:
                queue_ears(guest, target, growth, search, heap, v)
    while growth.counts[1] < work:
        while len(heap) > 0 and growth.counts[1] < work:
            ear = heapq.heappop(heap)
            if not find_path(guest, target, growth, search, ear):
                continue
            for k in range(1, ear[0]):
                growth.place[search.path[k]], growth.owner[search.nodes[k]] = search.nodes[k], search.path[k]
            for k in range(1, ear[0]):
                queue_ears(guest, target, growth, search, heap, search.path[k])
            placed += ear[0] - 1
        if growth.counts[1] >= work or steps > FIRST + EACH * placed:
            break
        v, node = find_plainest(guest, target, growth)
        if v < 0:
            break
        growth.place[v], growth.owner[node] = node, v
        placed += 1
        steps += 1
        queue_ears(guest, target, growth, search, heap, v)


@inner_kernel
def begin(wave: BreadthFirst, start: int, first: int) -> None:
    """Begin a search at a vertex, that leaves it by way of `first` alone if this is not -1."""
    wave.counters[0] += 1
    wave.counters[1], wave.counters[2] = 0, 1
    wave.seen[start], wave.depth[start], wave.queue[0] = wave.counters[0], 0, start
    if first >= 0:
        wave.seen[first], wave.depth[first], wave.before[first], wave.queue[0] = wave.counters[0], 1, start, first


@inner_kernel
def advance(graph: Neighbourhoods, wave: BreadthFirst, owner: IntArray, hops: int) -> int:
    """Enter all vertices up to so many hops away; return how many neighbours were looked at.

    But from the start, no way leads on over those that are not free, whose `owner[n]` is not -1.
    """
    number, head, tail = wave.counters
    looked = 0
    while head < tail and wave.depth[wave.queue[head]] < hops:
        v = wave.queue[head]
        head += 1
        if wave.depth[v] > 0 and owner[v] >= 0:
            continue
        looked += graph.indptr[v + 1] - graph.indptr[v]
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            u = graph.indices[e]
            if wave.seen[u] != number:
                wave.seen[u], wave.depth[u], wave.before[u] = number, wave.depth[v] + 1, v
                wave.queue[tail] = u
                tail += 1
    wave.counters[1], wave.counters[2] = head, tail
    return int(looked)


@inner_kernel
def is_at(wave: BreadthFirst, v: int, hops: int) -> bool:
    """Return whether a search has found a vertex, and so many hops away."""
    return bool(wave.seen[v] == wave.counters[0] and wave.depth[v] == hops)


@inner_allocating_kernel
def queue_ears(
    guest: Neighbourhoods,
    target: Neighbourhoods,
    growth: Growth,
    search: EarSearch,
    heap: list[tuple[int, int, int, int]],
    a: int,
) -> None:
    """Put the shortest ear from vertex a by way of each free one x beside it into the heap: hops, a, x, b."""
    begin(search.target, growth.place[a], -1)
    for e in range(guest.indptr[a], guest.indptr[a + 1]):
        x = guest.indices[e]
        if growth.place[x] < 0:
            begin(search.guest, a, x)
            hops, b = find_end(guest, target, growth, search)
            if b >= 0:
                heapq.heappush(heap, (hops, a, x, b))


@inner_kernel
def find_end(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, search: EarSearch) -> tuple[int, int]:
    """Return how far the nearest vertex placed is that is as far in the target, and it; (0, -1) for none."""
    for hops in range(2, LONGEST + 1):
        before = search.guest.counters[2]
        growth.counts[1] += advance(guest, search.guest, growth.place, hops)
        for k in range(before, search.guest.counters[2]):
            b = search.guest.queue[k]
            if growth.place[b] >= 0:
                growth.counts[1] += advance(target, search.target, growth.owner, hops)
                if is_at(search.target, growth.place[b], hops):
                    return hops, b
        if search.guest.counters[2] == before:
            break
    return 0, -1


@inner_kernel
def find_path(
    guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, search: EarSearch, ear: tuple[int, int, int, int]
) -> bool:
    """Enter an ear of so many hops from a by way of x to b, and its nodes, if the target has one path alone for it."""
    hops, a, x, b = ear
    own, other, q = search.guest, search.target, growth.place[b]
    begin(own, a, x)
    begin(other, growth.place[a], -1)
    growth.counts[1] += advance(guest, own, growth.place, hops) + advance(target, other, growth.owner, hops)
    if growth.place[x] >= 0 or not (is_at(own, b, hops) and is_at(other, q, hops)):
        return False
    search.path[hops], search.nodes[hops] = b, q
    for k in range(hops - 1, 0, -1):
        v, node, many = own.before[search.path[k + 1]], -1, 0
        for e in range(target.indptr[search.nodes[k + 1]], target.indptr[search.nodes[k + 1] + 1]):
            p = target.indices[e]
            if is_at(other, p, k) and growth.owner[p] < 0 and growth.allowed[v, p]:
                node = p
                many += 1
        if many != 1:
            return False
        search.path[k], search.nodes[k] = v, node
    return True


@inner_kernel
def find_plainest(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth) -> tuple[int, int]:
    """Return the vertex beside those placed that comes next by `SHARE`, and its best node; (-1, -1) for none."""
    vertex, best, most = -1, -1, -np.inf
    for v in range(len(growth.place)):
        beside = False
        for e in range(guest.indptr[v], guest.indptr[v + 1]):
            beside |= growth.place[guest.indices[e]] >= 0
        if growth.place[v] >= 0 or not beside:
            continue
        node, agreement, lead = choose_node(guest, target, growth, v)
        if node >= 0 and lead + SHARE * agreement > most:
            vertex, best, most = v, node, lead + SHARE * agreement
    return vertex, best
