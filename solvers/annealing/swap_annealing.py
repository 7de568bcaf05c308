"""Compiled annealing by swaps: tasks change places with, or move next to, where their neighbours are.

Capacity is exact throughout, unlike at boundaries under a soft balance.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.boundary_annealing import CsrInstance, relocation_change
from tiger.solvers.annealing.moves import can_move, can_swap, relocate, swap
from tiger.solvers.generator import Generator, draw_below, draw_uniform, is_accepted
from tiger.solvers.instance import Instance, State
from tiger.solvers.kernel import kernel


class SwapSchedule(NamedTuple):
    """Hold what one call does: `proposals` at each of `temperatures[h]`, from a generator.

    `fixed[n]` is 1 for a task that may not move; moves are between nodes of different domains `label[m]`. A part
    `near_share` of the proposals goes to a node near the neighbour's instead of that itself; on a shared node the
    partner is the one of `partners` random tasks whose move costs least.
    """

    fixed: IntArray
    label: IntArray
    temperatures: FloatArray
    generator: Generator
    proposals: int
    near_share: float
    partners: int


@kernel
def anneal_swaps(inst: Instance, graph: CsrInstance, state: State, schedule: SwapSchedule) -> float:
    """Anneal by moves to the node of a neighbour, or near it, each a swap where that is full; return the cost change.

    O(degree) a proposal.
    """
    label, generator = schedule.label, schedule.generator
    change = 0.0
    for step in range(len(schedule.temperatures)):
        temperature = schedule.temperatures[step]
        at = draw_below(generator, max(len(inst.movable), 1))
        for _ in range(schedule.proposals):
            # Proposal near a neighbour: a random swap of a large sparse mapping hardly ever gains. Tasks take turns, as
            # at boundaries.
            at = at + 1 if at + 1 < len(inst.movable) else 0
            t = inst.movable[at]
            degree = graph.indptr[t + 1] - graph.indptr[t]
            if degree == 0:
                continue
            p, q = state.place[t], state.place[graph.indices[graph.indptr[t] + draw_below(generator, degree)]]
            if draw_uniform(generator) < schedule.near_share:
                near = inst.near[q, draw_below(generator, inst.near.shape[1])]
                q = near if near >= 0 else q
            if label[p] == label[q]:
                continue
            uniform = draw_uniform(generator)
            # A slot that is free on a shared node is taken half the time, so that swaps are still tried there.
            u, cost, drawn = -1, np.inf, 1 if inst.group_of[t] >= 0 else min(schedule.partners, state.occupied[q])
            if inst.group_of[t] < 0 and state.occupied[q] < inst.slots[q] and draw_uniform(generator) < 0.5:
                drawn = 0
            for _ in range(drawn):
                if inst.group_of[t] >= 0:
                    other = state.occupant[inst.group_of[t], q]
                else:
                    other = state.slot_task[state.slot_start[q] + draw_below(generator, state.occupied[q])]
                if other >= 0:
                    gain = relocation_change(graph, state.place, other, p, t)
                    if gain < cost:
                        u, cost = other, gain
            if u < 0:
                cost = relocation_change(graph, state.place, t, q, -1)
                if is_accepted(cost, temperature, uniform) and can_move(inst, state, t, q):
                    relocate(inst, state, t, q)
                    change += cost
                continue
            # The edge between the two tasks is as long after a swap as before, so both changes leave it out.
            cost += relocation_change(graph, state.place, t, q, u)
            if is_accepted(cost, temperature, uniform) and can_swap(inst, state, schedule.fixed, t, u):
                swap(inst, state, t, u)
                change += cost
    return change
