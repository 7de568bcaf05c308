"""A trajectory: what layers take over the intervals of a training run, in multiples of what a model states."""

from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import NamedTuple, Protocol

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray
from tiger.model.options import about
from tiger.model.wording import describe
from tiger.training.models.layers import Layers

# Intervals of a run, each decided on in milliseconds.
MOST_INTERVALS = 10_000


class Trajectory(NamedTuple):
    """Hold the factors [t, l] of the forward and of the backward seconds of l layers over t intervals."""

    forward: FloatArray
    backward: FloatArray

    def times_of(self, layers: Layers) -> FloatArray:
        """Return the seconds [t, 2, L] of all layers of a model, whose decoder layers have these factors."""
        body = decoder_layers(layers)
        times = np.tile(np.array([layers.forward_s, layers.backward_s]), (len(self.forward), 1, 1))
        times[:, 0, body] *= self.forward
        times[:, 1, body] *= self.backward
        return times


@dataclass(frozen=True, kw_only=True)
class WorkloadCourse:
    """Be the parameters of a workload: how many `intervals` there are, and what its own fields say."""

    intervals: int = field(default=40, metadata=about("Intervals of the run.", ge=1, le=MOST_INTERVALS))

    def __post_init__(self) -> None:
        """Check that every field is a number within its bounds; raise InputError of `workload` that names it."""
        for each in fields(self):
            value, whole = getattr(self, each.name), isinstance(each.default, int)
            low, high = each.metadata["ge"], each.metadata["le"]
            kind = Integral if whole else Real
            if isinstance(value, bool) or not isinstance(value, kind) or not low <= value <= high:
                what = "a whole number" if whole else "a number"
                raise InputError(
                    f"workload/{each.name}", f"expected {what} from {low:g} to {high:g}, got {describe(value)}"
                )

    @property
    def progress(self) -> FloatArray:
        """Return the share [t] of the run that is over when an interval begins."""
        return np.arange(self.intervals) / self.intervals


class ChangingModel(Protocol):
    """Be a model that changes while it trains."""

    @property
    def intervals(self) -> int:
        """Return the number of intervals."""
        ...

    def trajectory(self, layers: int) -> Trajectory:
        """Return the factors of so many decoder layers."""
        ...


def decoder_layers(layers: Layers) -> list[int]:
    """Return the layers of a model that change: those of kind "layer"."""
    return [k for k, kind in enumerate(layers.kinds) if kind == "layer"]


def find_level(low: float, high: float, is_above: "AboveTarget") -> float:
    """Return the level at which a falling function passes a target, by bisection to the last digits of a float64."""
    # Each halving gives a binary digit.
    for _ in range(53):
        middle = (low + high) / 2
        low, high = (middle, high) if is_above(middle) else (low, middle)
    return (low + high) / 2


class AboveTarget(Protocol):
    """Say whether a falling function is above its target at a level."""

    def __call__(self, level: float, /) -> bool:
        """Return whether it is."""
        ...
