"""The choice of nodes for a job: as many as asked for out of those that are free, near each other for its traffic."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tiger.errors import InputError
from tiger.model.arrays import BoolArray, IntArray
from tiger.model.metrics import TreeMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.violation import Violation

FIELD = "nodes"
Unmet = tuple[Violation, ...]
Search = Callable[[Problem], IntArray | Unmet]


def take_nodes(problem: Problem, count: int, search: Search) -> Problem | Unmet:
    """Return the problem on `count` of its nodes, chosen so that its tasks can be close to what they talk to.

    The tasks are cut into as many groups of nearly the same size, with little traffic in between, and the groups placed
    one to one: what their nodes are is the choice. Nodes with fewer slots than such a group has tasks are left out.
    Where nodes are units inside of hosts, HOST/UNIT, hosts are chosen, with all their units. `search` returns cheap
    places[n] of a problem, or what cannot be met, which is then returned. Raises InputError of `nodes` where they are
    too few, and for terms by which some nodes are not like others.
    """
    topology, share, host_room = problem.topology, math.ceil(problem.tasks.size / count), check_choice(problem, count)
    if problem.rule == "one-to-one" and count == problem.tasks.size and host_room.max() == 1:
        return problem
    suited = host_room >= share
    apart = Topology(
        names=tuple(map(str, range(count))), metric=TreeMetric((count,), (1.0,)), slots=np.full(count, share)
    )
    group = search(Problem(tasks=problem.tasks, topology=apart, rule="capacity"))
    if isinstance(group, tuple):
        return group
    single = topology.with_slots(_stand_in(topology, suited[topology.machines]))
    merged = merge_tasks(problem.tasks, group, count)
    chosen = search(Problem(tasks=merged, topology=single, rule="one-to-one"))
    if isinstance(chosen, tuple):
        return chosen
    return keep_hosts(problem, chosen)


def check_choice(problem: Problem, count: int) -> IntArray:
    """Return the slots of every host, of which `count` are to be chosen.

    Raises InputError of `nodes` where they are too few, and for terms by which some nodes are not like others.
    """
    topology = problem.topology
    room = topology.slots if problem.rule == "capacity" else np.minimum(topology.slots, 1)
    host_room = np.bincount(topology.machines, room).astype(np.int64)
    _check(problem, count, int(host_room.max()))
    share = math.ceil(problem.tasks.size / count)
    suited = int((host_room >= share).sum())
    if suited < count and not (problem.rule == "one-to-one" and count == problem.tasks.size and host_room.max() == 1):
        expected = f"expected at most {suited}, as no more have the {share} slots of an even share"
        if not suited:
            expected = (
                f"expected more, as an even share is {share} tasks and nodes have at most {int(host_room.max())} slots"
            )
        raise InputError(FIELD, f"{expected}, got {count}")
    return host_room


def keep_hosts(problem: Problem, nodes: IntArray) -> Problem:
    """Return the problem on the hosts that some nodes are inside of, all of whose units stay."""
    topology = problem.topology
    kept = np.isin(topology.machines, topology.machines[nodes])
    room = None if topology.room is None else np.where(kept, topology.room, 0)
    return replace(problem, topology=replace(topology.with_slots(np.where(kept, topology.slots, 0)), room=room))


def open_slots(problem: Problem, count: int | None) -> Problem:
    """Return the problem with room for an even share on each of `count` nodes, where nobody has stated slots.

    Slots that were left open are enough for a share of all nodes alone.
    """
    topology = problem.topology
    if count is None or type(count) is not int or count < 1 or problem.rule != "capacity" or topology.slots_stated:
        return problem
    units = np.bincount(topology.machines, topology.slots > 0)[topology.machines]
    share = np.ceil(math.ceil(problem.tasks.size / count) / np.maximum(units, 1)).astype(np.int64)
    slots = np.where(topology.slots > 0, np.maximum(topology.slots, share), 0)
    return replace(problem, topology=topology.with_slots(slots))


def _check(problem: Problem, count: int, most: int) -> None:
    """Raise InputError for what a choice of nodes does not go with; `most` tasks go to a host at once."""
    single = problem.rule == "one-to-one" and most == 1 and count < problem.tasks.size
    if single or problem.rule == "levels":
        raise InputError(FIELD, f"expected the capacity rule beside it, with slots, got {problem.rule!r}")
    for what, given in (
        ("pinned tasks", len(problem.pinned)),
        ("forbidden pairs", len(problem.banned)),
        ("memory limits", problem.tasks.memory is not None and problem.topology.memory is not None),
    ):
        if given:
            raise InputError(FIELD, f"expected no {what} beside it, got some")
    if not 1 <= count <= problem.tasks.size:
        raise InputError(FIELD, f"expected 1 to {problem.tasks.size}, one for each task, got {count}")


def _stand_in(topology: Topology, suited: BoolArray) -> IntArray:
    """Return slots with one on the first unit of every suited host, which stands for it.

    All units of a host are as far away from those of another.
    """
    first = topology.hosts[np.unique(topology.machines[topology.hosts], return_index=True)[1]]
    slots = np.zeros_like(topology.slots)
    slots[first] = suited[first]
    return slots


def merge_tasks(tasks: TaskGraph, group: IntArray, count: int) -> TaskGraph:
    """Return the groups of tasks as tasks, with the work and the traffic between them added up."""
    member = sp.csr_array((np.ones(tasks.size), (group, np.arange(tasks.size))), shape=(count, tasks.size))
    traffic = sp.coo_array(member @ tasks.traffic @ member.T)
    between = traffic.row != traffic.col
    entries = (traffic.data[between], (traffic.row[between], traffic.col[between]))
    return TaskGraph(
        names=tuple(map(str, range(count))),
        traffic=sp.csr_array(entries, shape=(count, count)),
        work=np.asarray(np.bincount(group, tasks.work, count), np.float64),
    )
