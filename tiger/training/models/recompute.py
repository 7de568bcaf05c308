"""Layers of which the first of each stage alone are computed again, as by Megatron-LM's recompute method `block`."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartialRecompute:
    """Hold what L layers take that are not computed again: all but the `first` of the `counted[L]` layers of a stage.

    Columns are those of layers of the same names, which have what layers take that are computed again.
    """

    first: int
    counted: BoolArray
    forward_s: FloatArray
    backward_s: FloatArray
    held_bytes: FloatArray
    working_bytes: FloatArray

    def find_repeated(self, cuts: tuple[int, ...]) -> BoolArray:
        """Return which of L layers are computed again, of stages between cuts; O(L)."""
        before = np.concatenate([[0], np.cumsum(self.counted)])
        begins = np.repeat(np.array(cuts[:-1]), np.diff(cuts))
        return np.asarray(self.counted & (before[:-1] - before[begins] < self.first))
