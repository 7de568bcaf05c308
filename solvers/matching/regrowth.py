"""Repair of embeddings: parts around edges that are not kept are taken out, and grow anew from what is around them.

A large neighbourhood search (P. Shaw 1998, doi:10.1007/3-540-49481-2_30) takes out what is around the ends of an edge
that is too long: one end, with what belongs to it, may go beside the other, and what is there to where that was.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, IntArray
from tiger.solvers.annealing.cost_changes import distance
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import allocating_kernel, inner_kernel
from tiger.solvers.lehmer import RNG_FACTOR, RNG_MODULUS
from tiger.solvers.matching.growth import Growth, grow
from tiger.solvers.matching.neighbourhoods import Neighbourhoods
from tiger.solvers.records import allocate_records

# Vertices drawn for one with an edge that is too long, before all are looked at. Where regrowth ended after these, one
# of eight trees of 100 vertices with a hundredth of the edges moved cost 1.107 of its place, and 1.000 with the others.
TRIES = 64
# Vertices around an end of the edge that are taken out: these at least, and at most this part of all. With a twentieth
# as the most, seven heavy hexagons of 409 with a twentieth of the edges moved cost 1.236 in place of 1.178.
SMALLEST, LARGEST = 4, 0.25


class RegrowthCounters:
    """Count the `members` of a region, and the last `stamp`; `rng` is the state of the random numbers."""

    members: int
    stamp: int
    rng: int


class RegrownRegion(NamedTuple):
    """Hold a part that is taken out: its `members[n]`, whether a vertex is one, `inside[n]`, and their nodes, `old[n]`.

    `movable[n]` are the vertices that may be taken out, `itself[n]` the numbers of all. `seen` and `queue`, as long as
    the larger graph, are those of a breadth-first search, `counters` is one record.
    """

    members: IntArray
    inside: BoolArray
    old: IntArray
    movable: BoolArray
    itself: IntArray
    seen: IntArray
    queue: IntArray
    counters: Sequence[RegrowthCounters]

    @classmethod
    def allocate(cls, inst: Instance, nodes: int, seed: int) -> "RegrownRegion":
        """Return an empty region."""
        n = len(inst.work)
        movable = np.zeros(n, np.bool_)
        movable[inst.movable] = True
        members, old = np.zeros(n, np.int64), np.zeros(n, np.int64)
        seen, queue = np.zeros(max(n, nodes), np.int64), np.zeros(max(n, nodes), np.int64)
        counters = allocate_records(RegrowthCounters)
        counters[0].rng = 1 + seed % (RNG_MODULUS - 1)
        return cls(members, np.zeros(n, np.bool_), old, movable, np.arange(n), seen, queue, counters)


@allocating_kernel
def regrow(
    guest: Neighbourhoods, target: Neighbourhoods, inst: Instance, growth: Growth, region: RegrownRegion, work: int
) -> int:
    """Take parts out of a whole embedding (in place) and grow them anew while that costs no more; return rounds.

    It ends after `work` witnesses, or where no edge is too long.
    """
    growth.counts[1], rounds = 0, 0
    while growth.counts[1] < work:
        v, u = find_long_edge(guest, target, growth, region)
        if u < 0:
            break
        growth.counts[1] += TRIES
        take_out(guest, target, growth, region, v, u)
        count = region.counters[0].members
        before = measure(inst, growth, region)
        for k in range(count):
            w = region.members[k]
            region.old[k] = growth.place[w]
            growth.owner[growth.place[w]], growth.place[w] = -1, -1
        grow(guest, target, growth, -np.inf, work)
        fits = fill(inst, growth, region)
        if not fits or measure(inst, growth, region) > before + inst.tolerance:
            put_back(growth, region)
        for k in range(count):
            region.inside[region.members[k]] = False
        rounds += 1
    return rounds


@inner_kernel
def draw(region: RegrownRegion) -> int:
    """Return the next random number."""
    region.counters[0].rng = region.counters[0].rng * RNG_FACTOR % RNG_MODULUS
    return region.counters[0].rng


@inner_kernel
def find_long_edge(
    guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, region: RegrownRegion
) -> tuple[int, int]:
    """Return the ends of an edge that does not lie on one of the target, at random, (-1, -1) where there is none."""
    n, v = len(growth.place), 0
    for k in range(TRIES + n):
        # Where few vertices have such an edge, the next one from the last drawn on is taken.
        v = draw(region) % n if k < TRIES else (v + 1) % n
        other, many = -1, 0
        for e in range(guest.indptr[v], guest.indptr[v + 1]):
            u = guest.indices[e]
            if target.hops[growth.place[v], growth.place[u]] > 1:
                many += 1
                other = u if draw(region) % many == 0 else other
        if other >= 0:
            return v, other
    return -1, -1


@inner_kernel
def take_out(
    guest: Neighbourhoods, target: Neighbourhoods, growth: Growth, region: RegrownRegion, v: int, u: int
) -> None:
    """Choose what is around v, or what is on nodes around that of u, or both."""
    # Small ones are as much more likely as they are faster.
    largest = max(len(growth.place) * LARGEST / SMALLEST, 1.0)
    size, side = int(SMALLEST * largest ** ((draw(region) / RNG_MODULUS) ** 1.5)), draw(region) % 3
    region.counters[0].members = 0
    if side <= 1:
        take_ball(guest, region, region.itself, v, size)
    if side >= 1:
        take_ball(target, region, growth.owner, growth.place[u], size)


@inner_kernel
def take_ball(graph: Neighbourhoods, region: RegrownRegion, vertex: IntArray, start: int, size: int) -> None:
    """Add the `size` vertices nearest to one of a graph to a region, each the `vertex` of the guest there or -1."""
    region.counters[0].stamp += 1
    stamp, head, tail, left = region.counters[0].stamp, 0, 1, size
    region.queue[0], region.seen[start] = start, stamp
    while head < tail and left > 0:
        x = region.queue[head]
        head += 1
        w = vertex[x]
        if w >= 0 and region.movable[w] and not region.inside[w]:
            region.inside[w], region.members[region.counters[0].members] = True, w
            region.counters[0].members += 1
            left -= 1
        for e in range(graph.indptr[x], graph.indptr[x + 1]):
            y = graph.indices[e]
            if region.seen[y] != stamp:
                region.seen[y], region.queue[tail] = stamp, y
                tail += 1


@inner_kernel
def measure(inst: Instance, growth: Growth, region: RegrownRegion) -> float:
    """Return what the members of a region cost, with traffic among them once."""
    cost = 0.0
    for k in range(region.counters[0].members):
        t = region.members[k]
        p = growth.place[t]
        cost += inst.work[t] * inst.price[p] + inst.loop[t] * distance(inst, p, p)
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            u = inst.indices[e]
            r = growth.place[u]
            part = inst.out[e] * distance(inst, p, r) + inst.back[e] * distance(inst, r, p)
            cost += part / 2 if region.inside[u] else part
    return cost


@inner_kernel
def fill(inst: Instance, growth: Growth, region: RegrownRegion) -> bool:
    """Put members without a node where they cost least among the nodes that the region had; return whether all fit."""
    for k in range(region.counters[0].members):
        t, best, least = region.members[k], -1, np.inf
        if growth.place[t] >= 0:
            continue
        growth.counts[1] += region.counters[0].members
        for j in range(region.counters[0].members):
            q = region.old[j]
            if growth.owner[q] >= 0 or not growth.allowed[t, q]:
                continue
            cost = inst.work[t] * inst.price[q]
            for e in range(inst.indptr[t], inst.indptr[t + 1]):
                r = growth.place[inst.indices[e]]
                if r >= 0:
                    cost += inst.out[e] * distance(inst, q, r) + inst.back[e] * distance(inst, r, q)
            if cost < least:
                best, least = q, cost
        if best < 0:
            return False
        growth.place[t], growth.owner[best] = best, t
    return True


@inner_kernel
def put_back(growth: Growth, region: RegrownRegion) -> None:
    """Put the members of a region where they were."""
    for k in range(region.counters[0].members):
        if growth.place[region.members[k]] >= 0:
            growth.owner[growth.place[region.members[k]]] = -1
    for k in range(region.counters[0].members):
        growth.place[region.members[k]], growth.owner[region.old[k]] = region.old[k], region.members[k]
