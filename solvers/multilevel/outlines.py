"""Outlines of regions of hardware: a few numbers from which the mean distance of two regions follows."""

from typing import Protocol

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric, Metric
from tiger.solvers.annealing.cost_changes import distance
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import allocating_kernel, inner_allocating_kernel, inner_kernel, kernel

# Nodes that stand for a region, and about how many in all distances to one region, and between all, are taken from.
PROBES, MANY, FINE = 16, 8192, 1024
# Sum of the extents of a grid up to which exact distances, whose matrix has its square, are worth it.
LONGEST = 512


class Outlines(Protocol):
    """Return mean distances of regions from a few numbers kept of each, its outline of `width` numbers.

    `distances[width, width]` are distances between the positions that marginals count, empty for probes.
    """

    distances: FloatArray

    @property
    def width(self) -> int:
        """Return w, the size of an outline."""
        ...

    def outline(self, nodes: IntArray, slots: IntArray, start: IntArray) -> FloatArray:
        """Return the outlines of regions of `nodes[start[c] : start[c + 1]]`, each as important as its slots, > 0."""
        ...

    def mean_distances(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances, of both ways, of the regions `outlines[r, w]` from one more."""
        ...

    def table(self, outlines: FloatArray) -> FloatArray:
        """Return distances[r, r], about the mean distances between any two regions `outlines[r, w]`; symmetric."""
        ...


class Marginals:
    """Outline regions of a grid by how they spread along each axis, which gives mean distances exactly."""

    def __init__(self, metric: GridMetric, inst: Instance) -> None:
        self._inst, self._dims, self.width = inst, metric.dims, sum(metric.dims)
        self.distances, offset = np.zeros((self.width, self.width)), 0
        for extent, around in zip(metric.dims, metric.wrap, strict=True):
            step = np.abs(np.arange(extent)[:, None] - np.arange(extent)[None, :])
            block = slice(offset, offset + extent)
            self.distances[block, block] = metric.hop * (np.minimum(step, extent - step) if around else step)
            offset += extent

    def outline(self, nodes: IntArray, slots: IntArray, start: IntArray) -> FloatArray:
        """Return the shares of the slots at every position of every axis."""
        size, owner = len(start) - 1, np.repeat(np.arange(len(start) - 1), np.diff(start))
        share, blocks = slots / np.add.reduceat(slots, start[:-1])[owner], []
        for x, extent in zip(np.unravel_index(nodes, self._dims), self._dims, strict=True):
            blocks.append(np.bincount(owner * extent + x, share, size * extent).reshape(size, extent))
        return np.concatenate(blocks, axis=1)

    def mean_distances(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances; O(r w + w^2)."""
        return np.asarray(outlines @ (self.distances @ outline))

    def table(self, outlines: FloatArray) -> FloatArray:
        """Return the mean distances; O(r^2 s) for s positions of a region whose marginals are not 0."""
        table = np.empty((len(outlines), len(outlines)))
        fill_table(self._inst, outlines, self.distances, table)
        return table


class Probes:
    """Outline regions by 16 of their nodes, evenly spaced in the order they are given in."""

    width = PROBES

    def __init__(self, inst: Instance) -> None:
        self._inst, self.distances = inst, np.empty((0, 0))

    def outline(self, nodes: IntArray, slots: IntArray, start: IntArray) -> FloatArray:
        """Return the probes, as floats."""
        filled = np.cumsum(slots)
        before = np.append(0, filled)[start]
        steps = before[:-1, None] + (np.arange(PROBES) + 0.5) * (np.diff(before)[:, None] / PROBES)
        return np.asarray(nodes[np.searchsorted(filled, steps, side="right")], np.float64)

    def mean_distances(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances, by fewer probes where regions are many, and so small; O(r)."""
        step = PROBES // min(max(MANY // max(len(outlines), 1), 2), PROBES)
        return self._mean(outlines[:, ::step].copy(), outline[::step].copy())

    def table(self, outlines: FloatArray) -> FloatArray:
        """Return the mean distances, by fewer probes where regions are many; O(r^2)."""
        few = outlines[:, :: PROBES // min(max(FINE // len(outlines), 2), PROBES)].copy()
        table = np.empty((len(few), len(few)))
        fill_table(self._inst, few, self.distances, table)
        return table

    def _mean(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances between all probes."""
        distances = np.empty(len(outlines))
        probe(self._inst, outlines, outline, distances)
        return distances


def outlines_of(metric: Metric, inst: Instance) -> Outlines:
    """Return the way to outline regions of a metric: marginals on grids whose extents add up to 512 at most."""
    if isinstance(metric, GridMetric) and sum(metric.dims) <= LONGEST:
        return Marginals(metric, inst)
    return Probes(inst)


@kernel
def probe(inst: Instance, outlines: FloatArray, outline: FloatArray, distances: FloatArray) -> None:
    """Put the mean distances, of both ways, between the nodes `outlines[r, w]` and `outline[w]` into `distances[r]`."""
    for r in range(len(outlines)):
        distances[r] = mean_of_pairs(inst, outlines[r], outline, 1)


@allocating_kernel
def fill_table(inst: Instance, rows: FloatArray, distances: FloatArray, table: FloatArray) -> None:
    """Put the mean distances between any two regions with the outlines `rows[r, w]` into `table[r, r]`."""
    count, width = rows.shape
    if not distances.size:
        for r in range(count):
            for s in range(r + 1):
                table[r, s] = table[s, r] = mean_of_pairs(inst, rows[r], rows[s], 1)
        return
    # In small regions most marginals are 0: lists of the others.
    size, columns, share = np.zeros(count, np.int64), np.empty((count, width), np.int64), np.empty((count, width))
    for r in range(count):
        for x in range(width):
            if rows[r, x] != 0.0:
                columns[r, size[r]], share[r, size[r]] = x, rows[r, x]
                size[r] += 1
    further = np.empty(width)
    for r in range(count):
        further[:] = 0.0
        for k in range(size[r]):
            for y in range(width):
                further[y] += share[r, k] * distances[columns[r, k], y]
        for s in range(r + 1):
            total = 0.0
            for k in range(size[s]):
                total += share[s, k] * further[columns[s, k]]
            table[r, s] = table[s, r] = total


@inner_kernel
def mean_of_pairs(inst: Instance, one: FloatArray, other: FloatArray, step: int) -> float:
    """Return the mean distance, of both ways, between every `step`-th of some nodes and of others."""
    total, count = 0.0, 0
    for i in range(0, len(one), step):
        for j in range(0, len(other), step):
            x, y = int(one[i]), int(other[j])
            total += distance(inst, x, y) + distance(inst, y, x)
            count += 2
    return total / count


@inner_kernel
def mean_distance(inst: Instance, rows: FloatArray, distances: FloatArray, a: int, b: int) -> float:
    """Return the mean distance of regions a and b with the outlines `rows[r, w]`; `distances` as in Outlines."""
    if not distances.size:
        return float(mean_of_pairs(inst, rows[a], rows[b], 1))
    total = 0.0
    for x in range(len(distances)):
        # In small regions most marginals are 0.
        if rows[a, x] != 0.0:
            inner = 0.0
            for y in range(len(distances)):
                inner += distances[x, y] * rows[b, y]
            total += rows[a, x] * inner
    return total


@inner_allocating_kernel
def enter_leans(
    inst: Instance, rows: FloatArray, distances: FloatArray, regions: tuple[IntArray, int, int], lean: FloatArray
) -> None:
    """Put into `lean[r]` how much farther each of some regions is from b than from a; `regions` are those, a and b."""
    near, a, b = regions
    if not distances.size:
        step = PROBES // min(max(MANY // max(len(near), 1), 2), PROBES)
        for r in near:
            lean[r] = mean_of_pairs(inst, rows[r], rows[b], step) - mean_of_pairs(inst, rows[r], rows[a], step)
        return
    # A mean distance is linear in the marginals, so that the difference of two comes from one vector.
    further = np.zeros(len(distances))
    for x in range(len(distances)):
        change = rows[b, x] - rows[a, x]
        if change != 0.0:
            for y in range(len(distances)):
                further[y] += change * distances[x, y]
    for r in near:
        total = 0.0
        for x in range(len(distances)):
            total += rows[r, x] * further[x]
        lean[r] = total
