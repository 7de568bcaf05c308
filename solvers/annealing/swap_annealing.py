"""Compiled trading of places: tasks swap with, or move next to, where their neighbours are, at exact capacity."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.boundary_annealing import Web, relocation_change
from tiger.solvers.annealing.moves import can_move, can_swap, relocate, swap
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import kernel


@kernel
def trade(inst: Instance, web: Web, state: State, marks: tuple[IntArray, IntArray], plan: FloatArray) -> float:
    """Anneal by moves to the node of a neighbour, or near it, each a swap where that is full; return the cost change.

    A row of `plan[h, 5]` is the heat, the number of proposals, how often a node near the neighbour's is taken instead,
    of how many tasks on a shared node the one that likes best to leave is asked to swap, and the seed. marks[0] says
    which tasks are fixed, and moves are between nodes of different domains, as marks[1] numbers them. O(degree) each.
    """
    fixed, label = marks
    change = 0.0
    for step in range(len(plan)):
        heat, beside, tries = plan[step, 0], plan[step, 2], int(plan[step, 3])
        np.random.seed(int(plan[step, 4]))
        for _ in range(int(plan[step, 1])):
            t = inst.movable[np.random.randint(len(inst.movable))]
            degree = web.indptr[t + 1] - web.indptr[t]
            if degree == 0:
                continue
            p, q = state.place[t], state.place[web.indices[web.indptr[t] + np.random.randint(degree)]]
            if np.random.random() < beside:
                near = inst.near[q, np.random.randint(inst.near.shape[1])]
                q = near if near >= 0 else q
            if label[p] == label[q]:
                continue
            most = -heat * np.log(np.random.random())
            u, cost, drawn = -1, np.inf, 1 if inst.group_of[t] >= 0 else min(tries, state.held[q])
            if inst.group_of[t] < 0 and state.held[q] < inst.slots[q] and np.random.random() < 0.5:
                drawn = 0
            for _ in range(drawn):
                if inst.group_of[t] >= 0:
                    other = state.occupant[inst.group_of[t], q]
                else:
                    other = state.seats[state.seat_start[q] + np.random.randint(state.held[q])]
                if other >= 0:
                    gain = relocation_change(web, state.place, other, p, t)
                    if gain < cost:
                        u, cost = other, gain
            if u < 0:
                cost = relocation_change(web, state.place, t, q, -1)
                if cost <= most and can_move(inst, state, t, q):
                    relocate(inst, state, t, q)
                    change += cost
                continue
            cost += relocation_change(web, state.place, t, q, u)
            if cost <= most and can_swap(inst, state, fixed, t, u):
                swap(inst, state, t, u)
                change += cost
    return change
