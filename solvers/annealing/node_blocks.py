"""Moves of whole blocks of tasks: what lies on nodes that are alike changes places with what lies on others.

Where nodes form clusters, tasks that talk much to each other are found together soon, but on the wrong nodes, and no
swap of two tasks gains. Blocks of nodes with like distances are contracted into one node each, with the tasks that lie
there, which makes a smaller problem of the same kind; it is annealed, and its end is expanded and annealed again.
Source: multilevel refinement of a present mapping after C. Walshaw, doi:10.1023/B:ANOR.0000039525.80601.15.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing.cooling import Matrices, change_sizes, run_schedule
from tiger.solvers.annealing.fields import DRAWS, CoolingSchedule, Fields
from tiger.solvers.annealing.quadratic import FINEST, Quadratic, fields_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockParams:
    """Set the moves of blocks, for problems of `nodes` nodes or more in clusters, by a `jump` of how much they differ.

    Blocks have from 2 nodes up to a share `widest` of all, equally often in each octave. Half of the time blocks have
    equally many nodes, else as many as lie within a distance; then a share `unequal` of the moves exchanges blocks of
    which one has up to `ratio` times as many nodes as the other. Temperatures of the contracted problem fall by the
    factor `fall`, from a power of ten with an exponent in `hot` times the median of the sizes of its cost changes, in
    `work` units a block. A move does `overhead` units more, and m^2 times `matrices` units.
    """

    nodes: int = 24
    jump: float = 3.0
    widest: float = 0.25
    unequal: float = 0.5
    ratio: float = 1.5
    hot: tuple[float, float] = (-2.0, 0.0)
    fall: float = 30.0
    work: int = 20_000
    overhead: int = 500_000
    matrices: int = 60


class SmallProblem(NamedTuple):
    """Hold a contracted problem, whose nodes are blocks of nodes."""

    fields: Fields
    tolerance: float
    finest: float


class BlockMoves:
    """Hold how nodes differ from each other, to draw blocks of them and to move tasks by blocks."""

    def __init__(self, model: Quadratic, params: BlockParams) -> None:
        self._model, self._params = model, params
        self.differences = compare_nodes(model.fields.distances)
        size = len(model.fields.place)
        self.widest = math.floor(params.widest * size)
        # Forbidden pairs would rule most blocks out.
        free = size >= params.nodes and bool(np.isfinite(model.fields.bias).all())
        self.apply = free and has_clusters(self.differences, params.jump)

    def move(self, order: IntArray, rng: np.random.Generator, stop: Stop) -> tuple[IntArray, int]:
        """Return an order[m] with blocks moved, maybe the same one, and the work that it took; O(m^2)."""
        params = self._params
        wide = round(2.0 * (self.widest / 2.0) ** rng.random())
        by_number = rng.random() < 0.5
        blocks = (self.draw_equal if by_number else self.draw_near)(wide, rng)
        ratio = params.ratio if not by_number and rng.random() < params.unequal else 1.0
        small = contract(self._model, order, blocks, ratio)
        work = params.overhead + params.matrices * len(order) ** 2 + params.work * len(blocks)
        ends = self._anneal(small, rng, stop)
        return expand(order, blocks, ends, rng), work

    def draw_equal(self, wide: int, rng: np.random.Generator) -> list[IntArray]:
        """Return blocks of a number of nodes, each of a random node and those most like it; the rest is single."""
        free = np.ones(len(self.differences), bool)
        blocks = []
        for node in rng.permutation(len(free)).tolist():
            if free[node] and np.count_nonzero(free) >= wide:
                far = np.where(free, self.differences[node], np.inf)
                far[node] = -1.0
                block = np.argpartition(far, wide - 1)[:wide]
                free[block] = False
                blocks.append(rng.permutation(block))
        return [*blocks, *np.flatnonzero(free)[:, None]]

    def draw_near(self, wide: int, rng: np.random.Generator) -> list[IntArray]:
        """Return blocks of nodes, each of a random node and all as like it as its `wide` - 1st neighbour is to one."""
        free = np.ones(len(self.differences), bool)
        reach = np.partition(self.differences[rng.integers(len(free))], wide - 1)[wide - 1]
        blocks = []
        for node in rng.permutation(len(free)).tolist():
            if free[node]:
                block = np.flatnonzero(free & (self.differences[node] <= reach))
                free[block] = False
                blocks.append(rng.permutation(block))
        return blocks

    def _anneal(self, small: SmallProblem, rng: np.random.Generator, stop: Stop) -> IntArray:
        """Return the block of nodes on which the tasks of each block end."""
        params, start = self._params, np.arange(len(small.fields.place))
        sizes = change_sizes(small, start)
        if not sizes.size:
            return start
        hot = float(np.median(sizes)) * 10.0 ** rng.uniform(*params.hot)
        noise = rng.standard_exponential(DRAWS + len(start), np.float32)
        work = params.work * len(start)
        schedule = CoolingSchedule(hot / params.fall, math.log(params.fall), work, small.tolerance, small.finest, noise)
        run_schedule(small, start, schedule, rng, stop)
        # The end, not the cheapest: by means alone the start often looks the best, and nothing would move.
        return small.fields.place.copy()


def compare_nodes(distances: FloatArray) -> FloatArray:
    """Return how much nodes differ [m, m]: the squares of the differences of their distances to all others, summed.

    `distances[c, m, m]` are a symmetric matrix and perhaps an antisymmetric one. O(m^3) in one product.
    """
    matrix = distances.sum(axis=0)
    product = matrix @ matrix.T
    own = np.diag(product)
    differences: FloatArray = own[:, None] + own - 2.0 * product - matrix**2 - matrix.T**2
    # Between nodes that are alike rounding can leave less than nothing, which no node is from itself.
    np.maximum(differences, 0.0, out=differences)
    np.fill_diagonal(differences, 0.0)
    return differences


def has_clusters(differences: FloatArray, jump: float) -> bool:
    """Return whether nodes, by how much they differ [m, m], form clusters; O(m^2 log m).

    From a node that ends its cluster to the next one, the difference is more than `jump` times as large, for half of
    the nodes. Beyond the two nearest nodes it grows by factors of 2.5 at most on lines, grids, tori and hypercubes, and
    of 3.7 or more somewhere on trees and in tai*b and tai*e.
    """
    near = np.sort(differences, axis=1)[:, 3 : len(differences) // 2 + 1]
    rounding = 1e-9 * float(differences.max())
    ends = near[:, 1:] > jump * near[:, :-1] + rounding
    return bool(ends.any(axis=1).mean() >= 0.5)


def contract(model: Matrices, order: IntArray, blocks: list[IntArray], ratio: float) -> SmallProblem:
    """Return the problem of which tasks lie on which block of nodes, those of the order[m] in the place of one task.

    Flows are summed and distances averaged; tasks of a block may lie on one with up to `ratio` times as many nodes or
    fewer by it. O(c m^2) time for c pairs of matrices.
    """
    fields, size = model.fields, len(order)
    task = np.empty(size, np.int64)
    task[order] = np.arange(size)
    nodes, widths = np.concatenate(blocks), np.array([len(block) for block in blocks])
    starts, there = np.cumsum(widths) - widths, task[nodes]

    def total(matrix: FloatArray) -> FloatArray:
        """Return the sums of a matrix over pairs of blocks."""
        sums: FloatArray = np.add.reduceat(np.add.reduceat(matrix, starts, axis=-2), starts, axis=-1)
        return sums

    flows = total(fields.flow[:, there[:, None], there])
    distances = total(fields.distances[:, nodes[:, None], nodes]) / (widths[:, None] * widths)
    # What lies within a block is a cost of its tasks on another block by themselves; every pair is counted twice.
    inside = np.diag(distances[0]) * widths / np.maximum(widths - 1, 1)
    bias = total(fields.bias[there[:, None], nodes]) / widths + 0.5 * np.diag(flows[0])[:, None] * inside
    bias[np.maximum.outer(widths, widths) > ratio * np.minimum.outer(widths, widths)] = np.inf
    here = np.arange(len(blocks))
    flows[:, here, here] = distances[:, here, here] = 0.0
    # Rounding errors that fields may have, as sums of so many products.
    widest = float(bias.max(where=np.isfinite(bias), initial=0.0))
    rounding = float(np.finfo(np.float32).eps) * (len(bias) * float(flows[0].max() * distances[0].max()) + widest)
    return SmallProblem(fields_of(len(bias), flows, distances, bias), model.tolerance, FINEST * rounding)


def expand(order: IntArray, blocks: list[IntArray], ends: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the order[m] with the tasks on each block of nodes put on the block at `ends`, those too many anywhere."""
    task, moved = np.empty(len(order), np.int64), order.copy()
    task[order] = np.arange(len(order))
    tasks, nodes = [], []
    for block, end in zip(blocks, ends.tolist(), strict=True):
        to, both = blocks[end], min(len(block), len(blocks[end]))
        moved[task[block[:both]]] = to[:both]
        tasks.append(task[block[both:]])
        nodes.append(to[both:])
    moved[np.concatenate(tasks)] = rng.permutation(np.concatenate(nodes))
    return moved
