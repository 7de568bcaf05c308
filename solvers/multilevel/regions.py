"""Regions of hardware, and how to halve them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric, Metric, TreeMetric

# Most pairs of end nodes to try, nodes of a half to sample distances to, and times that halves are drawn again.
ENDS, SAMPLE, ROUNDS = 8, 64, 3
# How much farther from even than possible a cut may be, as a share of all slots, where it parts what is far apart.
SHARE = 0.35


class Halves(NamedTuple):
    """Hold regions cut in two: `nodes[start[c] : cut[c]]` is one half of region c, what follows in it the other.

    `cut[c]` counts from the first node of all.
    """

    nodes: IntArray
    start: IntArray
    cut: IntArray


def halve(metric: Metric, regions: Sequence[IntArray], slots: IntArray, rng: np.random.Generator) -> Halves:
    """Return halves of regions, each of k > 1 nodes, that keep together what is close and share `slots[m]` evenly.

    A grid is cut across its longest extent, a tree between subtrees of the highest level that tells nodes apart, and
    any other metric where the distances to two nodes differ most. O(k log k) time for all of them together.
    """
    nodes, start = np.concatenate(regions), np.cumsum([0, *map(len, regions)])
    if isinstance(metric, GridMetric):
        order, key = _order_along(metric, nodes, start)
    elif isinstance(metric, TreeMetric):
        order, key = _subtrees(metric, nodes, start)
    else:
        return _halve_between_ends(metric, regions, slots, rng)
    return Halves(nodes[order], start, _cut(slots[nodes[order]], key, start))


def _order_along(metric: GridMetric, nodes: IntArray, start: IntArray) -> tuple[IntArray, IntArray]:
    """Return the order of nodes along the longest extent of their region, and which hyperplane each of them is in."""
    places = np.stack(np.unravel_index(nodes, metric.dims))
    axes = zip(places, metric.dims, metric.wrap, strict=True)
    spans = np.stack([_unroll(x, extent if around else None, start) for x, extent, around in axes])
    extents = np.maximum.reduceat(spans, start[:-1], axis=1)
    longest, each = extents.argmax(axis=0), np.arange(len(start) - 1)
    extents[longest, each] = metric.size
    # The longest extent decides, then the next shorter one, and so on.
    rank, owner = np.argsort(extents, axis=0, kind="stable"), np.repeat(each, np.diff(start))
    keys = np.take_along_axis(spans, rank[:, owner], axis=0)
    order = np.lexsort((*keys, owner))
    key: IntArray = keys[-1][order]
    return order, key


def _unroll(places: IntArray, extent: int | None, start: IntArray) -> IntArray:
    """Return positions on an axis, in each region from its first one: where it wraps around, behind the widest gap."""
    least, most = np.minimum.reduceat(places, start[:-1]), np.maximum.reduceat(places, start[:-1])
    along: IntArray = places - np.repeat(least, np.diff(start))
    if extent is None:
        return along
    # In less than half of a ring the widest gap is the one around.
    around = 2 * (most - least) >= extent
    if not around.any():
        return along
    # Positions in use, once each, region by region in rising order, and which one follows behind a gap.
    inside = np.repeat(around, np.diff(start))
    owner = np.repeat(np.cumsum(around) - 1, np.diff(start))[inside]
    region, used = np.divmod(np.unique(owner * extent + places[inside]), extent)
    begins = np.searchsorted(region, np.arange(region[-1] + 2))
    following = np.append(used[1:], 0)
    following[begins[1:] - 1] = used[begins[:-1]] + extent
    first = following[_argmins(used - following, begins)]
    along[inside] = np.remainder(places[inside] - first[owner], extent)
    return along


def _subtrees(metric: TreeMetric, nodes: IntArray, start: IntArray) -> tuple[IntArray, IntArray]:
    """Return the order of leaves, and which subtree each is in, of the highest level with more than one in a region."""
    sizes = np.diff(start)
    order = np.lexsort((nodes, np.repeat(np.arange(len(sizes)), sizes)))
    key, told_apart = nodes[order], np.zeros(len(sizes), bool)
    for leaves, distance in zip(metric.leaves[::-1], metric.distances[::-1], strict=True):
        subtree = nodes[order] // leaves
        apart = (subtree[start[:-1]] != subtree[start[1:] - 1]) & (distance > 0) & ~told_apart
        key = np.where(np.repeat(apart, sizes), subtree, key)
        told_apart |= apart
    return order, key


def _cut(slots: IntArray, key: IntArray, start: IntArray) -> IntArray:
    """Return where to cut each line of nodes with rising `key[k]`: where that rises if the halves can be near even."""
    sizes, before = np.diff(start), np.cumsum(slots)
    total = np.add.reduceat(slots, start[:-1])
    filled = (before - np.repeat(before[start[1:] - 1] - total, sizes)) / np.repeat(total, sizes)
    off = np.abs(filled - 0.5)
    off[start[1:] - 1] = np.inf
    whole = np.where(np.append(key[1:] > key[:-1], False), off, np.inf)
    best, even = _argmins(whole, start), _argmins(off, start)
    return np.where(whole[best] <= off[even] + SHARE, best, even) + 1


def _argmins(values: FloatArray | IntArray, start: IntArray) -> IntArray:
    """Return where the least value of each part `values[start[c] : start[c + 1]]` comes first."""
    sizes = np.diff(start)
    hits = np.flatnonzero(values == np.repeat(np.minimum.reduceat(values, start[:-1]), sizes))
    return hits[np.searchsorted(hits, start[:-1])]


def _halve_between_ends(
    metric: Metric, regions: Sequence[IntArray], slots: IntArray, rng: np.random.Generator
) -> Halves:
    """Return the halves of one region after another."""
    halves = [_between_ends(metric, nodes, slots[nodes], rng) for nodes in regions]
    start = np.cumsum([0, *map(len, regions)])
    nodes = [nodes[half] for nodes, pair in zip(regions, halves, strict=True) for half in pair]
    return Halves(np.concatenate(nodes), start, start[:-1] + np.array([len(first) for first, _ in halves]))


def _between_ends(
    metric: Metric, nodes: IntArray, slots: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the halves that are most apart, of those closer to one and the other of two nodes.

    Then, while that sets them farther apart, every node goes to the half that is closer on average.
    """
    drawn = [
        _split_line(metric, nodes, slots, _compare_distances(metric, nodes, pair, rng), rng)
        for pair in _ends(metric, nodes, rng)
    ]
    best = max(drawn, key=lambda halves: halves[0])
    for _ in range(ROUNDS):
        again = _split_line(metric, nodes, slots, _compare_distances(metric, nodes, best[1:], rng), rng)
        if again[0] <= best[0]:
            break
        best = again
    return best[1], best[2]


def _compare_distances(
    metric: Metric, nodes: IntArray, halves: tuple[IntArray, IntArray], rng: np.random.Generator
) -> FloatArray:
    """Return how much farther every node is from one half than from the other, by samples."""
    ends = [nodes[half[rng.permutation(len(half))[:SAMPLE]]] for half in halves]
    distances = [metric.between(nodes[:, None], end) + metric.between(end, nodes[:, None]) for end in ends]
    return np.asarray(distances[0].mean(axis=1) - distances[1].mean(axis=1))


def _split_line(
    metric: Metric, nodes: IntArray, slots: IntArray, lean: FloatArray, rng: np.random.Generator
) -> tuple[float, IntArray, IntArray]:
    """Return how far the halves of a line of nodes with rising lean are apart, and the halves.

    That is how much farther nodes of different halves are than those of one, times both sizes; by samples.
    """
    order = np.lexsort((rng.random(len(nodes)), lean))
    cut = _gap(slots[order], lean[order])
    halves = np.sort(order[:cut]), np.sort(order[cut:])
    one, other = (nodes[half[rng.permutation(len(half))[:SAMPLE]]] for half in halves)
    inside = sum(float(metric.between(half[:, None], half).mean()) for half in (one, other))
    across = float(metric.between(one[:, None], other).mean() + metric.between(other[:, None], one).mean())
    return (across - inside) * cut * (len(nodes) - cut), *halves


def _ends(metric: Metric, nodes: IntArray, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Return pairs of nodes, fewer where there are few: two far ones, and a random one with one close by, in turn."""
    if len(nodes) == 2:
        return [(np.array([0]), np.array([1]))]
    pairs = []
    for _ in range(min(ENDS, 1 + len(nodes) // ENDS)):
        one = rng.integers(len(nodes), size=1)
        distances = metric.between(nodes[one], nodes) + metric.between(nodes, nodes[one])
        far = np.array([distances.argmax()])
        distances[one] = np.inf
        pairs.append((one, far if far != one else (one + 1) % len(nodes)))
        pairs.append((one, rng.choice(np.flatnonzero(distances == distances.min()), 1)))
    return pairs


def _gap(slots: IntArray, lean: FloatArray) -> int:
    """Return where to cut a line: at a wide step of `lean[k]` with much on both sides of it."""
    filled = np.cumsum(slots)[:-1] / slots.sum()
    off = np.abs(filled - 0.5)
    step = np.where(off <= off.min() + SHARE, np.diff(lean) * np.minimum(filled, 1 - filled), -1.0)
    return int(np.lexsort((off, -step))[0]) + 1
