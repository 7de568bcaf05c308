"""Footprints: the parts of a grid of nodes that hold all tasks with little room to spare."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.metrics import GridMetric
from tiger.solvers.geometry.folding import Axis

# Most nodes of a box over those needed. Without boxes tighter than the whole, lattices on tori with spare nodes cost up
# to 36 % more, `auto` at effort 1.
SPARE = 1.34
# Boxes that are tried, and how many times the nodes that are needed the whole may have to be tried beside them.
SIZES, LOOSE = 12, 2
# Axes, and products of all extents but the last, up to which all boxes are enumerated.
AXES, MANY = 4, 1 << 13


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """Hold the nodes to use: `nodes[k]`, their coordinates `coords[k, r]` below `extents[r]`, and `slots[k]`.

    Every combination of coordinates occurs once.
    """

    nodes: IntArray
    coords: IntArray
    extents: tuple[int, ...]
    slots: IntArray


class Region(NamedTuple):
    """Hold a footprint on a grid, and the axes its columns lie along."""

    footprint: Footprint
    stages: tuple[Axis, ...]


def regions(metric: GridMetric, slots: IntArray, tasks: int) -> Iterator[Region]:
    """Yield boxes of nodes: the smallest around all with `slots[m]`, then others that hold the tasks more tightly.

    Those are up to 12 that fill it from a corner, by size, and hold the tasks; with them it is left out where it has
    twice the slots.
    """
    around = box(metric, np.flatnonzero(slots), slots)
    needed = -(-tasks * len(around.nodes) // int(around.slots.sum()))
    inner = [_corner(around, size) for size in _sizes(metric, around.extents, needed)]
    tight = [footprint for footprint in inner if footprint.slots.sum() >= tasks]
    whole = [around] if len(around.nodes) <= LOOSE * needed or not tight else []
    for footprint in (*whole, *tight):
        yield Region(footprint, axes_along(metric, footprint.extents))


def _corner(around: Footprint, size: tuple[int, ...]) -> Footprint:
    """Return the box of a size in the first corner of another."""
    kept = (around.coords < np.array(size)).all(axis=1)
    return Footprint(around.nodes[kept], around.coords[kept], size, around.slots[kept])


def box(metric: GridMetric, nodes: IntArray, slots: IntArray) -> Footprint:
    """Return the smallest box of a grid around some nodes."""
    at = np.stack(np.unravel_index(nodes, metric.dims), axis=1)
    low, extents = at.min(axis=0), tuple((np.ptp(at, axis=0) + 1).tolist())
    coords = np.indices(extents).reshape(len(extents), -1).T
    inside = np.ravel_multi_index(tuple((coords + low).T), metric.dims).astype(np.int64)
    return Footprint(inside, coords, extents, slots[inside])


def axes_along(metric: GridMetric, size: tuple[int, ...]) -> tuple[Axis, ...]:
    """Return the axes of a box of nodes."""
    around = [extent if wrap else 0 for extent, wrap in zip(metric.dims, metric.wrap, strict=True)]
    return tuple(Axis(column, extent, around[column], metric.hop) for column, extent in enumerate(size))


def _sizes(metric: GridMetric, extents: tuple[int, ...], nodes: int) -> list[tuple[int, ...]]:
    """Return up to 12 sizes of boxes within the extents for a number of nodes, those that fit best first."""
    if len(extents) > AXES or math.prod(extents) <= nodes or math.prod(extents[:-1]) > MANY:
        return []
    found: dict[tuple[object, ...], tuple[int, int, tuple[int, ...]]] = {}
    types = list(zip(metric.dims, metric.wrap, extents, strict=True))
    for size in _boxes(extents, nodes):
        if any(math.prod(size) // extent * (extent - 1) >= nodes for extent in size):
            continue
        key = tuple(sorted(zip(types, size, strict=True)))
        found.setdefault(key, (math.prod(size), sum(size), size))
    tight = [size for volume, _, size in sorted(found.values()) if volume <= SPARE * nodes]
    return tight[:SIZES]


def _boxes(extents: tuple[int, ...], nodes: int) -> Iterator[tuple[int, ...]]:
    """Yield the sizes of boxes that hold a number of nodes, and would not with a smaller last extent."""
    if len(extents) == 1:
        if nodes <= extents[0]:
            yield (nodes,)
        return
    for extent in range(1, extents[0] + 1):
        for rest in _boxes(extents[1:], -(-nodes // extent)):
            yield (extent, *rest)
