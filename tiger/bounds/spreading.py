"""Compiled packing of flows for the spreading bound; see `tiger.bounds.capacity` for what it bounds.

A column takes some source tasks out of a region and the nearest tasks around it. Each of these sends a unit to every
source: to the region along shortest paths, all sources together, and within it to every source apart.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import allocating_kernel, inner_kernel

# Lengths are whole, so that a circle of buckets serves as the queue (Dial 1969); an edge this long is left out.
LONG = 256
FAR = 1 << 40
# Lengths grow up to e^(3 STEEP) with load over OVER times the mean, from UNIT for the median volume; UPDATES times.
STEEP, OVER, UNIT = 6.0, 3.0, 2.0
UPDATES = 64


class Web(NamedTuple):
    """Hold a graph as neighbour lists: `first[n + 1]` into `near` and `edge`, and `volume[e]` > 0."""

    first: IntArray
    near: IntArray
    edge: IntArray
    volume: FloatArray


class Columns(NamedTuple):
    """Say which columns to make.

    `reach[j]` is how far a task is at least whose rank by distance is `counts[j]` or more, both rising; regions of
    `region` tasks grow around `centres`, and `sources` of each send to the nearest, at most `limit`. `many` columns.
    """

    reach: FloatArray
    counts: IntArray
    centres: IntArray
    region: int
    sources: int
    limit: int
    many: int


class State(NamedTuple):
    """Hold the arrays of a search: lengths and loads of edges; distances, ranks, flows and queue links of tasks."""

    length: IntArray
    load: FloatArray
    added: FloatArray
    used: IntArray
    distance: IntArray
    order: IntArray
    rank: IntArray
    inner: IntArray
    within: IntArray
    touched: IntArray
    flow: FloatArray
    spread: FloatArray
    head: IntArray
    after: IntArray
    before: IntArray
    number: IntArray


@allocating_kernel
def pack(web: Web, columns: Columns) -> float:
    """Return the greatest sum over columns that loads no edge above its volume, by multiplicative weights."""
    size, edges = len(web.first) - 1, len(web.volume)
    state = State(
        np.empty(edges, np.int64),
        np.zeros(edges),
        np.zeros(edges),
        np.empty(edges, np.int64),
        np.full(size, FAR),
        np.empty(size, np.int64),
        np.full(size, -1),
        np.empty(size, np.int64),
        np.full(size, -1),
        np.empty(size, np.int64),
        np.zeros(size),
        np.zeros(size),
        np.empty(LONG, np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        np.zeros(1, np.int64),
    )
    cover, typical = np.zeros(size, np.int64), float(np.median(web.volume))
    value = best = most = mean = 0.0
    position = passed = 0
    every = max(columns.many // UPDATES, 1)
    for column in range(columns.many):
        if column % every == 0:
            if most > 0.0:
                best = max(best, value / most)
            mean = _stretch(web, state, typical, most, (column / columns.many) ** 0.5)
        # Centres that fewer regions cover come first.
        while cover[columns.centres[position]] > passed:
            position += 1
            if position == size:
                position, passed = 0, passed + 1
        gained, sources = _column(web, columns, state, columns.centres[position], column)
        for k in range(sources):
            cover[state.inner[k]] += 1
        cover[columns.centres[position]] += 1
        step, peak = _step(web, state, max(1.0, 1.0 + OVER * mean))
        value += step * gained
        most = max(most, peak)
    return max(best, value / most) if most > 0.0 else 0.0


@inner_kernel
def _stretch(web: Web, state: State, typical: float, most: float, grown: float) -> float:
    """Set the lengths of edges by volume and load, and return the mean load of an edge for its volume."""
    mean, edges = 0.0, len(web.volume)
    for e in range(edges):
        mean += state.load[e] / web.volume[e] / edges
    scale = min(most, OVER * mean)
    for e in range(edges):
        long = min(UNIT * typical / web.volume[e], float(LONG))
        if scale > 0.0:
            long *= np.exp(STEEP * grown * min(state.load[e] / web.volume[e] / scale, 3.0))
        state.length[e] = max(int(min(long, float(LONG)) + 0.5), 1)
    return mean


@inner_kernel
def _column(web: Web, columns: Columns, state: State, centre: int, stamp: int) -> tuple[float, int]:
    """Add the flows of a column to `added`; return what it is worth for each unit and the size of its region."""
    state.number[0] = 0
    state.order[0] = centre
    size, many = _grow(web, state, 1, columns.region, -1)
    radius = 0.0
    for k in range(size):
        task = state.order[k]
        radius += state.distance[task] / size
        state.inner[k], state.within[task] = task, stamp
    _forget(state, many)
    count, many = _grow(web, state, size, columns.limit, -1)
    chosen, gained = _nearest(columns, state, count, radius)
    # A prefix inside the region would leave sources out.
    sources = min(columns.sources, size) if chosen >= size else 0
    if sources:
        for k in range(chosen):
            state.rank[state.order[k]] = k
            state.flow[state.order[k]] = sources
        _push(web, state, state.flow, chosen, size)
        for k in range(chosen):
            state.rank[state.order[k]] = -1
    _forget(state, many)
    for k in range(sources):
        state.order[0] = state.inner[(2 * k + 1) * size // (2 * sources)]
        _fan(web, state, size, sources, stamp)
    for k in range(size):
        state.flow[state.inner[k]] = 0.0
    return gained * sources, size


@inner_kernel
def _fan(web: Web, state: State, size: int, sources: int, stamp: int) -> None:
    """Add the flow to a source, the first in `order`, from where it enters the region."""
    count, many = _grow(web, state, 1, size, stamp)
    for k in range(count):
        task = state.order[k]
        state.rank[task] = k
        state.spread[task] = state.flow[task] / sources
    _push(web, state, state.spread, count, 1)
    for k in range(count):
        state.rank[state.order[k]] = -1
        state.spread[state.order[k]] = 0.0
    _forget(state, many)


@inner_kernel
def _nearest(columns: Columns, state: State, count: int, radius: float) -> tuple[int, float]:
    """Return how many of the nearest tasks are farthest apart on the nodes for their distance, and how far they are."""
    total = gain = most = kept = 0.0
    chosen, j = 0, -1
    for k in range(count):
        while j + 1 < len(columns.counts) and columns.counts[j + 1] <= k:
            j += 1
        total += state.distance[state.order[k]] + radius
        if j >= 0:
            gain += columns.reach[j]
        if gain > most * total:
            most, chosen, kept = gain / total, k + 1, gain
    return chosen, kept


@inner_kernel
def _step(web: Web, state: State, room: float) -> tuple[float, float]:
    """Add the column to the loads as often as fits below `room`, at most until it fills an edge; return the peak."""
    step = np.inf
    for k in range(state.number[0]):
        e = state.used[k]
        fits = min(room - state.load[e] / web.volume[e], 1.0)
        step = min(step, max(fits, 0.0) * (web.volume[e] / state.added[e]))
    if step == np.inf:
        step = 0.0
    peak = 0.0
    for k in range(state.number[0]):
        e = state.used[k]
        state.load[e] += step * state.added[e]
        state.added[e] = 0.0
        peak = max(peak, state.load[e] / web.volume[e])
    return step, peak


@inner_kernel
def _forget(state: State, many: int) -> None:
    """Set the distances of the tasks that were touched back."""
    for k in range(many):
        state.distance[state.touched[k]] = FAR


@inner_kernel
def _grow(web: Web, state: State, seeds: int, limit: int, stamp: int) -> tuple[int, int]:
    """Settle up to `limit` tasks by distance from the first in `order`, within `stamp` unless that is negative.

    Return how many are settled and how many were touched.
    """
    for k in range(LONG):
        state.head[k] = -1
    for k in range(seeds):
        state.touched[k] = state.order[k]
        _enter(state, state.order[k], 0)
    count, many, waiting, now = 0, seeds, seeds, 0
    while waiting and count < limit:
        task = state.head[now % LONG]
        if task < 0:
            now += 1
            continue
        _leave(state, task)
        waiting -= 1
        state.order[count] = task
        count += 1
        for k in range(web.first[task], web.first[task + 1]):
            other, long = web.near[k], state.length[web.edge[k]]
            far = now + long
            if long >= LONG or far >= state.distance[other] or (stamp >= 0 and state.within[other] != stamp):
                continue
            if state.distance[other] < FAR:
                _leave(state, other)
            else:
                state.touched[many] = other
                many, waiting = many + 1, waiting + 1
            _enter(state, other, far)
    return count, many


@inner_kernel
def _enter(state: State, task: int, far: int) -> None:
    """Put a task into the bucket of its distance."""
    bucket = far % LONG
    state.distance[task] = far
    state.before[task], state.after[task] = -1, state.head[bucket]
    if state.head[bucket] >= 0:
        state.before[state.head[bucket]] = task
    state.head[bucket] = task


@inner_kernel
def _leave(state: State, task: int) -> None:
    """Take a task out of its bucket."""
    before, after = state.before[task], state.after[task]
    if before >= 0:
        state.after[before] = after
    else:
        state.head[state.distance[task] % LONG] = after
    if after >= 0:
        state.before[after] = before


@inner_kernel
def _push(web: Web, state: State, flow: FloatArray, count: int, seeds: int) -> None:
    """Send flow[task] of the settled tasks downhill to the seeds, shared out by volume, the farthest first."""
    for k in range(count - 1, seeds - 1, -1):
        task = state.order[k]
        total = 0.0
        for j in range(web.first[task], web.first[task + 1]):
            if _downhill(web, state, task, j):
                total += web.volume[web.edge[j]]
        for j in range(web.first[task], web.first[task + 1]):
            if _downhill(web, state, task, j):
                e = web.edge[j]
                part = flow[task] * (web.volume[e] / total)
                flow[web.near[j]] += part
                if state.added[e] == 0.0 and part > 0.0:
                    state.used[state.number[0]] = e
                    state.number[0] += 1
                state.added[e] += part
        flow[task] = 0.0


@inner_kernel
def _downhill(web: Web, state: State, task: int, j: int) -> bool:
    """Return whether a neighbour has a rank and is nearer to the seeds, over an edge that is in use."""
    other = web.near[j]
    nearer: bool = state.distance[other] < state.distance[task]
    return nearer and state.rank[other] >= 0 and state.length[web.edge[j]] < LONG
