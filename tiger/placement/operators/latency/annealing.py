"""Simulated annealing of the devices of connected pieces of the graph, each move judged by list scheduling.

Source: S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Science 220 (1983), doi:10.1126/science.220.4598.671.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.operators.latency.list_scheduling import JobList, arrival_s
from tiger.placement.operators.terms import Terms
from tiger.solvers.generator import Generator, draw_below, draw_uniform
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.training.costs.tolerances import MEMORY
from tiger.training.hardware.cluster import NO_LINK

# A bound on the makespan is lowered by so much, relatively, before it rejects a placement, and a lower cost by less
# than TIE is none: sums of path lengths differ by rounding.
SLACK = 1e-9


class PieceParams(NamedTuple):
    """Set the probabilities of moves.

    A piece has 2^j groups at most, j drawn below `doublings`. It goes to the device of a neighbour with probability
    `nearby`, to any device otherwise, and takes a group from there in exchange with probability `exchanged`, or where
    memory needs it; such a group is drawn up to `tries` times.
    """

    doublings: int = 6
    nearby: float = 0.8
    exchanged: float = 0.2
    tries: int = 8


# Compiled code reads it as a constant.
PARAMS = PieceParams()


class MoveArrays(NamedTuple):
    """Hold what moves need beside the jobs: the devices `place[C]`, the bytes `held[k]`, and scratch arrays.

    `listed` are the jobs that costs are worked out from, numbered as they begin where `renumber_by_list` made them.
    `weights` are those of makespan and largest load in the cost. `piece[C]` are the groups that move, `moved[C]` the
    devices they come from; `mark[C]` and `seen[k]` hold the number of the round or operator that wrote them last.
    """

    listed: JobList
    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    pays: FloatArray
    member_start: IntArray
    member: IntArray
    weights: FloatArray
    place: IntArray
    held: FloatArray
    end: FloatArray
    free: FloatArray
    load: FloatArray
    piece: IntArray
    moved: IntArray
    mark: IntArray
    seen: IntArray


def move_arrays(terms: Terms, listed: JobList, place: IntArray, weights: FloatArray) -> MoveArrays:
    """Return what moves from a placement of groups need."""
    return MoveArrays(
        listed=listed,
        memory=terms.memory,
        capacity=terms.capacity * (1 + MEMORY),
        allowed=terms.allowed,
        pays=terms.pays,
        member_start=terms.member_start,
        member=terms.member,
        weights=weights,
        place=place.astype(np.int64),
        held=np.bincount(place, terms.memory, terms.devices).astype(np.float64),
        end=np.empty(terms.operators),
        free=np.empty(terms.devices),
        load=np.empty(terms.devices),
        piece=np.empty(terms.groups, np.int64),
        moved=np.empty(terms.groups, np.int64),
        mark=np.full(terms.groups, -1, np.int64),
        seen=np.empty(terms.devices, np.int64),
    )


@kernel
def cost_of(arrays: MoveArrays, limit: float) -> float:
    """Return the cost of the placement, or infinity once that is known to be above a limit; O(n + e + k)."""
    jobs, makespan, weight = arrays.listed, 0.0, arrays.weights[0]
    arrays.free[:] = 0.0
    for u in jobs.order:
        d = arrays.place[jobs.group_of[u]]
        begins = max(arrays.free[d], arrival_s(jobs, arrays.place, arrays.end, u, d))
        # No schedule ends before the longest path from here on, on the fastest devices (tail): give up early.
        if weight * (begins + jobs.tail[u] * (1 - SLACK)) > limit:
            return np.inf
        arrays.end[u] = arrays.free[d] = begins + jobs.work[u, d]
        makespan = max(makespan, arrays.end[u])
    return float(weight * makespan + (arrays.weights[1] * _largest_load(arrays) if arrays.weights[1] > 0.0 else 0.0))


@inner_kernel
def _largest_load(arrays: MoveArrays) -> float:
    """Return the largest load; O(n + e + k)."""
    jobs = arrays.listed
    arrays.load[:] = 0.0
    arrays.seen[:] = -1
    for u in range(len(jobs.group_of)):
        d, most = arrays.place[jobs.group_of[u]], 0.0
        arrays.load[d] += jobs.work[u, d]
        for e in range(jobs.consumer_start[u], jobs.consumer_start[u + 1]):
            h = arrays.place[jobs.group_of[jobs.consumer[e]]]
            # A device with several consumers receives once: `seen` holds the last operator that sent to it.
            if h != d and arrays.seen[h] != u:
                arrays.seen[h] = u
                seconds = np.inf if jobs.link[d, h] == NO_LINK else jobs.send[jobs.link[d, h], u]
                arrays.load[h] += seconds if arrays.pays[h] > 0.0 else 0.0
                most = max(most, seconds)
        # The sender pays for its longest message alone.
        arrays.load[d] += most if arrays.pays[d] > 0.0 else 0.0
    largest = 0.0
    for seconds in arrays.load:
        largest = max(largest, seconds)
    return largest


@kernel
def anneal(
    jobs: JobList, arrays: MoveArrays, temperatures: FloatArray, cost: FloatArray, best: IntArray, generator: Generator
) -> None:
    """Try one move at each of the temperatures [r]; `cost[2]` are those of the placement and of the best, `best[C]`."""
    arrays.mark[:] = -1
    for r in range(len(temperatures)):
        # The move is made at once: costs follow from places, and a rejected one is taken back.
        count = _move_piece(jobs, arrays, r, generator)
        if count == 0:
            continue
        # Metropolis et al. 1953, doi:10.1063/1.1699114, reversed: the highest cost to accept is drawn first, so
        # that list scheduling of a worse placement can end early.
        limit = cost[0] - temperatures[r] * np.log(1.0 - draw_uniform(generator))
        moved = cost_of(arrays, limit)
        if moved > limit:
            _undo(arrays, count)
            continue
        cost[0] = moved
        if moved < cost[1] * (1 - TIE):
            cost[1] = moved
            for c in range(len(best)):
                best[c] = arrays.place[c]


@inner_kernel
def _move_piece(jobs: JobList, arrays: MoveArrays, r: int, generator: Generator) -> int:
    """Move a random piece of the graph to a random device, often a neighbour's; return how many groups moved.

    None do where memory does not allow it, with a group in exchange or without; some moves take one in any case.
    """
    # Draw an operator, and a device: that of one of its neighbours, which may save a message, or any.
    u = draw_below(generator, len(jobs.group_of))
    first, last = jobs.producer_start[u], jobs.consumer_start[u]
    inputs = jobs.producer_start[u + 1] - first
    edges = inputs + jobs.consumer_start[u + 1] - last
    a, b = arrays.place[jobs.group_of[u]], draw_below(generator, len(arrays.held))
    if edges > 0 and draw_uniform(generator) < PARAMS.nearby:
        e = draw_below(generator, edges)
        v = jobs.producer[first + e] if e < inputs else jobs.consumer[last + e - inputs]
        b = arrays.place[jobs.group_of[v]]
    if a == b:
        return 0
    # What moves is connected, so that operators that talk to each other stay together.
    count = _collect_piece(jobs, arrays, r, u, generator)
    need = 0.0
    for k in range(count):
        if not arrays.allowed[arrays.piece[k], b]:
            return 0
        need += arrays.memory[arrays.piece[k]]
    # A group may come back in exchange; where the piece does not fit, one has to.
    lack = arrays.held[b] + need - arrays.capacity[b]
    if lack > 0.0 or draw_uniform(generator) < PARAMS.exchanged:
        if _find_exchange(jobs, arrays, a, b, count, lack, need, generator):
            count += 1
        elif lack > 0.0:
            return 0
    # The piece goes to b, and the group in exchange to a.
    for k in range(count):
        c = arrays.piece[k]
        arrays.moved[k] = arrays.place[c]
        _move(arrays, c, a if arrays.place[c] == b else b)
    return count


@inner_kernel
def _collect_piece(jobs: JobList, arrays: MoveArrays, r: int, u: int, generator: Generator) -> int:
    """Collect a piece, breadth first: the group of an operator, and others on its device, along edges of some way."""
    # Producers, consumers or both.
    size, way = 1 << draw_below(generator, PARAMS.doublings), draw_below(generator, 3)
    arrays.piece[0] = jobs.group_of[u]
    arrays.mark[jobs.group_of[u]] = r
    count, done, device = 1, 0, arrays.place[jobs.group_of[u]]
    # The piece is its own queue: groups behind `done` have yet to be expanded.
    while done < count and count < size:
        c = arrays.piece[done]
        done += 1
        for m in range(arrays.member_start[c], arrays.member_start[c + 1]):
            v = arrays.member[m]
            if way != 0:
                for e in range(jobs.producer_start[v], jobs.producer_start[v + 1]):
                    count = _add_to_piece(arrays, jobs.group_of[jobs.producer[e]], r, device, count, size)
            if way != 1:
                for e in range(jobs.consumer_start[v], jobs.consumer_start[v + 1]):
                    count = _add_to_piece(arrays, jobs.group_of[jobs.consumer[e]], r, device, count, size)
    return count


@inner_kernel
def _add_to_piece(arrays: MoveArrays, c: int, r: int, device: int, count: int, size: int) -> int:
    """Add a group to the piece if it is on the device and the piece is not full; return its size."""
    if count < size and arrays.mark[c] != r and arrays.place[c] == device:
        arrays.mark[c] = r
        arrays.piece[count] = c
        return count + 1
    return count


@inner_kernel
def _find_exchange(
    jobs: JobList, arrays: MoveArrays, a: int, b: int, count: int, lack: float, need: float, generator: Generator
) -> bool:
    """Draw a group of device b that fits on a in exchange for the piece, and append it; return whether there is one."""
    room = arrays.capacity[a] - arrays.held[a] + need
    for _ in range(PARAMS.tries):
        c = jobs.group_of[draw_below(generator, len(jobs.group_of))]
        if arrays.place[c] == b and arrays.allowed[c, a] and lack <= arrays.memory[c] <= room:
            arrays.piece[count] = c
            return True
    return False


@inner_kernel
def _move(arrays: MoveArrays, c: int, d: int) -> None:
    """Put a group on a device."""
    arrays.held[arrays.place[c]] -= arrays.memory[c]
    arrays.held[d] += arrays.memory[c]
    arrays.place[c] = d


@inner_kernel
def _undo(arrays: MoveArrays, count: int) -> None:
    """Undo the last move."""
    for k in range(count):
        _move(arrays, arrays.piece[k], arrays.moved[k])
