"""Patterns: small parts of a guest with many short cycles, and all places of one in a target.

A part that is crossed by cycles fits few places, and the shorter its cycles are, the more likely all of its edges are
those of the target. It is an ear decomposition (H. Whitney 1932, doi:10.1090/S0002-9947-1932-1501641-2), the shortest
ear first. Two vertices of it cannot lie farther apart in the target than in the pattern, which ends a search that looks
at edges alone, as VF2 does, much earlier: long before a cycle closes.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.solvers.matching.neighbourhoods import Neighbourhoods


class EarPattern(NamedTuple):
    """Hold a part of a guest: its vertices `order[k]`, each beside an earlier one, order[parent[k]].

    `gap[k, k]` are the hops between them along the pattern, the only bound on those of the target.
    """

    order: IntArray
    parent: IntArray
    gap: IntArray

    @classmethod
    def allocate(cls, most: int) -> "EarPattern":
        """Return room for a pattern of at most so many vertices."""
        return cls(np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros((most, most), np.int64))

    def cut(self, size: int) -> "EarPattern":
        """Return a copy of the first vertices."""
        return EarPattern(self.order[:size].copy(), self.parent[:size].copy(), self.gap[:size, :size].copy())


class Wave(NamedTuple):
    """Hold a breadth-first search around a pattern of a graph of n vertices, in arrays of length n.

    `position` is that in the pattern or -1, `depth` the hops from it, `branch` the vertex by which it was left,
    `before` the vertex a hop nearer, `stamp` the number of the ear that a vertex was last reached for.
    """

    position: IntArray
    depth: IntArray
    branch: IntArray
    before: IntArray
    stamp: IntArray
    queue: IntArray

    @classmethod
    def allocate(cls, size: int) -> "Wave":
        """Return the arrays of a graph of so many vertices."""
        return cls(*(np.zeros(size, np.int64) for _ in range(6)))


@kernel
def build_pattern(graph: Neighbourhoods, wave: Wave, pattern: EarPattern, centre: int, ears: int, ball: int) -> int:
    """Build a pattern around a vertex, ear by ear, as far as it has room; return its number of vertices, 1 for none.

    It has `ears` ears, more up to `ball` vertices; where there is none it is those `ball` that are nearest.
    """
    wave.position[:], wave.stamp[:] = -1, -1
    wave.position[centre], pattern.order[0], pattern.parent[0], size = 0, centre, -1, 1
    pattern.gap[:] = 2 * len(pattern.order)
    pattern.gap[0, 0] = 0
    for ear in range(len(pattern.order)):
        # Ears of triangles add a vertex each, and fit too many places while they are few.
        if ear >= ears and size >= ball:
            break
        x, y = find_ear(graph, wave, pattern, size, ear)
        if x < 0 or size + wave.depth[x] + wave.depth[y] > len(pattern.order):
            break
        size = add_path(wave, pattern, x, size)
        size = add_path(wave, pattern, y, size)
        join(pattern, wave.position[x], wave.position[y])
    if size == 1:
        size = build_ball(graph, pattern, centre, ball)
    close_gaps(pattern, size)
    return size


@inner_kernel
def find_ear(graph: Neighbourhoods, wave: Wave, pattern: EarPattern, size: int, ear: int) -> tuple[int, int]:
    """Return the edge (x, y) where two branches of a pattern meet first, (-1, -1) where none do."""
    best, x, y, head, tail = 1 << 30, -1, -1, 0, size
    for k in range(size):
        v = pattern.order[k]
        wave.stamp[v], wave.depth[v], wave.branch[v], wave.before[v], wave.queue[k] = ear, 0, -1 - k, -1, v
    while head < tail:
        v = wave.queue[head]
        head += 1
        if 2 * wave.depth[v] + 1 > best:
            break
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            u = graph.indices[e]
            if wave.stamp[u] != ear:
                wave.stamp[u], wave.depth[u], wave.before[u] = ear, wave.depth[v] + 1, v
                wave.branch[u] = wave.branch[v] if wave.depth[v] > 0 else u
                wave.queue[tail] = u
                tail += 1
            elif wave.branch[u] != wave.branch[v] and wave.before[u] != v and wave.before[v] != u:
                length = wave.depth[v] + wave.depth[u] + 1
                known = length == 1 and pattern.gap[wave.position[v], wave.position[u]] == 1
                if length < best and not known:
                    best, x, y = length, v, u
    return x, y


@inner_kernel
def build_ball(graph: Neighbourhoods, pattern: EarPattern, centre: int, most: int) -> int:
    """Build a pattern of the `most` vertices that are nearest to one, where no cycle is; return their number."""
    size = 1
    for k in range(most - 1):
        v = graph.nearest[centre, k]
        if v < 0:
            break
        pattern.order[size], pattern.parent[size], pattern.gap[size, size] = v, -1, 0
        for j in range(size):
            if graph.hops[v, pattern.order[j]] == 1:
                join(pattern, size, j)
                if pattern.parent[size] < 0:
                    pattern.parent[size] = j
        size += 1
    return size


@inner_kernel
def add_path(wave: Wave, pattern: EarPattern, x: int, size: int) -> int:
    """Add the way from a pattern to vertex x; return the number of vertices then."""
    for _ in range(wave.depth[x]):
        # The vertex that is nearest to the pattern comes first, as each follows its parent.
        v = x
        while wave.position[wave.before[v]] < 0:
            v = wave.before[v]
        if wave.position[v] >= 0:
            break
        parent = wave.position[wave.before[v]]
        wave.position[v], pattern.order[size], pattern.parent[size], pattern.gap[size, size] = size, v, parent, 0
        join(pattern, size, parent)
        size += 1
    return size


@inner_kernel
def join(pattern: EarPattern, i: int, j: int) -> None:
    """Enter an edge of a pattern."""
    pattern.gap[i, j], pattern.gap[j, i] = 1, 1


@inner_kernel
def close_gaps(pattern: EarPattern, size: int) -> None:
    """Turn edges into hops between all vertices of a pattern (Floyd 1962, Warshall 1962)."""
    for k in range(size):
        for i in range(size):
            for j in range(size):
                pattern.gap[i, j] = min(pattern.gap[i, j], pattern.gap[i, k] + pattern.gap[k, j])


class PatternSearch(NamedTuple):
    """Hold a search for places of k vertices on N nodes: how many there may be of one anchor, and steps in all.

    `anchors[a]` are nodes for the first vertex, the best ones first; `place[k]` and `used[N]` say where vertices are,
    `turn[k]` which neighbour is next. `found[r, k]` are the places of highest `score[r]`: the part of the pairs that
    are as far apart as in the guest, less the neighbours that a vertex has more or fewer than its node, in the mean.
    """

    anchors: IntArray
    place: IntArray
    used: BoolArray
    turn: IntArray
    found: IntArray
    score: FloatArray
    each: int
    steps: int

    @classmethod
    def begin(cls, anchors: IntArray, size: int, keep: int, each: int, steps: int) -> "PatternSearch":
        """Return a search that keeps the `keep` best places."""
        place, used, turn = np.zeros(size, np.int64), np.zeros(len(anchors), np.bool_), np.zeros(size, np.int64)
        return cls(anchors, place, used, turn, np.zeros((keep, size), np.int64), np.zeros(keep), each, steps)


@kernel
def match_pattern(
    guest: Neighbourhoods, target: Neighbourhoods, allowed: BoolArray, pattern: EarPattern, search: PatternSearch
) -> tuple[int, int]:
    """Look for places of a pattern, depth first from each anchor; return how many are kept, and the steps taken."""
    kept, steps, size = 0, 0, len(pattern.order)
    for q in search.anchors:
        if not allowed[pattern.order[0], q]:
            continue
        k, seen = 1, 0
        search.place[0], search.used[q], search.turn[1] = q, True, target.indptr[q]
        while k > 0:
            if k == size:
                kept = keep_place(guest, target, pattern, search, kept)
                seen += 1
                node = -1
            else:
                node, tried = find_node(target, allowed, pattern, search, k)
                steps += tried
            if node >= 0:
                search.place[k], search.used[node] = node, True
                k += 1
                if k < size:
                    search.turn[k] = target.indptr[search.place[pattern.parent[k]]]
                continue
            k -= 1
            search.used[search.place[k]] = False
            # One anchor has as many places as the pattern has symmetries, which all lead to the same.
            if seen >= search.each or steps > search.steps:
                while k > 0:
                    k -= 1
                    search.used[search.place[k]] = False
        if steps > search.steps:
            break
    return kept, steps


@inner_kernel
def find_node(
    target: Neighbourhoods, allowed: BoolArray, pattern: EarPattern, search: PatternSearch, k: int
) -> tuple[int, int]:
    """Return the next node for vertex k, near enough to those before it, -1 for none, and how many were looked at."""
    beside, tried = search.place[pattern.parent[k]], 0
    while search.turn[k] < target.indptr[beside + 1]:
        q = target.indices[search.turn[k]]
        search.turn[k] += 1
        tried += 1
        fits = not search.used[q] and allowed[pattern.order[k], q]
        for j in range(k if fits else 0):
            if target.hops[q, search.place[j]] > pattern.gap[k, j]:
                fits = False
                break
        if fits:
            return q, tried
    return -1, tried


@inner_kernel
def keep_place(
    guest: Neighbourhoods, target: Neighbourhoods, pattern: EarPattern, search: PatternSearch, kept: int
) -> int:
    """Keep a place if there is room or it is better than the worst one; return how many there are."""
    size, unlike, agreed = len(pattern.order), 0, 0
    for i in range(size):
        v, q = pattern.order[i], search.place[i]
        unlike += abs(guest.indptr[v + 1] - guest.indptr[v] - target.indptr[q + 1] + target.indptr[q])
        for j in range(i):
            agreed += guest.hops[v, pattern.order[j]] == target.hops[q, search.place[j]]
    score = agreed / (size * (size - 1) / 2) - unlike / size
    slot = kept
    if kept == len(search.found):
        slot = 0
        for r in range(1, kept):
            if search.score[r] < search.score[slot]:
                slot = r
        if score <= search.score[slot]:
            return kept
    search.score[slot] = score
    for i in range(len(pattern.order)):
        search.found[slot, i] = search.place[i]
    return min(kept + 1, len(search.found))
