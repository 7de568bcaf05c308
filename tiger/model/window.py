"""A window: some tasks and nodes of a problem, with everything outside folded into biases and a constant.

The whole problem is the window of all tasks without a pin; a pinned task is one that lies outside. So pins, forbidden
pairs, blocks of a partition and single levels are all solved as the same thing, and a window's cost is always the cost
of the full mapping.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import BoolArray, FloatArray, IntArray, entries_of
from tiger.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Name the tasks that may move and the nodes they may move to, both as index arrays without repeats."""

    tasks: IntArray
    nodes: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Capacity:
    """Limit a sum per node: `load[k]` whole units of the window's tasks against `room[q]` left on its nodes."""

    name: str
    load: IntArray
    room: IntArray

    @property
    def typical(self) -> FloatArray:
        """Return typical[q], the mean of the loads above 0 that fit on a node, 1 where there is none."""
        fits = (self.load[:, None] > 0) & (self.load[:, None] <= self.room)
        total = np.where(fits, self.load[:, None], 0).sum(axis=0)
        return np.where(fits.any(axis=0), total / np.maximum(fits.sum(axis=0), 1), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """Hold the sub-problem of k tasks on q nodes.

    `linear[k, q]` is compute cost, self-loops and traffic with tasks outside (inf: not allowed); `traffic[k, k]` the
    CSR volumes inside, without diagonal; `distance[q, q]`; `constant` the cost of all that lies outside; `groups` local
    indices of tasks that exclude each other on a node; `capacities` the sums to respect. For local places y[k],
    cost = constant + sum linear[i, y_i] + sum traffic[i, j] distance[y_i, y_j] is the cost of the full mapping.
    """

    block: Block
    linear: FloatArray
    traffic: sp.csr_array
    distance: FloatArray
    constant: float
    groups: tuple[IntArray, ...]
    capacities: tuple[Capacity, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Return (k, q), the number of tasks and nodes."""
        return len(self.block.tasks), len(self.block.nodes)

    @property
    def group_of(self) -> IntArray:
        """Return group[k], the number of each task's exclusivity group, -1 without groups."""
        numbers = np.full(self.shape[0], -1, np.int64)
        for number, group in enumerate(self.groups):
            numbers[group] = number
        return numbers

    @property
    def allowed(self) -> BoolArray:
        """Return allowed[k, q]."""
        return np.isfinite(self.linear)

    def cost(self, local: IntArray) -> float:
        """Return the cost of the full mapping when the window's tasks lie on local nodes `local[k]`."""
        return float(self.costs(local[None, :])[0])

    def costs(self, locals_: IntArray) -> FloatArray:
        """Return the costs of full mappings for `locals_[r, k]`, one row each."""
        pairs = entries_of(self.traffic)
        inside = self.linear[np.arange(locals_.shape[1]), locals_].sum(axis=1)
        inside += self.distance[locals_[:, pairs.row], locals_[:, pairs.col]] @ pairs.data
        return np.asarray(self.constant + inside)

    def place(self, places: IntArray, local: IntArray) -> IntArray:
        """Return a copy of `places[n]` with the window's tasks on local nodes `local[k]`."""
        merged = places.copy()
        merged[self.block.tasks] = self.block.nodes[local]
        return merged

    def local(self, places: IntArray) -> IntArray:
        """Return the local nodes of the window's tasks in `places[n]`, -1 for a task on no node of the window."""
        index = np.full(max(places.max(), self.block.nodes.max(initial=-1)) + 1, -1, np.int64)
        index[self.block.nodes] = np.arange(len(self.block.nodes))
        return index[places[self.block.tasks]]


def whole(problem: Problem) -> Block:
    """Return the block of every task without a pin and every node with a slot."""
    return Block(tasks=problem.free, nodes=problem.topology.hosts)


def fold(problem: Problem, block: Block, places: IntArray, absent: IntArray | None = None) -> Window:
    """Fold the tasks outside the block, at `places[n]`, into the block's biases and constant.

    The traffic and work of tasks that are `absent` do not count. O(edges + k q + (edges of the block) q) time and
    O(k q + q^2) memory. Places of the block's own tasks are not read.
    """
    outside = _find_outside(problem, block)
    if absent is not None:
        outside[absent] = False
    linear = np.outer(problem.tasks.work[block.tasks], problem.topology.cost[block.nodes])
    linear += _pull(problem, problem.tasks.traffic, block, outside, places, out=True)
    linear += _pull(problem, problem.inflow, block, outside, places, out=False)
    linear += np.outer(problem.tasks.traffic.diagonal()[block.tasks], problem.metric.between(block.nodes, block.nodes))
    capacities = _capacities(problem, block, outside, places)
    linear[~allowed_pairs(problem, block, places)] = np.inf
    inner = problem.tasks.traffic[block.tasks][:, block.tasks]
    inner = sp.csr_array(inner - sp.diags_array(inner.diagonal()))
    inner.eliminate_zeros()
    return Window(
        block=block,
        linear=linear,
        traffic=inner,
        distance=problem.metric.between(block.nodes[:, None], block.nodes[None, :]),
        constant=_constant(problem, outside, places),
        groups=_groups(problem, block),
        capacities=capacities,
    )


def allowed_pairs(problem: Problem, block: Block, places: IntArray) -> BoolArray:
    """Return allowed[k, q]: not forbidden, not taken by a task of the same group outside, and within what is left."""
    size, outside = problem.topology.size, _find_outside(problem, block)
    allowed = np.broadcast_to(problem.topology.slots[block.nodes] > 0, (len(block.tasks), len(block.nodes))).copy()
    if len(problem.banned):
        pairs = block.tasks[:, None] * size + block.nodes[None, :]
        allowed &= ~np.isin(pairs, problem.banned[:, 0] * size + problem.banned[:, 1])
    if problem.groups:
        fixed = np.flatnonzero(outside)
        taken = problem.group_of[fixed] * size + places[fixed]
        allowed &= ~np.isin(problem.group_of[block.tasks][:, None] * size + block.nodes[None, :], taken)
    if problem.groups and problem.tasks.memory is not None and problem.topology.memory is not None:
        allowed &= problem.tasks.memory[block.tasks][:, None] <= problem.topology.memory[block.nodes][None, :]
    for capacity in _capacities(problem, block, outside, places):
        allowed &= capacity.load[:, None] <= capacity.room[None, :]
    return allowed


def _find_outside(problem: Problem, block: Block) -> BoolArray:
    """Return outside[n], which tasks do not belong to the block."""
    outside = np.ones(problem.tasks.size, bool)
    outside[block.tasks] = False
    return outside


def _pull(
    problem: Problem, traffic: sp.csr_array, block: Block, outside: BoolArray, places: IntArray, *, out: bool
) -> FloatArray:
    """Return pull[k, q], the cost of traffic in one direction between the block's tasks and those outside."""
    if not outside.any():
        return np.zeros((len(block.tasks), len(block.nodes)))
    rows = entries_of(traffic[block.tasks])
    keep = outside[rows.col]
    used, column = np.unique(places[rows.col[keep]], return_inverse=True)
    shape = (len(block.tasks), len(used))
    volume = sp.csr_array((rows.data[keep], (rows.row[keep], column)), shape=shape)
    ends = block.nodes[None, :], used[:, None]
    distances = problem.metric.between(*ends) if out else problem.metric.between(*ends[::-1])
    return np.asarray(volume @ distances)


def _constant(problem: Problem, outside: BoolArray, places: IntArray) -> float:
    """Return the cost of everything that lies outside the block."""
    edges = entries_of(problem.tasks.traffic)
    keep = outside[edges.row] & outside[edges.col]
    distances = problem.metric.between(places[edges.row[keep]], places[edges.col[keep]])
    compute = problem.tasks.work[outside] * problem.topology.cost[places[outside]]
    return float((edges.data[keep] * distances).sum() + compute.sum())


def _groups(problem: Problem, block: Block) -> tuple[IntArray, ...]:
    """Return the exclusivity groups of the block in local indices, without empty ones."""
    if not problem.groups or not len(block.tasks):
        return ()
    group_of = problem.group_of[block.tasks]
    order = np.argsort(group_of, kind="stable")
    return tuple(np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1))


def _capacities(problem: Problem, block: Block, outside: BoolArray, places: IntArray) -> tuple[Capacity, ...]:
    """Return the slots and memory that tasks outside leave, under the capacity rule alone."""
    if problem.groups:
        return ()
    limits = [("slots", np.ones(problem.tasks.size, np.int64), problem.topology.slots)]
    if problem.tasks.memory is not None and problem.topology.memory is not None:
        limits.append(("memory", problem.tasks.memory, problem.topology.memory))
    found = []
    for name, load, limit in limits:
        taken = np.zeros(problem.topology.size, np.int64)
        np.add.at(taken, places[outside], load[outside])
        found.append(Capacity(name=name, load=load[block.tasks], room=(limit - taken)[block.nodes]))
    return tuple(found)
