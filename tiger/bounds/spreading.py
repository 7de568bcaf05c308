"""Compiled packing of flows for the spreading bound; see `tiger.bounds.capacity` for what it bounds.

A column takes a region of tasks and the nearest tasks around it. Each of these sends a unit to every task of the
region: to the region along shortest paths, all together, and within it to smaller and smaller cells of it, in parts as
large as the cells. Columns are added by multiplicative weights (Plotkin, Shmoys, Tardos, Mathematics of Operations
Research 20 (1995), doi:10.1287/moor.20.2.257): edges grow longer with load. In the end detours lower the greatest load.
"""

from typing import NamedTuple

import numpy as np

from tiger.bounds.detours import lower_loads
from tiger.bounds.flows import CLOSED, DISTANCE, LABEL, WITHIN, CsrGraph, FlowSearch, forget, settle
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.rounding import TINY, relative_error
from tiger.model.seams import Stop
from tiger.solvers.kernel import inner_kernel, kernel

# Regions are divided into this many cells, and these again: 4 and 16 give bounds up to a tenth lower.
CELLS = 8
# A region with less than this share of its traffic inside, as in a clique or around a hub, cannot spread flows: its
# centre is taken alone. On a clique of 500 tasks that is 90 times as much; a stencil has it from three tasks on.
INSIDE = 0.2
# To divide a region may take this many times the work of reaching it, which is more than it does but around hubs.
DIVIDED = 32
# Lengths grow up to e^(3 STEEP) with load over OVER times the mean, from UNIT for the median volume, UPDATES times: on
# 65,536 triangulated points OVER = 3 gives 0.26 of the best cost instead of 0.37, and 1 as much as 1.2.
STEEP, OVER, UNIT = 4.0, 1.2, 2.0
# With 64 updates the bound is a tenth lower on four problems of 16,384 to 65,536 tasks.
UPDATES = 128
# Steps of the table of growth up to OVER times the mean load: any whole lengths do, and exponentials take longer.
STEPS = 64
# Detours lower the peak to so much of itself at a time: 0.97 and 0.95 give a hundredth less.
LOWERED = 0.99


class ColumnChoice(NamedTuple):
    """Say which columns to make.

    `reach[j]` is how far a task is at least whose rank by distance is `counts[j]` or more, both rising; regions of
    `region` tasks grow around `centres`, and the nearest tasks, at most `limit`, send to each. At most `many` columns,
    and no more after `budget` entries of neighbour lists were read.
    """

    reach: FloatArray
    counts: IntArray
    centres: IntArray
    region: int
    limit: int
    many: int
    budget: int


class Flows(NamedTuple):
    """Hold flows: by edge what they `load`, what a column has `added`, the edges `used` and the `base` of lengths.

    `growth[k]` is by what factors lengths grow with load, and `inverse[e]` one over a volume.
    By task there are the `flow` that is yet to be spread over a region and what is to go on `inside` a cell; how many
    regions `cover` it, the tasks of a `region` with those of each cell together, and a `copy`. What is `sent` downhill
    is by position in the order of a search.
    `cells` are yet to be divided: where they begin and end in `region`, and how many hops their flow can have taken;
    `cell` numbers them all. `state` holds how many edges are in use, where the next of the centres is looked for, and
    how many regions cover those before it.
    """

    base: FloatArray
    growth: FloatArray
    inverse: FloatArray
    load: FloatArray
    added: FloatArray
    used: IntArray
    flow: FloatArray
    sent: FloatArray
    inside: FloatArray
    cover: IntArray
    region: IntArray
    copy: IntArray
    cells: IntArray
    cell: IntArray
    state: IntArray

    @classmethod
    def of(cls, graph: CsrGraph) -> "Flows":
        """Return the arrays for a graph."""
        size, edges = len(graph.first) - 1, len(graph.volume)
        with np.errstate(over="ignore"):
            base = np.minimum(UNIT * np.median(graph.volume) / graph.volume, CLOSED)
        return cls(
            base=base,
            growth=np.empty(3 * STEPS + 1),
            inverse=1 / graph.volume,
            load=np.zeros(edges),
            added=np.zeros(edges),
            used=np.empty(edges + 1, np.int64),
            flow=np.zeros(size),
            sent=np.zeros(size),
            inside=np.zeros(size),
            cover=np.zeros(size, np.int64),
            region=np.empty(size, np.int64),
            copy=np.empty(size, np.int64),
            cells=np.empty((size + CELLS, 3), np.int64),
            cell=np.zeros(1, np.int64),
            state=np.zeros(3, np.int64),
        )


def pack(graph: CsrGraph, columns: ColumnChoice, stop: Stop) -> float:
    """Return the value of flows that load no edge above its volume, less the most that rounding may have added.

    What is on its way goes at each hop through a share (a sum over neighbours, a division, a product) and a sum over
    those behind it, and where a region is divided through one more share. An edge is loaded at most once by what goes
    to the region and to each cell around it, and then by columns and detours, whose errors are relative to the peak
    that there was before. Gains are added up over the tasks of a column and the columns. 0 where the digits of floating
    point may not be enough. O(n + m) memory for n tasks and m edges. `stop` is called every now and then, and ends it
    early.
    """
    search, flows = FlowSearch.of(graph), Flows.of(graph)
    value, hops = 0.0, 0
    for number in range(UPDATES):
        begin, end = (columns.many * k // UPDATES for k in (number, number + 1))
        if begin < end:
            gained, steps = add_columns(graph, columns, search, flows, begin, end)
            value, hops = value + gained, max(hops, steps)
        if search.work[0] >= columns.budget or stop():
            break
    before, detours = float((flows.load / graph.volume).max()), 0
    goal, lowered, left = before, 0.0 < before < np.inf, int(search.work[0])
    # As much work as the columns were.
    while lowered and left > 0 and not stop():
        goal, known = goal * LOWERED, int(search.work[0])
        taken, lowered = lower_loads(graph, search, flows.load, goal, left)
        detours, left = detours + taken, left - (int(search.work[0]) - known) - len(flows.load)
    neighbours = int(np.diff(graph.first).max())
    roundings = (hops + 1) * (2 * neighbours + 3) + CELLS * hops + 3 * columns.many + detours + 6
    # With this many roundings nothing useful is left, and the formula for their error ends soon after.
    if not value > 0.0 or not before < np.inf or relative_error(min(roundings, 1 << 51)) >= 0.25:
        return 0.0
    peak = float((flows.load / graph.volume).max()) + relative_error(roundings) * before
    bound = value / peak * (1 - relative_error(columns.limit + 2 * columns.many + 8))
    return bound if TINY < bound < np.inf else 0.0


@kernel
def add_columns(
    graph: CsrGraph, columns: ColumnChoice, search: FlowSearch, flows: Flows, begin: int, end: int
) -> tuple[float, int]:
    """Add columns from `begin` to before `end` by multiplicative weights, their lengths as the loads are now.

    Return their value and the most hops of a flow.
    """
    # Edges grow longer with load, exponentially (Plotkin, Shmoys and Tardos 1995, section 2).
    mean = _stretch(graph, search, flows, (begin / columns.many) ** 0.5)
    value, hops = 0.0, 0
    for _ in range(begin, end):
        if search.work[0] >= columns.budget:
            break
        # Centres that fewer regions cover come first.
        while flows.cover[columns.centres[flows.state[1]]] > flows.state[2]:
            flows.state[1] += 1
            if flows.state[1] == len(columns.centres):
                flows.state[1], flows.state[2] = 0, flows.state[2] + 1
        gained, steps = _add_column(graph, columns, search, flows, columns.centres[flows.state[1]])
        value += gained * _take_step(graph, flows, max(1.0, 1.0 + OVER * mean))
        hops = max(hops, steps)
    return value, hops


@inner_kernel
def _stretch(graph: CsrGraph, search: FlowSearch, flows: Flows, grown: float) -> float:
    """Set the lengths of edges by volume and load, and return the mean load of an edge for its volume."""
    total, edges, last = 0.0, len(graph.volume), len(flows.growth) - 1
    for e in range(edges):
        total += flows.load[e] * flows.inverse[e]
    mean = total / edges
    for k in range(len(flows.growth)):
        flows.growth[k] = np.exp(STEEP * grown * k / STEPS)
    scale = STEPS / (OVER * mean) if mean > 0.0 else 0.0
    for e in range(edges):
        step = flows.load[e] * flows.inverse[e] * scale
        factor = flows.growth[int(step) if step < last else last]
        length = min(flows.base[e] * factor, float(CLOSED))
        search.length[e] = max(int(length + 0.5), 1)
    return mean


@inner_kernel
def _add_column(
    graph: CsrGraph, columns: ColumnChoice, search: FlowSearch, flows: Flows, centre: int
) -> tuple[float, int]:
    """Add the flows of a column to `added`; return its value and the most hops of a flow."""
    flows.state[0] = 0
    size, radius = _grow_region(graph, columns, search, flows, centre)
    for k in range(size):
        search.order[k] = flows.region[k]
    begun = search.work[0]
    count, many = settle(graph, search, size, columns.limit, -1, -1)
    chosen, gained = _choose_nearest(columns, search, count, radius)
    # A prefix inside the region would leave some of it out.
    if chosen < size:
        forget(search, many)
        return 0.0, 0
    # Every chosen task sends a unit to each of the region: downhill to the region, then spread over it.
    for k in range(chosen):
        flows.sent[k] = size
    _push(graph, search, flows, chosen, size)
    for k in range(size):
        flows.flow[search.order[k]] = flows.sent[k]
        flows.sent[k] = 0.0
    forget(search, many)
    hops = _divide(graph, search, flows, size, chosen, DIVIDED * (search.work[0] - begun))
    for k in range(size):
        flows.flow[flows.region[k]] = 0.0
    if hops < 0:
        for k in range(flows.state[0]):
            flows.added[flows.used[k]] = 0.0
        flows.state[0] = 0
        return 0.0, 0
    return gained * size, hops


@inner_kernel
def _grow_region(
    graph: CsrGraph, columns: ColumnChoice, search: FlowSearch, flows: Flows, centre: int
) -> tuple[int, float]:
    """Set `region` to the tasks nearest to a centre; return how many they are, and how far from it in the mean."""
    search.order[0] = centre
    # The nearest tasks by the lengths of the moment; their ranks mark them as the region.
    size, many = settle(graph, search, 1, columns.region, -1, -1)
    radius = inside = total = 0.0
    for k in range(size):
        task = search.order[k]
        radius += search.task[task, DISTANCE] / size
        flows.region[k] = task
        search.rank[task] = k
    # The traffic of the region and the part of it that stays inside; both count inner edges from both ends.
    for k in range(size):
        for j in range(graph.first[flows.region[k]], graph.first[flows.region[k] + 1]):
            total += graph.volume[graph.edge[j]]
            if search.rank[graph.near[j]] >= 0:
                inside += graph.volume[graph.edge[j]]
    for k in range(size):
        search.rank[flows.region[k]] = -1
    forget(search, many)
    # A region that cannot spread flows shrinks to its centre.
    if inside < INSIDE * total:
        size, radius = 1, 0.0
    for k in range(size):
        flows.cover[flows.region[k]] += 1
    return size, radius


@inner_kernel
def _choose_nearest(columns: ColumnChoice, search: FlowSearch, count: int, radius: float) -> tuple[int, float]:
    """Return how many of the nearest tasks are farthest apart on the nodes for their distance, and how far they are."""
    total = gain = most = kept = 0.0
    chosen, j = 0, -1
    for k in range(count):
        while j + 1 < len(columns.counts) and columns.counts[j + 1] <= k:
            j += 1
        total += search.task[search.order[k], DISTANCE] + radius
        if j >= 0:
            gain += columns.reach[j]
        if gain > most * total:
            most, chosen, kept = gain / total, k + 1, gain
    return chosen, kept


@inner_kernel
def _divide(graph: CsrGraph, search: FlowSearch, flows: Flows, size: int, chosen: int, budget: int) -> int:
    """Spread the flow over the region, so that what is anywhere in it goes to all of its tasks in equal parts.

    It goes to cells of the region in parts by their sizes, within each of these to its cells, and so on. Return how
    many hops a flow may have taken, -1 where that takes more than `budget` entries of neighbour lists.
    """
    # Cells that wait have no task in common, hence there are never more of them than tasks.
    hops, waiting, most = chosen, 1, search.work[0] + budget
    flows.cells[0, 0], flows.cells[0, 1], flows.cells[0, 2] = 0, size, chosen
    while waiting:
        waiting -= 1
        low, high, before = flows.cells[waiting, 0], flows.cells[waiting, 1], flows.cells[waiting, 2]
        hops = max(hops, before)
        count = high - low
        if count == 1:
            continue
        if search.work[0] > most:
            return -1
        # A new number for the tasks of the cell keeps searches inside it.
        flows.cell[0] += 1
        for k in range(low, high):
            search.task[flows.region[k], WITHIN] = flows.cell[0]
        parts = _part(graph, search, flows, low, high, waiting)
        # Each part gets, from everywhere in the cell, a share as large as its part of the tasks.
        for cell in range(waiting, waiting + parts):
            start, end = flows.cells[cell, 0], flows.cells[cell, 1]
            flows.cells[cell, 2] = before + count
            for k in range(start, end):
                search.order[k - start] = flows.region[k]
            _send(graph, search, flows, end - start, count)
        waiting += parts
        # What has arrived is what the parts divide next.
        for k in range(low, high):
            flows.flow[flows.region[k]] = flows.inside[flows.region[k]]
    return hops


@inner_kernel
def _part(graph: CsrGraph, search: FlowSearch, flows: Flows, low: int, high: int, waiting: int) -> int:
    """Part a cell by which of some of its tasks is nearest, and have the parts wait as cells; return how many.

    The tasks of each part are brought together.
    """
    count = high - low
    parts = min(CELLS, count)
    # Seeds at even steps through the tasks of the cell.
    for k in range(parts):
        search.order[k] = flows.region[low + (2 * k + 1) * count // (2 * parts)]
        search.task[search.order[k], LABEL] = k
    # Voronoi cells: every task takes the label of its nearest seed, and stays connected with it.
    _, many = settle(graph, search, parts, count, search.task[search.order[0], WITHIN], -1)
    forget(search, many)
    # Bring the tasks of each part together, in the order that they had.
    at = low
    for part in range(parts):
        flows.cells[waiting + part, 0] = at
        for k in range(low, high):
            if search.task[flows.region[k], LABEL] == part:
                flows.copy[at] = flows.region[k]
                at += 1
        flows.cells[waiting + part, 1] = at
    for k in range(low, high):
        flows.region[k] = flows.copy[k]
    return parts


@inner_kernel
def _send(graph: CsrGraph, search: FlowSearch, flows: Flows, own: int, count: int) -> None:
    """Send its part of the flow of a cell of `count` tasks to the first `own` in `order`, where it stays `inside`."""
    share, inside = own / count, search.task[search.order[0], WITHIN]
    settled, many = settle(graph, search, own, count, inside, -1)
    for k in range(settled):
        flows.sent[k] = flows.flow[search.order[k]] * share
    _push(graph, search, flows, settled, own)
    for k in range(own):
        flows.inside[search.order[k]] = flows.sent[k]
        flows.sent[k] = 0.0
    forget(search, many)


@inner_kernel
def _push(graph: CsrGraph, search: FlowSearch, flows: Flows, count: int, seeds: int) -> None:
    """Send `sent[k]` of the settled tasks downhill to the seeds, shared out by volume, the farthest first.

    What flows on to a task has come from farther ones alone, and so is all there when its turn comes.
    """
    used = flows.state[0]
    for k in range(count - 1, seeds - 1, -1):
        # Edges downhill get parts in proportion to their volumes, which loads them evenly.
        total = 0.0
        for i in range(search.start[k], search.start[k + 1]):
            total += graph.volume[search.over[i]]
        for i in range(search.start[k], search.start[k + 1]):
            e = search.over[i]
            part = flows.sent[k] * (graph.volume[e] / total)
            flows.sent[search.link[i]] += part
            # Edges that the column uses first are listed, so that a step looks at no others.
            before = flows.added[e]
            flows.used[used] = e
            used += int((before == 0.0) & (part > 0.0))
            flows.added[e] = before + part
        flows.sent[k] = 0.0
    flows.state[0] = used


@inner_kernel
def _take_step(graph: CsrGraph, flows: Flows, room: float) -> float:
    """Add the column to the loads as often as fits below `room`, at most until it fills an edge; return how often."""
    # The longest step that the fullest edge of the column allows.
    step = np.inf
    for k in range(flows.state[0]):
        e = flows.used[k]
        fits = min(room - flows.load[e] / graph.volume[e], 1.0)
        step = min(step, max(fits, 0.0) * (graph.volume[e] / flows.added[e]))
    if step == np.inf:
        step = 0.0
    for k in range(flows.state[0]):
        e = flows.used[k]
        flows.load[e] += step * flows.added[e]
        flows.added[e] = 0.0
    return step
