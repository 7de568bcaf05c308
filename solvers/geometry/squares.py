"""Squares of a graph: which of its edges run parallel, and along how many axes."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tiger.model.arrays import BoolArray, IntArray

# Corners up to which squares are looked for, of which several arrays are kept.
PAIRS = 1 << 22
# Share of the edges of the smaller of two strips that must meet the other without a square to be along one axis.
AGREED = 0.6
# An edge is in no lattice where it is in this many times fewer squares than most.
FEW = 3


class Corners(NamedTuple):
    """Hold pairs of edges that meet in a task, sorted by their far ends.

    Corner k is made of edges `first[k]` and `second[k]` to the lower and the higher far end. Corners `single[i]` are
    the only ones between their far ends; `pairs[i]` and the one after it face each other in a square.
    """

    first: IntArray
    second: IntArray
    single: IntArray
    pairs: IntArray


def axes_of(size: int, ends: IntArray) -> IntArray | None:
    """Return axis[e], the axis that each edge `ends[e, 2]` of a product of paths and cycles runs along.

    Opposite edges of a square are parallel, and edges that meet without a square go on along one axis; -1 marks edges
    in no square. None where the neighbours of tasks make above 2**22 corners. A cycle of four is a
    square and counts as two axes. O(n degree^2 log n). Source: relation Theta of D. Djokovic,
    doi:10.1016/0095-8956(73)90010-5.
    """
    corners = _corners(size, ends)
    if corners is None:
        return None
    squared = _edges_in_squares(len(ends), corners)
    pairs = corners.pairs
    sides = [side[pair] for side in (corners.first, corners.second) for pair in (pairs, pairs + 1)]
    corners = corners._replace(pairs=pairs[np.logical_and.reduce([squared[side] for side in sides])])
    strips = _strips(len(ends), corners)
    number = _join_strips(strips, corners, squared)
    axis = np.full(len(ends), -1, np.int64)
    axis[squared] = np.unique(number[squared], return_inverse=True)[1]
    return axis


def _corners(size: int, ends: IntArray) -> Corners | None:
    """Return all pairs of edges that meet, None where there are too many."""
    edge = np.tile(np.arange(len(ends)), 2)
    row, col = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    order = np.argsort(row * size + col)
    row, col, edge = row[order], col[order], edge[order]
    degree = np.bincount(row, minlength=size)
    if (degree * (degree - 1)).sum() > 2 * PAIRS:
        return None
    start = np.cumsum(degree) - degree
    low, high = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    position = np.arange(len(row)) - start[row]
    for gap in range(1, int(degree.max(initial=0))):
        here = np.flatnonzero(position + gap < degree[row])
        low.append(here)
        high.append(here + gap)
    first, second = np.concatenate(low), np.concatenate(high)
    key = col[first] * size + col[second]
    order = np.argsort(key)
    first, second, key = edge[first[order]], edge[second[order]], key[order]
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    count = np.diff(begin, append=len(key))
    return Corners(first, second, begin[count == 1], begin[count == 2])


def _edges_in_squares(size: int, corners: Corners) -> BoolArray:
    """Return squared[e], the edges in no fewer squares than a third of what most edges are in."""
    sides = [side[pair] for side in (corners.first, corners.second) for pair in (corners.pairs, corners.pairs + 1)]
    count = np.bincount(np.concatenate(sides), minlength=size)
    return count > np.median(count) / FEW


def _strips(size: int, corners: Corners) -> IntArray:
    """Return strip[e]: edges are of one strip where squares in a row make them opposite."""
    here, there = corners.pairs, corners.pairs + 1
    tail = np.concatenate([corners.first[here], corners.second[here]])
    head = np.concatenate([corners.second[there], corners.first[there]])
    return _components(size, tail, head)


def _join_strips(strips: IntArray, corners: Corners, squared: BoolArray) -> IntArray:
    """Return axis[e]: strips are of one axis where most edges of the smaller one meet the other without a square."""
    count = int(strips.max(initial=-1)) + 1
    sizes = np.bincount(strips, minlength=count)
    inside = squared[corners.first] & squared[corners.second]
    single = corners.single[inside[corners.single]]
    keys, votes = np.unique(_pair_keys(strips, corners, single, count), return_counts=True)
    crossing = _pair_keys(strips, corners, corners.pairs, count)
    tail, head = keys // max(count, 1), keys % max(count, 1)
    smaller = np.minimum(sizes[tail], sizes[head])
    along = (smaller > 1) & (votes > AGREED * smaller) & ~np.isin(keys, crossing)
    return _components(count, tail[along], head[along])[strips]


def _pair_keys(strips: IntArray, corners: Corners, chosen: IntArray, count: int) -> IntArray:
    """Return a number for the two strips of each chosen corner, whatever their order."""
    one, other = strips[corners.first[chosen]], strips[corners.second[chosen]]
    return np.minimum(one, other) * count + np.maximum(one, other)


def _components(size: int, tail: IntArray, head: IntArray) -> IntArray:
    """Return the label of the connected component of each of `size` items under the links given."""
    links = sp.csr_array((np.ones(len(tail), np.int8), (tail, head)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1], np.int64)
