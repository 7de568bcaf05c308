"""A mapping in progress: hardware cut into regions and tasks shared out among them."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.solvers.instance import Instance
from tiger.solvers.multilevel import coarsening
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.outlines import outlines_of
from tiger.solvers.multilevel.quotient import Quotient
from tiger.solvers.multilevel.regions import halve

# Memory in bytes beyond which sums of that of nodes may exceed 2**63.
LARGEST_ROOM = 2.0**60
# Least share of the distance between two halves that parting traffic costs, where nodes within are as far apart.
LEAST_STEP = 1e-3
# Close regions to which a region is proposed to move.
NEAR = 6


class Dissection:
    """Hold regions: their nodes and the tasks without a pin that go to these.

    It begins with one region of all nodes with seats left, and one, never changed, for every node with a pinned task.
    `nodes[r]` and `members[r]` are index arrays, `region[n]` is where every task is, `seats[r]` what a region holds.
    """

    def __init__(self, problem: Problem, inst: Instance, seed: int) -> None:
        self._inst, self._metric, self._banned = inst, problem.metric, problem.banned
        self.rng = np.random.default_rng(seed)
        pins, self._spare, self._room = problem.pins, *_remaining_room(problem, inst)
        taken = np.unique(pins[pins >= 0])
        hosts = np.flatnonzero(self._spare > 0)
        most = max(len(hosts), 1) + len(taken)
        self.nodes = [hosts, *taken[:, None]]
        self.members = [problem.free, *[problem.free[:0] for _ in taken]]
        self.region = np.where(pins < 0, 0, 1 + np.searchsorted(taken, pins))
        self.seats, self._rooms = np.zeros(most, np.int64), np.zeros(most, np.int64)
        self._outlines = outlines_of(problem.metric, inst)
        self._rows, self._inner, self._price = np.zeros((most, self._outlines.width)), np.zeros(most), np.zeros(most)
        self._home = np.full(problem.topology.size, -1, np.int64)
        self._local, self._seen = np.full(len(pins), -1, np.int64), np.zeros(most, np.int64)
        self._lean = np.zeros(most + 1)
        self._ends = np.repeat(np.arange(len(pins), dtype=np.int32), np.diff(inst.indptr))
        for r, nodes in enumerate(self.nodes):
            self._outline(r, nodes)
        self._occupy(0, hosts)

    @property
    def open(self) -> IntArray:
        """Return the regions with tasks and more than one node."""
        return np.array([r for r, x in enumerate(self.nodes) if len(x) > 1 and len(self.members[r])], np.int64)

    def draw(self) -> int:
        """Return a random seed."""
        return int(self.rng.integers(2**31))

    def halve(self, r: int) -> int:
        """Cut a region's nodes in two, leave all its tasks in the first half, and return the second."""
        nodes, new = self.nodes[r], len(self.nodes)
        first, second = halve(self._metric, nodes, self._spare[nodes], self.rng)
        self.nodes.append(nodes[second])
        self.members.append(self.members[r][:0])
        for part, half in ((r, nodes[first]), (new, nodes[second])):
            self._outline(part, half)
            self._occupy(part, half)
        return new

    def graph(self, a: int, b: int) -> Graph:
        """Return the graph of the tasks of regions a, first, and b, as they are to be cut between the two."""
        tasks = np.concatenate([self.members[a], self.members[b]])
        near = coarsening.neighbour_regions(self._inst, tasks, self.region, self._seen)
        table = self._rows[near]
        to_a, to_b = (self._outlines.mean_distances(table, self._rows[region]) for region in (a, b))
        self._lean[near] = to_b - to_a
        across = float(self._outlines.mean_distances(self._rows[a : a + 1], self._rows[b])[0])
        self._lean[-1] = max(across - (self._inner[a] + self._inner[b]) / 2, LEAST_STEP * across)
        graph = coarsening.induced_graph(self._inst, tasks, self._local, self.region, self._lean)
        if self._price[a] != self._price[b]:
            graph.pull[:] += self._inst.work[tasks] * (self._price[b] - self._price[a])
        if len(self._banned):
            graph.pull[:] += self._forbidden_sides(tasks, a, b) * (1.0 + graph.flow.sum() + np.abs(graph.pull).sum())
        return graph

    def bounds(self, a: int, b: int) -> IntArray:
        """Return the fewest and most tasks in region a if it and b share theirs, and the memory of a and b."""
        count = len(self.members[a]) + len(self.members[b])
        fewest, most = max(count - self.seats[b], 0), min(self.seats[a], count)
        return np.array([fewest, most, self._rooms[a], self._rooms[b]], np.int64)

    def share(self, a: int, b: int, side: IntArray) -> None:
        """Give the tasks of regions a and b, in the order of their graph, to these by `side[k]`."""
        tasks = np.concatenate([self.members[a], self.members[b]])
        self.members[a], self.members[b] = tasks[side == 0], tasks[side == 1]
        self.region[self.members[a]] = a
        self.region[self.members[b]] = b

    def traffic(self) -> sp.csr_array:
        """Return the symmetric traffic between regions, without diagonal; O(entries)."""
        others = self.region[self._inst.indices]
        ends = self.region[self._ends]
        keep = np.flatnonzero(ends != others)
        size = (len(self.nodes), len(self.nodes))
        flow = self._inst.out[keep] + self._inst.back[keep]
        return sp.coo_array((flow, (ends[keep], others[keep])), shape=size).tocsr()

    def cost(self) -> float:
        """Return the cost of all traffic of tasks without a pin, by mean distances between and within regions."""
        traffic, count, total = self.traffic(), len(self.nodes), 0.0
        counted = np.array([0.5 if len(members) else 1.0 for members in self.members])
        ends = self.region[self._ends]
        inside = np.bincount(ends, self._inst.out + self._inst.back, count) - traffic.sum(axis=1)
        for r in np.flatnonzero(counted == 0.5):
            row = slice(traffic.indptr[r], traffic.indptr[r + 1])
            others = traffic.indices[row]
            total += float(
                counted[others] * traffic.data[row] @ self._outlines.mean_distances(self._rows[others], self._rows[r])
            )
            total += 0.5 * float(inside[r] * self._inner[r])
        return total

    def walk(self, open_: IntArray) -> list[int]:
        """Return the open regions in an order in which each exchanges traffic with one before it, where possible."""
        traffic, left, order = self.traffic(), np.zeros(len(self.nodes), bool), []
        left[open_] = True
        while left.any():
            reached = breadth_first_order(traffic, self.rng.choice(np.flatnonzero(left)), return_predecessors=False)
            order += [int(r) for r in reached if left[r]]
            left[reached] = False
        return order

    def quotient(self) -> Quotient:
        """Return the traffic between regions and how far apart they are; O(r^2).

        Those with equal seats and equal memory may change their tasks.
        """
        traffic, count = self.traffic(), len(self.nodes)
        away = self._outlines.table(self._rows[:count])
        np.fill_diagonal(away, np.inf)
        near = np.argpartition(away, min(NEAR, count - 1), axis=1)[:, : min(NEAR, count - 1)]
        np.fill_diagonal(away, 0.0)
        sizes = np.stack([self.seats[:count], self._rooms[:count]], axis=1)
        size_class = np.unique(sizes, axis=0, return_inverse=True)[1].astype(np.int64)
        size_class[self.seats[:count] == 0] = -1
        return Quotient(
            indptr=traffic.indptr.astype(np.int64),
            indices=traffic.indices.astype(np.int64),
            flow=traffic.data,
            away=away,
            near=near.astype(np.int64),
            size_class=size_class,
        )

    def move(self, place: IntArray) -> None:
        """Give the tasks of every region r to region `place[r]`."""
        members = self.members
        self.members = [members[r] for r in np.argsort(place)]
        self.region = place[self.region]

    @property
    def has_prices(self) -> bool:
        """Return whether tasks cost more in some regions than in others, or may not go to some."""
        return bool(np.ptp(self._price[: len(self.nodes)]) > 0 or len(self._banned))

    def _outline(self, r: int, nodes: IntArray) -> None:
        """Enter where a region is."""
        self.nodes[r] = nodes
        self._rows[r] = self._outlines.outline(nodes, np.maximum(self._spare[nodes], 1))
        self._inner[r] = self._outlines.mean_distances(self._rows[r : r + 1], self._rows[r])[0]

    def _occupy(self, r: int, nodes: IntArray) -> None:
        """Enter what a region holds, and that its nodes belong to it."""
        self.seats[r], self._price[r] = self._spare[nodes].sum(), self._inst.price[nodes].mean()
        self._rooms[r] = int(min(self._room[nodes].astype(np.float64).sum(), LARGEST_ROOM))
        self._home[nodes] = r

    def _forbidden_sides(self, tasks: IntArray, a: int, b: int) -> FloatArray:
        """Return +1 for tasks that are forbidden on every node of region b, -1 for those on every node of a."""
        home = self._home[self._banned[:, 1]]
        count = [np.bincount(self._banned[home == r, 0], minlength=len(self.region))[tasks] for r in (a, b)]
        shut = [(here == len(self.nodes[r])).astype(np.float64) for here, r in zip(count, (a, b), strict=True)]
        return np.asarray(shut[1] - shut[0], np.float64)


def _remaining_room(problem: Problem, inst: Instance) -> tuple[IntArray, IntArray]:
    """Return the seats and the memory that pinned tasks leave on every node."""
    pinned = np.flatnonzero(problem.pins >= 0)
    taken = np.bincount(problem.pins[pinned], minlength=problem.topology.size)
    room = inst.room.copy()
    np.subtract.at(room, problem.pins[pinned], inst.memory[pinned])
    most = 1 if problem.groups else len(problem.pins)
    return np.maximum(np.minimum(problem.topology.slots, most) - taken, 0), room
