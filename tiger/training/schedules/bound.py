"""A lower bound on the iteration time of all plans, whatever the cuts and the devices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.costs.stages import Position
from tiger.training.models.layers import Layers
from tiger.training.schedules.pass_orders import SPLIT, Schedule, pipelines_of

# Halvings of a bisection that leave less than the last digit of a float64 between its ends.
HALVINGS = 60
Line = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanBounds:
    """Hold lower bounds that every plan keeps, in seconds.

    No plan has all its positions below `bottleneck_s` of load for one microbatch. Its passes through the first k
    layers take at least `work_s[k]`, its forward passes `forward_s[k]`; through all of them, without weight passes, it
    takes at least `urgent_s`. Forward passes with their messages are at most `forward_share` of the load of a stage.
    """

    bottleneck_s: float
    work_s: FloatArray
    forward_s: FloatArray
    urgent_s: float
    forward_share: float

    @classmethod
    def of(cls, layers: Layers, places: Sequence[Position], bottleneck_s: float) -> Self:
        """Return the bounds of plans whose positions each are one of `places`. O(L) for each of them."""
        forward = np.array([place.forward_s for place in places])
        passes = forward + [place.backward_s for place in places]
        urgent = passes - [place.weight_s for place in places]
        some = passes > 0
        # Of all messages half belong to forward passes.
        sent = 0.5 if layers.crossing_bytes.any() else 0.0
        return cls(
            bottleneck_s=bottleneck_s,
            work_s=_prefix_sums(passes.min(axis=0)),
            forward_s=_prefix_sums(forward.min(axis=0)),
            urgent_s=float(urgent.min(axis=0).sum()),
            forward_share=float((forward[some] / passes[some]).max(initial=sent)),
        )


def iteration_bound_s(bounds: PlanBounds, schedule: Schedule, positions: int, microbatches: int) -> float:
    """Return a bound on the seconds of an iteration of any plan of p positions, all-reduces of gradients left out.

    Every path through the passes of a position s gives T >= a_s + k_s L_s for its load L_s. One of the loads is the
    bottleneck or more, and all of them together are no less than the work: the bound is the smallest T that admits such
    loads. Exact for GPipe with equal stages; for others with equal stages some seconds below. O(p).
    """
    once = bounds.urgent_s if schedule in SPLIT else float(bounds.work_s[-1])
    if schedule == "gpipe":
        return once + (microbatches - 1) * bounds.bottleneck_s
    lines = _lines(bounds, schedule, positions, microbatches)
    least = max(once, float(np.max([a + k * bounds.bottleneck_s for a, k in lines], axis=0).min()))
    return _smallest_admitting(lines, float(bounds.work_s[-1]), least)


def _prefix_sums(layers_s: FloatArray) -> FloatArray:
    """Return the seconds [L + 1] of the first k layers."""
    return np.concatenate([[0.0], np.cumsum(layers_s)])


def _lines(bounds: PlanBounds, schedule: Schedule, positions: int, microbatches: int) -> list[Line]:
    """Return the lines a_s + k_s L_s that an iteration is above, each as a[p] and k[p] > 0."""
    m, share, before = float(microbatches), bounds.forward_share, np.arange(positions)
    if pipelines_of(schedule) > 1:
        # Either of two pipelines in opposite directions may come to a position first, and be the last to leave it.
        before = np.minimum(before, before[::-1])
    # The stages before a position hold a layer each, or more, and their first and last passes surround its own: with
    # split backward passes only the first do, as weight passes may come after the last gradient has left.
    least_s = bounds.forward_s if schedule in SPLIT else bounds.work_s
    lines = [(least_s[np.minimum(before, len(least_s) - 1)], np.full(positions, m))]
    if schedule == "1f1b":
        # Of the path of one microbatch through all stages and back, a position adds to its own part all its passes
        # behind the first backward one: all but as many forward ones as there are stages behind it.
        early = np.minimum(positions - 1 - before, m - 1)
        rest = m - 1 - early * share
        usable = rest > 0
        lines.append((np.where(usable, bounds.work_s[-1], 0.0), np.where(usable, rest, m)))
    elif schedule == "zero-bubble":
        # The last position waits for every forward pass of the first microbatch but its own.
        last = (before == positions - 1) & (m > share)
        lines.append((np.where(last, bounds.forward_s[-1], 0.0), np.where(last, m - share, m)))
    return lines


def _smallest_admitting(lines: Sequence[Line], work: float, least: float) -> float:
    """Return the smallest T, from `least` on, under which loads may sum up to the work, from below: bisection."""

    def room(time: float) -> float:
        """Return the largest sum of loads."""
        return float(np.min([(time - a) / k for a, k in lines], axis=0).sum())

    low = high = least
    while room(high) < work:
        low, high = high, 2 * high + work
    for _ in range(HALVINGS if high > low else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if room(middle) < work else (low, middle)
    return low
