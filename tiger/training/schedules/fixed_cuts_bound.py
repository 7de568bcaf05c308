"""A lower bound on the iteration time of given cuts on given devices, without a simulation."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.costs.stage_positions import StageStyle, stage_positions, stages_by_position
from tiger.training.costs.stages import passes_s
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedCutsBound:
    """Hold the seconds of every layer in forward and in all passes, `[d, p, L]`, for every place of a grid.

    A position begins behind the forward passes of the stages before its first, and then runs all its passes of m
    microbatches one by one, whatever the schedule.
    """

    forward_s: FloatArray
    passes_s: FloatArray
    microbatches: int
    style: StageStyle = "loop"

    @classmethod
    def of(
        cls, layers: Layers, cluster: Cluster, grid: IntArray, microbatches: int, style: StageStyle = "loop"
    ) -> Self:
        """Return the bound for cuts on a grid `[p, d, t]`."""
        spent = passes_s(layers, cluster, grid)
        forward, backward, _ = spent.transpose(2, 1, 0, 3)
        return cls(forward_s=forward, passes_s=forward + backward, microbatches=microbatches, style=style)

    def seconds(self, cuts: tuple[int, ...]) -> float:
        """Return a lower bound on the simulated iteration of cuts; O(d p L)."""
        if self.style == "mirror":
            return self._mirrored_s(np.array(cuts[:-1]))
        ends, positions = np.array(cuts[:-1]), self.forward_s.shape[1]
        stages, at = np.arange(len(ends)), stage_positions(self.style, positions, len(ends))
        loads = np.add.reduceat(self.passes_s, ends, axis=2)[:, at, stages]
        loads = loads[:, stages_by_position(self.style, positions, len(ends))].sum(axis=1)
        first = np.arange(positions)
        forward = np.add.reduceat(self.forward_s, ends, axis=2)[:, first, first]
        before = np.cumsum(np.insert(forward[:, :-1], 0, 0.0, axis=1), axis=1)
        return float((before + self.microbatches * loads).max())

    def _mirrored_s(self, begins: IntArray) -> float:
        """Return the bound of two pipelines in opposite directions, each position busy with both its stages."""
        stages = np.add.reduceat(self.passes_s, begins, axis=2)
        at = np.arange(self.forward_s.shape[1])
        return self.microbatches / 2 * float((stages[:, at, at] + stages[:, at, at[::-1]]).max())
