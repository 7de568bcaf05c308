"""Exchanges of nested clusters of tasks: what belongs together follows, and is searched again where it arrives.

Where clusters of nodes consist of clusters, annealing finds which tasks belong together, level by level, but not where
each cluster belongs: a cluster that moves alone leaves others behind, and its tasks no longer fit where they arrive.
Here two clusters change places, then those that gain by it follow, as in an ejection chain (F. Glover,
doi:10.1016/0166-218X(94)00037-E), and tabu search goes through the moved part level by level, from the clusters inside
it down to single tasks (multilevel refinement, C. Walshaw, doi:10.1023/B:ANOR.0000039525.80601.15).
"""

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing.cooling import Matrices
from tiger.solvers.annealing.fields import lay_out, price_all
from tiger.solvers.annealing.node_blocks import SmallProblem, build_small, contract, expand
from tiger.solvers.annealing.quadratic import Quadratic
from tiger.solvers.annealing.tabu import Tabu, TabuParams


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterParams:
    """Set the exchanges of clusters, which take a share `share` of the moves where clusters are nested.

    Levels of clusters are those between which nodes differ `jump` times as much or more; clusters are nested where one
    level has `nested` times as many of them as the next wider one, and both at least 3 and at most half as many as
    nodes: on trees, in tai*e from 125 tasks on, and not in tai150b, where these moves found less. A move takes the
    best of up to `trials` exchanges, each followed by up to `most` - 1 others, and of fewer once `priced` / k^3 times
    all swaps of k clusters were priced, about 0.1 s; a share `unequal` of the moves also exchanges clusters of which
    one has up to `ratio` times as many nodes as the other. Tabu search does `work` units times k^2 on k clusters or
    tasks. A level does `overhead` units more, and m^2 times `matrices` units.

    On tai125e01 four seeds of efforts 1, 2, .. 16 end 3.2 % above the best known cost in the mean, 4.8 % where
    `unequal` is 0, and 7.3 % where `share` is. From a mapping of tai343e01 that had been searched for 30 s, 100 moves
    of one seed gain 1.9 % with up to 64 trials, 1.4 % with 16 and 1.6 % with one, in as many seconds.
    """

    share: float = 0.75
    jump: float = 1.5
    nested: int = 4
    trials: int = 64
    most: int = 6
    priced: int = 400_000_000
    unequal: float = 0.5
    ratio: float = 1.5
    work: int = 1000
    overhead: int = 500_000
    matrices: int = 60
    tabu: TabuParams = field(default_factory=TabuParams)


class ClusterExchange(NamedTuple):
    """Hold on which block each one ends, by how much the cost changes, and how often all swaps were priced."""

    ends: IntArray
    change: float
    priced: int


class ClusterMoves:
    """Hold the levels of clusters that nodes form, to exchange the tasks of some."""

    def __init__(self, model: Quadratic, differences: FloatArray, params: ClusterParams) -> None:
        self._model, self._params = model, params
        levels, size = find_levels(differences, params.jump), len(differences)
        counts = [int(labels.max()) + 1 for labels in levels]
        self.apply = any(inner >= params.nested * outer for outer, inner in pairwise(counts))
        # The last level is that of single nodes.
        self._levels = [*levels, np.arange(size)]
        # Clusters inside a cluster follow each other, the narrow ones first, so that those of alike clusters match.
        keys = [key for labels in levels[::-1] for key in (labels, np.bincount(labels)[labels])]
        self._rank = np.argsort(np.lexsort([np.arange(size), *keys]))

    def move(self, order: IntArray, rng: np.random.Generator, stop: Stop) -> tuple[IntArray, int]:
        """Return an order[m] with a few clusters exchanged, maybe the same one, and the work that it took.

        O(m^2 + t k^3) for t trials on k clusters.
        """
        params, level = self._params, int(rng.integers(len(self._levels) - 1))
        blocks = self._list_blocks(level, np.arange(len(order)))
        ratio = params.ratio if rng.random() < params.unequal else 1.0
        ends, priced = self._exchange(contract(self._model, order, blocks, ratio), rng, stop)
        work = params.overhead + params.matrices * len(order) ** 2 + priced * len(blocks) ** 3 // 4
        moved = np.flatnonzero(ends != np.arange(len(ends)))
        if not len(moved):
            return order, work
        order = expand(order, blocks, ends, rng)
        nodes = np.sort(np.concatenate([blocks[k] for k in moved.tolist()]))
        tasks = np.argsort(order)[nodes]
        part, local = restrict(self._model, order, nodes), np.arange(len(nodes))
        for inner in range(level + 1, len(self._levels)):
            blocks = self._list_blocks(inner, nodes)
            tabu = Tabu(contract(part, local, blocks, 1.0).fields, params.tabu)
            iterations = params.work * len(blocks) ** 2 // tabu.work + 1
            ends = tabu.search(np.arange(len(blocks)), iterations, int(rng.integers(1 << 31)), stop)
            local = expand(local, blocks, ends, rng)
            work += params.overhead + params.matrices * len(nodes) ** 2 + iterations * tabu.work
        order[tasks] = nodes[local]
        return order, work

    def _exchange(self, small: SmallProblem, rng: np.random.Generator, stop: Stop) -> tuple[IntArray, int]:
        """Return the ends of the best of some random exchanges, and how often all swaps were priced."""
        start = np.arange(len(small.fields.place))
        prices = price_swaps(small, start)
        pairs = np.argwhere(np.isfinite(prices))
        if not len(pairs):
            return start, 1
        best, priced = ClusterExchange(start, math.inf, 1), 1
        for pair in pairs[rng.integers(len(pairs), size=round(self._params.trials ** rng.random()))]:
            found = follow(small, pair, float(prices[tuple(pair)]), self._params.most)
            best, priced = min(best, found, key=lambda each: each.change), priced + found.priced
            if stop() or priced * len(start) ** 3 > self._params.priced:
                break
        return best.ends, priced

    def _list_blocks(self, level: int, nodes: IntArray) -> list[IntArray]:
        """Return the clusters of a level as indices into some nodes, in the order of the levels inside them."""
        ranked = np.argsort(self._rank[nodes])
        labels = self._levels[level][nodes]
        ranked = ranked[np.argsort(labels[ranked], kind="stable")]
        return np.split(ranked, np.flatnonzero(np.diff(labels[ranked])) + 1)


def find_levels(differences: FloatArray, jump: float) -> list[IntArray]:
    """Return the clusters of nodes as labels [m] by level, the widest first, by how much nodes differ [m, m]; O(m^2).

    A level is where the next clusters that single linkage joins differ more than `jump` times as much as the last.
    """
    size, node = len(differences), 0
    nearest, order, steps = np.full(size, np.inf), np.zeros(size, np.int64), np.full(size, np.inf)
    left = np.ones(size, bool)
    # Prim's algorithm leaves a cluster only once all of it is in the tree: clusters are runs between long steps.
    for k in range(1, size):
        left[node] = False
        nearest = np.where(left, np.minimum(nearest, differences[node]), np.inf)
        node = int(np.argmin(nearest))
        order[k], steps[k] = node, nearest[node]
    heights = np.sort(steps[1:])
    heights += 1e-9 * heights[-1]
    levels = []
    for k in np.flatnonzero(heights[1:] > jump * heights[:-1])[::-1].tolist():
        labels = np.empty(size, np.int64)
        labels[order] = np.cumsum(steps > heights[k]) - 1
        levels.append(labels)
    return [labels for labels in levels if 3 <= labels.max() + 1 <= size // 2]


def price_swaps(small: SmallProblem, order: IntArray) -> FloatArray:
    """Return the cost changes [k, k] of all swaps u < v of an order[k], infinite for others; O(k^3)."""
    changes = np.full((len(order),) * 2, np.inf)
    small.fields.place[:] = order
    lay_out(small.fields)
    price_all(small.fields, changes)
    return changes


def follow(small: SmallProblem, pair: IntArray, change: float, most: int) -> ClusterExchange:
    """Return what follows the exchange of a pair of blocks, whose price is given: the best that gain, each block once.

    O(`most` k^3).
    """
    ends, priced = np.arange(len(small.fields.place)), 0
    free = np.ones(len(ends), bool)
    while True:
        ends[pair] = ends[pair[::-1]]
        free[pair] = False
        priced += 1
        if priced == most:
            break
        changes = np.where(free[:, None] & free, price_swaps(small, ends), np.inf)
        pair = np.array(divmod(int(np.argmin(changes)), len(ends)))
        if not changes[tuple(pair)] < -small.tolerance:
            break
        change += float(changes[tuple(pair)])
    return ClusterExchange(ends, change, priced)


def restrict(model: Matrices, order: IntArray, nodes: IntArray) -> SmallProblem:
    """Return the problem of the tasks that an order[m] has on some nodes, all others where they are; O(c m^2).

    Its order is that of the nodes, which is where the tasks are.
    """
    fields, tasks = model.fields, np.argsort(order)[nodes]
    others = np.setdiff1d(np.arange(len(order)), tasks)
    bias = fields.bias[np.ix_(tasks, nodes)]
    for flow, distance in zip(fields.flow, fields.distances, strict=True):
        bias = bias + flow[np.ix_(others, tasks)].T @ distance[np.ix_(order[others], nodes)]
    flows, distances = fields.flow[:, tasks[:, None], tasks], fields.distances[:, nodes[:, None], nodes]
    return build_small(flows, distances, bias, model.tolerance)
