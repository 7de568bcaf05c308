"""Compiled shortest paths from a set of tasks to the nearest others, and flows that follow them downhill.

Lengths of edges are whole numbers, so that a circle of buckets serves as the queue.

Source: R. B. Dial, Communications of the ACM 12 (1969), doi:10.1145/363269.363610.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel

# Edges are shorter than the circle of buckets is round; one this long is closed.
CLOSED = 256
# Longer than any path: of 2^32 edges that are not closed.
FAR = 1 << 40


class CsrGraph(NamedTuple):
    """Hold a graph as neighbour lists: `first[n + 1]` into `near` and `edge`, and `volume[e]` > 0."""

    first: IntArray
    near: IntArray
    edge: IntArray
    volume: FloatArray


class Search(NamedTuple):
    """Hold the arrays of a search; between searches all distances are FAR and all ranks -1.

    `length` is by edge; by task there are `distance`, the `label` of the seed it is nearest to, tasks in `order` of
    distance, the `rank` of those that flows may use, those `touched`, the set a search may be kept `within`, and the
    links `after` and `before` of the queue, whose buckets begin at `head`. `work[0]` counts the entries of neighbour
    lists that searches have read.
    """

    length: IntArray
    distance: IntArray
    label: IntArray
    order: IntArray
    rank: IntArray
    touched: IntArray
    within: IntArray
    head: IntArray
    after: IntArray
    before: IntArray
    work: IntArray

    @classmethod
    def of(cls, graph: CsrGraph) -> "Search":
        """Return the arrays for a graph."""
        size = len(graph.first) - 1

        def blank() -> IntArray:
            return np.empty(size, np.int64)

        return cls(
            length=np.empty(len(graph.volume), np.int64),
            distance=np.full(size, FAR),
            label=blank(),
            order=blank(),
            rank=np.full(size, -1),
            touched=blank(),
            within=np.full(size, -1),
            head=np.empty(CLOSED, np.int64),
            after=blank(),
            before=blank(),
            work=np.zeros(1, np.int64),
        )


@inner_kernel
def settle(graph: CsrGraph, search: Search, seeds: int, limit: int, inside: int, target: int) -> tuple[int, int]:
    """Settle up to `limit` tasks by distance from the first in `order`, up to the target, which may be -1.

    The search stays where `within` is `inside` unless that is negative. Return how many are settled and how many were
    touched.
    """
    # Buckets of a circle hold the tasks that wait, by distance (Dial 1969).
    for k in range(CLOSED):
        search.head[k] = -1
    for k in range(seeds):
        search.touched[k] = search.order[k]
        _enter(search, search.order[k], 0)
    count, many, waiting, now = 0, seeds, seeds, 0
    while waiting and count < limit:
        task = search.head[now % CLOSED]
        if task < 0:
            now += 1
            continue
        # The nearest task that waits is settled: no other path to it is shorter.
        _leave(search, task)
        waiting -= 1
        search.order[count] = task
        count += 1
        search.work[0] += graph.first[task + 1] - graph.first[task]
        if task == target:
            break
        for k in range(graph.first[task], graph.first[task + 1]):
            other, length = graph.near[k], search.length[graph.edge[k]]
            far = now + length
            if length >= CLOSED or far >= search.distance[other] or (inside >= 0 and search.within[other] != inside):
                continue
            # A shorter path moves a neighbour to another bucket.
            if search.distance[other] < FAR:
                _leave(search, other)
            else:
                search.touched[many] = other
                many, waiting = many + 1, waiting + 1
            search.label[other] = search.label[task]
            _enter(search, other, far)
    return count, many


@inner_kernel
def forget(search: Search, many: int) -> None:
    """Set the distances of the tasks that were touched back."""
    for k in range(many):
        search.distance[search.touched[k]] = FAR


@inner_kernel
def is_downhill(graph: CsrGraph, search: Search, task: int, k: int) -> bool:
    """Return whether the k-th entry of the neighbour lists leads from a task over an open edge to a nearer one."""
    nearer: bool = search.distance[graph.near[k]] < search.distance[task]
    return nearer and search.length[graph.edge[k]] < CLOSED


@inner_kernel
def _enter(search: Search, task: int, far: int) -> None:
    """Put a task into the bucket of its distance."""
    bucket = far % CLOSED
    search.distance[task] = far
    search.before[task], search.after[task] = -1, search.head[bucket]
    if search.head[bucket] >= 0:
        search.before[search.head[bucket]] = task
    search.head[bucket] = task


@inner_kernel
def _leave(search: Search, task: int) -> None:
    """Take a task out of its bucket."""
    before, after = search.before[task], search.after[task]
    if before >= 0:
        search.after[before] = after
    else:
        search.head[search.distance[task] % CLOSED] = after
    if after >= 0:
        search.before[after] = before
