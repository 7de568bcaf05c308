"""Compiled assignment of the clusters inside one cluster of tasks to those inside one cluster of nodes.

Where a cluster of tasks is to lie on a cluster of nodes, the nodes of its tasks are given, so that costs of pairs are
those of the general quadratic assignment problem, which has one for each pair of assignments (E. L. Lawler,
doi:10.1287/mnsc.9.4.586).
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.generator import Generator, draw_below
from tiger.solvers.kernel import inner_kernel, kernel


class ClusterState(NamedTuple):
    """Hold a search of how k clusters of tasks lie on k clusters of nodes.

    `pair[k, k, k, k]` are the costs of cluster u on a and cluster v on b, at [u, a, v, b], where nothing costs on one
    and the same, and `own[k, k]` those of a cluster by itself. Clusters may change places where their `sign[k]` is the
    same. Cluster u lies on `place[u]`, `field[u, a]` is what it would cost on a with all others where they are, and it
    may not return to a before the iteration `until[u, a]`. `lowest[k]` is the cheapest assignment seen.
    """

    pair: FloatArray
    own: FloatArray
    sign: IntArray
    place: IntArray
    field: FloatArray
    until: IntArray
    lowest: IntArray


def cluster_state(own: FloatArray, sign: IntArray) -> ClusterState:
    """Return the state before a search from u on u, without costs of pairs; O(k^4)."""
    size = len(sign)
    return ClusterState(
        pair=np.zeros((size,) * 4),
        own=own,
        sign=sign,
        place=np.arange(size),
        field=np.zeros((size, size)),
        until=np.zeros((size, size), np.int64),
        lowest=np.arange(size),
    )


class PartialMapping(NamedTuple):
    """Hold s tasks, each in cluster `owner[s]`, ascending, and on node `there[s, a]` where that cluster lies on a."""

    tasks: IntArray
    owner: IntArray
    there: IntArray


@kernel
def price_pairs(
    state: ClusterState, flow: FloatArray, distances: FloatArray, inside: PartialMapping, begin: int, end: int
) -> None:
    """Add the costs of pairs of clusters u < v, those of tasks number `begin` up to `end` of s with all others.

    `flow[c, m, m]` and `distances[c, m, m]` are those of `tiger.solvers.annealing.fields.Fields`. O(c s^2 k^2) for all.
    """
    size, pair, (tasks, owner, there) = len(state.sign), state.pair, inside
    for c in range(len(flow)):
        for i in range(begin, end):
            u, volumes = owner[i], flow[c, tasks[i]]
            for j in range(i + 1, len(tasks)):
                v, volume = owner[j], volumes[tasks[j]]
                if volume == 0.0 or u == v:
                    continue
                for a in range(size):
                    row, costs = distances[c, there[i, a]], pair[u, a, v]
                    for b in range(size):
                        if a != b:
                            costs[b] += volume * row[there[j, b]]


@kernel
def assign_clusters(state: ClusterState, iterations: int, generator: Generator) -> float:
    """Make a number of swaps from a random assignment, each the best that is allowed, and return the lowest cost.

    O(k^2) a swap, and O(k^4) before. Source: robust tabu search, E. D. Taillard, doi:10.1016/S0167-8191(05)80147-4.
    """
    size, place, field, until = len(state.sign), state.place, state.field, state.until
    _begin(state, generator)
    cost = 0.0
    for u in range(size):
        cost += 0.5 * (field[u, place[u]] + state.own[u, place[u]])
    least = cost
    for iteration in range(iterations):
        first = second = -1
        best = np.inf
        for u in range(size):
            for v in range(u):
                if state.sign[u] != state.sign[v]:
                    continue
                here, there = place[u], place[v]
                # Both fields count the cost of the pair itself before the swap, neither that after it.
                change = state.pair[u, here, v, there] + state.pair[u, there, v, here]
                change += field[u, there] - field[u, here] + field[v, here] - field[v, there]
                # Taillard 1991: a swap is tabu while both would return to where they were lately.
                barred = until[u, there] > iteration and until[v, here] > iteration
                if change < best and (not barred or cost + change < least):
                    first, second, best = u, v, change
        if first < 0:
            continue
        until[first, place[first]] = iteration + 2 + draw_below(generator, size)
        until[second, place[second]] = iteration + 2 + draw_below(generator, size)
        _swap(state, first, second)
        cost += best
        if cost < least:
            least = cost
            for u in range(size):
                state.lowest[u] = place[u]
    return least


@inner_kernel
def _begin(state: ClusterState, generator: Generator) -> None:
    """Shuffle the assignment by swaps that are allowed, and compute fields from scratch; O(k^4)."""
    size, place, pair = len(state.sign), state.place, state.pair
    # Each cost of a pair was added up once, and is read from both of its clusters.
    for u in range(size):
        for v in range(u):
            for a in range(size):
                for b in range(size):
                    pair[u, a, v, b] = pair[v, b, u, a]
    for u in range(size):
        v = draw_below(generator, size)
        if state.sign[u] == state.sign[v]:
            place[u], place[v] = place[v], place[u]
    for u in range(size):
        state.lowest[u] = place[u]
        for a in range(size):
            state.field[u, a] = state.own[u, a]
            for v in range(size):
                state.field[u, a] += pair[v, place[v], u, a]
            state.until[u, a] = 0


@inner_kernel
def _swap(state: ClusterState, u: int, v: int) -> None:
    """Let two clusters change places, and bring what each would cost up to date; O(k^2)."""
    here, there, size, pair = state.place[u], state.place[v], len(state.sign), state.pair
    for t in range(size):
        field = state.field[t]
        left, right, gain, loss = pair[u, here, t], pair[v, there, t], pair[u, there, t], pair[v, here, t]
        for a in range(size):
            field[a] += gain[a] - left[a] + loss[a] - right[a]
    state.place[u], state.place[v] = there, here
