"""Blocks of consecutive ranks, one for every host.

Ranks are cut into blocks, and a search places the blocks one to one on the hosts, by the traffic between them; inside
every host another search places its ranks on its units. Where slots are left over, cuts are where they cross the least
traffic, by a dynamic program over the ranks, and are moved once hosts are chosen (tiger.mapping.cuts).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.launchers.order import sort_ranks
from tiger.mapping.cuts import RankBlocks
from tiger.model.arrays import FloatArray, IntArray, lock
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology
from tiger.model.violation import Violation
from tiger.run.node_choice import merge_tasks

Search = Callable[[Problem], IntArray | tuple[Violation, ...]]
# Sums that the dynamic program looks at: hosts times ranks times slots of a host. They take 0.2 s.
CELLS = 50_000_000
# How often hosts are chosen for blocks whose cuts have moved.
CHOICES = 3


def place_blocks(problem: Problem, search: Search) -> Iterator[IntArray]:
    """Yield places[n] that keep the ranks of every host consecutive, where slots suffice and nothing is an obstacle.

    The first are those of a launcher that fills hosts in its order by rank; then come one for every way of cutting the
    ranks into blocks that is tried. `search` returns cheap places of a problem, or what cannot be met.
    """
    rooms, ranks = _Rooms.of(problem), list_ranks(problem)
    block = np.empty(problem.tasks.size, np.int64)
    block[ranks] = np.repeat(np.arange(len(rooms.room)), _fill(len(ranks), rooms.room))
    yield _fill_units(problem, rooms, block)
    for sizes in _list_cuts(problem, ranks, rooms.room):
        block[ranks] = np.repeat(np.arange(len(sizes)), sizes)
        for _ in range(CHOICES):
            chosen = search(_pose_blocks(problem, block, rooms))
            if isinstance(chosen, tuple):
                break
            host = rooms.numbers[chosen]
            blocks = _pose_cuts(problem, rooms, ranks, host[block])
            changed = blocks.move_cuts()
            places = np.empty_like(block)
            places[ranks] = blocks.host
            yield _place_inside(problem, rooms, places, search)
            if not changed:
                break
            runs = np.flatnonzero(np.diff(blocks.host, prepend=-1))
            block[ranks] = np.repeat(np.arange(len(runs)), np.diff(runs, append=len(ranks)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rooms:
    """Hold the hosts that have slots, as launchers fill them: numbers[m] from nodes to hosts, -1 for nodes without.

    `slots[m]` are those of nodes, `room[h]` those of hosts, and `units[h]` their nodes.
    """

    numbers: IntArray
    slots: IntArray
    room: IntArray
    units: tuple[IntArray, ...]

    @classmethod
    def of(cls, problem: Problem) -> "_Rooms":
        """Return the hosts of a problem."""
        topology = problem.topology
        slots = topology.slots if problem.rule == "capacity" else np.minimum(topology.slots, 1)
        order = topology.launch_hosts
        machine = number_hosts(topology)[order]
        _, first, inverse = np.unique(machine, return_index=True, return_inverse=True)
        host = np.argsort(np.argsort(first))[inverse]
        numbers = np.full(topology.size, -1)
        numbers[order] = host
        units = tuple(order[host == k] for k in range(len(first)))
        return cls(numbers=numbers, slots=slots, room=np.array([slots[own].sum() for own in units]), units=units)


def number_hosts(topology: Topology) -> IntArray:
    """Return the number of the host that each node is, or is inside of."""
    return topology.machines if topology.host is None else np.zeros(topology.size, np.int64)


def list_ranks(problem: Problem) -> IntArray:
    """Return the indices of tasks in the order of ranks."""
    index = {name: k for k, name in enumerate(problem.tasks.names)}
    return np.array([index[name] for name in sort_ranks(problem.tasks.names)])


def _list_cuts(problem: Problem, ranks: IntArray, room: IntArray) -> Iterator[IntArray]:
    """Yield the sizes of blocks in the order of ranks, each at most as large as a host of its own.

    Cuts are where the least traffic crosses, with hosts of different sizes in their order and the largest first, or
    even, on as few hosts as can be and on all. Of 13 patterns on trees, tori and dragonflies with slots to spare, the
    former are cheaper in five than filled hosts, by 5 to 27 %, and even blocks in one by 9 %.
    """
    seen, large, size = set[tuple[int, ...]](), np.sort(room)[::-1], len(ranks)
    fewest = int((np.cumsum(large) < size).sum()) + 1
    for sizes in (
        _cut(problem.tasks, ranks, room),
        _cut(problem.tasks, ranks, large),
        _spread(size, large[:fewest]),
        _spread(size, large),
    ):
        blocks = sizes[sizes > 0]
        if tuple(blocks) not in seen:
            seen.add(tuple(blocks))
            yield blocks


def _spread(ranks: int, room: IntArray) -> IntArray:
    """Return as equal sizes as there can be on all hosts; filled hosts where these are too small for that."""
    even = np.diff(np.arange(len(room) + 1) * ranks // len(room))
    return even if even.max() <= room.min() else _fill(ranks, room)


def _fill(ranks: int, room: IntArray) -> IntArray:
    """Return how many ranks each host has where they are filled one after the other."""
    return np.diff(np.minimum(np.cumsum(room), ranks), prepend=0)


def _cut(tasks: TaskGraph, ranks: IntArray, room: IntArray) -> IntArray:
    """Return how many ranks each host has, in turn, so that the most traffic stays inside; O(h n c) for c slots."""
    size = len(ranks)
    most = min(int(room.max()), size)
    if len(room) * size * most > CELLS:
        return _fill(size, room)
    ahead = _sum_ahead(tasks, ranks, most)
    # inside[s][i]: traffic among the s ranks that end before rank i.
    inside = np.full((most + 1, size + 1), -np.inf)
    inside[0] = 0.0
    for count in range(1, most + 1):
        inside[count, count:] = inside[count - 1, count:] + ahead[count - 1, : size + 1 - count]
    best = np.full(size + 1, -np.inf)
    best[0], taken = 0.0, np.zeros((len(room), size + 1), np.int32)
    for host, slots in enumerate(room.tolist()):
        before = best.copy()
        for count in range(1, min(slots, size) + 1):
            value = before[: size + 1 - count] + inside[count, count:]
            better = value > best[count:]
            best[count:][better] = value[better]
            taken[host, count:][better] = count
    sizes, left = np.zeros(len(room), np.int64), size
    for host in reversed(range(len(room))):
        sizes[host] = taken[host, left]
        left -= int(sizes[host])
    return sizes


def _sum_ahead(tasks: TaskGraph, ranks: IntArray, most: int) -> FloatArray:
    """Return ahead[d][k], the traffic in both directions between rank k and the d ranks after it, for d below most."""
    position = np.empty(len(ranks), np.int64)
    position[ranks] = np.arange(len(ranks))
    traffic = sp.coo_array(tasks.traffic)
    a, b = position[traffic.row], position[traffic.col]
    apart, near = np.abs(a - b), np.minimum(a, b)
    short = (apart > 0) & (apart < most)
    ahead = np.zeros((most, len(ranks)))
    np.add.at(ahead, (apart[short], near[short]), traffic.data[short])
    return np.cumsum(ahead, axis=0)


def _pose_blocks(problem: Problem, block: IntArray, rooms: _Rooms) -> Problem:
    """Return the problem of placing blocks of tasks one to one on hosts, the first units of which stand for them."""
    sizes = np.bincount(block)
    first = [int(own[0]) for own in rooms.units]
    names, slots = problem.topology.names, np.zeros(problem.topology.size, np.int64)
    slots[first] = 1
    small = {size: np.flatnonzero(rooms.room < size) for size in np.unique(sizes).tolist()}
    return Problem(
        tasks=merge_tasks(problem.tasks, block, len(sizes)),
        topology=problem.topology.with_slots(slots),
        rule="one-to-one",
        forbidden=[(str(k), names[first[host]]) for k, size in enumerate(sizes.tolist()) for host in small[size]],
    )


def _pose_cuts(problem: Problem, rooms: _Rooms, ranks: IntArray, host: IntArray) -> RankBlocks:
    """Return blocks whose cuts can be moved: host[n] by task, with hosts as far apart as the first of their units."""
    units = [(own[:, None], own[None, :]) for own in rooms.units]
    first = np.array([own[0] for own in rooms.units])
    distance = problem.metric.between(first[:, None], first[None, :])
    np.fill_diagonal(distance, [problem.metric.between(*own).mean() for own in units])
    traffic = sp.csr_array(problem.tasks.traffic[ranks][:, ranks])
    own_host = host[ranks]
    return RankBlocks(
        host=own_host,
        hosts=own_host[np.flatnonzero(np.diff(own_host, prepend=-1))].tolist(),
        sent=traffic,
        got=sp.csr_array(traffic.T),
        work=problem.tasks.work[ranks],
        distance=distance,
        price=np.array([problem.topology.cost[own].mean() for own in rooms.units]),
        room=rooms.room,
    )


def _fill_units(problem: Problem, rooms: _Rooms, host: IntArray) -> IntArray:
    """Return places[n] of tasks on hosts host[n], the units of each filled by rank, as launchers do."""
    places = np.empty(problem.tasks.size, np.int64)
    for units, tasks in zip(rooms.units, _list_tasks(problem, rooms, host), strict=True):
        places[tasks] = np.repeat(units, rooms.slots[units])[: len(tasks)]
    return places


def _list_tasks(problem: Problem, rooms: _Rooms, host: IntArray) -> list[IntArray]:
    """Return the tasks of every host in the order of ranks."""
    ranks = list_ranks(problem)
    order = ranks[np.argsort(host[ranks], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(host, minlength=len(rooms.units)))[:-1])


def _place_inside(problem: Problem, rooms: _Rooms, host: IntArray, search: Search) -> IntArray:
    """Return places[n] of tasks on the units of their hosts host[n], all of which are as far from other hosts.

    Hosts that are alike, and whose ranks talk alike, are searched once.
    """
    places, known = _fill_units(problem, rooms, host), dict[bytes, IntArray]()
    for units, tasks in zip(rooms.units, _list_tasks(problem, rooms, host), strict=True):
        if len(units) > 1 and len(tasks) > 1:
            part = _pose_inside(problem, tasks, units, rooms.slots[units])
            key = _describe(part)
            if key not in known:
                found = search(part)
                known[key] = _fill_slots(part) if isinstance(found, tuple) else found
            places[tasks] = units[known[key]]
    return places


def _pose_inside(problem: Problem, tasks: IntArray, units: IntArray, slots: IntArray) -> Problem:
    """Return the problem of placing some tasks on the units of a host."""
    graph, nodes = problem.tasks, problem.topology
    distances = problem.metric.between(units[:, None], units[None, :])
    return Problem(
        tasks=TaskGraph(
            names=tuple(map(str, range(len(tasks)))),
            traffic=sp.csr_array(graph.traffic[tasks][:, tasks]),
            work=graph.work[tasks],
            directed=graph.directed,
        ),
        topology=Topology(
            names=tuple(map(str, range(len(units)))),
            metric=DenseMetric(lock(distances)),
            slots=slots,
            cost=nodes.cost[units],
        ),
        # A host of cores, which is searched in a tenth of the time by this rule.
        rule="one-to-one" if slots.max() == 1 else "capacity",
    )


def _fill_slots(part: Problem) -> IntArray:
    """Return the units of a host filled one after the other."""
    return np.repeat(np.arange(part.topology.size), part.topology.slots)[: part.tasks.size]


def _describe(part: Problem) -> bytes:
    """Return what makes a part what it is."""
    traffic, nodes = part.tasks.traffic, part.topology
    every = np.arange(nodes.size)
    arrays = (traffic.indptr, traffic.indices, traffic.data, part.tasks.work, nodes.slots, nodes.cost)
    return b"/".join(array.tobytes() for array in (*arrays, part.metric.between(every[:, None], every[None, :])))
