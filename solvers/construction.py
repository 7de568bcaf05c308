"""Compiled greedy construction: one task after another, each on the node where it costs least."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import kernel
from tiger.solvers.moves import can_move, distance


@kernel
def heaviest(inst: Instance, state: State, pull: FloatArray, weight: FloatArray) -> int:
    """Return the movable task without a place with most `pull[n]`, then most `weight[n]`, then the first; O(n)."""
    best = -1
    for t in inst.movable:
        if state.place[t] < 0 and (
            best < 0 or pull[t] > pull[best] or (pull[t] == pull[best] and weight[t] > weight[best])
        ):
            best = t
    return best


@kernel
def cheapest(inst: Instance, state: State, t: int) -> int:
    """Return the node where task t costs least beside the tasks that have a place, -1 if none is open; O(m degree)."""
    best, node = np.inf, -1
    for q in inst.hosts:
        if not can_move(inst, state, t, q):
            continue
        cost = inst.work[t] * inst.price[q] + inst.loop[t] * distance(inst, q, q)
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            r = state.place[inst.indices[e]]
            if cost >= best:
                break
            if r >= 0:
                cost += inst.out[e] * distance(inst, q, r)
                if inst.back[e] != 0.0:
                    cost += inst.back[e] * distance(inst, r, q)
        if cost < best:
            best, node = cost, q
    return node


@kernel
def construct(inst: Instance, state: State, pull: FloatArray, weight: FloatArray, count: int) -> bool:
    """Place `count` more tasks, each time the heaviest on its cheapest node; tell whether all found one.

    Tasks without a place are at -1 and appear nowhere else in the state, whose seats are not kept up. `pull[n]` is the
    traffic with the tasks placed so far.
    """
    for _ in range(count):
        t = heaviest(inst, state, pull, weight)
        q = cheapest(inst, state, t)
        if q < 0:
            return False
        state.place[t] = q
        state.held[q] += 1
        state.used[q] += inst.memory[t]
        if inst.group_of[t] >= 0:
            state.occupant[inst.group_of[t], q] = t
        for e in range(inst.indptr[t], inst.indptr[t + 1]):
            pull[inst.indices[e]] += inst.out[e] + inst.back[e]
    return True
