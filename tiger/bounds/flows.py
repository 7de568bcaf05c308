"""Compiled shortest paths from a set of tasks to the nearest others, and flows that follow them downhill.

Lengths of edges are whole numbers, so that a circle of buckets serves as the queue.

Source: R. B. Dial, Communications of the ACM 12 (1969), doi:10.1145/363269.363610.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, Int32Array, IntArray
from tiger.solvers.kernel import inner_kernel

# Edges are shorter than the circle of buckets is round; one this long is closed. A power of two.
CLOSED = 256
# Longer than any path: of 2^32 edges that are not closed.
FAR = 1 << 40
# The columns of what a search knows of a task.
DISTANCE, POSITION, LABEL, WITHIN = range(4)


class CsrGraph(NamedTuple):
    """Hold a graph as neighbour lists: `first[n + 1]` into `near` and `edge`, and `volume[e]` > 0."""

    first: IntArray
    near: Int32Array
    edge: Int32Array
    volume: FloatArray


class FlowSearch(NamedTuple):
    """Hold the arrays of a search; between searches all distances are FAR and all ranks -1.

    `length` is by edge. Row t of `task[n, 4]` is what a search knows of a task, within one line of the cache: its
    DISTANCE, its POSITION in `order` once it is settled, the LABEL of the seed it is nearest to, and the set that a
    search may be kept WITHIN. By task there are also the `rank` of those that flows may use and those `touched`. The
    bucket of a distance begins at `head`; entry i of the queue is for the task `queued[i]`, and `after[i]` comes next.
    Position k of `order` has the entries `start[k]`, .. of `link`, the positions of nearer tasks, and of `over`, the
    edges to them. `work[0]` counts the entries of neighbour lists that searches have read.
    """

    length: Int32Array
    task: IntArray
    order: IntArray
    rank: IntArray
    touched: IntArray
    head: IntArray
    queued: Int32Array
    after: Int32Array
    start: IntArray
    link: Int32Array
    over: Int32Array
    work: IntArray

    @classmethod
    def of(cls, graph: CsrGraph) -> "FlowSearch":
        """Return the arrays for a graph."""
        size, edges = len(graph.first) - 1, len(graph.volume)
        task = np.full((size, 4), -1)
        task[:, DISTANCE] = FAR
        return cls(
            length=np.empty(edges, np.int32),
            task=task,
            order=np.empty(size, np.int64),
            rank=np.full(size, -1),
            touched=np.empty(size, np.int64),
            head=np.empty(CLOSED, np.int64),
            # A task enters once for each of its neighbours at most.
            queued=np.empty(size + len(graph.near), np.int32),
            after=np.empty(size + len(graph.near), np.int32),
            start=np.zeros(size + 1, np.int64),
            # Each edge leads downhill one way at most, and what leads nowhere is written once more at the end.
            link=np.empty(edges + 1, np.int32),
            over=np.empty(edges + 1, np.int32),
            work=np.zeros(1, np.int64),
        )


@inner_kernel
def settle(graph: CsrGraph, search: FlowSearch, seeds: int, limit: int, inside: int, target: int) -> tuple[int, int]:
    """Settle up to `limit` tasks by distance from the first in `order`, up to the target, which may be -1.

    The search stays where WITHIN is `inside` unless that is negative. Return how many are settled and how many were
    touched.
    """
    # Buckets of a circle hold the tasks that wait, by distance (Dial 1969).
    for k in range(CLOSED):
        search.head[k] = -1
    for k in range(seeds):
        search.touched[k] = search.order[k]
        _enter(search, search.order[k], 0, k)
    count, many, waiting, now, filled, fresh, free = 0, seeds, seeds, 0, 0, seeds, -1
    while waiting and count < limit:
        entry = search.head[now & (CLOSED - 1)]
        if entry < 0:
            now += 1
            continue
        # Entries that were taken out are used again, so that few of them are in use.
        task = search.queued[entry]
        search.head[now & (CLOSED - 1)] = search.after[entry]
        search.after[entry], free = free, entry
        # A task that has been settled on a shorter path leaves its later entries behind.
        if search.task[task, DISTANCE] != now:
            continue
        # The nearest task that waits is settled: no other path to it is shorter.
        waiting -= 1
        search.order[count], search.task[task, POSITION] = task, count
        search.work[0] += graph.first[task + 1] - graph.first[task]
        if task == target:
            return count + 1, many
        label = search.task[task, LABEL]
        for k in range(graph.first[task], graph.first[task + 1]):
            other, length = graph.near[k], search.length[graph.edge[k]]
            far, known = now + length, search.task[other, DISTANCE]
            # What is nearer than a settled task is settled. Every entry is written, so that there is no branch that
            # goes one way as often as the other; those that do not lead downhill are written over.
            search.link[filled], search.over[filled] = search.task[other, POSITION], graph.edge[k]
            filled += int((known < now) & (length < CLOSED))
            if length >= CLOSED or far >= known or (inside >= 0 and search.task[other, WITHIN] != inside):
                continue
            if known == FAR:
                search.touched[many] = other
                many, waiting = many + 1, waiting + 1
            search.task[other, LABEL] = label
            if free >= 0:
                entry, free = free, search.after[free]
            else:
                entry, fresh = fresh, fresh + 1
            _enter(search, other, far, entry)
        count += 1
        search.start[count] = filled
    return count, many


@inner_kernel
def forget(search: FlowSearch, many: int) -> None:
    """Set the distances of the tasks that were touched back."""
    for k in range(many):
        search.task[search.touched[k], DISTANCE] = FAR


@inner_kernel
def is_downhill(graph: CsrGraph, search: FlowSearch, task: int, k: int) -> bool:
    """Return whether the k-th entry of the neighbour lists leads from a task over an open edge to a nearer one."""
    nearer: bool = search.task[graph.near[k], DISTANCE] < search.task[task, DISTANCE]
    return nearer and search.length[graph.edge[k]] < CLOSED


@inner_kernel
def _enter(search: FlowSearch, task: int, far: int, entry: int) -> None:
    """Put a task into the bucket of its distance by an entry of the queue."""
    bucket = far & (CLOSED - 1)
    search.task[task, DISTANCE] = far
    search.queued[entry], search.after[entry] = task, search.head[bucket]
    search.head[bucket] = entry
