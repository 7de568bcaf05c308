"""HEFT within memory: each group goes, as its first operator is listed, to the device where that ends the earliest.

Every group begins with a reservation of its bytes on some device. A group that goes elsewhere gives that up; where the
other device has too little left, reservations of groups that are not placed yet move to devices with room. So every
group fits somewhere when its turn comes.

Source: H. Topcuoglu, S. Hariri, M.-Y. Wu, IEEE TPDS 13 (2002), doi:10.1109/71.993206, section 5.1.
"""

from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.latency.list_scheduling import JobList, arrival_s
from tiger.placement.operators.terms import Terms
from tiger.solvers.kernel import inner_kernel, kernel
from tiger.training.costs.tolerances import MEMORY

# Reservations of a device that are looked through for one group; keeps a placement linear in the number of groups.
LOOKED_AT = 256
# Stands for no group and no device.
NONE = -1


class Reservations(NamedTuple):
    """Hold the reservations of C groups: group c on device `reserved[c]`, whose `held[k]` bytes fit its `capacity[k]`.

    The groups of a device form a linked list from `head[k]` by `next_group[C]`, to NONE. `work[C, k]` are the
    seconds of a group on each device, `pending[k]` those of operators to come of groups that are placed.
    """

    memory: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    work: FloatArray
    reserved: IntArray
    held: FloatArray
    head: IntArray
    next_group: IntArray
    pending: FloatArray


def place_by_heft(terms: Terms, jobs: JobList, start: IntArray, lookahead: float) -> IntArray:
    """Return the device of every group [C], from reservations `start[C]` within memory.

    A device counts as busy for `lookahead` times the seconds of operators to come of its groups, for these stay with
    their group. O(k (n + e)) beside moved reservations.
    """
    place = np.full(terms.groups, NONE, np.int64)
    _place_listed(
        jobs, make_reservations(terms, start), lookahead, place, np.empty((3, max(terms.operators, terms.devices)))
    )
    return place


def make_reservations(terms: Terms, start: IntArray) -> Reservations:
    """Return the reservations of groups on devices `start[C]`; O(k n)."""
    head, next_group = np.full(terms.devices, NONE, np.int64), np.full(terms.groups, NONE, np.int64)
    order = np.argsort(start, kind="stable")
    same = start[order[1:]] == start[order[:-1]]
    next_group[order[:-1][same]] = order[1:][same]
    first = np.append(True, ~same)
    head[start[order[first]]] = order[first]
    rows = [np.bincount(terms.group_of, row, terms.groups) for row in terms.work]
    return Reservations(
        memory=terms.memory,
        capacity=terms.capacity * (1 + MEMORY),
        allowed=terms.allowed,
        work=np.ascontiguousarray(np.array(rows, np.float64).T),
        reserved=start.copy(),
        held=np.bincount(start, terms.memory, terms.devices).astype(np.float64),
        head=head,
        next_group=next_group,
        pending=np.zeros(terms.devices),
    )


@kernel
def _place_listed(
    jobs: JobList, reservations: Reservations, lookahead: float, place: IntArray, scratch: FloatArray
) -> None:
    """Place groups as their first operators are listed; the rows of `scratch` are overwritten."""
    end, free = scratch[0], scratch[1]
    free[:] = 0.0
    for u in jobs.order:
        c = jobs.group_of[u]
        if place[c] == NONE:
            place[c] = _choose_device(jobs, reservations, lookahead, place, scratch, u)
            reservations.pending[place[c]] += reservations.work[c, place[c]]
        d = place[c]
        end[u] = max(free[d], arrival_s(jobs, place, end, u, d)) + jobs.work[u, d]
        free[d] = end[u]
        reservations.pending[d] -= jobs.work[u, d]


@inner_kernel
def _choose_device(
    jobs: JobList, reservations: Reservations, lookahead: float, place: IntArray, scratch: FloatArray, u: int
) -> int:
    """Return the device where an operator ends the earliest among those where its group fits."""
    end, free, score = scratch[0], scratch[1], scratch[2]
    c, devices = jobs.group_of[u], len(reservations.head)
    # The earliest finish time on every device (equation 6), with work that is sure to come there.
    for d in range(devices):
        begins = max(free[d] + lookahead * reservations.pending[d], arrival_s(jobs, place, end, u, d))
        score[d] = begins + jobs.work[u, d] if reservations.allowed[c, d] else np.inf
    # The best device that has memory for the group, or makes some.
    for _ in range(devices):
        best = reservations.reserved[c]
        for d in range(devices):
            if score[d] < score[best]:
                best = d
        if _reserve(reservations, place, c, best):
            break
        score[best] = np.inf
    return int(reservations.reserved[c])


@inner_kernel
def _reserve(reservations: Reservations, place: IntArray, c: int, d: int) -> bool:
    """Reserve memory of a device for a group, and move other reservations if need be; return whether it fits."""
    a = reservations.reserved[c]
    if a == d:
        return True
    lack = reservations.held[d] + reservations.memory[c] - reservations.capacity[d]
    before, x, passed = NONE, reservations.head[d], 0
    while lack > 0.0 and x != NONE and passed < LOOKED_AT:
        # A reservation stays, moves elsewhere, or is dropped from the list because its group is placed.
        behind = reservations.next_group[x]
        goal = _find_device(reservations, c, x, d, lack) if place[x] == NONE and reservations.memory[x] > 0.0 else NONE
        if place[x] == NONE and goal == NONE:
            before = x
            passed += 1
        elif before == NONE:
            reservations.head[d] = behind
        else:
            reservations.next_group[before] = behind
        if goal != NONE:
            lack -= reservations.memory[x]
            _move_reservation(reservations, x, goal)
        x = behind
    if lack > 0.0:
        return False
    # It stays in the list of device a until that is looked through: placed groups are dropped from lists there.
    reservations.held[a] -= reservations.memory[c]
    reservations.held[d] += reservations.memory[c]
    reservations.reserved[c] = d
    return True


@inner_kernel
def _find_device(reservations: Reservations, c: int, x: int, d: int, lack: float) -> int:
    """Return the device with the most memory left that the reservation of group x can move to from d, or NONE.

    If x alone leaves enough memory for group c, the two may change places.
    """
    best, most = NONE, reservations.memory[x]
    for e in range(len(reservations.head)):
        left = reservations.capacity[e] - reservations.held[e]
        if e == reservations.reserved[c] and reservations.memory[x] >= lack:
            left += reservations.memory[c]
        if e != d and reservations.allowed[x, e] and left >= most:
            best, most = e, left
    return best


@inner_kernel
def _move_reservation(reservations: Reservations, x: int, goal: int) -> None:
    """Move a reservation that is in no list to another device."""
    reservations.held[reservations.reserved[x]] -= reservations.memory[x]
    reservations.held[goal] += reservations.memory[x]
    reservations.reserved[x] = goal
    reservations.next_group[x] = reservations.head[goal]
    reservations.head[goal] = x
