"""What annealing tries: a group, a connected set of groups or a swap, always keeping to the order of stages."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.pipeline.operators.throughput.generator import Generator, draw_below, draw_uniform
from tiger.pipeline.operators.throughput.state import State
from tiger.pipeline.operators.throughput.tables import Tables
from tiger.solvers.kernel import inner_kernel

WIDEST, GLANCES = 64, 6
SWAPS, SETS, NEARBY, HEAVIEST, GROWTH = 0.15, 0.2, 0.75, 0.4, 0.75


class Proposal(NamedTuple):
    """Hold a list of groups that go to devices one after the other, and marks of those in it."""

    generator: Generator
    group: IntArray
    target: IntArray
    origin: IntArray
    mark: IntArray


def proposal_arrays(size: int, generator: Generator) -> Proposal:
    """Return room for proposals among G groups."""
    group, target, origin = np.zeros((3, WIDEST), np.int64)
    return Proposal(generator, group, target, origin, np.zeros(size, np.int64))


@inner_kernel
def propose(tables: Tables, state: State, room: Proposal) -> int:
    """Write a random list of moves, and return how long it is, 0 for none; O(WIDEST x degree)."""
    g = _choose_group(state, room)
    b = _choose_device(tables, state, room, g)
    if b == state.place[g] or not tables.allowed[g, b]:
        return 0
    draw = draw_uniform(room.generator)
    if draw < SWAPS:
        return _swap(tables, state, room, g, b)
    size = 1
    if draw < SWAPS + SETS:
        while size < WIDEST // 2 and draw_uniform(room.generator) < GROWTH:
            size += 1
    return _grow(tables, state, room, (g, b, size))


@inner_kernel
def _choose_group(state: State, room: Proposal) -> int:
    """Draw a group, more often than not one of the device with the largest load."""
    g = draw_below(room.generator, len(state.place))
    if draw_uniform(room.generator) < HEAVIEST:
        heaviest = np.argmax(state.load)
        for _ in range(GLANCES):
            if state.place[g] == heaviest:
                break
            g = draw_below(room.generator, len(state.place))
    return g


@inner_kernel
def _choose_device(tables: Tables, state: State, room: Proposal, g: int) -> int:
    """Draw a device for a group: mostly that of another one it has an edge with."""
    first, degree = tables.near_start[g], tables.near_start[g + 1] - tables.near_start[g]
    if degree > 0 and draw_uniform(room.generator) < NEARBY:
        return int(state.place[tables.near[first + draw_below(room.generator, degree)]])
    return draw_below(room.generator, len(state.load))


@inner_kernel
def _swap(tables: Tables, state: State, room: Proposal, g: int, b: int) -> int:
    """Propose that group g changes places with one of device b, if a few glances find one that may."""
    a = state.place[g]
    for _ in range(GLANCES):
        h = draw_below(room.generator, len(state.place))
        if state.place[h] == b and tables.allowed[h, a]:
            if not (_is_free(tables, state, (g, b, h)) and _is_free(tables, state, (h, a, g))):
                return 0
            room.group[0], room.target[0], room.group[1], room.target[1] = g, b, h, a
            return 2
    return 0


@inner_kernel
def _is_free(tables: Tables, state: State, move: tuple[int, int, int]) -> bool:
    """Return whether, for (group, device, other), the group may go to the device, and whatever the other does."""
    g, b, other = move
    for j in range(tables.before_start[g], tables.before_start[g + 1]):
        if tables.before[j] == other or tables.rank[state.place[tables.before[j]]] > tables.rank[b]:
            return False
    for j in range(tables.after_start[g], tables.after_start[g + 1]):
        if tables.after[j] == other or tables.rank[state.place[tables.after[j]]] < tables.rank[b]:
            return False
    return True


@inner_kernel
def _grow(tables: Tables, state: State, room: Proposal, aim: tuple[int, int, int]) -> int:
    """Propose that (group, device, size) goes to the device with about so many around it, and all that has to."""
    (g, b, size), a = aim, state.place[aim[0]]
    room.group[0] = g
    room.mark[g] = 1
    count, seen = 1, 0
    for _ in range(2 * size):
        while count > 0 and seen < count:
            count, seen = _force(tables, state, room, (count, seen, b)), seen + 1
        if count <= 0 or count >= size:
            break
        x = room.group[draw_below(room.generator, count)]
        degree = tables.near_start[x + 1] - tables.near_start[x]
        if degree > 0:
            y = tables.near[tables.near_start[x] + draw_below(room.generator, degree)]
            if state.place[y] == a and not room.mark[y] and tables.allowed[y, b]:
                count = _add(room, count, y)
    while count > 0 and seen < count:
        count, seen = _force(tables, state, room, (count, seen, b)), seen + 1
    for i in range(abs(count)):
        room.mark[room.group[i]] = 0
        room.target[i] = b
    return max(count, 0)


@inner_kernel
def _force(tables: Tables, state: State, room: Proposal, at: tuple[int, int, int]) -> int:
    """Add what has to go to device b because the group seen does; return the count, negative where it cannot be."""
    count, seen, b = at
    g, rank = room.group[seen], tables.rank[b]
    if rank > tables.rank[state.place[g]]:
        for j in range(tables.after_start[g], tables.after_start[g + 1]):
            y = tables.after[j]
            if tables.rank[state.place[y]] < rank and not room.mark[y]:
                if count == WIDEST or not tables.allowed[y, b]:
                    return -count
                count = _add(room, count, y)
    else:
        for j in range(tables.before_start[g], tables.before_start[g + 1]):
            y = tables.before[j]
            if tables.rank[state.place[y]] > rank and not room.mark[y]:
                if count == WIDEST or not tables.allowed[y, b]:
                    return -count
                count = _add(room, count, y)
    return count


@inner_kernel
def _add(room: Proposal, count: int, y: int) -> int:
    """Add a group to the list; return how long it is now."""
    room.group[count] = y
    room.mark[y] = 1
    return count + 1
