"""Seconds that cuts cannot go below on given devices, known before anything is simulated."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.cluster import Cluster
from tiger.pipeline.layers import Layers
from tiger.pipeline.stages import position_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CutFloor:
    """Hold the seconds of the first k layers in forward and in all passes, `[d, p, L + 1]`, for every place of a grid.

    A position begins behind the forward passes of the stages before its first, and then runs all its passes of m
    microbatches one by one, whatever the schedule.
    """

    forward_s: FloatArray
    passes_s: FloatArray
    microbatches: int

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, grid: IntArray, microbatches: int) -> Self:
        """Return the floor of cuts on a grid `[p, d, t]`."""
        p, d, _ = grid.shape
        places = [[position_of(layers, cluster, grid[at, [replica]]) for at in range(p)] for replica in range(d)]
        forward = np.array([[place.forward_s for place in row] for row in places])
        backward = np.array([[place.backward_s for place in row] for row in places])
        return cls(forward_s=_through(forward), passes_s=_through(forward + backward), microbatches=microbatches)

    def seconds(self, cuts: tuple[int, ...]) -> float:
        """Return seconds that no simulated iteration between cuts goes below; O(d S)."""
        ends, positions = np.array(cuts), self.forward_s.shape[1]
        at = np.arange(len(cuts) - 1) % positions
        spent = self.passes_s[:, at, ends[1:]] - self.passes_s[:, at, ends[:-1]]
        loads = spent.reshape(len(spent), -1, positions).sum(axis=1)
        first = np.arange(positions)
        forward = self.forward_s[:, first, ends[1 : positions + 1]] - self.forward_s[:, first, ends[:positions]]
        before = np.cumsum(forward, axis=1) - forward
        return float((before + self.microbatches * loads).max())


def _through(layers_s: FloatArray) -> FloatArray:
    """Return the sums over the first k layers, along the last axis."""
    return np.concatenate([np.zeros((*layers_s.shape[:-1], 1)), np.cumsum(layers_s, axis=-1)], axis=-1)
