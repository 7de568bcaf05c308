"""Even shares of a job: as many tasks on every host, and on every part of it, as elsewhere."""

import math
import re
from dataclasses import replace

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.shares import apportion, share_evenly
from tiger.model.topology import Topology

# Units that are no nearer to memory when they are far from each other.
_DEVICE = re.compile(r"(.*/)?(gpu|nic)[0-9]+")


def spread_tasks(problem: Problem, count: int | None = None, imbalance: float = 0.0) -> Problem:
    """Return the problem with the slots of an even share on every host, where its hosts have more.

    A host takes the floor or the ceiling of its share in proportion to its slots, the first in the order of launchers
    the ceiling; with fewer tasks than hosts, with an imbalance X, or where `count` of the hosts are yet to be chosen,
    it takes at most the ceiling, times 1 + X. Slots of hosts that nobody has stated are even as they are. What a host
    takes is spread over the parts of it that are farthest from each other, and over theirs, but for GPUs and network
    cards, of which it is the first, and any of a single machine. Pinned tasks keep their nodes. Where other
    constraints than slots decide who goes where the problem stays as it is: under the rule `levels`, with memory or
    forbidden pairs, and on hardware in several parts. O(m log m), and the square of the units of a host.
    """
    topology, tasks = problem.topology, problem.tasks.size
    limited = problem.tasks.memory is not None and topology.memory is not None
    if problem.rule == "levels" or limited or len(problem.banned) or topology.parts.any():
        return problem
    room = topology.slots if problem.rule == "capacity" else np.minimum(topology.slots, 1)
    machine = np.zeros(topology.size, np.int64) if topology.host is not None else topology.machines
    hosts = len(np.unique(machine[room > 0]))
    even = problem.rule == "capacity" and not topology.slots_stated and hosts == np.count_nonzero(room)
    # More nodes than there are, which whoever chooses them refuses.
    free = topology.host is not None and bool(_DEVICE.fullmatch(topology.names[0]))
    if even or free or not tasks < room.sum() or (count or 0) > hosts:
        return problem
    pinned = np.bincount(problem.pins[problem.pins >= 0], minlength=topology.size)
    shares = _share_hosts(problem, np.bincount(machine, room), machine, (count, imbalance))
    shares = np.maximum(shares, np.bincount(machine, pinned).astype(np.int64))
    slots = _share_units(topology, room, machine, shares, pinned)
    return replace(problem, topology=replace(topology.with_slots(slots), room=topology.slots))


def limit_hosts(topology: Topology, most: int) -> Topology:
    """Return hardware with at most a number of slots on every host, spread over it as `spread_tasks` does."""
    machine = np.zeros(topology.size, np.int64) if topology.host is not None else topology.machines
    room = np.bincount(machine, topology.slots).astype(np.int64)
    none = np.zeros_like(topology.slots)
    slots = _share_units(topology, topology.slots, machine, np.minimum(room, most), none)
    return replace(topology.with_slots(slots), slots_stated=True)


def _share_hosts(problem: Problem, room: IntArray, machine: IntArray, choice: tuple[int | None, float]) -> IntArray:
    """Return the most tasks of every machine, of which some or all are taken."""
    (count, imbalance), tasks = choice, problem.tasks.size
    room = room.astype(np.int64)
    open_ = np.count_nonzero(room)
    if count is not None and count < open_:
        even = np.full(len(room), math.ceil(tasks / max(count, 1)))
    elif imbalance or tasks < open_:
        total = int(room.sum())
        even = np.array([-(-tasks * each // total) for each in room.tolist()])
    else:
        first = np.full(len(room), problem.topology.size)
        np.minimum.at(first, machine[problem.topology.launch_hosts], np.arange(len(problem.topology.hosts)))
        order, shares = np.argsort(first, kind="stable"), np.zeros_like(room)
        shares[order] = apportion(tasks, room[order])
        return shares
    # A hair above, as where slots are scaled.
    return np.minimum(np.floor(even * (1 + imbalance) + 1e-9).astype(np.int64), room)


def _share_units(topology: Topology, room: IntArray, machine: IntArray, shares: IntArray, pinned: IntArray) -> IntArray:
    """Return the slots of units, which add up to the share of every machine and hold what is pinned."""
    slots, known = np.zeros_like(room), dict[tuple[int, bytes, bytes], IntArray]()
    order = np.argsort(machine, kind="stable")
    order = order[room[order] > 0]
    for own in np.split(order, np.flatnonzero(np.diff(machine[order])) + 1):
        share, free = int(shares[machine[own[0]]]), np.maximum(room[own] - pinned[own], 0)
        if len(own) == 1 or share >= room[own].sum():
            slots[own] = np.minimum(share, room[own])
            continue
        apart = topology.metric.between(own[:, None], own[None, :])
        key = min(share - int(pinned[own].sum()), int(free.sum())), free.tobytes(), apart.tobytes()
        if key not in known:
            device = _DEVICE.fullmatch(topology.names[own[0]])
            known[key] = share_evenly(key[0], free, () if device else _list_parts(apart))
        slots[own] = pinned[own] + known[key]
    return slots


def _list_parts(apart: FloatArray) -> list[IntArray]:
    """Return the parts of a host by the distances between its units, outermost first, each inside those before.

    Two units are in one part where steps shorter than some distance lead from one to the other (single linkage).
    """
    from scipy.sparse.csgraph import connected_components  # as only jobs that leave slots free have parts

    parts = list[IntArray]()
    for limit in np.unique(apart)[:0:-1]:
        part = connected_components(apart < limit, directed=False)[1].astype(np.int64)
        if part.any() and (not parts or part.max() > parts[-1].max()):
            parts.append(part)
    return parts
