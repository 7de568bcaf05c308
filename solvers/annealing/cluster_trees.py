"""Mappings of nested clusters of tasks onto nested clusters of nodes, from the inside out.

Where tasks and nodes form as many clusters of clusters, a mapping that keeps each cluster of tasks on one of nodes lays
a tree on a tree. How a cluster lies on another inside hardly depends on where others lie, for all nodes of a cluster
are about as far from those of the next. So the best way is found once for each pair of clusters, from single tasks to
the whole: dynamic programming over pairs of subtrees, as in the test for isomorphism of A. V. Aho, J. E. Hopcroft and
J. D. Ullman, The Design and Analysis of Computer Algorithms, 1974, section 3.2.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import squareform

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.annealing import tree_kernels as kernels
from tiger.solvers.annealing.fields import Fields
from tiger.solvers.annealing.node_blocks import compare_nodes
from tiger.solvers.generator import seed_state

# What an iteration of the search of k clusters takes in nanoseconds or so, times k^2.
STEP = 5
# Costs of pairs of tasks that are added up in a call that can't be stopped, a nanosecond or so each.
SLICE = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeParams:
    """Set the mapping of trees with at most `widest` clusters in each wider one: costs of pairs are its fourth power.

    Each level is searched by `work` units times m^2. Halves of different kinds are joined where entries vary `ratio`
    times as much within pairs as between others.

    With 300 units tai343e01 ends at the lowest cost found, 136,280, for each of three seeds, and 0.03 to 0.1 % above it
    with 100. In tai*e and 22 problems in their manner entries vary 27 times as much or more within true pairs;
    where all are alike, up to 1.3 times.
    """

    widest: int = 32
    work: int = 500
    ratio: float = 10.0


class ClusterTree(NamedTuple):
    """Hold clusters of equally many nodes or tasks as labels[m], by how many there are, and the kind[m], 0 or 1."""

    levels: dict[int, IntArray]
    kind: IntArray


class TreeShape(NamedTuple):
    """Hold from the inside out which clusters are in each wider one, ordered by sign, and the signs of clusters.

    Signs are one level more, those of single tasks or nodes first. They are equal where subtrees have one shape.
    """

    inside: list[list[IntArray]]
    sign: list[IntArray]


def map_trees(
    fields: Fields, differences: FloatArray, params: TreeParams, rng: np.random.Generator, stop: Stop
) -> list[IntArray]:
    """Return the best orders[m] that keep clusters together, none where tasks and nodes form no trees of one shape.

    `differences[m, m]` are those of the nodes. Where tasks are of two kinds, as many each, either may lie on either
    kind of nodes, which makes two orders. O(m^3) time in one product, and O(`widest`^2 m^2) for each level.
    """
    if fields.tasks != len(fields.place):
        return []
    nodes, tasks = _find_trees(fields, differences, params)
    counts = [1, *sorted(tasks.levels.keys() & nodes.levels.keys()), fields.tasks]
    if len(counts) == 2 or max(narrow // wide for wide, narrow in pairwise(counts)) > params.widest:
        return []
    orders = []
    for kind in (tasks.kind, 1 - tasks.kind):
        signs: dict[tuple[int, ...], int] = {}
        trees = tasks._replace(kind=kind), nodes
        above, below = (_find_shape(tree, counts[-2:0:-1], signs) for tree in trees)
        if above.sign[-1] == below.sign[-1]:
            order = _map_shapes(fields, (above, below), params.work, rng, stop)
            orders += [] if order is None else [order]
    return orders


def _find_trees(fields: Fields, differences: FloatArray, params: TreeParams) -> tuple[ClusterTree, ClusterTree]:
    """Return the clusters of nodes and of tasks, those of two kinds where both have as many of them."""
    nodes = join_kinds(fields.distances, differences, params.ratio)
    if nodes.levels:
        tasks = join_kinds(fields.flow, compare_nodes(fields.flow), params.ratio)
        if nodes.levels.keys() & tasks.levels.keys():
            return nodes, tasks
    nodes = find_clusters(fields.distances[0])
    return nodes, find_clusters(fields.flow[0].max() - fields.flow[0]) if nodes.levels else nodes


def find_clusters(apart: FloatArray) -> ClusterTree:
    """Return the clusters of equally many tasks or nodes, by average linkage of how far they are apart [m, m].

    O(m^2) for each level.
    """
    size = len(apart)
    whole, levels = np.zeros(size, np.int64), {}
    links = _link(apart, whole, "average")
    for count in _list_counts(size):
        labels = _split(links, size, count)
        if (np.bincount(labels) == size // count).all():
            levels[count], links = labels, _link(apart, labels, "average")
    return ClusterTree(levels, whole)


def join_kinds(matrices: FloatArray, differences: FloatArray, ratio: float) -> ClusterTree:
    """Return the clusters of tasks or nodes of two kinds, by complete linkage of how much they differ [m, m].

    In tai*e flows take the place of distances between two of different kinds, and a cluster shows as two halves. Those
    that belong together are where entries of `matrices[c, m, m]` vary most: between others nearly all are alike.
    O(m^2 k) for k halves.
    """
    matrix, size = matrices.sum(axis=0), len(differences)
    rounding = 1e-9 * float((matrix**2).sum())
    wide, levels = np.zeros(size, np.int64), {}
    kind = _split(_link(differences, wide, "complete"), size, 2)
    links = _link(differences, kind, "complete")
    for count in _list_counts(size):
        labels = _split(links, size, 2 * count)
        first = np.unique(labels, return_index=True)[1]
        one, other = (np.flatnonzero(kind[first] == k) for k in (0, 1))
        if not len(one) == len(other) == count:
            continue
        part = np.eye(2 * count)[labels]
        sums, members = part.T @ matrix @ part, part.sum(axis=0)
        spread = (part.T @ matrix**2 @ part - sums**2 / np.outer(members, members))[np.ix_(one, other)]
        inside = wide[first[one], None] == wide[first[other]]
        pairs = linear_sum_assignment(np.where(inside, spread, -1.0), maximize=True)
        number = np.empty(2 * count, np.int64)
        number[one[pairs[0]]] = number[other[pairs[1]]] = np.arange(count)
        equal = (np.bincount(number[labels]) == size // count).all()
        within = spread[pairs].sum()
        if equal and inside[pairs].all() and within * (count - 1) > ratio * (spread.sum() - within) + rounding:
            levels[count] = wide = number[labels]
            links = _link(differences, labels, "complete")
    return ClusterTree(levels, kind)


def _list_counts(size: int) -> list[int]:
    """Return how many clusters of equally many there may be, the fewest first, each of two or more."""
    return [count for count in range(2, size // 2 + 1) if size % count == 0]


def _link(apart: FloatArray, labels: IntArray, method: str) -> list[tuple[IntArray, FloatArray]]:
    """Return the members of each cluster, in an order in which those that merge are runs, and the steps between runs.

    Steps are the heights at which a member merges with those before it, infinite for the first. O(m^2).
    """
    links = []
    for k in range(int(labels.max()) + 1):
        inside = np.flatnonzero(labels == k)
        steps, runs = np.full(len(inside), np.inf), [[node] for node in range(len(inside))]
        between = squareform(apart[np.ix_(inside, inside)], checks=False)
        for one, other, height, _ in linkage(between, method).tolist() if len(inside) > 1 else []:
            steps[runs[int(other)][0]] = height
            runs.append(runs[int(one)] + runs[int(other)])
        links.append((inside[runs[-1]], steps[runs[-1]]))
    return links


def _split(links: list[tuple[IntArray, FloatArray]], size: int, count: int) -> IntArray:
    """Return so many clusters as labels[m], as many in each that is linked; fewer where several merge at once."""
    labels, total, parts = np.zeros(size, np.int64), 0, count // len(links)
    for inside, steps in links if parts * len(links) == count else []:
        heights = np.sort(steps)[:-1]
        cut = heights[-parts] + 1e-9 * heights[-1] if parts <= len(heights) else -1.0
        labels[inside] = total - 1 + np.cumsum(steps > cut)
        total = int(labels[inside[-1]]) + 1
    return labels


def _find_shape(tree: ClusterTree, counts: list[int], signs: dict[tuple[int, ...], int]) -> TreeShape:
    """Return the shape of some levels of a tree, the narrowest first; its signs are added to those of others."""
    size = len(tree.kind)
    shape, narrow = TreeShape([], [tree.kind]), np.arange(size)
    for wide in (*(tree.levels[count] for count in counts), np.zeros(size, np.int64)):
        parent, below = wide[np.unique(narrow, return_index=True)[1]], shape.sign[-1]
        ranked = np.lexsort([below, parent])
        inside = np.split(ranked, np.flatnonzero(np.diff(parent[ranked])) + 1)
        shape.inside.append(inside)
        shape.sign.append(np.array([signs.setdefault(tuple(below[each].tolist()), 2 + len(signs)) for each in inside]))
        narrow = wide
    return shape


def _map_shapes(
    fields: Fields, shapes: tuple[TreeShape, TreeShape], work: int, rng: np.random.Generator, stop: Stop
) -> IntArray | None:
    """Return the order[m] that lays the tree of the tasks on that of the nodes, None once `stop` says so."""
    above, below = shapes
    size, generator = len(fields.place), seed_state(int(rng.integers(1 << 31)))
    # On which node each task lies, and what each cluster costs by itself, where it lies on each cluster of nodes.
    there, own = np.tile(np.arange(size), (size, 1)), fields.bias
    members = list(np.arange(size)[:, None])
    for level, inside in enumerate(above.inside):
        sign = above.sign[level]
        pairs = np.argwhere(above.sign[level + 1][:, None] == below.sign[level + 1])
        iterations = work * size**2 // sum(STEP * len(inside[k]) ** 2 for k in pairs[:, 0].tolist()) + 1
        wider, cost = np.zeros((size, len(inside)), np.int64), np.full((len(inside),) * 2, np.inf)
        whole = [np.concatenate([members[e] for e in clusters]) for clusters in inside]
        owners = [np.repeat(np.arange(len(clusters)), [len(members[e]) for e in clusters]) for clusters in inside]
        for k, n in pairs.tolist():
            tasks, owner, nodes = whole[k], owners[k], below.inside[level][n]
            options = there[tasks[:, None], nodes]
            state = kernels.cluster_state(own[inside[k][:, None], nodes], sign[inside[k]])
            mapping, step = kernels.PartialMapping(tasks, owner, options), SLICE // options.size // len(nodes) + 1
            for begin in range(0, len(tasks), step):
                if stop():
                    return None
                end = min(begin + step, len(tasks))
                kernels.price_pairs(state, fields.flow, fields.distances, mapping, begin, end)
            cost[k, n] = kernels.assign_clusters(state, iterations, generator)
            wider[tasks, n] = options[np.arange(len(tasks)), state.lowest[owner]]
        there, own, members = wider, cost, whole
    return there[:, 0]
