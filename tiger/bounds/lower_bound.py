"""Lower bounds on the cost of every mapping, and bounds on what placing one task can cost, the scale of penalties.

A solve raises its bound by `quick_bound` before it searches, by `spread_bound` after the first round (and with more
work later), and by `strong_bound` once effort is being spent. All but the second come from rearrangement: tasks of one
exclusivity group lie on different nodes, so the traffic between a task and a group costs at least the products of its
volumes, largest first, with the distances from the task's node, smallest first, and at most the products with the
distances largest first.
"""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tiger.bounds.capacity import count_slots, spreading_bound
from tiger.bounds.relaxation import ascend, assignment, count_window_slots, expand_slots, projected_bound, sharpen
from tiger.bounds.ring import bound_ring
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import DENSE, GRID, DenseMetric, GridMetric
from tiger.model.problem import Problem
from tiger.model.rounding import relative_error
from tiger.model.seams import Stop
from tiger.model.window import Block, Window, fold, whole

# Tables of this many numbers take 8 MB, a linear assignment over one 0.06 s, and the bound with all that it needs 0.2
# s.
DENSE_CELLS = SLOT_CELLS = 1 << 20
# Pairs of an entry of the traffic and a node that take a second: dense traffic of 700 and 768 tasks takes 1.5 and 4 s.
ENTRY_CELLS = 100_000_000
# Rows of a distance matrix, and numbers, that are looked at together: copies of them stay small beside the whole.
ROWS, PORTION = 256, 1 << 16
# From 200 rows on, OpenBLAS runs eigenvalue routines on several threads, which crawl when the cores are shared.
SPECTRAL_SLOTS = 192
# A matrix over pairs of placements takes 32 MB, and every iteration of the ascent makes a few of them.
PAIR_CELLS = 1 << 22
# Whole numbers below are exact in float64 with a quarter to spare, in sums too.
EXACT = 2.0**50
Edges = tuple[IntArray, IntArray, FloatArray]


def lower_bound(problem: Problem, places: IntArray) -> float:
    """Return a lower bound on the cost of every feasible mapping; `places[n]` gives the nodes of the pinned tasks.

    The higher one of `quick_bound` and `spread_bound`.
    """
    return max(quick_bound(problem, places), spread_bound(problem, 1))


def quick_bound(problem: Problem, places: IntArray, left_s: float | None = None) -> float:
    r"""Return a lower bound on the cost of every feasible mapping, seldom above 0 for tasks that may share nodes.

    Up to about a million task-node pairs this is the Gilmore-Lawler bound, taken per exclusivity group: with
    :math:`l_{tp}` the least cost of task t at node p, a share of its traffic counted, it is the sum over the groups of
    a linear assignment (without groups, of a transport onto the free slots), O(n m deg + n^2 m) time and O(n m) memory.
    Where the tasks fill half of up to 192 slots or more, it is the projected eigenvalue bound if that is higher, and
    that of `bound_ring` where they form a ring. Beyond a million pairs work counts on the cheapest nodes, and distances
    are the smallest that any node has. Where `left_s` is less than a second this is so beyond fewer pairs in
    proportion, and where traffic is dense beyond fewer entries, so that the bound takes about a fifth of it at most.

    Source: P. C. Gilmore, J. SIAM 10 (1962), doi:10.1137/0110022.
    """
    hosts = problem.topology.hosts
    most = DENSE_CELLS if left_s is None else DENSE_CELLS * min(left_s, 1.0)
    large = hosts.size * max(problem.tasks.size, hosts.size // 8) > most
    if left_s is not None:
        large |= 5 * hosts.size * problem.tasks.traffic.nnz > ENTRY_CELLS * left_s
    bound = _sparse_bound(problem) if large else _dense_bound(_window(problem, places))
    return _round_up(problem, max(bound, _least_work(problem) + bound_ring(problem).total))


def spread_bound(problem: Problem, effort: int, stop: Stop = bool) -> float:
    """Return the bound from how many slots there are near any node, with a multiple of the work of `lower_bound`.

    `stop` ends it early.
    """
    return _round_up(problem, _least_work(problem) + spreading_bound(problem, effort, stop))


def strong_bound(problem: Problem, places: IntArray, *, iterations: int, stop: Stop = bool) -> float:
    """Return a bound no lower than `lower_bound`, after iterations of two ascents that take far longer.

    On up to 192 slots the diagonals of the projected bound ascend, up to 4 million pairs of placements their duals.
    `places[n]` is a feasible mapping: the ascents head for its cost. Most is gained in the first 16 iterations, which
    take about 0.2 s for 20 tasks on 20 nodes and 1 s for 30 on 30; `stop` ends them early.
    """
    bound, window = lower_bound(problem, places), _window(problem, places)
    if not window.shape[0]:
        return bound
    origin = fold(problem, whole(problem), places)
    ceiling = origin.cost(origin.local(places))
    if _projects(window):
        bound = max(bound, _round_up(problem, sharpen(expand_slots(window), ceiling, iterations, stop)))
    if bound < ceiling and (window.shape[0] * _slot_count(window)) ** 2 <= PAIR_CELLS:
        bound = max(bound, _round_up(problem, ascend(expand_slots(window), bound, ceiling, iterations, stop)))
    return bound


def _round_up(problem: Problem, bound: float) -> float:
    """Return the bound raised to the next possible cost where costs are multiples of a whole number.

    Elsewhere it is lowered by the most that sums of the weights, work and traffic per task, may err by.
    """
    grain = _grain(problem) if -math.inf < bound < EXACT else 0
    if grain:
        return math.ceil((bound - 0.25) / grain) * float(grain)
    return bound * (1 - relative_error(4 * problem.tasks.size + 64))


def _window(problem: Problem, places: IntArray) -> Window:
    """Return the whole problem without nodes that are open to no task, its distances symmetric if its traffic is."""
    window = fold(problem, whole(problem), places)
    keep = window.allowed.any(axis=0)
    if not keep.all():
        window = replace(
            window,
            block=Block(tasks=window.block.tasks, nodes=window.block.nodes[keep]),
            linear=window.linear[:, keep],
            distance=window.distance[np.ix_(keep, keep)],
            capacities=tuple(replace(c, room=c.room[keep]) for c in window.capacities),
        )
    if not _is_symmetric(window) and not (window.traffic != window.traffic.T).nnz:
        window = replace(window, distance=window.distance / 2 + window.distance.T / 2)
    return window


def _is_symmetric(window: Window) -> bool:
    """Return whether distances are the same both ways."""
    return bool((window.distance == window.distance.T).all())


def _slot_count(window: Window) -> int:
    """Return the number of nodes or, where they are shared, of slots on them."""
    return window.shape[1] if window.groups else int(count_window_slots(window).sum())


def _dense_bound(window: Window) -> float:
    """Return the Gilmore-Lawler bound or, where it is higher, the projected one."""
    tasks, _ = window.shape
    if not tasks:
        return window.constant
    # Gilmore-Lawler: the least cost of each placement by rearrangement, then a linear assignment (Gilmore 1962).
    bound = max(
        _assign(window, window.linear + _bound_by_shares(window, share, 1 - share, worst=False))
        for share in _shares(window)
    )
    if _projects(window) and _slot_count(window) <= 2 * tasks:
        bound = max(bound, projected_bound(expand_slots(window)))
    return bound


def _projects(window: Window) -> bool:
    """Return whether the projected bound applies and fits."""
    apt = len(window.groups) < 2 and bool(window.traffic.nnz) and _is_symmetric(window)
    return apt and _slot_count(window) <= SPECTRAL_SLOTS


def _assign(window: Window, least: FloatArray) -> float:
    """Return the constant and the cheapest way to give every task its node at the costs least[k, q]."""
    if window.groups:
        return window.constant + sum(assignment(least[group])[0] for group in window.groups)
    room = count_window_slots(window)
    if len(least) * int(room.sum()) <= SLOT_CELLS:
        return window.constant + assignment(np.repeat(least, room, axis=1))[0]
    return window.constant + float(least.min(axis=1).sum())


def _shares(window: Window) -> Iterator[FloatArray]:
    """Yield shares of each edge to count at its tail, the rest at its head."""
    tail, head, volume = _edges(window.traffic)
    yield np.full(len(volume), 0.5)
    if not _is_symmetric(window):
        yield from (np.ones(len(volume)), np.zeros(len(volume)))
    yield _heavier_ends((tail, head, volume), window.group_of)


def _heavier_ends(edges: Edges, group_of: IntArray) -> FloatArray:
    """Return shares that count an edge at the end with more traffic to the other's group, as not all of it can be near.

    Half at both ends where they have the same.
    """
    tail, head, volume = edges
    key = np.r_[tail, head] * (group_of.max(initial=0) + 2) + group_of[np.r_[head, tail]] + 1
    _, pair = np.unique(key, return_inverse=True)
    sums = np.bincount(pair, np.r_[volume, volume], minlength=1)[pair]
    return np.asarray(0.5 + np.sign(sums[: len(volume)] - sums[len(volume) :]) / 2)


def _sparse_bound(problem: Problem) -> float:
    """Return the least cost of the work, and of half of each task's traffic over the least distances of any node."""
    tasks, most = problem.tasks, 0.0
    row, col, volume = _edges(tasks.traffic)
    row, col, volume = row[row != col], col[row != col], volume[row != col]
    nearest = _compute_nearest(problem, int(np.diff((tasks.traffic + problem.inflow).indptr).max(initial=0)))
    if not nearest.any():
        # Any task and all that it talks to may share a node.
        return _least_work(problem)
    for share in (np.full(len(row), 0.5), _heavier_ends((row, col, volume), problem.group_of)):
        task, partner, seen = _merge([(row, col, volume * share), (col, row, volume * (1 - share))], tasks.size)
        order, rank = rank_partners(task, problem.group_of[partner], seen)
        most = max(most, float((seen[order] * nearest[rank]).sum()))
    return _least_work(problem) + most


def _least_work(problem: Problem) -> float:
    """Return the least cost of the work: in every group the largest on the cheapest nodes."""
    work, topology = problem.tasks.work, problem.topology
    order = topology.hosts[np.argsort(topology.cost[topology.hosts], kind="stable")]
    costs = topology.cost[order]
    if costs[0] == costs[-1]:
        return float(work.sum() * costs[0])
    if not problem.groups:
        slots = topology.slots[order]
        costs = np.repeat(costs, np.clip(len(work) - np.cumsum(slots) + slots, 0, slots))
    groups = problem.groups or (np.arange(len(work)),)
    return float(sum(np.sort(work[group])[::-1] @ costs[: len(group)] for group in groups))


def _compute_nearest(problem: Problem, count: int) -> FloatArray:
    """Return nearest[c], the smallest distance at which any node can have its c-th nearest other task of a group.

    O(m^2) on a dense metric. On a torus or tree one node stands for all, on a grid a node of the torus of its shape.
    """
    slots = 1 if problem.groups else min(int(count_slots(problem).max()), count + 1)
    alone, close = _profile(problem, count // slots + 1)
    spare = not problem.groups and bool((alone > close.min(axis=1, initial=np.inf)).any())
    own = np.repeat(alone[:, None], slots - (problem.rule != "levels" and not spare), axis=1)
    ranked = np.sort(np.hstack([own, np.repeat(close, slots, axis=1)]), axis=1).min(axis=0)[:count]
    return np.pad(ranked, (0, count - len(ranked)))


def _profile(problem: Problem, most: int) -> tuple[FloatArray, FloatArray]:
    """Return the distance from nodes to themselves, and to the `most` closest other hosts, the smaller both ways."""
    metric, hosts = problem.metric, problem.topology.hosts
    if isinstance(metric, DenseMetric):
        cuts = np.array_split(hosts, -(-len(hosts) // ROWS))
        parts = [_find_closest(metric, rows, hosts, min(most, len(hosts) - 1)) for rows in cuts]
        return metric.table[hosts, hosts], np.concatenate(parts)
    if isinstance(metric, GridMetric):
        metric = replace(metric, wrap=(True,) * len(metric.dims))
    distances = metric.between(np.zeros(1, np.int64), np.arange(metric.size))
    return distances[:1], np.sort(distances[1:])[None, :most]


def _find_closest(metric: DenseMetric, rows: IntArray, hosts: IntArray, most: int) -> FloatArray:
    """Return close[rows, most], the smallest distances to other hosts in rising order."""
    distances = metric.table[np.ix_(rows, hosts)]
    if not metric.symmetric:
        distances = np.minimum(distances, metric.table[np.ix_(hosts, rows)].T)
    distances[rows[:, None] == hosts[None, :]] = np.inf
    return np.sort(np.partition(distances, max(most - 1, 0), axis=1)[:, :most], axis=1)


def _grain(problem: Problem) -> int:
    """Return a whole number that divides every possible cost, 0 where costs need not be whole."""
    tasks, topology, arrays = problem.tasks, problem.topology, problem.topology.metric.arrays()
    distances = {DENSE: arrays.table.ravel(), GRID: arrays.steps[-1:]}.get(arrays.kind, arrays.steps)
    if not all(map(_are_whole, (tasks.traffic.data, distances, tasks.work, topology.cost))):
        return 0
    if len(distances) > DENSE_CELLS:
        return 1
    parts = (tasks.traffic.data, distances[np.isfinite(distances)], tasks.work, topology.cost)
    if max(part.max(initial=0) for part in parts) >= EXACT:
        return 1
    volume, hop, work, cost = (int(np.gcd.reduce(part.astype(np.int64))) for part in parts)
    both = topology.metric.symmetric and not tasks.traffic.diagonal().any() and _is_mirrored(problem)
    return math.gcd(volume * hop * (2 if both else 1), work * cost) or 1


def _are_whole(values: FloatArray) -> bool:
    """Return whether all values are whole or infinite, looking at a portion at a time."""
    portions = (values[begin : begin + PORTION] for begin in range(0, len(values), PORTION))
    return all(bool((portion == np.floor(portion)).all()) for portion in portions)


def _is_mirrored(problem: Problem) -> bool:
    """Return whether the traffic is the same both ways."""
    there, back = problem.tasks.traffic, problem.inflow
    return np.array_equal(there.indices, back.indices) and np.array_equal(there.data, back.data)


def rearrangement_bound(window: Window, *, worst: bool) -> FloatArray:
    """Return bound[k, q] on the cost of a task's traffic inside the window when it lies at a node.

    The smallest possible cost, or with `worst` the largest. Without groups any node may hold any number of tasks for
    the largest cost, and as many as fit for the smallest.
    """
    every = np.ones(window.traffic.nnz)
    return _bound_by_shares(window, every, every, worst=worst)


def _bound_by_shares(window: Window, out: FloatArray, back: FloatArray, *, worst: bool) -> FloatArray:
    """Return the rearrangement bound with shares out[e] of each edge counted at its tail and back[e] at its head."""
    row, column, volume = _edges(window.traffic)
    tail, head = (row, column, volume * out), (column, row, volume * back)
    if _is_symmetric(window):
        return _direction(window, [tail, head], window.distance, worst=worst)
    return _direction(window, [tail], window.distance, worst=worst) + _direction(
        window, [head], window.distance.T, worst=worst
    )


def _direction(window: Window, parts: list[Edges], distance: FloatArray, *, worst: bool) -> FloatArray:
    """Return the rearrangement bound of traffic from tasks to partners over distances from the tasks' nodes."""
    tasks, nodes = window.shape
    row, partner, volume = _merge(parts, tasks)
    if not window.groups and worst:
        return np.outer(np.bincount(row, volume, minlength=tasks), distance.max(axis=1))
    if not window.groups:
        ranked = _slot_distances(window, distance, int(np.bincount(row, minlength=1).max()))
        return _products(row, np.zeros_like(row), volume, ranked, tasks)
    group_of = window.group_of
    own = group_of[row] == group_of[partner]
    bound = np.zeros((tasks, nodes))
    for keep in (own, ~own):
        if keep.any():
            reach = _distances_to_others(distance) if keep is own else distance
            ranked = -np.sort(-reach, axis=1) if worst else np.sort(reach, axis=1)
            bound += _products(row[keep], group_of[partner[keep]], volume[keep], ranked, tasks)
    return bound


def _edges(traffic: sp.csr_array) -> Edges:
    """Return (task, partner, volume) of every entry."""
    return np.repeat(np.arange(traffic.shape[0]), np.diff(traffic.indptr)), traffic.indices, traffic.data


def _merge(parts: list[Edges], tasks: int) -> Edges:
    """Return edges from several lists as one without repeats, by task."""
    row, partner, volume = (np.concatenate(part) for part in zip(*parts, strict=True))
    key = row * tasks + partner
    if tasks**2 <= DENSE_CELLS:
        total = np.bincount(key, volume, minlength=1).astype(np.float64)
        key = np.flatnonzero(total).astype(np.int64)
        return key // tasks, key % tasks, total[key]
    return _edges(sp.csr_array((volume, (row, partner)), shape=(tasks, tasks)))


def _distances_to_others(distance: FloatArray) -> FloatArray:
    """Return distances[q, q - 1] from every node to the other nodes."""
    size = len(distance)
    return distance[~np.eye(size, dtype=bool)].reshape(size, size - 1)


def rank_partners(row: IntArray, group: IntArray, volume: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the order by task, group and falling volume, and the rank of each entry in it within task and group."""
    order = np.lexsort((-volume, group, row))
    row, group = row[order], group[order]
    starts = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | (group[1:] != group[:-1])][: len(row)])
    return order, np.arange(len(row)) - np.repeat(starts, np.diff(np.r_[starts, len(row)]))


def _products(row: IntArray, group: IntArray, volume: FloatArray, ranked: FloatArray, tasks: int) -> FloatArray:
    """Return the sums of volumes, largest first within each (task, group), with ranked distances per node."""
    order, rank = rank_partners(row, group, volume)
    keep = rank < ranked.shape[1]
    order, rank = order[keep], rank[keep]
    starts = np.searchsorted(row[order], np.arange(tasks + 1))
    return np.asarray(sp.csr_array((volume[order], rank, starts), shape=(tasks, ranked.shape[1])) @ ranked.T)


def _slot_distances(window: Window, distance: FloatArray, count: int) -> FloatArray:
    """Return ranked[q, c], the distance from a node to the c-th nearest slot, one of its own being taken."""
    free = np.minimum(count_window_slots(window), count + 1)
    ranked = np.zeros((len(distance), count))
    for node, row in enumerate(distance):
        order = np.argsort(row, kind="stable")
        others = np.where(order == node, np.maximum(free - 1, 0)[order], free[order])
        near = np.repeat(row[order], others)[:count]
        ranked[node, : len(near)] = near
    return ranked
