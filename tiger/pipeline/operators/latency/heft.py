"""A device for every class as its first operator is listed: the one where that ends the earliest, and memory is left.

Every class has a seat on some device from the start, which keeps its bytes for it. A class that goes elsewhere gives
its seat up; where the other device has no room, seats that are not taken yet move on to devices that have. So all
classes find room in the end.

Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, doi:10.1109/71.993206, for classes and within memory.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.costs.tolerances import MEMORY
from tiger.pipeline.operators.latency.list_scheduling import Jobs, arrival_s
from tiger.pipeline.operators.terms import Terms
from tiger.solvers.kernel import inner_kernel, kernel

LOOKED_AT = 256
NONE = -1


class Seats(NamedTuple):
    """Hold where C classes have room: class c on device `seat[c]`, whose `held[k]` bytes are within `capacity[k]`.

    The classes of a device are chained from `head[k]` on by `chain[C]`, NONE behind the last. `work[C, k]` are the
    seconds of a class on each device, `ahead[k]` those of operators to come of classes that are placed.
    """

    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    work: FloatArray
    seat: IntArray
    held: FloatArray
    head: IntArray
    chain: IntArray
    ahead: FloatArray


def place_earliest(terms: Terms, jobs: Jobs, start: IntArray, lean: float) -> IntArray:
    """Return the device of every class [C], from seats `start[C]` within memory.

    A device counts as busy for `lean` times what operators to come of its classes take. O(k (n + e)) and moved seats.
    """
    place = np.full(terms.classes, NONE, np.int64)
    _place_listed(jobs, seats(terms, start), lean, place, np.empty((3, max(terms.operators, terms.devices))))
    return place


def seats(terms: Terms, start: IntArray) -> Seats:
    """Return the seats of classes on devices; O(k n)."""
    head, chain = np.full(terms.devices, NONE, np.int64), np.full(terms.classes, NONE, np.int64)
    order = np.argsort(start, kind="stable")
    same = start[order[1:]] == start[order[:-1]]
    chain[order[:-1][same]] = order[1:][same]
    first = np.append(True, ~same)
    head[start[order[first]]] = order[first]
    rows = [np.bincount(terms.of, row, terms.classes) for row in terms.work]
    return Seats(
        memory=terms.memory,
        capacity=terms.capacity * (1 + MEMORY),
        allowed=terms.allowed,
        work=np.ascontiguousarray(np.array(rows, np.float64).T),
        seat=start.copy(),
        held=np.bincount(start, terms.memory, terms.devices).astype(np.float64),
        head=head,
        chain=chain,
        ahead=np.zeros(terms.devices),
    )


@kernel
def _place_listed(jobs: Jobs, seats: Seats, lean: float, place: IntArray, room: FloatArray) -> None:
    """Place classes as their first operators are listed; the rows of `room` are scratch."""
    end, free = room[0], room[1]
    free[:] = 0.0
    for u in jobs.order:
        c = jobs.of[u]
        if place[c] == NONE:
            place[c] = _choose_device(jobs, seats, lean, place, room, u)
            seats.ahead[place[c]] += seats.work[c, place[c]]
        d = place[c]
        end[u] = max(free[d], arrival_s(jobs, place, end, u, d)) + jobs.work[u, d]
        free[d] = end[u]
        seats.ahead[d] -= jobs.work[u, d]


@inner_kernel
def _choose_device(jobs: Jobs, seats: Seats, lean: float, place: IntArray, room: FloatArray, u: int) -> int:
    """Return the device where an operator ends the earliest among those where its class finds room."""
    end, free, score = room[0], room[1], room[2]
    c, devices = jobs.of[u], len(seats.head)
    for d in range(devices):
        begins = max(free[d] + lean * seats.ahead[d], arrival_s(jobs, place, end, u, d))
        score[d] = begins + jobs.work[u, d] if seats.allowed[c, d] else np.inf
    for _ in range(devices):
        best = seats.seat[c]
        for d in range(devices):
            if score[d] < score[best]:
                best = d
        if _seat(seats, place, c, best):
            break
        score[best] = np.inf
    return int(seats.seat[c])


@inner_kernel
def _seat(seats: Seats, place: IntArray, c: int, d: int) -> bool:
    """Give a class a seat on a device, moving others from there if need be; return whether it has one."""
    a = seats.seat[c]
    if a == d:
        return True
    lack = seats.held[d] + seats.memory[c] - seats.capacity[d]
    before, x, kept = NONE, seats.head[d], 0
    while lack > 0.0 and x != NONE and kept < LOOKED_AT:
        behind = seats.chain[x]
        goal = _find_goal(seats, c, x, d, lack) if place[x] == NONE and seats.memory[x] > 0.0 else NONE
        if place[x] == NONE and goal == NONE:
            before = x
            kept += 1
        elif before == NONE:
            seats.head[d] = behind
        else:
            seats.chain[before] = behind
        if goal != NONE:
            lack -= seats.memory[x]
            _move(seats, x, goal)
        x = behind
    if lack > 0.0:
        return False
    # It stays in the chain of the seat it had until that is looked through, for by then it is placed.
    seats.held[a] -= seats.memory[c]
    seats.held[d] += seats.memory[c]
    seats.seat[c] = d
    return True


@inner_kernel
def _find_goal(seats: Seats, c: int, x: int, d: int, lack: float) -> int:
    """Return the device with the most room that the seat of class x can move to from d, NONE without one.

    If x alone makes enough room for class c, it may go to the seat of c.
    """
    best, most = NONE, seats.memory[x]
    for e in range(len(seats.head)):
        left = seats.capacity[e] - seats.held[e]
        if e == seats.seat[c] and seats.memory[x] >= lack:
            left += seats.memory[c]
        if e != d and seats.allowed[x, e] and left >= most:
            best, most = e, left
    return best


@inner_kernel
def _move(seats: Seats, x: int, goal: int) -> None:
    """Move a seat that is out of its chain to another device."""
    seats.held[seats.seat[x]] -= seats.memory[x]
    seats.held[goal] += seats.memory[x]
    seats.seat[x] = goal
    seats.chain[x] = seats.head[goal]
    seats.head[goal] = x
