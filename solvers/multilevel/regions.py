"""Regions of hardware, and how to halve one."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric, Metric, TreeMetric

# Most pairs of end nodes to try, nodes of a half to sample distances to, and times that halves are drawn again.
ENDS, SAMPLE, ROUNDS = 8, 64, 3
# How much farther from even than possible a cut may be, as a share of all seats, where it parts what is far apart.
SHARE = 0.35


def halve(metric: Metric, nodes: IntArray, seats: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return positions in `nodes[k]`, k > 1, of two halves that keep together what is close and share seats evenly.

    A grid is cut across its longest extent, a tree between subtrees of the highest level that tells nodes apart, and
    any other metric where the distances to two nodes differ most. O(k log k) time.
    """
    if isinstance(metric, GridMetric):
        order, key = _order_along(metric, nodes)
    elif isinstance(metric, TreeMetric):
        order, key = _subtrees(metric, nodes)
    else:
        return _between_ends(metric, nodes, seats, rng)
    cut = _cut(seats[order], key)
    return order[:cut], order[cut:]


def _order_along(metric: GridMetric, nodes: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the order of nodes along the longest extent, and which hyperplane each of them is in."""
    places = np.stack(np.unravel_index(nodes, metric.dims))
    axes = zip(places, metric.dims, metric.wrap, strict=True)
    spans = [_unroll(x, extent) if around else x for x, extent, around in axes]
    extents = [int(np.ptp(span)) for span in spans]
    longest = int(np.argmax(extents))
    others = sorted(set(range(len(spans))) - {longest}, key=lambda axis: extents[axis])
    order = np.lexsort([*(spans[axis] for axis in others), spans[longest]])
    return order, spans[longest][order].astype(np.float64)


def _unroll(places: IntArray, extent: int) -> IntArray:
    """Return positions on an axis that wraps around, counted from behind the widest gap."""
    used = np.flatnonzero(np.bincount(places, minlength=extent))
    gap = int(np.diff(used, append=used[0] + extent).argmax())
    origin = int(used[(gap + 1) % len(used)])
    return np.remainder(places - origin, extent)


def _subtrees(metric: TreeMetric, nodes: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the order of leaves, and which subtree each is in, of the highest level with more than one."""
    order = np.argsort(nodes, kind="stable")
    for leaves, distance in zip(metric.leaves[::-1], metric.distances[::-1], strict=True):
        subtree = nodes[order] // leaves
        if subtree[0] != subtree[-1] and distance > 0:
            break
    return order, subtree.astype(np.float64)


def _cut(seats: IntArray, key: FloatArray) -> int:
    """Return where to cut a line of nodes with rising `key[k]`: where that rises if the halves can be near even."""
    filled = np.cumsum(seats)[:-1] / seats.sum()
    off = np.abs(filled - 0.5)
    whole = np.where(key[1:] > key[:-1], off, np.inf)
    best = int(whole.argmin())
    return (best if whole[best] <= off.min() + SHARE else int(off.argmin())) + 1


def _between_ends(
    metric: Metric, nodes: IntArray, seats: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the halves that are most apart, of those closer to one and the other of two nodes.

    Then, while that sets them farther apart, every node goes to the half that is closer on average.
    """
    drawn = [
        _split_line(metric, nodes, seats, _compare_distances(metric, nodes, pair, rng), rng)
        for pair in _ends(metric, nodes, rng)
    ]
    best = max(drawn, key=lambda halves: halves[0])
    for _ in range(ROUNDS):
        again = _split_line(metric, nodes, seats, _compare_distances(metric, nodes, best[1:], rng), rng)
        if again[0] <= best[0]:
            break
        best = again
    return best[1], best[2]


def _compare_distances(
    metric: Metric, nodes: IntArray, halves: tuple[IntArray, IntArray], rng: np.random.Generator
) -> FloatArray:
    """Return how much farther every node is from one half than from the other, by samples."""
    ends = [nodes[half[rng.permutation(len(half))[:SAMPLE]]] for half in halves]
    away = [metric.between(nodes[:, None], end) + metric.between(end, nodes[:, None]) for end in ends]
    return np.asarray(away[0].mean(axis=1) - away[1].mean(axis=1))


def _split_line(
    metric: Metric, nodes: IntArray, seats: IntArray, lean: FloatArray, rng: np.random.Generator
) -> tuple[float, IntArray, IntArray]:
    """Return how far the halves of a line of nodes with rising lean are apart, and the halves.

    That is how much farther nodes of different halves are than those of one, times both sizes; by samples.
    """
    order = np.lexsort((rng.random(len(nodes)), lean))
    cut = _gap(seats[order], lean[order])
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
        away = metric.between(nodes[one], nodes) + metric.between(nodes, nodes[one])
        far = np.array([away.argmax()])
        away[one] = np.inf
        pairs.append((one, far if far != one else (one + 1) % len(nodes)))
        pairs.append((one, rng.choice(np.flatnonzero(away == away.min()), 1)))
    return pairs


def _gap(seats: IntArray, lean: FloatArray) -> int:
    """Return where to cut a line: at a wide step of `lean[k]` with much on both sides of it."""
    filled = np.cumsum(seats)[:-1] / seats.sum()
    off = np.abs(filled - 0.5)
    step = np.where(off <= off.min() + SHARE, np.diff(lean) * np.minimum(filled, 1 - filled), -1.0)
    return int(np.lexsort((off, -step))[0]) + 1
