"""Compiled annealing of one-to-one mappings on local fields: a swap is priced in O(1) and made in O(m) a task.

Tasks are padded with idle ones to as many as nodes, so that a mapping is a permutation. Matrices under change are kept
in the order of the tasks' present nodes, so that rows are scanned and updated contiguously.
"""

import math
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import inner_kernel, kernel

# Exponential variates drawn once and reused from random offsets: drawing one a pair would cost more than pricing it.
# The generator has 31 bits, of which the top 13 give an offset.
DRAWS, DRAW_BITS = 8192, 18
# What a sweep counts as work, about a nanosecond a unit: m + 32 for a row of m prices, and m / 8 for each row of the
# field that a swap changes and for 12 more. Counted, not timed, so that answers are the same on every machine.
ROW, EDGE, VECTOR_BITS = 32, 12, 3


class Fields(NamedTuple):
    """Hold m nodes, m tasks of which the first `tasks` are not idle, and a mapping of them under change.

    Fixed are `flow[c, m, m]` and `away[c, m, m]` with zero diagonals, c = 1 pair of symmetric matrices or a second one
    of antisymmetric ones, and `bias[m, m]`, the cost of a task on a node by itself (inf: not allowed). With task u on
    node `place[u]`, `apart[c, u, v]` is the distance between the nodes of u and v, `field[u, v]` what u would cost on
    the node of v with all others where they are, and `own[u]` = `field[u, u]`. `step[m]` and `change[m]` are scratch.
    """

    tasks: int
    flow: FloatArray
    away: FloatArray
    bias: FloatArray
    place: IntArray
    apart: FloatArray
    field: FloatArray
    own: FloatArray
    step: FloatArray
    change: FloatArray


class Schedule(NamedTuple):
    """Hold a schedule: with a share x of `work` left the temperature is `cold` exp(`fall` x).

    `noise[DRAWS + m]` are exponential variates; `tolerance` is the smallest gain that counts.
    """

    cold: float
    fall: float
    work: int
    tolerance: float
    noise: FloatArray


class AnnealState(NamedTuple):
    """Hold how far an annealing has come, to be taken up again.

    `cost[1]` is the present cost, `lowest_cost[1]` the lowest one, of the mapping `lowest[m]`; `rng_state[1]` is that
    of a linear congruential generator, `work_done[1]` the work so far, and at `pause_at[1]` it stops for a while. A
    unit of work is about a nanosecond.
    """

    cost: FloatArray
    lowest_cost: FloatArray
    lowest: IntArray
    rng_state: IntArray
    work_done: IntArray
    pause_at: IntArray


def anneal_state(order: IntArray, seed: int) -> AnnealState:
    """Return the state before an annealing from an order[m] begins; costs are relative to that of the order."""
    zeros = np.zeros(2)
    return AnnealState(
        cost=zeros[:1],
        lowest_cost=zeros[1:],
        lowest=order.copy(),
        rng_state=np.array([seed]),
        work_done=np.zeros(1, np.int64),
        pause_at=np.zeros(1, np.int64),
    )


@kernel
def recompute(fields: Fields) -> None:
    """Compute distances and fields from scratch for the present `place`; O(tasks^2 m)."""
    place, size = fields.place, len(fields.place)
    # Distances are copied into the order of the tasks' nodes, so that the sums below read them contiguously.
    for c in range(len(fields.away)):
        for u in range(size):
            here, row = fields.away[c, place[u]], fields.apart[c, u]
            for v in range(size):
                row[v] = here[place[v]]
    # The local field of u on the node of v: what u costs there by itself, and with every other task where it is.
    for u in range(size):
        field, bias = fields.field[u], fields.bias[u]
        for v in range(size):
            field[v] = bias[place[v]]
        for c in range(len(fields.flow)):
            for t in range(fields.tasks):
                volume = fields.flow[c, t, u]
                if volume != 0.0:
                    row = fields.apart[c, t]
                    for v in range(size):
                        field[v] += volume * row[v]
        fields.own[u] = field[u]


@kernel
def price(fields: Fields, u: int, first: int) -> None:
    """Put the cost change of swapping task u with every task v from the `first` on into `change[v]`; O(m)."""
    # Price of a swap from the fields in O(1): each task at the other's node, less both at their own, and their own edge
    # put back, which both fields count as length 0 (Taillard 1991, the O(1) update of robust tabu search, restated).
    # Loops over slices, whose indices begin at 0, are what the compiler turns into vector instructions.
    change, own, row = fields.change[first:], fields.own[first:], fields.field[u, first:]
    column, volume, length = fields.field[first:, u], fields.flow[0, u, first:], fields.apart[0, u, first:]
    here = fields.own[u]
    for v in range(len(change)):
        change[v] = column[v]
    for v in range(len(change)):
        change[v] += row[v] - own[v] - here + 2.0 * volume[v] * length[v]


@inner_kernel
def swap(fields: Fields, u: int, v: int) -> int:
    """Swap tasks u and v and return how many rows of the field changed; O(m) for each."""
    place, field, own, step, size = fields.place, fields.field, fields.own, fields.step, len(fields.place)
    # Columns follow the nodes: what every task would cost on the two nodes changes columns.
    place[u], place[v] = place[v], place[u]
    for t in range(size):
        row = field[t]
        row[u], row[v] = row[v], row[u]
    changed = 0
    for c in range(len(fields.flow)):
        apart, gain, loss = fields.apart[c], fields.flow[c, u], fields.flow[c, v]
        here, there = apart[u], apart[v]
        for t in range(size):
            here[t], there[t] = there[t], here[t]
        for t in range(size):
            row = apart[t]
            row[u], row[v] = row[v], row[u]
        # Rank-1 update: to a task t with traffic, u and v come closer or go farther by the same step, opposite in sign.
        for t in range(size):
            step[t] = here[t] - there[t]
        for t in range(fields.tasks):
            volume = gain[t] - loss[t]
            if volume != 0.0:
                changed += 1
                row = field[t]
                for node in range(size):
                    row[node] += volume * step[node]
    for t in range(size):
        own[t] = field[t, t]
    return changed


@inner_kernel
def sweep(fields: Fields, schedule: Schedule, state: AnnealState, temperature: float) -> int:
    """Offer every pair of tasks a swap in order, and return how many were made; O(tasks m) and that of the swaps.

    One is made where it costs less than an exponential variate times the temperature, which is the rule of Metropolis.
    """
    size, noise, swaps = len(fields.place), schedule.noise, 0
    for u in range(fields.tasks):
        # Connolly 1990: pairs in order instead of at random, so that none is missed at the lowest temperature.
        state.rng_state[0] = (state.rng_state[0] * 1103515245 + 12345) & 0x7FFFFFFF
        first, offset = u + 1, state.rng_state[0] >> DRAW_BITS
        while first < size:
            price(fields, u, first)
            state.work_done[0] += size - first + ROW
            # Most rows hold no swap that is accepted: count first, which is vectorised, and look for the place if any.
            accepted, change, draw = 0, fields.change[first:], noise[offset + first :]
            for v in range(len(change)):
                accepted += change[v] < temperature * draw[v] - schedule.tolerance
            if accepted == 0:
                break
            while not fields.change[first] < temperature * noise[offset + first] - schedule.tolerance:
                first += 1
            state.cost[0] += fields.change[first]
            state.work_done[0] += ((swap(fields, u, first) + EDGE) * size >> VECTOR_BITS) + ROW
            swaps += 1
            first += 1
            if state.cost[0] < state.lowest_cost[0] - schedule.tolerance:
                state.lowest_cost[0] = state.cost[0]
                for t in range(size):
                    state.lowest[t] = fields.place[t]
    return swaps


@kernel
def anneal(fields: Fields, schedule: Schedule, state: AnnealState) -> None:
    """Sweep at falling temperatures until the work of the schedule or the slice is done, at 0 until no swap gains.

    Source: the sequential annealer of D. T. Connolly, doi:10.1016/0377-2217(90)90301-Q, here with equal work at every
    temperature instead of equally many sweeps.
    """
    while state.work_done[0] < state.pause_at[0]:
        # The temperature falls with the work, as a sweep at a high temperature does many more swaps than one at a low.
        left = max(1.0 - state.work_done[0] / schedule.work, 0.0)
        temperature = schedule.cold * math.exp(schedule.fall * left)
        if sweep(fields, schedule, state, temperature) == 0 and temperature == 0.0:
            state.work_done[0] = schedule.work
            break
