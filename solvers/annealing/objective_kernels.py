"""Compiled annealing towards another objective than the cost: max link load, or makespan.

A move is accepted by what it does to the objective, and by a share of what it does to the cost, which leads across
plateaus and settles ties. For loads the maximum is smoothed to a norm of high order, so that relief of the second
busiest link counts as well.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.objective_arrays import RouteArrays
from tiger.model.rounding import TIE
from tiger.solvers.annealing.cost_changes import distance, move_change, swap_change
from tiger.solvers.annealing.moves import can_move, can_swap, copy, partner_at, propose, relocate, swap
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel

# Squarings of a load: the norm of order 16 of 16 loads exceeds the largest of them by 19 % at most.
DOUBLINGS = 4
# Links up to which the largest load is looked up at every move that may be the best so far.
SCANNED = 4096


class MoveObjective(NamedTuple):
    """Hold what moves are accepted by.

    `out[e]` and `back[e]` are the traffic to and from each neighbour, as in Instance but never merged. For loads
    `routes` finds their links, and `scale[l]` is what a unit of traffic adds to a link's load over bandwidth; for the
    makespan `order[n]` lists all tasks as they run, empty for loads. Values are in units of `unit`, a cost counts
    `share` times, and no move may cost more than `most`, which is what crossing disconnected parts does.
    """

    out: FloatArray
    back: FloatArray
    routes: RouteArrays
    scale: FloatArray
    order: IntArray
    unit: float
    share: float
    most: float


class Evaluation(NamedTuple):
    """Hold what follows from a mapping: `load[l]` of links, `finish[n]` of tasks, `free[m]` when nodes are."""

    load: FloatArray
    finish: FloatArray
    free: FloatArray


class CostRecord(NamedTuple):
    """Hold the cost change of the state since the start, and the value and cost change of the best mapping."""

    cost_change: float
    value: float
    best_cost_change: float


@inner_kernel
def power(load: float) -> float:
    """Return the high power of a load."""
    for _ in range(DOUBLINGS):
        load *= load
    return load


@inner_kernel
def root(total: float) -> float:
    """Return the load that has this high power."""
    load = max(total, 0.0)
    for _ in range(DOUBLINGS):
        load = np.sqrt(load)
    return load


@inner_kernel
def add_load(objective: MoveObjective, values: Evaluation, link: int, volume: float) -> float:
    """Add to the load of a link and return by how much that raises the sum of high powers."""
    before = values.load[link]
    values.load[link] = before + volume * objective.scale[link]
    return float(power(values.load[link]) - power(before))


@inner_kernel
def add_transfer(objective: MoveObjective, values: Evaluation, s: int, t: int, volume: float) -> float:
    """Add a transfer from node s to node t to the loads and return the rise of the sum; O(hops)."""
    routes, rise = objective.routes, 0.0
    # Shortest paths by table: the link to take next on the way to t, and its other end.
    if routes.kind == 2:
        while t != s:
            link = routes.table[s, t]
            rise += add_load(objective, values, link, volume)
            t = routes.ends[link] - t
    # Trees: up from the one and down to the other, a link a level, where they are in different subtrees.
    elif routes.kind == 1:
        for level in range(routes.table.shape[1]):
            a, b = routes.table[s, level], routes.table[t, level]
            if a != b:
                rise += add_load(objective, values, a, volume) + add_load(objective, values, b, volume)
    # Grids: axis after axis, the last first (dimension-ordered routing, W. J. Dally, C. L. Seitz 1987).
    else:
        stride = 1
        for axis in range(len(routes.shape) - 1, -1, -1):
            x, y = routes.table[s, axis], routes.table[t, axis]
            rise += add_along_axis(objective, values, axis, (s - x * stride, stride, x, y), volume)
            s += (y - x) * stride
            stride *= routes.shape[axis]
    return rise


@inner_kernel
def add_along_axis(
    objective: MoveObjective, values: Evaluation, axis: int, line: tuple[int, int, int, int], volume: float
) -> float:
    """Add a transfer along one axis to the loads and return the rise of the sum.

    The line has its first node, its stride, and where the transfer begins and ends on it.
    """
    start, stride, x, y = line
    extent, first, rise = objective.routes.shape[axis], axis * len(objective.routes.table) + start, 0.0
    # On a cycle the shorter way round, up where both are as long.
    up = x < y
    if objective.routes.wrap[axis] != 0:
        up = 2 * (y - x if up else y - x + extent) <= extent
    while x != y:
        if up:
            rise += add_load(objective, values, first + x * stride, volume)
            x = x + 1 if x + 1 < extent else 0
        else:
            x = x - 1 if x > 0 else extent - 1
            rise += add_load(objective, values, first + x * stride, volume)
    return rise


@inner_kernel
def add_task(
    inst: Instance, objective: MoveObjective, values: Evaluation, place: IntArray, t: int, skip: int, sign: float
) -> float:
    """Add the transfers of task t, but those with task `skip`, `sign` times; return the rise of the sum."""
    rise = 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        u = inst.indices[e]
        p, q = place[t], place[u]
        if u == skip or p == q:
            continue
        if objective.out[e] != 0.0:
            rise += add_transfer(objective, values, p, q, sign * objective.out[e])
        if objective.back[e] != 0.0:
            rise += add_transfer(objective, values, q, p, sign * objective.back[e])
    return rise


@kernel
def reset_loads(inst: Instance, objective: MoveObjective, values: Evaluation, place: IntArray) -> float:
    """Set all loads again and return the sum of their high powers; O(edges hops + links)."""
    values.load[:] = 0.0
    total = 0.0
    for t in range(len(place)):
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            p, q = place[t], place[inst.indices[e]]
            if p != q and objective.out[e] != 0.0:
                total += add_transfer(objective, values, p, q, objective.out[e])
    return total


@kernel
def largest_load(values: Evaluation) -> float:
    """Return the largest load; O(links)."""
    most = 0.0
    for load in values.load:
        most = max(most, load)
    return most


@kernel
def makespan_of(inst: Instance, objective: MoveObjective, values: Evaluation, place: IntArray) -> float:
    """Return the makespan of a mapping; O(n + edges)."""
    values.free[:] = 0.0
    last = 0.0
    # List scheduling in a fixed order: a task begins when its node is free and its inputs have come.
    for t in objective.order:
        p = place[t]
        begin = values.free[p]
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            if objective.back[e] != 0.0:
                u = inst.indices[e]
                begin = max(begin, values.finish[u] + objective.back[e] * distance(inst, place[u], p))
        values.finish[t] = begin + inst.work[t] * inst.price[p]
        values.free[p] = values.finish[t]
        last = max(last, values.finish[t])
    return last / objective.unit


@inner_kernel
def cost_rise(inst: Instance, state: State, fixed: IntArray, objective: MoveObjective, t: int, q: int, u: int) -> float:
    """Return by how much a swap of tasks t and u, or a relocation of t to q, raises the cost; inf if it is illegal."""
    if u >= 0:
        if not can_swap(inst, state, fixed, t, u):
            return np.inf
        extra = swap_change(inst, state.place, t, u)
    else:
        if q == state.place[t] or not can_move(inst, state, t, q):
            return np.inf
        extra = move_change(inst, state.place, t, q, -1)
    return extra if extra <= objective.most else np.inf


@inner_kernel
def make_move(
    inst: Instance, state: State, objective: MoveObjective, values: Evaluation, t: int, q: int, u: int
) -> float:
    """Swap tasks t and u, or relocate t to q where u is -1; return the rise of the sum of high powers."""
    # Transfers of both tasks leave the links, the tasks move, and the transfers come back; their own counts once.
    loads, rise = len(objective.order) == 0, 0.0
    if loads:
        rise += add_task(inst, objective, values, state.place, t, -1, -1.0)
        if u >= 0:
            rise += add_task(inst, objective, values, state.place, u, t, -1.0)
    if u >= 0:
        swap(inst, state, t, u)
    else:
        relocate(inst, state, t, q)
    if loads:
        rise += add_task(inst, objective, values, state.place, t, -1, 1.0)
        if u >= 0:
            rise += add_task(inst, objective, values, state.place, u, t, 1.0)
    return rise


@inner_kernel
def keep_if_better(state: State, best: IntArray, value: float, level: CostRecord) -> CostRecord:
    """Copy the mapping into `best[n]` if it is better by value, then by cost; return the new level."""
    tied = value <= level.value * (1 + TIE) and level.cost_change < level.best_cost_change
    if value < level.value * (1 - TIE) or tied:
        copy(state.place, best)
        return CostRecord(level.cost_change, value, level.cost_change)
    return level


@kernel
def anneal_by(
    inst: Instance,
    state: State,
    fixed: IntArray,
    objective: MoveObjective,
    values: Evaluation,
    best: IntArray,
    temperatures: FloatArray,
    moves: int,
    seed: int,
    level: CostRecord,
) -> CostRecord:
    """Anneal, leave the best mapping in `best`, and return its record.

    Beyond 4,096 links the largest load is looked up once a temperature instead of when it may be the lowest.

    :param state: the mapping to start from, changed in place
    :param fixed: 1 for tasks [n] that stay
    :param values: loads and terms of the objective at the state
    :param best: a mapping [n], replaced by better ones
    :param moves: tried at each of the temperatures
    :param level: the record of `best` and of the state so far
    """
    np.random.seed(seed)
    loads, links = len(objective.order) == 0, len(values.load)
    total = (
        reset_loads(inst, objective, values, state.place)
        if loads
        else makespan_of(inst, objective, values, state.place)
    )
    score = root(total) if loads else total
    for temperature in temperatures:
        for _ in range(moves):
            t = inst.movable[np.random.randint(len(inst.movable))]
            q = propose(inst, state, t)
            p, u = state.place[t], partner_at(inst, state, t, q)
            extra = cost_rise(inst, state, fixed, objective, t, q, u)
            if extra == np.inf:
                continue
            # The move is made to see what it does to the objective, and undone if it is refused.
            rise = make_move(inst, state, objective, values, t, q, u)
            after = total + rise if loads else makespan_of(inst, objective, values, state.place)
            smooth = root(after) if loads else after
            # Metropolis' rule on the objective and, in a small share, on the cost, which leads across plateaus.
            change = smooth - score + objective.share * extra
            if not (change <= 0.0 or np.random.random() < np.exp(-change / temperature)):
                make_move(inst, state, objective, values, t, p, u)
                continue
            total, score = after, smooth
            level = CostRecord(level.cost_change + extra, level.value, level.best_cost_change)
            # The norm is at most this many times the maximum: only below that can the largest load be a new lowest one.
            if not loads or (links <= SCANNED and score <= level.value * root(links)):
                level = keep_if_better(state, best, largest_load(values) if loads else total, level)
        level = keep_if_better(state, best, largest_load(values) if loads else total, level)
    return level
