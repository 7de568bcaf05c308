"""The times of layers in an interval: as they are measured of layers or of stages, checked."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.training.hardware.limits import COST_LIMIT
from tiger.training.models.layers import Layers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerTimes:
    """Hold the seconds of each of L layers for one microbatch on a device of speed 1, forward and backward."""

    forward_s: FloatArray
    backward_s: FloatArray

    @classmethod
    def of(cls, layers: Layers) -> Self:
        """Return the times that a model states."""
        return cls(forward_s=layers.forward_s, backward_s=layers.backward_s)

    @property
    def size(self) -> int:
        """Return L."""
        return len(self.forward_s)

    @property
    def total_s(self) -> FloatArray:
        """Return the seconds [L] of both passes."""
        return np.asarray(self.forward_s + self.backward_s)

    def measure(self, seconds: FloatArray, slowdown: FloatArray) -> "LayerTimes":
        """Return the times that a measurement [1 or 2, L] of layers says, taken where each runs at a slowdown [L].

        One row is of both passes, two are of the forward and of the backward one. Of both, a layer's passes keep their
        shares, a third forward where it had no time.
        """
        if len(seconds) == 2:
            return LayerTimes(forward_s=seconds[0] / slowdown, backward_s=seconds[1] / slowdown)
        total = self.total_s
        # A backward pass makes gradients of inputs and of weights, each as long as the forward pass.
        share = np.where(total > 0, self.forward_s / np.where(total > 0, total, 1.0), 1 / 3)
        measured = seconds[0] / slowdown
        return LayerTimes(forward_s=measured * share, backward_s=measured * (1 - share))

    def scale(self, seconds: FloatArray, cuts: tuple[int, ...], slowdown: FloatArray) -> "LayerTimes":
        """Return times that agree with a measurement [1 or 2, p] of stages: all layers of a stage change alike.

        Layers of a stage that had no time share it equally.
        """
        rows = np.array([self.forward_s, self.backward_s] if len(seconds) == 2 else [self.total_s])
        sums = np.add.reduceat(rows, cuts[:-1], axis=1)
        counts = np.diff(cuts)
        share = rows / np.repeat(np.where(sums > 0, sums, 1.0), counts, axis=1)
        share = np.where(np.repeat(sums > 0, counts, axis=1), share, np.repeat(1 / counts, counts))
        return self.measure(share * np.repeat(seconds, counts, axis=1), np.repeat(slowdown, counts))


def check_loads(loads: ArrayLike, layers: int, stages: int, field: str = "loads") -> FloatArray:
    """Return measured seconds [1 or 2, L or p] as an array of two axes, or raise InputError of the field."""
    runs = f"{layers} seconds of layers" + (f" or {stages} of stages" if stages != layers else "")
    what = f"{runs}, or two rows of those, forward and backward"
    try:
        stated = np.asarray(loads)
    except (TypeError, ValueError, OverflowError):
        raise InputError(field, f"expected {what}, got others") from None
    # numpy would also take words, truth values and dates for numbers.
    if stated.dtype.kind not in "iuf":
        raise InputError(field, f"expected {what}, got others")
    array = np.atleast_2d(stated.astype(np.float64))
    if array.ndim != 2 or len(array) > 2 or array.shape[1] not in (layers, stages):
        raise InputError(field, f"expected {what}, got shape {np.shape(loads)}")
    bad = np.argwhere(~(np.isfinite(array) & (array >= 0) & (array <= COST_LIMIT)))
    if bad.size:
        row, column = bad[0].tolist()
        place = f"{column}" if len(array) == 1 else f"{row}/{column}"
        raise InputError(f"{field}/{place}", f"expected a number from 0 to {COST_LIMIT:g}, got {array[row, column]:g}")
    if not array.any():
        raise InputError(field, f"expected {what}, some above 0, got all 0")
    return array
