"""Compiled annealing of one-to-one mappings: swaps are priced from flows in O(m), or on local fields in O(1).

Tasks are padded with idle ones to as many as nodes, so that a mapping is a permutation. Matrices under change are kept
in the order of the tasks' present nodes, so that rows are scanned and updated contiguously. With fields a swap is
priced in O(1) but made in O(m^2), so that they serve where few swaps are made. They are of single precision and only
propose swaps, whose prices are then computed in double precision.
"""

import math
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.annealing.fixed_sums import sum_steps
from tiger.solvers.annealing.price_lanes import SingleArray, add_products
from tiger.solvers.kernel import inner_kernel, kernel

# Exponential variates drawn once and reused from random offsets: drawing one a pair would cost more than pricing it.
# The generator has 31 bits, of which the top 13 give an offset.
DRAWS, DRAW_BITS = 8192, 18
# What is counted as work, about a nanosecond a unit: counted, not timed, so that answers are the same on every machine.
# PAIR + c m / 4 for a price without fields, 2 m for a swap, ROW + k / 2 for k prices on fields, and (m + WIDE) / 16 for
# each row of the field that a swap changes and for EDGE more.
PAIR, ROW, WIDE, EDGE = 5, 26, 64, 12
# Where more than one in so many rows of the field change, all are changed at once, by which an annealing of bur26a to
# wil100 takes 6 to 20 % less time.
DENSE = 2


class Fields(NamedTuple):
    """Hold m nodes, m tasks of which the first `tasks` are not idle, and a mapping of them under change.

    Fixed are `flow[c, m, m]` and `distances[c, m, m]` with zero diagonals, c = 1 pair of symmetric matrices or a second
    one of antisymmetric ones, and `bias[m, m]`, the cost of a task on a node by itself (inf: not allowed). With task u
    on node `place[u]`, `apart[c, u, v]` is the distance between the nodes of u and v, `field[u, v]` what u would cost
    on the node of v with all others where they are, and `own[u]` = `field[u, u]`. `step[m]`, `volume[m]` and
    `change[m]` are scratch. Rows of `field` and `step` are padded to a multiple of `price_lanes.LANES`.
    """

    tasks: int
    flow: FloatArray
    distances: FloatArray
    bias: FloatArray
    place: IntArray
    apart: FloatArray
    field: SingleArray
    own: SingleArray
    step: SingleArray
    volume: SingleArray
    change: SingleArray


class CoolingSchedule(NamedTuple):
    """Hold a schedule: with a share x of `work` left the temperature is `cold` exp(`fall` x).

    `noise[DRAWS + m]` are exponential variates; `tolerance` is the smallest gain that counts, and `finest` the lowest
    temperature above 0 at which single precision is enough to propose swaps.
    """

    cold: float
    fall: float
    work: int
    tolerance: float
    finest: float
    noise: SingleArray


class AnnealState(NamedTuple):
    """Hold how far an annealing has come, to be taken up again.

    `cost[1]` is the present cost, `lowest_cost[1]` the lowest one, of the mapping `lowest[m]`; `rng_state[1]` is that
    of a linear congruential generator, `work_done[1]` the work so far, and at `pause_at[1]` it stops for a while. A
    unit of work is about a nanosecond. `on_fields[1]` is 1 while fields are kept up to date.
    """

    cost: FloatArray
    lowest_cost: FloatArray
    lowest: IntArray
    rng_state: IntArray
    work_done: IntArray
    pause_at: IntArray
    on_fields: IntArray


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
        on_fields=np.zeros(1, np.int64),
    )


@kernel
def lay_out(fields: Fields) -> None:
    """Compute distances from scratch for the present `place`; O(m^2)."""
    place, size = fields.place, len(fields.place)
    # Distances are copied into the order of the tasks' nodes, so that sums over tasks read them contiguously.
    for c in range(len(fields.distances)):
        for u in range(size):
            here, row = fields.distances[c, place[u]], fields.apart[c, u]
            for v in range(size):
                row[v] = here[place[v]]


@kernel
def recompute(fields: Fields) -> None:
    """Compute fields from scratch for the present `place` and its distances; O(tasks^2 m)."""
    place, size = fields.place, len(fields.place)
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


@inner_kernel
def price_pair(fields: Fields, u: int, v: int) -> float:
    """Return the cost change of swapping tasks u and v, from their flows and distances; O(m)."""
    bias, here, there = fields.bias, fields.place[u], fields.place[v]
    change = bias[u, there] - bias[u, here] + bias[v, here] - bias[v, there]
    # Each task at the other's node, less both at their own, and their own edge put back, which the sum counts with
    # length 0 (R. E. Burkard and F. Rendl 1984, the O(m) price of an exchange).
    change += 2.0 * fields.flow[0, u, v] * fields.apart[0, u, v]
    for c in range(len(fields.flow)):
        gain, loss, mine, other = fields.flow[c, u], fields.flow[c, v], fields.apart[c, u], fields.apart[c, v]
        change += sum_steps(gain, loss, other, mine)
    return float(change)


@kernel
def price_all(fields: Fields, changes: FloatArray) -> None:
    """Put the cost changes of swapping task u with every v > u into `changes[u, v]`; O(tasks m^2)."""
    for u in range(fields.tasks):
        for v in range(u + 1, len(fields.place)):
            changes[u, v] = price_pair(fields, u, v)


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
def exchange(fields: Fields, u: int, v: int) -> None:
    """Swap tasks u and v in the mapping and its distances; O(m)."""
    place, size = fields.place, len(fields.place)
    place[u], place[v] = place[v], place[u]
    for c in range(len(fields.apart)):
        apart = fields.apart[c]
        here, there = apart[u], apart[v]
        for t in range(size):
            here[t], there[t] = there[t], here[t]
        for t in range(size):
            row = apart[t]
            row[u], row[v] = row[v], row[u]


@inner_kernel
def swap(fields: Fields, u: int, v: int) -> int:
    """Swap tasks u and v and return how many rows of the field changed; O(m) for each."""
    exchange(fields, u, v)
    field, own, step, volume, size = fields.field, fields.own, fields.step, fields.volume, len(fields.place)
    # Columns follow the nodes: what every task would cost on the two nodes changes columns.
    for t in range(size):
        row = field[t]
        row[u], row[v] = row[v], row[u]
    changed = 0
    for c in range(len(fields.flow)):
        gain, loss, here, there = fields.flow[c, u], fields.flow[c, v], fields.apart[c, u], fields.apart[c, v]
        # Rank-1 update: to a task t with traffic, u and v come closer or go farther by the same step, opposite in sign.
        for t in range(size):
            step[t] = here[t] - there[t]
        rows = 0
        for t in range(fields.tasks):
            volume[t] = gain[t] - loss[t]
            rows += volume[t] != 0.0
        changed += rows
        if DENSE * rows > fields.tasks:
            add_products(field[: fields.tasks], volume, step)
            continue
        for t in range(fields.tasks):
            if volume[t] != 0.0:
                row, single = field[t], volume[t]
                for node in range(size):
                    row[node] += single * step[node]
    for t in range(size):
        own[t] = field[t, t]
    return changed


@inner_kernel
def keep_lowest(fields: Fields, schedule: CoolingSchedule, state: AnnealState) -> None:
    """Copy the mapping where it costs less than all before; O(m)."""
    if state.cost[0] < state.lowest_cost[0] - schedule.tolerance:
        state.lowest_cost[0] = state.cost[0]
        for t in range(len(fields.place)):
            state.lowest[t] = fields.place[t]


@inner_kernel
def draw_offset(state: AnnealState) -> int:
    """Return a random offset into the noise."""
    state.rng_state[0] = (state.rng_state[0] * 1103515245 + 12345) & 0x7FFFFFFF
    return int(state.rng_state[0] >> DRAW_BITS)


@inner_kernel
def sweep_pairs(fields: Fields, schedule: CoolingSchedule, state: AnnealState, temperature: float) -> int:
    """Offer every pair of tasks a swap in order, without fields, and return how many were made; O(tasks m^2).

    One is made where it costs less than an exponential variate times the temperature, which is the rule of Metropolis.
    """
    size, swaps = len(fields.place), 0
    for u in range(fields.tasks):
        # Connolly 1990: pairs in order instead of at random, so that none is missed at the lowest temperature.
        offset = draw_offset(state)
        for v in range(u + 1, size):
            change = price_pair(fields, u, v)
            if change < temperature * schedule.noise[offset + v] - schedule.tolerance:
                exchange(fields, u, v)
                state.cost[0] += change
                swaps += 1
                keep_lowest(fields, schedule, state)
    return swaps


@inner_kernel
def sweep_fields(fields: Fields, schedule: CoolingSchedule, state: AnnealState, temperature: float) -> int:
    """Do what `sweep_pairs` does, on fields, and count the work; O(tasks m) and that of the swaps."""
    size, swaps = len(fields.place), 0
    single, least = np.float32(temperature), np.float32(schedule.tolerance)
    for u in range(fields.tasks):
        first, offset = u + 1, draw_offset(state)
        while first < size:
            price(fields, u, first)
            state.work_done[0] += (size - first >> 1) + ROW
            # Most rows hold no swap that is accepted: count first, which is vectorised, and look for the place if any.
            accepted, change, draw = 0, fields.change[first:], schedule.noise[offset + first :]
            for v in range(len(change)):
                accepted += change[v] < single * draw[v] - least
            if accepted == 0:
                break
            while not fields.change[first] < single * schedule.noise[offset + first] - least:
                first += 1
            exact = price_pair(fields, u, first)
            if exact < temperature * schedule.noise[offset + first] - schedule.tolerance:
                state.cost[0] += exact
                state.work_done[0] += (swap(fields, u, first) + EDGE) * (size + WIDE) >> 4
                swaps += 1
                keep_lowest(fields, schedule, state)
            first += 1
    return swaps


@kernel
def anneal(fields: Fields, schedule: CoolingSchedule, state: AnnealState) -> None:
    """Sweep at falling temperatures until the work of the schedule or the slice is done, at 0 until no swap gains.

    Source: the sequential annealer of D. T. Connolly, doi:10.1016/0377-2217(90)90301-Q, here with equal work at every
    temperature instead of equally many sweeps.
    """
    size = len(fields.place)
    pairs = fields.tasks * (2 * size - fields.tasks - 1) >> 1
    while state.work_done[0] < state.pause_at[0]:
        # The temperature falls with the work, as a sweep at a high temperature does many more swaps than one at a low.
        left = max(1.0 - state.work_done[0] / schedule.work, 0.0)
        temperature = schedule.cold * math.exp(schedule.fall * left)
        if state.on_fields[0] != 0:
            swaps = sweep_fields(fields, schedule, state, temperature)
            # Where fields of single precision propose no swap that gains, the last word is that of exact prices.
            if 0.0 < temperature < schedule.finest or (swaps == 0 and temperature == 0.0):
                state.on_fields[0] = 0
            continue
        swaps = sweep_pairs(fields, schedule, state, temperature)
        work = pairs * (PAIR + (len(fields.flow) * size >> 2)) + swaps * 2 * size
        state.work_done[0] += work
        if swaps == 0 and temperature == 0.0:
            state.work_done[0] = schedule.work
            break
        on_fields = (pairs >> 1) + (fields.tasks + swaps) * ROW + (swaps * (size + EDGE) * (size + WIDE) >> 4)
        if on_fields < work and not 0.0 < temperature < schedule.finest:
            recompute(fields)
            state.on_fields[0] = 1
            state.work_done[0] += fields.tasks * size * (size + WIDE) >> 4
