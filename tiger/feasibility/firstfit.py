"""First fit: every task on the first host that is open to it, in input order, as a launcher does it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem

# Hosts looked at in one numpy call, twice as many in each that follows.
WIDTH = 64
NO_NODES: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class _Hosts:
    """Hold hosts in order, nodes[h], and the slots left[h] and memory room[h] that they have left."""

    nodes: IntArray
    left: IntArray
    room: IntArray

    def part(self, begin: int, end: int) -> "_Hosts":
        """Return a view of some of them."""
        return _Hosts(self.nodes[begin:end], self.left[begin:end], self.room[begin:end])

    def find_first(self, start: int, need: int, banned: Collection[int]) -> int | None:
        """Return the first one from `start` on that has a slot and `need` bytes left and is no banned node."""
        width = WIDTH
        while start < len(self.nodes):
            some = slice(start, start + width)
            for at in np.flatnonzero((self.left[some] > 0) & (self.room[some] >= need)).tolist():
                if int(self.nodes[start + at]) not in banned:
                    return int(start + at)
            start, width = start + width, 2 * width
        return None

    def fill(self, count: int) -> IntArray:
        """Return the hosts of tasks in order, as many of `count` as there are slots, which alone decide.

        In large problems without limits on memory all of the time would go into the loop of `take`.
        """
        ends = np.cumsum(np.maximum(self.left, 0))
        found = np.searchsorted(ends, np.arange(min(count, ends[-1])), side="right")
        self.left[:] -= np.bincount(found, minlength=len(self.left))
        return found

    def take(self, need: list[int], used: list[int], banned: Sequence[Collection[int]]) -> list[int]:
        """Return the hosts of tasks in order, of which one then holds `used` bytes, up to the first that finds none."""
        taken: list[int] = []
        start, size, least = 0, len(self.nodes), min(need)
        for wanted, kept, no in zip(need, used, banned, strict=True):
            while start < size and (self.left[start] <= 0 or self.room[start] < least):
                start += 1
            host: int | None = start
            # Most often the first host that has anything left will do, and a search is not worth its time.
            if start == size or self.room[start] < wanted or self.nodes[start] in no:
                host = self.find_first(start, wanted, no)
            if host is None:
                break
            self.left[host] -= 1
            self.room[host] -= kept
            taken.append(host)
        return taken


def first_fit(problem: Problem, part: IntArray, where: IntArray) -> tuple[IntArray, set[int]]:
    """Return places[n] with every free task on the first open host of its part[f], in input order.

    `where[h]` is the part of a host. The second value are the parts where a task found no host; the places of their
    tasks mean nothing. About linear in tasks, hosts and forbidden pairs, unless memory leaves many holes.
    """
    free, groups, places = problem.free, problem.group_of, problem.pins.copy()
    hosts, need, failed = _hosts(problem, where), _needs(problem), set[int]()
    bounds = np.append(0, np.cumsum(np.bincount(where)))
    at = np.full(problem.topology.size, -1)
    at[hosts.nodes] = np.arange(len(hosts.nodes))
    closed = _find_pinned_hosts(problem, at)
    forbidden = _forbidden_nodes(problem)
    order = np.lexsort((groups[free], part))
    runs = np.flatnonzero(np.diff(groups[free[order]]) | np.diff(part[order])) + 1
    for run in np.split(order, runs) if free.size else ():
        label, tasks = int(part[run[0]]), free[run]
        if label in failed:
            continue
        taken = closed.get(int(groups[tasks[0]]), [])
        hosts.left[taken] = 0
        here = hosts.part(bounds[label], bounds[label + 1])
        if (
            len(here.nodes)
            and not need[tasks].any()
            and forbidden.keys().isdisjoint(tasks.tolist() if forbidden else ())
        ):
            found = here.fill(len(tasks))
        else:
            wanted = need[tasks].tolist()
            used = [0] * len(wanted) if problem.groups else wanted
            banned = [forbidden.get(task, NO_NODES) for task in tasks.tolist()]
            found = np.array(here.take(wanted, used, banned), np.int64)
        if problem.groups:
            hosts.left[taken] = here.left[found] = 1
        if len(found) < len(tasks):
            failed.add(label)
        else:
            places[tasks] = here.nodes[found]
    return places, failed


def _needs(problem: Problem) -> IntArray:
    """Return need[n], the bytes of every task, 0 where memory plays no part."""
    memory = problem.tasks.memory
    limited = memory is not None and problem.topology.memory is not None
    return memory if memory is not None and limited else np.zeros(problem.tasks.size, np.int64)


def _forbidden_nodes(problem: Problem) -> dict[int, set[int]]:
    """Return the nodes where each task with forbidden pairs may not go."""
    tasks, start = np.unique(problem.banned[:, 0], return_index=True)
    parts = np.split(problem.banned[:, 1], start[1:])
    # Without pairs there is one part all the same, an empty one.
    return {task: set(nodes.tolist()) for task, nodes in zip(tasks.tolist(), parts, strict=False)}


def _hosts(problem: Problem, where: IntArray) -> _Hosts:
    """Return the hosts part after part with what the pinned tasks leave of them, under groups one slot for each."""
    hosts = problem.topology.hosts
    nodes = hosts[np.lexsort((problem.topology.turn[hosts], where))]
    pinned = np.flatnonzero(problem.pins >= 0)
    memory = problem.topology.memory
    room = np.zeros(problem.topology.size, np.int64) if memory is None else memory.copy()
    left = np.ones_like(room) if problem.groups else problem.topology.slots.copy()
    if not problem.groups:
        np.subtract.at(left, problem.pins[pinned], 1)
        np.subtract.at(room, problem.pins[pinned], _needs(problem)[pinned])
    return _Hosts(nodes, left[nodes], room[nodes])


def _find_pinned_hosts(problem: Problem, at: IntArray) -> dict[int, list[int]]:
    """Return the hosts, by position at[m], that the pinned tasks of each exclusivity group hold."""
    hosts_of_group: dict[int, list[int]] = {}
    for task in np.flatnonzero(problem.pins >= 0).tolist() if problem.groups else ():
        hosts_of_group.setdefault(int(problem.group_of[task]), []).append(int(at[problem.pins[task]]))
    return hosts_of_group
