"""A problem as plain arrays, the form in which compiled searches read it, and the state they change."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tiger.model.arrays import FloatArray, IntArray, Scalar, entries_of
from tiger.model.metrics import GridMetric, Metric, TreeMetric
from tiger.model.problem import Problem

# Hosts listed as close to a node, of which proposals draw one.
NEAREST = 8
# Nodes up to which distances that could be worked out are kept in a table, of 8 MB at most.
DENSE_NODES = 1024
# Slots in all, and distances by difference of coordinates: 128 and 64 MB.
SLOTS, DIFFERENCES = 1 << 24, 1 << 23


class Instance(NamedTuple):
    """Hold n tasks, m nodes and e neighbour entries.

    Row t of `indptr[n + 1]`, `indices[e]` lists the neighbours u of task t, with traffic `out[e]` from t to u and
    `back[e]` from u to t; on a symmetric metric `out` is the sum and `back` 0. `loop[n]` is the traffic of a task with
    itself. `kind`, `table`, `shape`, `steps` are the metric's DistanceArrays; node p is `distances[row[p] + col[q]]`
    from node q, unless these are empty; `plain` is 1 if they are not and `back` is 0. `group_of[n]` is -1 where nodes
    are shared. Row t of `ban_start[n + 1]`, `ban_node` lists forbidden nodes, sorted. `near[m, c]` are hosts close to a
    node, -1 where there are fewer. `movable` are the tasks a search may move, `hosts` the nodes it may use; `tolerance`
    is the smallest gain that counts. All arrays are read-only.
    """

    indptr: IntArray
    indices: IntArray
    out: FloatArray
    back: FloatArray
    loop: FloatArray
    work: FloatArray
    price: FloatArray
    kind: int
    table: FloatArray
    shape: IntArray
    steps: FloatArray
    distances: FloatArray
    row: IntArray
    col: IntArray
    plain: int
    group_of: IntArray
    slots: IntArray
    memory: IntArray
    room: IntArray
    ban_start: IntArray
    ban_node: IntArray
    near: IntArray
    movable: IntArray
    hosts: IntArray
    tolerance: float


class State(NamedTuple):
    """Hold a mapping under change: `place[n]`, and which tasks are on each node.

    `occupant[groups, m]` is the task of a group on a node or -1, and `occupied[m]` how many tasks a node has. Where
    nodes are shared, node p's tasks are `slot_task[slot_start[p] : slot_start[p] + occupied[p]]`, task t sits at
    `slot_of[t]`, and `used[m]` is the memory in use.
    """

    place: IntArray
    occupant: IntArray
    occupied: IntArray
    used: IntArray
    slot_start: IntArray
    slot_task: IntArray
    slot_of: IntArray


def instance_of(problem: Problem) -> Instance:
    """Return the arrays of a problem; O(edges log edges + m^2) time on a dense metric, O(edges + m) otherwise."""
    metric = problem.metric.arrays()
    if not metric.table.size > 1 and problem.topology.size <= DENSE_NODES:
        nodes = np.arange(problem.topology.size)
        metric = metric._replace(kind=0, table=problem.metric.between(nodes[:, None], nodes[None, :]))
    distances, row, col = differences(problem.metric)
    indptr, indices, out, back = (undirected_lists if problem.metric.symmetric else neighbour_lists)(problem)
    tasks, topology = problem.tasks, problem.topology
    return Instance(
        indptr=uniform(indptr),
        indices=uniform(indices),
        out=uniform(out),
        back=uniform(back),
        loop=uniform(tasks.traffic.diagonal()),
        work=uniform(tasks.work),
        price=uniform(topology.cost),
        kind=metric.kind,
        table=uniform(metric.table),
        shape=uniform(metric.shape),
        steps=uniform(metric.steps),
        distances=uniform(distances),
        row=uniform(row),
        col=uniform(col),
        plain=int(len(row) > 0 and problem.metric.symmetric),
        group_of=uniform(problem.group_of),
        slots=uniform(_count_slots(problem)),
        memory=uniform(_or_default(tasks.memory, tasks.size, 0)),
        room=uniform(_or_default(topology.memory, topology.size, np.iinfo(np.int64).max)),
        ban_start=uniform(np.searchsorted(problem.banned[:, 0], np.arange(tasks.size + 1))),
        ban_node=uniform(problem.banned[:, 1]),
        near=uniform(nearest_hosts(problem.metric, topology.hosts)),
        movable=uniform(problem.free),
        hosts=uniform(topology.hosts),
        tolerance=1e-10 * max(_find_largest_cost(problem), 1e-300),
    )


def differences(metric: Metric) -> tuple[FloatArray, IntArray, IntArray]:
    """Return `distances`, `row[m]`, `col[m]` such that node p is distances[row[p] + col[q]] from node q.

    On a grid or in a tree a distance depends on the difference of the coordinates alone, of which there are fewer than
    pairs of nodes. All three are empty where there are more than 2**23.
    """
    if isinstance(metric, GridMetric):
        return _differences(metric, metric.dims)
    if isinstance(metric, TreeMetric):
        return _differences(metric, metric.fanouts)
    nodes = np.arange(metric.size)
    return metric.arrays().table.ravel(), nodes * metric.size, nodes


@lru_cache(maxsize=4)
def _differences(metric: Metric, extents: tuple[int, ...]) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the distances by difference of coordinates, read off two nodes that differ so."""
    spans = [2 * extent - 1 for extent in extents]
    nodes = np.arange(metric.size)
    if math.prod(spans) > DIFFERENCES:
        return np.empty(0), nodes[:0], nodes[:0]
    ahead = behind = np.zeros(1, np.int64)
    for extent in extents:
        step = np.arange(1 - extent, extent)
        ahead = np.add.outer(ahead * extent, np.maximum(step, 0)).ravel()
        behind = np.add.outer(behind * extent, np.maximum(-step, 0)).ravel()
    code = np.ravel_multi_index(np.unravel_index(nodes, extents), spans)
    return metric.between(ahead, behind), code + code[-1], -code


def neighbour_lists(problem: Problem) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return neighbour lists: `indptr[n + 1]`, `indices[e]`, traffic to each neighbour and traffic from it."""
    size = problem.tasks.size
    edges = entries_of(problem.tasks.traffic)
    keep = edges.row != edges.col
    row, col, volume = edges.row[keep].astype(np.int64), edges.col[keep].astype(np.int64), edges.data[keep]
    ends, others = np.concatenate([row, col]), np.concatenate([col, row])
    out = sp.csr_array((np.concatenate([volume, np.zeros(len(row))]), (ends, others)), shape=(size, size))
    back = sp.csr_array((np.concatenate([np.zeros(len(row)), volume]), (ends, others)), shape=(size, size))
    return out.indptr.astype(np.int64), out.indices.astype(np.int64), out.data, back.data


def undirected_lists(problem: Problem) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Return neighbour lists as `neighbour_lists` does, with traffic both ways as one number, and zeros.

    On a symmetric metric directions don't matter.
    """
    both = sp.csr_array(problem.tasks.traffic + problem.inflow)
    keep = both.indices != np.repeat(np.arange(both.shape[0]), np.diff(both.indptr))
    if not keep.all():
        starts = np.concatenate([[0], np.cumsum(keep)])
        both = sp.csr_array((both.data[keep], both.indices[keep], starts[both.indptr]), shape=both.shape)
    both.sort_indices()
    return both.indptr.astype(np.int64), both.indices.astype(np.int64), both.data, np.zeros(both.nnz)


def restrict(inst: Instance, movable: IntArray, hosts: IntArray) -> Instance:
    """Return the instance with other movable tasks and hosts."""
    return inst._replace(movable=uniform(movable), hosts=uniform(hosts))


def mark_fixed(inst: Instance) -> IntArray:
    """Return fixed[n], 1 for a task that may not move."""
    fixed = np.ones(len(inst.work), np.int64)
    fixed[inst.movable] = 0
    return fixed


def state_of(problem: Problem, places: IntArray) -> State:
    """Return the state of a feasible mapping `places[n]`, sharing no memory with it."""
    size = problem.topology.size
    occupant = np.full((max(len(problem.groups), 1), size), -1, np.int64)
    for number, group in enumerate(problem.groups):
        occupant[number, places[group]] = group
    occupied = np.bincount(places, minlength=size)
    slots = np.zeros(size, np.int64) if problem.groups else np.maximum(_count_slots(problem), occupied)
    start = np.concatenate([[0], np.cumsum(slots)[:-1]])
    order = np.argsort(places, kind="stable")
    rank = np.empty(len(places), np.int64)
    rank[order] = np.arange(len(places)) - np.repeat(np.cumsum(occupied) - occupied, occupied)
    slot_of = start[places] + rank
    table = np.full(max(int(slots.sum()), 1), -1, np.int64)
    if not problem.groups:
        table[slot_of] = np.arange(len(places))
    used = np.zeros(size, np.int64)
    if problem.tasks.memory is not None:
        np.add.at(used, places, problem.tasks.memory)
    return State(places.copy(), occupant, occupied, used, start, table, slot_of)


def nearest_hosts(metric: Metric, hosts: IntArray) -> IntArray:
    """Return near[m, c], hosts close to each node, itself left out, -1 where there are fewer.

    On a grid its neighbours, in a tree up to 8 leaves of the smallest subtree around it, else the 8 closest.
    """
    if isinstance(metric, GridMetric):
        near = _grid_neighbours(metric)
    elif isinstance(metric, TreeMetric):
        near = _siblings(metric)
    else:
        return _list_closest(metric, hosts)
    if len(hosts) == metric.size:
        return near
    is_host = np.zeros(metric.size + 1, bool)
    is_host[hosts] = True
    return np.where(is_host[near], near, -1)


def _count_slots(problem: Problem) -> IntArray:
    """Return how many tasks, one of a group, a search puts on each node.

    Where nodes are shared that is their slots, at most n, and few enough that those of all nodes fit in 128 MB.
    """
    most = 1 if problem.groups else problem.tasks.size
    if most * problem.topology.hosts.size > SLOTS:
        most = max(SLOTS // problem.topology.hosts.size, 1)
    return np.minimum(problem.topology.slots, most)


def _find_largest_cost(problem: Problem) -> float:
    """Return the most that one edge can cost, or that the work of one task can cost more on one host than on another.

    Ways that do not exist play no part.
    """
    prices = problem.topology.cost[problem.topology.hosts]
    reach = float(problem.tasks.traffic.data.max(initial=0.0)) * problem.topology.metric.farthest
    return max(reach, float(problem.tasks.work.max()) * float(np.ptp(prices)))


def uniform(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a contiguous read-only view; with all arguments so, a kernel is compiled for one signature only."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _or_default(values: IntArray | None, size: int, default: int) -> IntArray:
    """Return the values, or `size` times the default."""
    return np.full(size, default, np.int64) if values is None else values


def _grid_neighbours(metric: GridMetric) -> IntArray:
    """Return the nodes one hop down and up along every axis, -1 where there is none; O(m) for each axis."""
    index = np.arange(metric.size).reshape(metric.dims)
    near = np.full((*metric.dims, 2 * len(metric.dims)), -1)
    for axis, (extent, around) in enumerate(zip(metric.dims, metric.wrap, strict=True)):
        node, down, up = (np.moveaxis(part, axis, 0) for part in (index, near[..., 2 * axis], near[..., 2 * axis + 1]))
        down[1:], up[:-1] = node[:-1], node[1:]
        if around and extent > 2:
            down[0], up[-1] = node[-1], node[0]
    return near.reshape(metric.size, -1)


def _siblings(metric: TreeMetric) -> IntArray:
    """Return up to 8 leaves of the smallest subtree that holds more than one, a node itself left out."""
    nodes, fan = np.arange(metric.size), 1
    for fanout in metric.fanouts[::-1]:
        fan *= fanout
        if fan > 1:
            break
    steps = np.arange(1, min(fan, NEAREST + 1))
    near = nodes[:, None] // fan * fan + (nodes[:, None] % fan + steps) % fan
    return near if steps.size else np.full((metric.size, 1), -1)


def _list_closest(metric: Metric, hosts: IntArray) -> IntArray:
    """Return the closest other hosts of every node, by rows of the distance matrix."""
    width = min(NEAREST, len(hosts) - 1)
    if width < 1:
        return np.full((metric.size, 1), -1)
    near = np.empty((metric.size, width), np.int64)
    for start in range(0, metric.size, 512):
        rows = np.arange(start, min(start + 512, metric.size))
        distances = metric.between(rows[:, None], hosts[None, :])
        distances[rows[:, None] == hosts[None, :]] = np.inf
        for column in range(width):
            closest = distances.argmin(axis=1)
            near[rows, column] = hosts[closest]
            distances[np.arange(len(rows)), closest] = np.inf
    return near
