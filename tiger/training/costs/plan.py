"""A plan: the layers of each stage, and the devices of each position."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray, freeze
from tiger.training.costs.stage_positions import StageStyle, stage_positions, stages_by_position


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """Hold the cuts of S stages and the devices of p positions of the pipeline, S = p x v with v virtual stages each.

    Stage j holds layers `cuts[j]` to `cuts[j + 1] - 1`, at least one, and runs at `stage_positions[j]`, which in the
    style "loop" is j mod p; in a "mirror", which has p stages, also at p - 1 - j. `grid[p, d, t]` is the device of
    every rank: of each of d data-parallel replicas, and of each of t tensor-parallel ranks in it.
    """

    cuts: tuple[int, ...]
    grid: IntArray
    style: StageStyle = "loop"

    def __post_init__(self) -> None:
        """Check the shape and make the array read-only; raise ValueError for a fault of the caller."""
        grid = np.asarray(self.grid, np.int64)
        if grid.ndim != 3 or not grid.size or len(np.unique(grid)) != grid.size:
            raise ValueError(f"expected different devices in an array of three axes, got shape {grid.shape}")
        if (np.diff(self.cuts) < 1).any() or (len(self.cuts) - 1) % len(grid) or len(self.cuts) < 2:
            raise ValueError(f"expected rising cuts of a multiple of {len(grid)} stages, got {self.cuts}")
        object.__setattr__(self, "cuts", tuple(int(cut) for cut in self.cuts))
        object.__setattr__(self, "grid", freeze(grid))

    @classmethod
    def line(cls, cuts: tuple[int, ...], devices: tuple[int, ...]) -> Self:
        """Return the plan of a pipeline with one device a position."""
        return cls(cuts=cuts, grid=np.array(devices, np.int64).reshape(-1, 1, 1))

    @property
    def stages(self) -> int:
        """Return S, the number of stages, virtual ones included."""
        return len(self.cuts) - 1

    @property
    def positions(self) -> int:
        """Return p, the number of positions of the pipeline."""
        return len(self.grid)

    @property
    def virtual(self) -> int:
        """Return v, the number of stages at a position."""
        return self.stages // self.positions

    @property
    def directions(self) -> "tuple[Plan, ...]":
        """Return the pipelines that run side by side, each with its share of the microbatches."""
        if self.style != "mirror":
            return (self,)
        one = replace(self, style="loop")
        return one, replace(one, grid=self.grid[::-1])

    @property
    def holders(self) -> IntArray:
        """Return the devices `[p, d, t]` of the ranks with the same layers, those of all directions in a row."""
        return np.concatenate([each.grid for each in self.directions], axis=1)

    @property
    def stage_positions(self) -> IntArray:
        """Return the position `[S]` of every stage."""
        return stage_positions(self.style, self.positions, self.stages)

    def sum_by_position(self, values: FloatArray) -> FloatArray:
        """Return the sums `[p]` of values `[S]` over the stages that a position has, in all directions."""
        sums = values[stages_by_position(self.style, self.positions, self.stages)].sum(axis=0)
        return np.asarray(sums + sums[::-1] if self.style == "mirror" else sums)


def rank_order(shape: tuple[int, int, int]) -> IntArray:
    """Return the grid `[p, d, t]` of devices in order: tensor-parallel ranks side by side, then data-parallel ones.

    That is the default of Megatron-LM, tp-dp-pp; Narayanan et al., SC 2021, arXiv:2104.04473.
    """
    return np.arange(int(np.prod(shape))).reshape(shape)
