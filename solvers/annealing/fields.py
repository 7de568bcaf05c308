"""Compiled annealing of one-to-one mappings on local fields: a swap is priced in O(1) and made in O(m) a task.

Tasks are padded with idle ones to as many as nodes, so that a mapping is a permutation. Matrices under change are kept
in the order of the tasks' present nodes, so that rows are scanned and updated contiguously.
"""

import math
from typing import NamedTuple

from tiger.model.arrays import FloatArray, IntArray
from tiger.solvers.kernel import kernel

DRAWS = 8192
DRAW_BITS = 18
ROW, EDGE, LANES = 32, 12, 3


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


class Cooling(NamedTuple):
    """Hold a schedule: with a share x of `work` left the temperature is `cold` exp(`fall` x).

    `noise[DRAWS + m]` are exponential variates; `tolerance` is the smallest gain that counts.
    """

    cold: float
    fall: float
    work: int
    tolerance: float
    noise: FloatArray


class Lane(NamedTuple):
    """Hold how far a lane has come, to be taken up again.

    `level[2]` is the present cost and the lowest one, seen at `lowest[m]`; `counts[3]` the state of a linear
    congruential generator, the work done, and the work at which to pause. A unit of work is about a nanosecond.
    """

    level: FloatArray
    counts: IntArray
    lowest: IntArray


@kernel
def recompute(fields: Fields) -> None:
    """Compute distances and fields from scratch for the present `place`; O(tasks^2 m)."""
    place, size = fields.place, len(fields.place)
    for c in range(len(fields.away)):
        for u in range(size):
            here, row = fields.away[c, place[u]], fields.apart[c, u]
            for v in range(size):
                row[v] = here[place[v]]
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
    # Loops over slices, whose indices begin at 0, are what the compiler turns into vector instructions.
    change, own, row = fields.change[first:], fields.own[first:], fields.field[u, first:]
    column, volume, length = fields.field[first:, u], fields.flow[0, u, first:], fields.apart[0, u, first:]
    here = fields.own[u]
    for v in range(len(change)):
        change[v] = column[v]
    for v in range(len(change)):
        change[v] += row[v] - own[v] - here + 2.0 * volume[v] * length[v]


@kernel
def swap(fields: Fields, u: int, v: int) -> int:
    """Swap tasks u and v and return how many rows of the field changed; O(m) for each."""
    place, field, own, step, size = fields.place, fields.field, fields.own, fields.step, len(fields.place)
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


@kernel
def sweep(fields: Fields, cooling: Cooling, lane: Lane, heat: float) -> int:
    """Offer every pair of tasks a swap in order, and return how many were made; O(tasks m) and that of the swaps.

    One is made where it costs less than an exponential variate times `heat`, which is the rule of Metropolis.
    """
    size, noise, level, counts, made = len(fields.place), cooling.noise, lane.level, lane.counts, 0
    for u in range(fields.tasks):
        counts[0] = (counts[0] * 1103515245 + 12345) & 0x7FFFFFFF
        first, offset = u + 1, counts[0] >> DRAW_BITS
        while first < size:
            price(fields, u, first)
            counts[1] += size - first + ROW
            hits, change, draw = 0, fields.change[first:], noise[offset + first :]
            for v in range(len(change)):
                hits += change[v] < heat * draw[v] - cooling.tolerance
            if hits == 0:
                break
            while not fields.change[first] < heat * noise[offset + first] - cooling.tolerance:
                first += 1
            level[0] += fields.change[first]
            counts[1] += ((swap(fields, u, first) + EDGE) * size >> LANES) + ROW
            made += 1
            first += 1
            if level[0] < level[1] - cooling.tolerance:
                level[1] = level[0]
                for t in range(size):
                    lane.lowest[t] = fields.place[t]
    return made


@kernel
def anneal(fields: Fields, cooling: Cooling, lane: Lane) -> None:
    """Sweep at falling temperatures until the work of the schedule or the slice is done, without heat until none gains.

    Source: the sequential annealer of D. T. Connolly, doi:10.1016/0377-2217(90)90301-Q, here with equal work at every
    temperature instead of equally many sweeps.
    """
    counts = lane.counts
    while counts[1] < counts[2]:
        heat = cooling.cold * math.exp(cooling.fall * max(1.0 - counts[1] / cooling.work, 0.0))
        if sweep(fields, cooling, lane, heat) == 0 and heat == 0.0:
            counts[1] = cooling.work
            break
