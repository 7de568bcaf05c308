"""Where the vertices of a graph lie in a picture, the same every time.

Grids lie on their coordinates, axes beyond the second obliquely or as blocks; hierarchies in tiers; graphs with most of
all edges on a circle. Any other graph lies so that distances look like the hops along its edges: pivot MDS (Brandes,
Pich, Graph Drawing 2006), improved by majorization of the stress to pivots and neighbours (Ortmann, Klimenta, Brandes,
Graph Drawing 2016).
"""

import re
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra, minimum_spanning_tree

from tiger.model.arrays import FloatArray, IntArray

# Pivots that distances are taken to; more change no picture of 2,000 vertices that was looked at.
PIVOTS = 50
# Steps of majorization: later ones move no vertex by a tenth of an edge.
STEPS = 60
# Neighbours of neighbours keep their distance too where they are no more than so many a vertex.
SECOND_NEIGHBOURS = 32
# A graph of a higher mean degree is shaped by its strong edges: those of a quarter of the heaviest at either end.
MEAN_DEGREE, STRONG = 12, 0.25
# A graph with a larger part of all edges there can be has no shape but a circle.
DENSE = 0.5
# Connected parts that are laid out each for itself, a few milliseconds each; smaller ones are circles.
PARTS, LEAST_PART = 30, 5
# How far an axis across the picture goes, as a part of a cell, and how wide the space between blocks is.
OBLIQUE, BLOCK_GAP = 0.8, 0.6
# Digits of a position: a thousandth of a screen's dot and a third of the text of float64.
DIGITS = 5
# Whether edges have two directions to align with the frame: the mean of unit vectors at four times their angle.
ALIGNED = 0.2
# The radius of the innermost circle of tiers, with room for the links inside it, as a part of the outermost.
INNERMOST = 0.75
# Vertices of a tier that are closer than this part of an even spacing are spaced evenly.
CROWDED = 0.5
# Lengths that stand for 0 where they divide: of a part of a hop, and of a sum of squares.
NEAR, TINY = 1e-6, 1e-300
# Turns by 2 pi / golden ratio^2 never repeat a direction.
GOLDEN_ANGLE = 2.399963229728653
_COORDINATES = re.compile(r"\d{1,6}(,\d{1,6})+")


def coordinates_of(names: Sequence[str]) -> IntArray | None:
    """Return coordinates[n, axes] of names such as `1,2`, None where any is another or two axes are too few."""
    if not all(map(_COORDINATES.fullmatch, names)) or len({name.count(",") for name in names}) != 1:
        return None
    table = np.array([list(map(int, name.split(","))) for name in names], np.int64)
    return table if len(np.unique(table, axis=0)) == len(table) else None


def fit(
    spots: FloatArray, *, stretch: tuple[bool, bool] = (False, False)
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return x and y in [0, 1], in the middle and at one scale for both axes, but for those that may be stretched."""
    low, high = spots.min(axis=0), spots.max(axis=0)
    extent = high - low
    scale = np.where(stretch, extent, extent.max()) if extent.max() > 0 else np.ones(2)
    scale = np.where(scale > 0, scale, 1.0)
    placed = np.round((spots - (low + high) / 2) / scale + 0.5, DIGITS).clip(0.0, 1.0)
    return tuple(placed[:, 0].tolist()), tuple(placed[:, 1].tolist())


def place_on_grid(coordinates: IntArray) -> FloatArray:
    """Return spots[n, 2]: rows downwards, columns to the right.

    A first axis without a partner goes into the picture obliquely; further pairs of axes make blocks of blocks.
    """
    table = coordinates - coordinates.min(axis=0)
    axes = [axis for axis in range(table.shape[1]) if table[:, axis].any()] or [0]
    spots, extent = np.zeros((len(table), 2)), np.ones(2)
    # From the last two axes outwards: x takes the last of each pair.
    while len(axes) > 1:
        pair = table[:, [axes.pop(), axes.pop()]]
        spots += pair * extent
        extent *= pair.max(axis=0) + 1 + BLOCK_GAP
    if axes:
        depth = table[:, axes[0]] / (table[:, axes[0]].max() + 1)
        if table.shape[1] == 1 or not spots.any():
            spots[:, 0] = table[:, axes[0]]
        else:
            spots += OBLIQUE * np.stack([depth, -depth], axis=1)
    return spots


def place_on_circle(count: int) -> FloatArray:
    """Return spots[n, 2] on a circle, the first at the top, the others clockwise."""
    angle = 2 * np.pi * np.arange(count) / count
    return np.stack([np.sin(angle), -np.cos(angle)], axis=1)


def place_in_tiers(tier: IntArray, a: IntArray, b: IntArray) -> FloatArray:
    """Return spots[n, 2]: tier 0 at the bottom in order, every other vertex above the middle of those below it."""
    size, top = len(tier), int(tier.max())
    spots = np.zeros((size, 2))
    spots[:, 1] = (top - tier) / max(top, 1)
    low, high = np.where(tier[a] < tier[b], a, b), np.where(tier[a] < tier[b], b, a)
    for level in range(top + 1):
        mine = np.flatnonzero(tier == level)
        if level == 0:
            spots[mine, 0] = (np.arange(len(mine)) + 0.5) / len(mine)
            continue
        edges = (tier[high] == level) & (tier[low] < level)
        count = np.bincount(high[edges], minlength=size)[mine]
        total = np.bincount(high[edges], spots[low[edges], 0], size)[mine]
        spots[mine, 0] = _spread(np.where(count > 0, total / np.maximum(count, 1), 0.5))
    return spots


def bend(spots: FloatArray) -> FloatArray:
    """Return tiers as circles around each other, the lowest outside."""
    angle, radius = 2 * np.pi * spots[:, 0], INNERMOST + (1 - INNERMOST) * spots[:, 1]
    return np.stack([radius * np.sin(angle), -radius * np.cos(angle)], axis=1)


def _spread(wanted: FloatArray) -> FloatArray:
    """Return places in [0, 1]: those wanted, or evenly spread ones in the same order where any two are too close."""
    order, count = np.argsort(wanted, kind="stable"), len(wanted)
    if np.diff(wanted[order]).min(initial=1.0) >= CROWDED / count:
        return wanted
    places = np.empty(count)
    places[order] = (np.arange(count) + 0.5) / count
    return places


def place_by_hops(size: int, a: IntArray, b: IntArray, weight: FloatArray) -> FloatArray:
    """Return spots[n, 2] of a graph: in tiers if it is a tree, else by the hops along its edges or those that count.

    Parts that are not connected lie side by side. O(n + edges), 0.2 s for 2,000 vertices.
    """
    graph = _shape(size, a, b, weight)
    count, part = connected_components(graph, directed=False)
    if count == 1:
        return _place_part(graph)
    order = np.argsort(part, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(part))[:-1])
    members.sort(key=len, reverse=True)
    drawn = []
    for number, some in enumerate(members):
        if number < PARTS and len(some) >= LEAST_PART:
            drawn.append(_place_part(graph[some][:, some]))
        else:
            drawn.append(place_on_circle(len(some)))
    spots = np.empty((size, 2))
    for some, spot in zip(members, _pack(drawn), strict=True):
        spots[some] = spot
    return spots


def _shape(size: int, a: IntArray, b: IntArray, weight: FloatArray) -> sp.csr_array:
    """Return the symmetric matrix of the edges that shape the picture, all of length 1."""
    if 2 * len(a) > MEAN_DEGREE * size and weight.min() < weight.max():
        heaviest = np.zeros(size)
        np.maximum.at(heaviest, a, weight)
        np.maximum.at(heaviest, b, weight)
        # Lengths fall with weights, and none is 0, which would be no edge.
        lengths = sp.csr_array((2 - weight / weight.max(), (a, b)), shape=(size, size))
        tree = minimum_spanning_tree(lengths).tocoo()
        strong = weight >= STRONG * np.minimum(heaviest[a], heaviest[b])
        a, b = np.concatenate([a[strong], tree.row]), np.concatenate([b[strong], tree.col])
    ends = np.concatenate([a, b]), np.concatenate([b, a])
    graph = sp.csr_array((np.ones(len(ends[0])), ends), shape=(size, size))
    graph.sum_duplicates()
    graph.data[:] = 1.0
    return graph


def _place_part(graph: sp.csr_array) -> FloatArray:
    """Return spots[n, 2] of a connected graph."""
    size, degree = graph.shape[0], np.diff(graph.indptr)
    if size < 3 or graph.nnz > DENSE * size * (size - 1):
        return place_on_circle(size) if size != 2 else np.array([[0.0, 0.0], [1.0, 0.0]])
    if graph.nnz == 2 * (size - 1) and degree.max() > 2:
        return _place_tree(graph)
    # Vertices with one edge fan out around its other end: to pivots, those of one vertex are all alike.
    leaf = degree == 1
    inner = np.flatnonzero(~leaf)
    if len(inner) < 3:
        inner, leaf = np.arange(size), np.zeros(size, bool)
    spots = np.empty((size, 2))
    spots[inner] = _orient(graph[inner][:, inner], _place_inner(graph[inner][:, inner]))
    _fan_out(spots, graph, np.flatnonzero(leaf))
    return spots


def _place_tree(graph: sp.csr_array) -> FloatArray:
    """Return spots[n, 2] of a tree: its middle at the top, every vertex above the middle of its leaves."""
    size = graph.shape[0]
    far = int(breadth_first_order(graph, 0)[0][-1])
    order, parent = breadth_first_order(graph, far)
    # The middle of a longest path, which the second search ends at.
    path = [int(order[-1])]
    while path[-1] != far:
        path.append(int(parent[path[-1]]))
    order, parent = breadth_first_order(graph, path[len(path) // 2])
    depth, leaves = np.zeros(size, np.int64), np.zeros(size)
    for vertex in order[1:].tolist():
        depth[vertex] = depth[parent[vertex]] + 1
    for vertex in order[:0:-1].tolist():
        leaves[vertex] = max(leaves[vertex], 1)
        leaves[parent[vertex]] += leaves[vertex]
    # Children share the width of their parent by their leaves, in the order in which they are met.
    start, taken = np.zeros(size), np.zeros(size)
    for vertex in order[1:].tolist():
        above = parent[vertex]
        start[vertex] = start[above] + taken[above]
        taken[above] += leaves[vertex]
    width = max(float(leaves[order[0]]), 1.0)
    return np.stack([(start + np.maximum(leaves, 1) / 2) / width, depth / max(int(depth.max()), 1)], axis=1)


def place_by_distance(away: FloatArray, pivots: IntArray) -> FloatArray:
    """Return spots[n, 2] by the distances away[n, k] to pivots[k]; parts that are not connected are far apart."""
    finite = away[np.isfinite(away)]
    farthest = float(finite.max(initial=0.0)) or 1.0
    away = np.where(np.isfinite(away), away / farthest, 2.0)
    apart = away[away > 0]
    if not len(apart) or (apart == apart[0]).all():
        return place_on_circle(len(away))
    none = np.empty(0, np.int64)
    spots = _embed(away, pivots)
    return _reduce_stress(_spread_alike(spots, float(apart.min())), (away, pivots), (none, none, np.empty(0)))


def _place_inner(graph: sp.csr_array) -> FloatArray:
    """Return spots[n, 2] at which distances are near the hops to pivots and to neighbours."""
    hops, pivots = _hops_to_pivots(graph)
    spots = _embed(hops, pivots)
    if np.ptp(spots[:, 1]) < 1e-6 * np.ptp(spots[:, 0]):
        return spots
    return _reduce_stress(_spread_alike(spots, 0.1), (hops, pivots), _near_pairs(graph))


def _embed(away: FloatArray, pivots: IntArray) -> FloatArray:
    """Return spots[n, 2] by pivot MDS, of a scale at which distances to pivots fit best."""
    squares = away**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    vectors = np.linalg.eigh(centred.T @ centred)[1]
    spots = centred @ vectors[:, ::-1][:, :2]
    found = np.sqrt(((spots[:, None] - spots[pivots][None]) ** 2).sum(axis=2))
    return np.asarray(spots * ((found * away).sum() / max(float((found**2).sum()), TINY)))


def _spread_alike(spots: FloatArray, width: float) -> FloatArray:
    """Return spots a little apart, as vertices that are alike to all pivots are at one: moved by a sunflower."""
    number = np.arange(len(spots))
    radius = width * np.sqrt((number + 0.5) / len(spots))
    turn = number * GOLDEN_ANGLE
    return np.asarray(spots + radius[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def _hops_to_pivots(graph: sp.csr_array) -> tuple[FloatArray, IntArray]:
    """Return hops[n, k] to pivots[k], each the vertex furthest from those before it."""
    size = graph.shape[0]
    count, pivot = min(PIVOTS, size), 0
    hops, nearest, pivots = np.empty((size, count)), np.full(size, np.inf), np.empty(count, np.int64)
    for number in range(count):
        pivots[number] = pivot
        hops[:, number] = dijkstra(graph, indices=pivot, unweighted=True)
        nearest = np.minimum(nearest, hops[:, number])
        pivot = int(nearest.argmax())
    return hops, pivots


def _reduce_stress(
    spots: FloatArray, far: tuple[FloatArray, IntArray], near: tuple[IntArray, IntArray, FloatArray]
) -> FloatArray:
    """Return spots moved by steps of majorization, each to the weighted mean of where the others want a vertex.

    `far` are distances[n, k] to pivots[k], `near` pairs of vertices, each in both orders, and their distances.
    """
    (away, pivots), (row, column, length) = far, near
    size, tight = len(spots), 1 / length**2
    weight = np.where(away > 0, 1 / np.where(away > 0, away, 1.0) ** 2, 0.0)
    total = np.maximum(weight.sum(axis=1) + np.bincount(row, tight, size), TINY)[:, None]
    for _ in range(STEPS):
        centres = spots[pivots]
        square = (spots**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)[None] - 2 * spots @ centres.T
        pull = weight * away / np.sqrt(np.maximum(square, NEAR**2))
        moved = weight @ centres + spots * pull.sum(axis=1)[:, None] - pull @ centres
        step = spots[row] - spots[column]
        between = np.maximum(np.sqrt((step**2).sum(axis=1)), NEAR)
        wish = tight[:, None] * (spots[column] + step * (length / between)[:, None])
        moved += np.stack([np.bincount(row, wish[:, axis], size) for axis in (0, 1)], axis=1)
        spots = moved / total
    return spots


def _near_pairs(graph: sp.csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    """Return neighbours, and their neighbours where these are few, in both orders, with the hops between them."""
    size, first = graph.shape[0], graph.tocoo()
    rows, columns, lengths = [first.row], [first.col], [np.ones(first.nnz)]
    degree = np.diff(graph.indptr)
    if (degree[graph.indices]).sum() <= SECOND_NEIGHBOURS * size:
        again = sp.csr_array(graph @ graph).tocoo()
        known = np.isin(again.row * size + again.col, first.row * size + first.col)
        second = ~known & (again.row != again.col)
        rows, columns = [*rows, again.row[second]], [*columns, again.col[second]]
        lengths.append(np.full(int(second.sum()), 2.0))
    row, column = np.concatenate(rows).astype(np.int64), np.concatenate(columns).astype(np.int64)
    return row, column, np.concatenate(lengths)


def _orient(graph: sp.csr_array, spots: FloatArray) -> FloatArray:
    """Return spots turned so that edges run along the frame where they have two directions, else the longest axis.

    The first vertex lies to the left and above the middle.
    """
    spots = spots - spots.mean(axis=0)
    ends = graph.tocoo()
    step = spots[ends.col] - spots[ends.row]
    mean = np.exp(4j * np.arctan2(step[:, 1], step[:, 0])).mean()
    angle = np.angle(mean) / 4
    if abs(mean) < ALIGNED:
        across = np.linalg.eigh(spots.T @ spots)[1][:, 1]
        angle = np.arctan2(across[1], across[0])
    turned = spots @ np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    extent = np.ptp(turned, axis=0)
    turned = turned[:, ::-1] if extent[1] > extent[0] * 1.05 else turned
    return np.asarray(turned * np.where(turned[0] > 0, -1.0, 1.0))


def _fan_out(spots: FloatArray, graph: sp.csr_array, leaves: IntArray) -> None:
    """Place vertices with one edge half an edge from its other end, away from the middle, side by side."""
    if not len(leaves):
        return
    anchor = graph.indices[graph.indptr[leaves]]
    placed = np.setdiff1d(np.arange(len(spots)), leaves)
    middle = spots[placed].mean(axis=0)
    order = np.argsort(anchor, kind="stable")
    count = np.bincount(anchor)
    rank = np.empty(len(leaves), np.int64)
    rank[order] = np.arange(len(leaves)) - np.repeat(np.cumsum(count) - count, count)
    away = spots[anchor] - middle
    # Up to a half circle outwards, and a whole one where there are many.
    many = count[anchor]
    span = np.where(many > 6, 2 * np.pi * (1 - 1 / many), np.pi * (1 - 1 / many))
    angle = np.arctan2(away[:, 1], away[:, 0]) + span * ((rank + 0.5) / many - 0.5)
    spots[leaves] = spots[anchor] + 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _pack(parts: Sequence[FloatArray]) -> list[FloatArray]:
    """Return parts, the largest first, side by side in rows, each on an area by its number of vertices."""
    sides = [np.sqrt(len(part)) for part in parts]
    width = 1.1 * np.sqrt(sum((side + 1) ** 2 for side in sides))
    x, y, height, packed = 0.0, 0.0, 0.0, []
    for part, side in zip(parts, sides, strict=True):
        extent = float(np.ptp(part, axis=0).max()) or 1.0
        box = (part - part.min(axis=0)) * (side / extent)
        if x > 0 and x + side > width:
            x, y, height = 0.0, y + height + 1.0, 0.0
        packed.append(box + np.array([x, y]))
        x, height = x + float(np.ptp(box[:, 0])) + 1.0, max(height, float(np.ptp(box[:, 1])))
    return packed
