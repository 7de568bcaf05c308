"""Compiled packing of flows for the spreading bound; see `tiger.bounds.capacity` for what it bounds.

A column takes a region of tasks and the nearest tasks around it. Each of these sends a unit to every task of the
region: to the region along shortest paths, all together, and within it to smaller and smaller cells of it, in parts as
large as the cells. Columns are added by multiplicative weights (Plotkin, Shmoys, Tardos, Mathematics of Operations
Research 20 (1995), doi:10.1287/moor.20.2.257): edges grow longer with load. In the end detours lower the greatest load.
"""

from typing import NamedTuple

import numpy as np

from tiger.bounds.detours import peak_of, relieve
from tiger.bounds.flows import CLOSED, Search, Web, forget, is_downhill, settle
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import relative_error
from tiger.solvers.kernel import inner_kernel, kernel

# Regions are divided into so many cells, and these again: 4 and 16 give bounds up to a tenth lower.
CELLS = 8
# Lengths grow up to e^(3 STEEP) with load over OVER times the mean, from UNIT for the median volume, UPDATES times: on
# 65,536 triangulated points OVER = 3 gives 0.26 of the best cost instead of 0.37, and 1 as much as 1.2.
STEEP, OVER, UNIT = 4.0, 1.2, 2.0
UPDATES = 64


class Columns(NamedTuple):
    """Say which columns to make.

    `reach[j]` is how far a task is at least whose rank by distance is `counts[j]` or more, both rising; regions of
    `region` tasks grow around `centres`, and the nearest tasks, at most `limit`, send to each. `many` columns.
    """

    reach: FloatArray
    counts: IntArray
    centres: IntArray
    region: int
    limit: int
    many: int


class Flows(NamedTuple):
    """Hold flows: by edge what they `load`, what a column has `added`, the edges `used` and the `base` of lengths.

    By task there are the `flow` that is on its way, the part of it that is `spread` to a cell and what is to go on
    `inside` it; how many regions `cover` it, the tasks of a `region` with those of each cell together, and a `copy`.
    `cells` are yet to be divided: where they begin and end in `region`, and how many hops may lie behind their flow;
    `number[0]` edges are in use and `number[1]` sets of tasks have been numbered.
    """

    base: FloatArray
    load: FloatArray
    added: FloatArray
    used: IntArray
    flow: FloatArray
    spread: FloatArray
    inside: FloatArray
    cover: IntArray
    region: IntArray
    copy: IntArray
    cells: IntArray
    number: IntArray

    @classmethod
    def of(cls, web: Web) -> "Flows":
        """Return the arrays for a graph."""
        size, edges = len(web.first) - 1, len(web.volume)
        return cls(
            base=np.minimum(UNIT * np.median(web.volume) / web.volume, CLOSED),
            load=np.zeros(edges),
            added=np.zeros(edges),
            used=np.empty(edges, np.int64),
            flow=np.zeros(size),
            spread=np.zeros(size),
            inside=np.zeros(size),
            cover=np.zeros(size, np.int64),
            region=np.empty(size, np.int64),
            copy=np.empty(size, np.int64),
            cells=np.empty((size + CELLS, 3), np.int64),
            number=np.zeros(2, np.int64),
        )


def pack(web: Web, columns: Columns) -> float:
    """Return what flows account for that load no edge above its volume, less what rounding may have added.

    What is on its way goes at each hop through a share (a sum over neighbours, a division, a product) and a sum over
    those behind it, and where a region is divided through one more share. An edge is loaded at most once by what goes
    to the region and to each cell around it, and then by columns and detours, whose errors are relative to the peak
    that there was before. Gains are added up over the tasks of a column and the columns. O(n + m) memory for n tasks
    and m edges.
    """
    flows = Flows.of(web)
    value, before, hops, detours = pack_columns(web, columns, Search.of(web), flows)
    if not value > 0.0:
        return 0.0
    neighbours = int(np.diff(web.first).max())
    roundings = (hops + 1) * (2 * neighbours + 3) + CELLS * hops + 2 * columns.many + detours + 6
    peak = float((flows.load / web.volume).max()) + relative_error(roundings) * before
    return value / peak * (1 - relative_error(columns.limit + columns.many + 8))


@kernel
def pack_columns(web: Web, columns: Columns, search: Search, flows: Flows) -> tuple[float, float, int, int]:
    """Add up columns by multiplicative weights, then take detours around the most loaded edges.

    Return what the flows are worth, the peak of load over volume before the detours, how many hops a flow may have
    taken, and the number of detours.
    """
    value = mean = 0.0
    position = passed = hops = 0
    every = max(columns.many // UPDATES, 1)
    for column in range(columns.many):
        if column % every == 0:
            mean = _stretch(web, search, flows, (column / columns.many) ** 0.5)
        # Centres that fewer regions cover come first.
        while flows.cover[columns.centres[position]] > passed:
            position += 1
            if position == len(columns.centres):
                position, passed = 0, passed + 1
        gained, steps = _add_column(web, columns, search, flows, columns.centres[position])
        value += gained * _take_step(web, flows, max(1.0, 1.0 + OVER * mean))
        hops = max(hops, steps)
    before = peak_of(web, flows.load)
    # As much work as the columns were.
    detours = relieve(web, search, flows.load, before, columns.many * columns.limit)
    return value, before, hops, detours


@inner_kernel
def _stretch(web: Web, search: Search, flows: Flows, grown: float) -> float:
    """Set the lengths of edges by volume and load, and return the mean load of an edge for its volume."""
    mean, edges = 0.0, len(web.volume)
    for e in range(edges):
        mean += flows.load[e] / web.volume[e] / edges
    for e in range(edges):
        length = flows.base[e]
        if mean > 0.0:
            length *= np.exp(STEEP * grown * min(flows.load[e] / web.volume[e] / (OVER * mean), 3.0))
        search.length[e] = max(int(min(length, float(CLOSED)) + 0.5), 1)
    return mean


@inner_kernel
def _add_column(web: Web, columns: Columns, search: Search, flows: Flows, centre: int) -> tuple[float, int]:
    """Add the flows of a column to `added`; return what it is worth and how many hops a flow may have taken."""
    flows.number[0] = 0
    search.order[0] = centre
    size, many = settle(web, search, 1, columns.region, -1, -1)
    radius = 0.0
    for k in range(size):
        task = search.order[k]
        radius += search.distance[task] / size
        flows.region[k] = task
        flows.cover[task] += 1
    forget(search, many)
    count, many = settle(web, search, size, columns.limit, -1, -1)
    chosen, gained = _choose_nearest(columns, search, count, radius)
    # A prefix inside the region would leave some of it out.
    if chosen < size:
        forget(search, many)
        return 0.0, 0
    for k in range(chosen):
        flows.flow[search.order[k]] = size
    _push(web, search, flows, flows.flow, chosen, size)
    forget(search, many)
    hops = _divide(web, search, flows, size, chosen)
    for k in range(size):
        flows.flow[flows.region[k]] = 0.0
    return gained * size, hops


@inner_kernel
def _choose_nearest(columns: Columns, search: Search, count: int, radius: float) -> tuple[int, float]:
    """Return how many of the nearest tasks are farthest apart on the nodes for their distance, and how far they are."""
    total = gain = most = kept = 0.0
    chosen, j = 0, -1
    for k in range(count):
        while j + 1 < len(columns.counts) and columns.counts[j + 1] <= k:
            j += 1
        total += search.distance[search.order[k]] + radius
        if j >= 0:
            gain += columns.reach[j]
        if gain > most * total:
            most, chosen, kept = gain / total, k + 1, gain
    return chosen, kept


@inner_kernel
def _divide(web: Web, search: Search, flows: Flows, size: int, chosen: int) -> int:
    """Spread the flow over the region, so that what is anywhere in it goes to all of its tasks in equal parts.

    It goes to cells of the region in parts by their sizes, within each of these to its cells, and so on.
    """
    hops, waiting = chosen, 1
    flows.cells[0, 0], flows.cells[0, 1], flows.cells[0, 2] = 0, size, chosen
    while waiting:
        waiting -= 1
        low, high, before = flows.cells[waiting, 0], flows.cells[waiting, 1], flows.cells[waiting, 2]
        hops = max(hops, before)
        count = high - low
        if count == 1:
            continue
        flows.number[1] += 1
        for k in range(low, high):
            search.within[flows.region[k]] = flows.number[1]
        parts = _part(web, search, flows, low, high, waiting)
        for cell in range(waiting, waiting + parts):
            start, end = flows.cells[cell, 0], flows.cells[cell, 1]
            flows.cells[cell, 2] = before + count
            for k in range(start, end):
                search.order[k - start] = flows.region[k]
            _send(web, search, flows, end - start, count)
        waiting += parts
        for k in range(low, high):
            flows.flow[flows.region[k]] = flows.inside[flows.region[k]]
    return hops


@inner_kernel
def _part(web: Web, search: Search, flows: Flows, low: int, high: int, waiting: int) -> int:
    """Part a cell by which of some of its tasks is nearest, and have the parts wait as cells; return how many.

    The tasks of each part are brought together.
    """
    count = high - low
    parts = min(CELLS, count)
    for k in range(parts):
        search.order[k] = flows.region[low + (2 * k + 1) * count // (2 * parts)]
        search.label[search.order[k]] = k
    _, many = settle(web, search, parts, count, search.within[search.order[0]], -1)
    forget(search, many)
    at = low
    for part in range(parts):
        flows.cells[waiting + part, 0] = at
        for k in range(low, high):
            if search.label[flows.region[k]] == part:
                flows.copy[at] = flows.region[k]
                at += 1
        flows.cells[waiting + part, 1] = at
    for k in range(low, high):
        flows.region[k] = flows.copy[k]
    return parts


@inner_kernel
def _send(web: Web, search: Search, flows: Flows, own: int, count: int) -> None:
    """Send its part of the flow of a cell of `count` tasks to the first `own` in `order`, where it stays `inside`."""
    share, inside = own / count, search.within[search.order[0]]
    settled, many = settle(web, search, own, count, inside, -1)
    for k in range(settled):
        flows.spread[search.order[k]] = flows.flow[search.order[k]] * share
    _push(web, search, flows, flows.spread, settled, own)
    for k in range(own):
        flows.inside[search.order[k]] = flows.spread[search.order[k]]
        flows.spread[search.order[k]] = 0.0
    forget(search, many)


@inner_kernel
def _push(web: Web, search: Search, flows: Flows, flow: FloatArray, count: int, seeds: int) -> None:
    """Send flow[task] of the settled tasks downhill to the seeds, shared out by volume, the farthest first."""
    for k in range(count):
        search.rank[search.order[k]] = k
    for k in range(count - 1, seeds - 1, -1):
        task = search.order[k]
        total = 0.0
        for j in range(web.first[task], web.first[task + 1]):
            if is_downhill(web, search, task, j) and search.rank[web.near[j]] >= 0:
                total += web.volume[web.edge[j]]
        for j in range(web.first[task], web.first[task + 1]):
            if is_downhill(web, search, task, j) and search.rank[web.near[j]] >= 0:
                e = web.edge[j]
                part = flow[task] * (web.volume[e] / total)
                flow[web.near[j]] += part
                if flows.added[e] == 0.0 and part > 0.0:
                    flows.used[flows.number[0]] = e
                    flows.number[0] += 1
                flows.added[e] += part
        flow[task] = 0.0
    for k in range(count):
        search.rank[search.order[k]] = -1


@inner_kernel
def _take_step(web: Web, flows: Flows, room: float) -> float:
    """Add the column to the loads as often as fits below `room`, at most until it fills an edge; return how often."""
    step = np.inf
    for k in range(flows.number[0]):
        e = flows.used[k]
        fits = min(room - flows.load[e] / web.volume[e], 1.0)
        step = min(step, max(fits, 0.0) * (web.volume[e] / flows.added[e]))
    if step == np.inf:
        step = 0.0
    for k in range(flows.number[0]):
        e = flows.used[k]
        flows.load[e] += step * flows.added[e]
        flows.added[e] = 0.0
    return step
