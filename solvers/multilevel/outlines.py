"""Outlines of regions of hardware: a few numbers from which the mean distance of two regions follows."""

from typing import Protocol

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import GridMetric, Metric
from tiger.solvers.annealing.moves import distance
from tiger.solvers.instance import Instance
from tiger.solvers.kernel import kernel

# Nodes that stand for a region, and about how many in all distances to one region, and between all, are taken from.
PROBES, MANY, FINE = 16, 8192, 1024
# Sum of the extents of a grid up to which exact distances, whose matrix has its square, are worth it.
LONGEST = 512


class Outlines(Protocol):
    """Return mean distances of regions from a few numbers kept of each, its outline of `width` numbers."""

    @property
    def width(self) -> int:
        """Return w, the size of an outline."""
        ...

    def outline(self, nodes: IntArray, seats: IntArray) -> FloatArray:
        """Return the outline of the region of `nodes[k]`, each as important as it has `seats[k]`, > 0."""
        ...

    def mean_distances(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances, of both ways, of the regions `outlines[r, w]` from one more."""
        ...

    def table(self, outlines: FloatArray) -> FloatArray:
        """Return away[r, r], about the mean distances between any two regions `outlines[r, w]`; symmetric."""
        ...


class Marginals:
    """Outline regions of a grid by how they spread along each axis, which gives mean distances exactly."""

    def __init__(self, metric: GridMetric) -> None:
        self._dims, self.width = metric.dims, sum(metric.dims)
        self._away, offset = np.zeros((self.width, self.width)), 0
        for extent, around in zip(metric.dims, metric.wrap, strict=True):
            step = np.abs(np.arange(extent)[:, None] - np.arange(extent)[None, :])
            block = slice(offset, offset + extent)
            self._away[block, block] = metric.hop * (np.minimum(step, extent - step) if around else step)
            offset += extent

    def outline(self, nodes: IntArray, seats: IntArray) -> FloatArray:
        """Return the share of the seats at every position of every axis."""
        share, places = seats / seats.sum(), np.unravel_index(nodes, self._dims)
        return np.concatenate([np.bincount(x, share, extent) for x, extent in zip(places, self._dims, strict=True)])

    def mean_distances(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances; O(r w + w^2)."""
        return np.asarray(outlines @ (self._away @ outline))

    def table(self, outlines: FloatArray) -> FloatArray:
        """Return the mean distances; O(r^2 w)."""
        away = outlines @ (self._away @ outlines.T)
        return np.asarray(away + away.T) / 2


class Probes:
    """Outline regions by 16 of their nodes, evenly spaced in the order they are given in."""

    width = PROBES

    def __init__(self, inst: Instance) -> None:
        self._inst = inst

    def outline(self, nodes: IntArray, seats: IntArray) -> FloatArray:
        """Return the probes, as floats."""
        filled = np.cumsum(seats)
        steps = (np.arange(PROBES) + 0.5) * (filled[-1] / PROBES)
        return np.asarray(nodes[np.searchsorted(filled, steps, side="right")], np.float64)

    def mean_distances(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances, by fewer probes where regions are many, and so small; O(r)."""
        step = PROBES // min(max(MANY // max(len(outlines), 1), 2), PROBES)
        return self._mean(outlines[:, ::step].copy(), outline[::step].copy())

    def table(self, outlines: FloatArray) -> FloatArray:
        """Return the mean distances, by fewer probes where regions are many; O(r^2)."""
        few = outlines[:, :: PROBES // min(max(FINE // len(outlines), 2), PROBES)].copy()
        away = np.stack([self._mean(few, row) for row in few])
        return np.asarray(away + away.T) / 2

    def _mean(self, outlines: FloatArray, outline: FloatArray) -> FloatArray:
        """Return the mean distances between all probes."""
        distances = np.empty(len(outlines))
        probe(self._inst, outlines, outline, distances)
        return distances


def outlines_of(metric: Metric, inst: Instance) -> Outlines:
    """Return what outlines the regions of a metric: marginals on grids whose extents add up to 512 at most."""
    if isinstance(metric, GridMetric) and sum(metric.dims) <= LONGEST:
        return Marginals(metric)
    return Probes(inst)


@kernel
def probe(inst: Instance, outlines: FloatArray, outline: FloatArray, distances: FloatArray) -> None:
    """Put the mean distances, of both ways, between the nodes `outlines[r, w]` and `outline[w]` into `distances[r]`."""
    for r in range(len(outlines)):
        total = 0.0
        for x in outlines[r]:
            for y in outline:
                total += distance(inst, int(x), int(y)) + distance(inst, int(y), int(x))
        distances[r] = total / (2 * len(outline) * len(outline))
