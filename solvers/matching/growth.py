"""Growth of a partial embedding: the vertex whose node is plainest comes next, until none beside those placed is left.

A vertex goes beside the nodes of its neighbours, to the node from which those placed around it are as many hops away as
in the guest: such witnesses tell nodes apart that have the same neighbours, and where some edges are not those of the
target, most others still agree. Seeded matching by witnesses at several hops is due to E. Mossel and J. Xu
(doi:10.1002/rsa.20934); order by the lead over the second best node, as in Y. Kazemi, S. H. Hassani, M. Grossglauser
(doi:10.14778/2794367.2794371), leaves what looks alike until more of what is around it is known.
"""

import heapq
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel, kernel
from tiger.solvers.matching.neighbourhoods import Neighbourhoods

# Hops up to which witnesses weigh less the more vertices are as far away; beyond they weigh the same.
REACH = 8
# What a witness takes that is a neighbour, or at two hops, in one graph alone, of what it would add. With 0, six heavy
# hexagons of 409 and 1,795 vertices with a twentieth of the edges moved cost 1.59 times as much as they should after
# matching, with it 1.42 times; 52 graphs of 100 of six families cost 0.9 % less with 0.
CONFLICT = 0.5
# What agreement counts beside the lead over the second best node. With 0, two heavy hexagons of 409 and 1,795 vertices
# and a dragonfly of 114 so end at 1.29, 2.37 and 1.15 in place of 0.99, 1.61 and 1.00.
SHARE = 0.1
# Hops up to which a vertex and a node should have as many others around them, and what a node takes that has none. With
# 0 in place of 0.5, trees of 100 with 2 % of the edges moved cost 1.69 times as much as they should after this alone,
# with it 1.03 times.
OUTLOOK, UNLIKE = 3, 0.5


class Growth(NamedTuple):
    """Hold a partial embedding: `place[n]` are nodes, -1 for none yet, and `owner[N]` the vertex on each or -1.

    Vertex v may be on node q where `allowed[v, q]`; `weight[8]` is what a witness counts by its hops; `mark[N]` are
    stamps, `counts[2]` the last stamp and the work so far, in witnesses.
    """

    place: IntArray
    owner: IntArray
    allowed: BoolArray
    weight: FloatArray
    mark: IntArray
    counts: IntArray

    @classmethod
    def of(cls, allowed: BoolArray, target: Neighbourhoods) -> "Growth":
        """Return an empty embedding."""
        n, size = allowed.shape
        within = target.within[:, : REACH - 1].mean(axis=0)
        number = np.maximum(np.diff(within, prepend=0.0), 1.0)
        weight = np.concatenate([[1.0], np.sqrt(number[0] / number)])
        empty = np.full(n, -1), np.full(size, -1)
        return cls(*empty, allowed, weight, np.zeros(size, np.int64), np.zeros(2, np.int64))

    def copy(self) -> "Growth":
        """Return a copy that grows on its own."""
        fresh = np.zeros_like(self.mark), np.zeros(2, np.int64)
        return Growth(self.place.copy(), self.owner.copy(), self.allowed, self.weight, *fresh)


@inner_kernel
def agree(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, v: int, q: int) -> float:
    """Return how far the vertices placed near v are as far from it as their nodes from q."""
    total, nearest = 0.0, guest.nearest
    # What grows out of a vertex tells where it goes before any of that is placed, in trees above all.
    for hop in range(OUTLOOK):
        own, other = guest.within[v, hop], target.within[q, hop]
        total -= UNLIKE * abs(own - other) / (1 + max(own, other))
    growth.counts[1] += nearest.shape[1]
    for k in range(nearest.shape[1]):
        u = nearest[v, k]
        if u < 0:
            break
        if growth.place[u] < 0:
            continue
        hops, other = guest.hops[v, u], target.hops[q, growth.place[u]]
        if hops == other:
            total += growth.weight[min(hops, REACH - 1)]
        elif min(hops, other) <= 2:
            total -= CONFLICT * growth.weight[min(hops, other)]
    return total


@inner_kernel
def choose_node(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, v: int) -> tuple[int, float, float]:
    """Return the best node beside those of the neighbours of v, -1 for none, its agreement and its lead."""
    best, first, second = -1, -np.inf, 0.0
    growth.counts[0] += 1
    for e in range(guest.indptr[v], guest.indptr[v + 1]):
        p = growth.place[guest.indices[e]]
        for k in range(target.indptr[p] if p >= 0 else 0, target.indptr[p + 1] if p >= 0 else 0):
            q = target.indices[k]
            if growth.mark[q] == growth.counts[0] or growth.owner[q] >= 0 or not growth.allowed[v, q]:
                continue
            growth.mark[q] = growth.counts[0]
            found = agree(guest, target, growth, v, q)
            if found > first:
                best, first, second = q, found, max(first, second)
            else:
                second = max(found, second)
    if best < 0:
        return -1, 0.0, 0.0
    if first > second:
        second = max(second, find_rival(guest, target, growth, v, best))
    return best, first, first - second


@inner_kernel
def find_rival(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, v: int, q: int) -> float:
    """Return the highest agreement that another vertex beside those placed around node q has there."""
    highest = 0.0
    for k in range(target.indptr[q], target.indptr[q + 1]):
        w = growth.owner[target.indices[k]]
        for e in range(guest.indptr[w] if w >= 0 else 0, guest.indptr[w + 1] if w >= 0 else 0):
            u = guest.indices[e]
            if u != v and growth.place[u] < 0 and growth.allowed[u, q]:
                highest = max(highest, agree(guest, target, growth, u, q))
    return highest


@allocating_kernel
def grow(guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, least: float, work: int) -> None:
    """Place vertices beside those placed (in place) while their agreement is above `least`, within `work` witnesses."""
    heap = [(0.0, 0)]
    heap.pop()
    for v in range(len(growth.place)):
        queue_up(guest, target, growth, heap, v)
    while len(heap) > 0 and growth.counts[1] < work:
        key, v = heapq.heappop(heap)
        if growth.place[v] >= 0:
            continue
        # What was placed since may have changed it: then it queues up again.
        node, agreement, lead = choose_node(guest, target, growth, v)
        now = -lead - SHARE * agreement
        if node < 0 or agreement <= least - OUTLOOK * UNLIKE:
            continue
        if len(heap) > 0 and now > heap[0][0] and now > key:
            heapq.heappush(heap, (now, v))
            continue
        growth.place[v], growth.owner[node] = node, v
        for e in range(guest.indptr[v], guest.indptr[v + 1]):
            queue_up(guest, target, growth, heap, int(guest.indices[e]))


@inner_allocating_kernel
def queue_up(
    guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, heap: list[tuple[float, int]], v: int
) -> None:
    """Put a vertex into the heap if it has no node yet, and one is beside those of its neighbours."""
    if growth.place[v] < 0:
        node, agreement, lead = choose_node(guest, target, growth, v)
        if node >= 0:
            heapq.heappush(heap, (-lead - SHARE * agreement, v))


@kernel
def count_matches(guest: Neighbourhoods, target: Neighbourhoods, place: IntArray, kept: IntArray) -> int:
    """Enter how many edges of every vertex lie on edges of the target, `kept[n]`, and return how many do in all."""
    total = 0
    for v in range(len(place)):
        kept[v] = 0
        for e in range(guest.indptr[v], guest.indptr[v + 1]):
            u = guest.indices[e]
            kept[v] += place[v] >= 0 and place[u] >= 0 and target.hops[place[v], place[u]] == 1
        total += kept[v]
    return total // 2


def keeps_all(guest: Neighbourhoods, target: Neighbourhoods, place: IntArray) -> bool:
    """Return whether all edges of the guest lie on edges of the target at places [n]; O(edges)."""
    return 2 * count_matches(guest, target, place, np.zeros(len(place), np.int64)) == len(guest.indices)
