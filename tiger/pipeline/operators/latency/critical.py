"""Moves of classes and of pieces of the graph between devices, judged by list scheduling of the whole."""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.costs.tolerances import MEMORY
from tiger.pipeline.hardware.cluster import NO_LINK
from tiger.pipeline.operators.latency.list_scheduling import Jobs, arrival_s
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.generator import Generator, draw_below, draw_uniform
from tiger.solvers.kernel import inner_kernel, kernel

SLACK = 1e-9
ROUNDING = 1e-12
LARGEST, TRIES = 6, 8
NEARBY, EXCHANGED = 0.8, 0.2


class Yard(NamedTuple):
    """Hold what moves need beside the jobs, `place[C]` and what is `held[k]`, and room to work in.

    `weights` are those of makespan and largest load in the cost. `piece[C]` are the classes that move, `moved[C]` the
    devices they come from; `mark[C]` and `seen[k]` hold the number of the round or operator that wrote them last.
    """

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


def move_arrays(terms: Terms, place: IntArray, weights: FloatArray) -> Yard:
    """Return what moves from a placement of classes need."""
    return Yard(
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
        piece=np.empty(terms.classes, np.int64),
        moved=np.empty(terms.classes, np.int64),
        mark=np.full(terms.classes, -1, np.int64),
        seen=np.empty(terms.devices, np.int64),
    )


@kernel
def cost_of(jobs: Jobs, yard: Yard, limit: float) -> float:
    """Return the cost of the placement, or infinity once that is known to be above a limit; O(n + e + k)."""
    makespan, weight = 0.0, yard.weights[0]
    yard.free[:] = 0.0
    for u in jobs.order:
        d = yard.place[jobs.of[u]]
        begins = max(yard.free[d], arrival_s(jobs, yard.place, yard.end, u, d))
        # What comes behind an operator takes as long as its longest path, or longer.
        if weight * (begins + jobs.tail[u] * (1 - SLACK)) > limit:
            return np.inf
        yard.end[u] = yard.free[d] = begins + jobs.work[u, d]
        makespan = max(makespan, yard.end[u])
    return float(weight * makespan + (yard.weights[1] * _largest_load(jobs, yard) if yard.weights[1] > 0.0 else 0.0))


@inner_kernel
def _largest_load(jobs: Jobs, yard: Yard) -> float:
    """Return the largest load; O(n + e + k)."""
    yard.load[:] = 0.0
    yard.seen[:] = -1
    for u in range(len(jobs.of)):
        d, most = yard.place[jobs.of[u]], 0.0
        yard.load[d] += jobs.work[u, d]
        for e in range(jobs.consumer_start[u], jobs.consumer_start[u + 1]):
            h = yard.place[jobs.of[jobs.consumer[e]]]
            if h != d and yard.seen[h] != u:
                yard.seen[h] = u
                seconds = np.inf if jobs.link[d, h] == NO_LINK else jobs.send[jobs.link[d, h], u]
                yard.load[h] += seconds if yard.pays[h] > 0.0 else 0.0
                most = max(most, seconds)
        yard.load[d] += most if yard.pays[d] > 0.0 else 0.0
    largest = 0.0
    for seconds in yard.load:
        largest = max(largest, seconds)
    return largest


@kernel
def walk(jobs: Jobs, yard: Yard, heats: FloatArray, cost: FloatArray, best: IntArray, generator: Generator) -> None:
    """Try one move at each temperature `heats[r]`; `cost[2]` are those of the placement and of the best, `best[C]`.

    Moves that make it dearer are taken with the probability of Metropolis et al., doi:10.1063/1.1699114, drawn first,
    so that a placement is judged no further than it takes to reject it.
    """
    yard.mark[:] = -1
    for r in range(len(heats)):
        count = _move_piece(jobs, yard, r, generator)
        if count == 0:
            continue
        limit = cost[0] - heats[r] * np.log(1.0 - draw_uniform(generator))
        found = cost_of(jobs, yard, limit)
        if found > limit:
            _undo(yard, count)
            continue
        cost[0] = found
        if found < cost[1] * (1 - ROUNDING):
            cost[1] = found
            for c in range(len(best)):
                best[c] = yard.place[c]


@inner_kernel
def _move_piece(jobs: Jobs, yard: Yard, r: int, generator: Generator) -> int:
    """Move a random piece of the graph to a random device, often a neighbour's; return how many classes moved.

    None do where memory does not allow it, with one class in exchange or without; some take one in exchange anyway.
    """
    u = draw_below(generator, len(jobs.of))
    first, last = jobs.producer_start[u], jobs.consumer_start[u]
    inputs = jobs.producer_start[u + 1] - first
    edges = inputs + jobs.consumer_start[u + 1] - last
    a, b = yard.place[jobs.of[u]], draw_below(generator, len(yard.held))
    if edges > 0 and draw_uniform(generator) < NEARBY:
        e = draw_below(generator, edges)
        v = jobs.producer[first + e] if e < inputs else jobs.consumer[last + e - inputs]
        b = yard.place[jobs.of[v]]
    if a == b:
        return 0
    count = _grow(jobs, yard, r, u, generator)
    need = 0.0
    for k in range(count):
        if not yard.allowed[yard.piece[k], b]:
            return 0
        need += yard.memory[yard.piece[k]]
    lack = yard.held[b] + need - yard.capacity[b]
    if lack > 0.0 or draw_uniform(generator) < EXCHANGED:
        if _find_exchange(jobs, yard, a, b, count, lack, need, generator):
            count += 1
        elif lack > 0.0:
            return 0
    for k in range(count):
        c = yard.piece[k]
        yard.moved[k] = yard.place[c]
        _put(yard, c, a if yard.place[c] == b else b)
    return count


@inner_kernel
def _grow(jobs: Jobs, yard: Yard, r: int, u: int, generator: Generator) -> int:
    """Collect a piece: the class of an operator, and others on its device that edges lead to, ahead, behind or both."""
    size, way = 1 << draw_below(generator, LARGEST), draw_below(generator, 3)
    yard.piece[0] = jobs.of[u]
    yard.mark[jobs.of[u]] = r
    count, done, device = 1, 0, yard.place[jobs.of[u]]
    while done < count and count < size:
        c = yard.piece[done]
        done += 1
        for m in range(yard.member_start[c], yard.member_start[c + 1]):
            v = yard.member[m]
            if way != 0:
                for e in range(jobs.producer_start[v], jobs.producer_start[v + 1]):
                    count = _take(yard, jobs.of[jobs.producer[e]], r, device, count, size)
            if way != 1:
                for e in range(jobs.consumer_start[v], jobs.consumer_start[v + 1]):
                    count = _take(yard, jobs.of[jobs.consumer[e]], r, device, count, size)
    return count


@inner_kernel
def _take(yard: Yard, c: int, r: int, device: int, count: int, size: int) -> int:
    """Take a class into the piece if it is on the device and there is room; return how many there are."""
    if count < size and yard.mark[c] != r and yard.place[c] == device:
        yard.mark[c] = r
        yard.piece[count] = c
        return count + 1
    return count


@inner_kernel
def _find_exchange(
    jobs: Jobs, yard: Yard, a: int, b: int, count: int, lack: float, need: float, generator: Generator
) -> bool:
    """Find a class of device b that leaves room on a if it goes there, and append it; return whether there is one."""
    room = yard.capacity[a] - yard.held[a] + need
    for _ in range(TRIES):
        c = jobs.of[draw_below(generator, len(jobs.of))]
        if yard.place[c] == b and yard.allowed[c, a] and lack <= yard.memory[c] <= room:
            yard.piece[count] = c
            return True
    return False


@inner_kernel
def _put(yard: Yard, c: int, d: int) -> None:
    """Put a class on a device."""
    yard.held[yard.place[c]] -= yard.memory[c]
    yard.held[d] += yard.memory[c]
    yard.place[c] = d


@inner_kernel
def _undo(yard: Yard, count: int) -> None:
    """Take the last move back."""
    for k in range(count):
        _put(yard, yard.piece[k], yard.moved[k])
