"""A mapping in progress: hardware cut into regions and tasks shared out among them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.solvers.instance import Instance
from tiger.solvers.multilevel.coarsening import Graph, contract
from tiger.solvers.multilevel.outlines import outlines_of
from tiger.solvers.multilevel.quotient import Quotient, list_near
from tiger.solvers.multilevel.region_cuts import CutPlan, RegionTable, cut_regions, region_graph
from tiger.solvers.multilevel.regions import halve
from tiger.solvers.multilevel.v_cycle_kernels import Regions

# Memory in bytes beyond which sums of that of nodes may exceed 2**63.
LARGEST_ROOM = 2.0**60
# Close regions to which a region is proposed to move.
NEAR = 6
# Most tasks and most regions of a batch, which is cut in one call that cannot be stopped: up to 72 ms with 4,096 tasks
# near each other on a torus of as many nodes.
BATCH, MOST = 4096, 1024


class KnownHalves(NamedTuple):
    """Hold what is known of halves of regions.

    Half h, which will be `region[h]`, has `nodes[start[h] : start[h + 1]]`, an outline `rows[h, w]`, the mean price
    `price[h]`, and its slots and bytes.
    """

    region: IntArray
    nodes: IntArray
    start: IntArray
    rows: FloatArray
    price: FloatArray
    slots: IntArray
    rooms: IntArray


class Dissection:
    """Hold regions: their nodes and the tasks without a pin that go to these.

    It begins with one region of all nodes with slots left, and one, never changed, for every node with a pinned task.
    `nodes[r]` and `members[r]` are index arrays, `region[n]` is where every task is, `slots[r]` what a region holds;
    `whole` is the graph of all tasks, which weigh 1.
    """

    def __init__(self, problem: Problem, inst: Instance, seed: int) -> None:
        self._inst, self._metric, self._banned = inst, problem.metric, problem.banned
        self.rng = np.random.default_rng(seed)
        self._pins, self._spare, self._room = problem.pins, *_remaining_room(problem, inst)
        taken = np.unique(self._pins[self._pins >= 0])
        hosts, size = np.flatnonzero(self._spare > 0), len(self._pins)
        most = max(len(hosts), 1) + len(taken)
        self.nodes: list[IntArray] = []
        self.members = [problem.free, *[problem.free[:0] for _ in taken]]
        self.slots, self._rooms = np.zeros(most, np.int64), np.zeros(most, np.int64)
        self._home = np.full(problem.topology.size, -1, np.int64)
        self._outlines = outlines_of(problem.metric, inst)
        self._table = RegionTable(
            rows=np.zeros((most, self._outlines.width)),
            price=np.zeros(most),
            distances=self._outlines.distances,
            region=np.where(self._pins < 0, 0, 1 + np.searchsorted(taken, self._pins)),
            shut=np.zeros(size),
            local=np.full(size, -1, np.int64),
            seen=np.zeros(most, np.int64),
            lean=np.zeros(most + 1),
        )
        ones, none = np.ones(size, np.int64), np.zeros(size, np.int64)
        self.whole = Graph(inst.indptr.copy(), inst.indices.copy(), inst.out + inst.back, ones, none, np.zeros(size))
        roomy = problem.tasks.memory is None or problem.topology.memory is None
        self._free = roomy and not len(taken) and not len(self._banned)
        parts = [hosts, *taken[:, None]]
        self._enter(self._describe(np.arange(len(parts)), np.concatenate(parts), _starts(parts)))
        # Nobody else comes to the regions of pinned tasks; what else their nodes hold is part of the first region.
        self.slots[1:], self._rooms[1:], self._home[hosts] = 0, 0, 0

    @property
    def region(self) -> IntArray:
        """Return region[n], where every task is."""
        return self._table.region

    @property
    def open(self) -> IntArray:
        """Return the regions with tasks and more than one node."""
        pairs = enumerate(zip(self.nodes, self.members, strict=True))
        return np.array([r for r, (nodes, members) in pairs if nodes.size > 1 and members.size], np.int64)

    @property
    def is_plain(self) -> bool:
        """Return whether tasks may go anywhere, as long as there are slots, at equal prices."""
        return self._free and not self.has_prices

    def draw(self) -> int:
        """Return a random seed."""
        return int(self.rng.integers(2**31))

    def batches(self) -> list[list[int]]:
        """Return the open regions, each after one that it exchanges traffic with, in batches; large ones come alone."""
        batches: list[list[int]] = []
        tasks = 0
        for r in self._walk(self.open):
            tasks += len(self.members[r])
            if not batches or tasks > BATCH or len(batches[-1]) == MOST:
                tasks = len(self.members[r])
                batches.append([])
            batches[-1].append(r)
        return batches

    def halve(self, r: int) -> int:
        """Cut a region's nodes in two, leave all its tasks in the first half, and return the second."""
        self._enter(self._halve([r]))
        self.members.append(self.members[r][:0])
        return len(self.nodes) - 1

    def cut(self, regions: list[int], counts: tuple[int, int], tries: int) -> None:
        """Halve regions and cut their tasks by the best of `counts[0]` cuts from scratch, then `counts[1]` cycles."""
        halves, members = self._halve(regions), [self.members[r] for r in regions]
        pairs, sizes = halves.region.reshape(-1, 2), np.array([len(tasks) for tasks in members])
        slots, rooms = halves.slots.reshape(-1, 2), halves.rooms.reshape(-1, 2)
        plan = CutPlan(
            tasks=np.concatenate(members),
            start=_starts(members),
            first=pairs[:, 0].copy(),
            second=pairs[:, 1].copy(),
            bounds=np.stack([np.maximum(sizes - slots[:, 1], 0), np.minimum(slots[:, 0], sizes), *rooms.T], axis=1),
            seeds=self.rng.integers(2**31, size=(len(regions), sum(counts))),
            rows=halves.rows.reshape(len(regions), 2, -1),
            price=halves.price.reshape(-1, 2),
            kept=np.zeros(len(regions), np.int64),
        )
        if len(self._banned):
            self._shut(plan.tasks, np.repeat(pairs, sizes, axis=0))
        cut_regions(self._inst, self._table, plan, counts[0], tries)
        self._enter(halves)
        ends = plan.start[:-1] + plan.kept
        for c, r in enumerate(regions):
            self.members[r] = plan.tasks[plan.start[c] : ends[c]]
            self.members.append(plan.tasks[ends[c] : plan.start[c + 1]])

    def graph(self, a: int, b: int) -> Graph:
        """Return the graph of the tasks of regions a, first, and b, as they are to be cut between the two."""
        tasks = np.concatenate([self.members[a], self.members[b]])
        if len(self._banned):
            self._shut(tasks, np.array([[a, b]]).repeat(len(tasks), axis=0))
        return region_graph(self._inst, self._table, tasks, a, b)

    def bounds(self, a: int, b: int) -> IntArray:
        """Return the fewest and most tasks in region a if it and b share theirs, and the memory of a and b."""
        count = len(self.members[a]) + len(self.members[b])
        fewest, most = max(count - self.slots[b], 0), min(self.slots[a], count)
        return np.array([fewest, most, self._rooms[a], self._rooms[b]], np.int64)

    def share(self, a: int, b: int, side: IntArray) -> None:
        """Give the tasks of regions a and b, in the order of their graph, to these by `side[k]`."""
        tasks = np.concatenate([self.members[a], self.members[b]])
        self.members[a], self.members[b] = tasks[side == 0], tasks[side == 1]
        self.region[self.members[a]] = a
        self.region[self.members[b]] = b

    def places(self) -> IntArray:
        """Return the node of every task; those of a region of several nodes fill these in turn."""
        places = self._pins.copy()
        for nodes, members in zip(self.nodes, self.members, strict=True):
            if len(nodes) == 1 or not len(members):
                places[members] = nodes[0] if len(nodes) else -1
            else:
                slots = np.cumsum(self._spare[nodes])
                places[members] = nodes[np.searchsorted(slots, np.arange(len(members)), side="right")]
        return places

    def traffic(self) -> sp.csr_array:
        """Return the symmetric traffic between regions, without diagonal; O(entries)."""
        count = len(self.nodes)
        graph = contract(self.whole, self.region, count)
        traffic = sp.csr_array((graph.flow, graph.indices, graph.indptr), shape=(count, count))
        traffic.sort_indices()
        return traffic

    def cost(self) -> float:
        """Return the cost of all traffic of tasks without a pin, by mean distances between and within regions."""
        traffic, count, total, rows = self.traffic(), len(self.nodes), 0.0, self._table.rows
        counted = np.array([0.5 if len(members) else 1.0 for members in self.members])
        each = np.add.reduceat(np.append(self.whole.flow, 0.0), self.whole.indptr[:-1])
        each[np.diff(self.whole.indptr) == 0] = 0.0
        inside = np.bincount(self.region, each, count) - traffic.sum(axis=1)
        for r in np.flatnonzero(counted == 0.5):
            row = slice(traffic.indptr[r], traffic.indptr[r + 1])
            others = traffic.indices[row]
            distances = self._outlines.mean_distances(rows[others], rows[r])
            total += float(counted[others] * traffic.data[row] @ distances)
            total += 0.5 * float(inside[r] * self._outlines.mean_distances(rows[r : r + 1], rows[r])[0])
        return total

    def regions(self) -> Regions:
        """Return how far apart regions are and what each may hold."""
        count = len(self.nodes)
        return Regions(self._outlines.table(self._table.rows[:count]), self.slots[:count].copy())

    def assign(self, region: IntArray) -> None:
        """Put all tasks, none of which is pinned, into the regions `region[n]`."""
        self.region[:] = region
        order, start = np.argsort(region, kind="stable"), np.cumsum(np.bincount(region, minlength=len(self.nodes)))
        self.members = np.split(order, start[:-1])

    def quotient(self) -> Quotient:
        """Return the traffic between regions and how far apart they are; O(r^2).

        Those with equal slots and equal memory may change their tasks.
        """
        traffic, count = self.traffic(), len(self.nodes)
        distances = self._outlines.table(self._table.rows[:count])
        np.fill_diagonal(distances, 0.0)
        near = np.empty((count, min(NEAR, count - 1)), np.int64)
        list_near(distances, near)
        sizes = np.stack([self.slots[:count], self._rooms[:count]], axis=1)
        size_class = np.unique(sizes, axis=0, return_inverse=True)[1].astype(np.int64)
        size_class[self.slots[:count] == 0] = -1
        return Quotient(
            indptr=traffic.indptr.astype(np.int64),
            indices=traffic.indices.astype(np.int64),
            flow=traffic.data,
            distances=distances,
            near=near,
            size_class=size_class,
        )

    def move(self, place: IntArray) -> None:
        """Give the tasks of every region r to region `place[r]`."""
        members = self.members
        self.members = [members[r] for r in np.argsort(place)]
        self.region[:] = place[self.region]

    @property
    def has_prices(self) -> bool:
        """Return whether tasks cost more in some regions than in others, or may not go to some."""
        return bool(np.ptp(self._table.price[: len(self.nodes)]) > 0 or len(self._banned))

    def _walk(self, open_: IntArray) -> list[int]:
        """Return the open regions in an order in which each exchanges traffic with one before it, where possible."""
        traffic, left, order = self.traffic(), np.zeros(len(self.nodes), bool), []
        left[open_] = True
        while left.any():
            reached = breadth_first_order(traffic, self.rng.choice(np.flatnonzero(left)), return_predecessors=False)
            order += [int(r) for r in reached if left[r]]
            left[reached] = False
        return order

    def _halve(self, regions: list[int]) -> KnownHalves:
        """Return the halves of regions, two after each other, and say that their nodes belong to them."""
        found = halve(self._metric, [self.nodes[r] for r in regions], self._spare, self.rng)
        start = np.sort(np.concatenate([found.start, found.cut]))
        numbers = np.stack([regions, len(self.nodes) + np.arange(len(regions))], axis=1).ravel()
        self._home[found.nodes] = np.repeat(numbers, np.diff(start))
        return self._describe(numbers, found.nodes, start)

    def _describe(self, numbers: IntArray, nodes: IntArray, start: IntArray) -> KnownHalves:
        """Return outlines, prices, slots and memory of regions, given the nodes of each."""
        slots, begins = self._spare[nodes], start[:-1]
        rows = self._outlines.outline(nodes, np.maximum(slots, 1), start)
        rooms = np.minimum(np.add.reduceat(self._room[nodes].astype(np.float64), begins), LARGEST_ROOM)
        return KnownHalves(
            region=numbers,
            nodes=nodes,
            start=start,
            rows=rows,
            price=np.add.reduceat(self._inst.price[nodes], begins) / np.diff(start),
            slots=np.add.reduceat(slots, begins),
            rooms=rooms.astype(np.int64),
        )

    def _enter(self, halves: KnownHalves) -> None:
        """Enter what regions are made of, new ones in the order of their numbers."""
        for r, begin, end in zip(halves.region.tolist(), halves.start[:-1], halves.start[1:], strict=True):
            if r == len(self.nodes):
                self.nodes.append(halves.nodes[begin:end])
            else:
                self.nodes[r] = halves.nodes[begin:end]
        table, numbers = self._table, halves.region
        table.rows[numbers], table.price[numbers] = halves.rows, halves.price
        self.slots[numbers], self._rooms[numbers] = halves.slots, halves.rooms

    def _shut(self, tasks: IntArray, pairs: IntArray) -> None:
        """Enter which tasks are forbidden on all nodes of the first or the second region of their `pairs[k, 2]`.

        O(the tasks' forbidden pairs + nodes).
        """
        start, nodes = self._inst.ban_start, np.bincount(self._home[self._home >= 0], minlength=len(self.nodes))
        first, counts = start[tasks], start[tasks + 1] - start[tasks]
        row, ends = np.repeat(np.arange(len(tasks)), counts), np.cumsum(counts)
        entry = np.arange(len(row)) + np.repeat(first - ends + counts, counts)
        home = self._home[self._inst.ban_node[entry]]
        here, there = (np.bincount(row[home == among[row]], minlength=len(tasks)) for among in pairs.T)
        shut = (there == nodes[pairs[:, 1]]).astype(np.float64) - (here == nodes[pairs[:, 0]])
        self._table.shut[tasks] = shut


def _starts(parts: Sequence[IntArray]) -> IntArray:
    """Return where each of some arrays begins once they are joined, and where the last one ends."""
    return np.cumsum([0, *map(len, parts)])


def _remaining_room(problem: Problem, inst: Instance) -> tuple[IntArray, IntArray]:
    """Return the slots and the memory that pinned tasks leave on every node."""
    pinned = np.flatnonzero(problem.pins >= 0)
    taken = np.bincount(problem.pins[pinned], minlength=problem.topology.size)
    room = inst.room.copy()
    np.subtract.at(room, problem.pins[pinned], inst.memory[pinned])
    most = 1 if problem.groups else len(problem.pins)
    return np.maximum(np.minimum(problem.topology.slots, most) - taken, 0), room
