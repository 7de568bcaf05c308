"""Compiled annealing towards another objective than the cost: max link load, or makespan.

A move is judged by what it does to the objective, and by a share of what it does to the cost, which leads across
plateaus and settles ties. For loads the maximum is smoothed to a norm of high order, so that relief of the second
busiest link counts as well.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import RouteArrays
from tiger.solvers.annealing.moves import (
    can_move,
    can_swap,
    copy,
    distance,
    move_change,
    partner_at,
    propose,
    relocate,
    swap,
    swap_change,
)
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel

DOUBLINGS = 4
SCANNED = 4096
TIE = 1e-12


class Judge(NamedTuple):
    """Hold what moves are judged by.

    `out[e]` and `back[e]` are the traffic to and from each neighbour, as in Instance but never merged. For loads `ways`
    are the routes and `scale[l]` what a unit of traffic adds to a link's load over bandwidth; for the makespan
    `order[n]` lists all tasks as they run, empty for loads. Values are in units of `unit`, a cost counts `share` times,
    and no move may cost more than `most`, which is what crossing disconnected parts does.
    """

    out: FloatArray
    back: FloatArray
    ways: RouteArrays
    scale: FloatArray
    order: IntArray
    unit: float
    share: float
    most: float


class Books(NamedTuple):
    """Hold what follows from a mapping: `load[l]` of links, `finish[n]` of tasks, `free[m]` when nodes are."""

    load: FloatArray
    finish: FloatArray
    free: FloatArray


@kernel
def power(load: float) -> float:
    """Return the high power of a load."""
    for _ in range(DOUBLINGS):
        load *= load
    return load


@kernel
def root(total: float) -> float:
    """Return the load that has this high power."""
    load = max(total, 0.0)
    for _ in range(DOUBLINGS):
        load = np.sqrt(load)
    return load


@inner_kernel
def add_load(judge: Judge, books: Books, link: int, volume: float) -> float:
    """Add to the load of a link and return by how much that raises the sum of high powers."""
    before = books.load[link]
    books.load[link] = before + volume * judge.scale[link]
    return float(power(books.load[link]) - power(before))


@kernel
def add_transfer(judge: Judge, books: Books, s: int, t: int, volume: float) -> float:
    """Add a transfer from node s to node t to the loads and return the rise of the sum; O(hops)."""
    ways, rise = judge.ways, 0.0
    if ways.kind == 2:
        while t != s:
            link = ways.table[s, t]
            rise += add_load(judge, books, link, volume)
            t = ways.ends[link] - t
    elif ways.kind == 1:
        for level in range(ways.table.shape[1]):
            a, b = ways.table[s, level], ways.table[t, level]
            if a != b:
                rise += add_load(judge, books, a, volume) + add_load(judge, books, b, volume)
    else:
        stride = 1
        for axis in range(len(ways.shape) - 1, -1, -1):
            x, y = ways.table[s, axis], ways.table[t, axis]
            rise += add_along_axis(judge, books, axis, (s - x * stride, stride, x, y), volume)
            s += (y - x) * stride
            stride *= ways.shape[axis]
    return rise


@inner_kernel
def add_along_axis(judge: Judge, books: Books, axis: int, line: tuple[int, int, int, int], volume: float) -> float:
    """Add a transfer along one axis to the loads and return the rise of the sum.

    The line has its first node, its stride, and where the transfer begins and ends on it.
    """
    start, stride, x, y = line
    extent, first, rise = judge.ways.shape[axis], axis * len(judge.ways.table) + start, 0.0
    up = x < y
    if judge.ways.wrap[axis] != 0:
        up = 2 * (y - x if up else y - x + extent) <= extent
    while x != y:
        if up:
            rise += add_load(judge, books, first + x * stride, volume)
            x = x + 1 if x + 1 < extent else 0
        else:
            x = x - 1 if x > 0 else extent - 1
            rise += add_load(judge, books, first + x * stride, volume)
    return rise


@kernel
def add_task(inst: Instance, judge: Judge, books: Books, place: IntArray, t: int, skip: int, sign: float) -> float:
    """Add the transfers of task t, but those with task `skip`, `sign` times; return the rise of the sum."""
    rise = 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        u = inst.indices[e]
        p, q = place[t], place[u]
        if u == skip or p == q:
            continue
        if judge.out[e] != 0.0:
            rise += add_transfer(judge, books, p, q, sign * judge.out[e])
        if judge.back[e] != 0.0:
            rise += add_transfer(judge, books, q, p, sign * judge.back[e])
    return rise


@kernel
def reset_loads(inst: Instance, judge: Judge, books: Books, place: IntArray) -> float:
    """Set all loads anew and return the sum of their high powers; O(edges hops + links)."""
    books.load[:] = 0.0
    total = 0.0
    for t in range(len(place)):
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            p, q = place[t], place[inst.indices[e]]
            if p != q and judge.out[e] != 0.0:
                total += add_transfer(judge, books, p, q, judge.out[e])
    return total


@kernel
def largest_load(books: Books) -> float:
    """Return the largest load; O(links)."""
    most = 0.0
    for load in books.load:
        most = max(most, load)
    return most


@kernel
def makespan_of(inst: Instance, judge: Judge, books: Books, place: IntArray) -> float:
    """Return the makespan of a mapping; O(n + edges)."""
    books.free[:] = 0.0
    last = 0.0
    for t in judge.order:
        p = place[t]
        begin = books.free[p]
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            if judge.back[e] != 0.0:
                u = inst.indices[e]
                begin = max(begin, books.finish[u] + judge.back[e] * distance(inst, place[u], p))
        books.finish[t] = begin + inst.work[t] * inst.price[p]
        books.free[p] = books.finish[t]
        last = max(last, books.finish[t])
    return last / judge.unit


@kernel
def cost_rise(inst: Instance, state: State, fixed: IntArray, judge: Judge, t: int, q: int, u: int) -> float:
    """Return by how much a swap of tasks t and u, or a relocation of t to q, raises the cost; inf if it is illegal."""
    if u >= 0:
        if not can_swap(inst, state, fixed, t, u):
            return np.inf
        extra = swap_change(inst, state.place, t, u)
    else:
        if q == state.place[t] or not can_move(inst, state, t, q):
            return np.inf
        extra = move_change(inst, state.place, t, q, -1)
    return extra if extra <= judge.most else np.inf


@kernel
def make_move(inst: Instance, state: State, judge: Judge, books: Books, t: int, q: int, u: int) -> float:
    """Swap tasks t and u, or relocate t to q where u is -1; return the rise of the sum of high powers."""
    loads, rise = len(judge.order) == 0, 0.0
    if loads:
        rise += add_task(inst, judge, books, state.place, t, -1, -1.0)
        if u >= 0:
            rise += add_task(inst, judge, books, state.place, u, t, -1.0)
    if u >= 0:
        swap(inst, state, t, u)
    else:
        relocate(inst, state, t, q)
    if loads:
        rise += add_task(inst, judge, books, state.place, t, -1, 1.0)
        if u >= 0:
            rise += add_task(inst, judge, books, state.place, u, t, 1.0)
    return rise


@kernel
def keep_if_better(
    state: State, best: IntArray, value: float, level: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Copy the mapping into `best[n]` if it is better by value, then by cost; return the level, see anneal_by."""
    current, lowest, cheapest = level
    if value < lowest * (1 - TIE) or (value <= lowest * (1 + TIE) and current < cheapest):
        copy(state.place, best)
        return current, value, current
    return level


@kernel
def anneal_by(
    inst: Instance,
    state: State,
    fixed: IntArray,
    judge: Judge,
    books: Books,
    best: IntArray,
    heats: FloatArray,
    moves: int,
    seed: int,
    level: tuple[float, float, float],
) -> tuple[float, float, float]:
    """Anneal `moves` moves at each of the temperatures `heats`, keeping the best mapping seen in `best[n]`.

    `level` is the cost change of the state since the start, then value and cost change of `best`; the new level is
    returned. Beyond 4,096 links the largest load is looked up once a temperature instead of when it may be the lowest.
    """
    np.random.seed(seed)
    loads, links = len(judge.order) == 0, len(books.load)
    total = reset_loads(inst, judge, books, state.place) if loads else makespan_of(inst, judge, books, state.place)
    score = root(total) if loads else total
    for heat in heats:
        for _ in range(moves):
            t = inst.movable[np.random.randint(len(inst.movable))]
            q = propose(inst, state, t)
            p, u = state.place[t], partner_at(inst, state, t, q)
            extra = cost_rise(inst, state, fixed, judge, t, q, u)
            if extra == np.inf:
                continue
            rise = make_move(inst, state, judge, books, t, q, u)
            after = total + rise if loads else makespan_of(inst, judge, books, state.place)
            smooth = root(after) if loads else after
            change = smooth - score + judge.share * extra
            if not (change <= 0.0 or np.random.random() < np.exp(-change / heat)):
                make_move(inst, state, judge, books, t, p, u)
                continue
            total, score, level = after, smooth, (level[0] + extra, level[1], level[2])
            if not loads or (links <= SCANNED and score <= level[1] * root(links)):
                level = keep_if_better(state, best, largest_load(books) if loads else total, level)
        level = keep_if_better(state, best, largest_load(books) if loads else total, level)
    return level
