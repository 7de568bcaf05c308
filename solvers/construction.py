"""Compiled greedy construction: one task after another, each on the node where it costs least."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.moves import can_move, distance
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import inner_kernel, kernel


class Contest(NamedTuple):
    """Hold tasks without a place in a contest for the next turn.

    `pull[n]` is the traffic of every task with those placed so far, `weight[n]` all its traffic. `winner[n + t]` is
    task t while it waits, else -1; `winner[k]` the better one of `winner[2 k]` and `winner[2 k + 1]`, so that
    `winner[1]` is the next task.
    """

    pull: FloatArray
    weight: FloatArray
    winner: IntArray


class Field(NamedTuple):
    """Hold what the task whose turn it is would cost.

    `hosts[: left[0]]` are the hosts that may have room, in ascending order, `cost[m]` what its traffic costs there.
    On a grid `point[m, axes]` are coordinates and `ramp` sums along one axis after the other, else of size 1.
    `mirrored` is 1 where distances are the same both ways.
    """

    hosts: IntArray
    left: IntArray
    cost: FloatArray
    point: IntArray
    ramp: FloatArray
    mirrored: int


@kernel
def stronger(contest: Contest, a: int, b: int) -> int:
    """Return the task with more pull, then more weight, then the lower number; -1 stands for none."""
    if a < 0 or b < 0:
        return max(a, b)
    if contest.pull[a] != contest.pull[b]:
        return a if contest.pull[a] > contest.pull[b] else b
    if contest.weight[a] != contest.weight[b]:
        return a if contest.weight[a] > contest.weight[b] else b
    return min(a, b)


@kernel
def settle(contest: Contest) -> None:
    """Settle all matches; O(n)."""
    for k in range(len(contest.weight) - 1, 0, -1):
        contest.winner[k] = stronger(contest, contest.winner[2 * k], contest.winner[2 * k + 1])


@inner_kernel
def replay(contest: Contest, t: int) -> None:
    """Settle the matches on the way of task t again; O(log n)."""
    k = (len(contest.weight) + t) // 2
    while k > 0:
        contest.winner[k] = stronger(contest, contest.winner[2 * k], contest.winner[2 * k + 1])
        k //= 2


@inner_kernel
def sum_grid(inst: Instance, state: State, field: Field, t: int) -> None:
    """Enter what the traffic of task t costs on every host of a grid, axis by axis; O(degree extents + m axes)."""
    field.ramp[:] = 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        r, begin = state.place[inst.indices[e]], 0
        for axis in range(len(inst.shape) if r >= 0 else 0):
            extent = inst.shape[axis]
            for x in range(extent):
                away = abs(x - field.point[r, axis])
                if inst.steps[axis] != 0.0:
                    away = min(away, extent - away)
                field.ramp[begin + x] += inst.out[e] * away * inst.steps[-1]
            begin += extent
    for k in range(field.left[0]):
        q, begin, cost = field.hosts[k], 0, 0.0
        for axis in range(len(inst.shape)):
            cost += field.ramp[begin + field.point[q, axis]]
            begin += inst.shape[axis]
        field.cost[q] = cost


@inner_kernel
def sum_rows(inst: Instance, state: State, field: Field, t: int) -> None:
    """Enter what the traffic of task t costs on every host, neighbour by neighbour; O(m degree)."""
    field.cost[:] = 0.0
    for e in range(inst.indptr[t], inst.indptr[t + 1]):
        r = state.place[inst.indices[e]]
        if r < 0:
            continue
        if inst.kind == 0 and field.mirrored != 0:
            for q in range(len(field.cost)):
                field.cost[q] += inst.out[e] * inst.table[r, q]
            continue
        for k in range(field.left[0]):
            q = field.hosts[k]
            field.cost[q] += inst.out[e] * distance(inst, q, r)
            if inst.back[e] != 0.0:
                field.cost[q] += inst.back[e] * distance(inst, r, q)


@kernel
def cheapest(inst: Instance, state: State, field: Field, t: int) -> int:
    """Return the host where task t costs least beside the tasks that have a place, -1 if none is open.

    Hosts that are full are dropped on the way.
    """
    best, node, kept = np.inf, -1, 0
    for k in range(field.left[0]):
        q = field.hosts[k]
        if state.held[q] >= (inst.slots[q] if inst.group_of[t] < 0 else len(state.occupant)):
            continue
        field.hosts[kept] = q
        kept += 1
        cost = field.cost[q] + inst.work[t] * inst.price[q]
        if inst.loop[t] != 0.0:
            cost += inst.loop[t] * distance(inst, q, q)
        if cost < best and can_move(inst, state, t, q):
            best, node = cost, q
    field.left[0] = kept
    return node


@kernel
def construct(inst: Instance, state: State, contest: Contest, field: Field, count: int) -> bool:
    """Place `count` more tasks, each time the next one on its cheapest node; return whether all found one.

    Tasks without a place are at -1 and appear nowhere else in the state, whose seats are not kept up.
    """
    for _ in range(count):
        t = contest.winner[1]
        if inst.kind == 1:
            sum_grid(inst, state, field, t)
        else:
            sum_rows(inst, state, field, t)
        q = cheapest(inst, state, field, t)
        if q < 0:
            return False
        state.place[t] = q
        state.held[q] += 1
        state.used[q] += inst.memory[t]
        if inst.group_of[t] >= 0:
            state.occupant[inst.group_of[t], q] = t
        contest.winner[len(contest.weight) + t] = -1
        replay(contest, t)
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            u = inst.indices[e]
            contest.pull[u] += inst.out[e] + inst.back[e]
            if state.place[u] < 0:
                replay(contest, u)
    return True
