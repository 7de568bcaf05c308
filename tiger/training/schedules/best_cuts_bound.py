"""A lower bound on the iteration time by the best of all cuts: a dynamic program over the longest path."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.model.rounding import TIE
from tiger.training.costs.stages import Position
from tiger.training.hardware.cluster import NO_LINK, Cluster
from tiger.training.models.layers import Layers
from tiger.training.schedules.pass_orders import Schedule

# Windows of the largest forward pass of GPipe, besides three wide ones: more of them are sharper and slower.
WINDOWS = 24
# Layers up to which tables [L + 1, L + 1] are made, 32 MB each, and steps p L^2 up to which those of all windows are.
MOST_LAYERS, MOST_WINDOWED = 2000, 2_000_000
# Schedules in which a stage runs forward passes that others wait for, before its first backward pass.
EARLY: tuple[Schedule, ...] = ("1f1b", "interleaved")
Paths = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LowestCosts:
    """Hold the lowest costs in any plan: passes of L layers, and messages over the L + 1 boundaries, in seconds.

    `passes_s` are forward and backward, `forward_s` forward alone, `urgent_s` all but weight passes.
    """

    passes_s: FloatArray
    forward_s: FloatArray
    urgent_s: FloatArray
    transfer_s: FloatArray

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, places: Sequence[Position]) -> Self:
        """Return the lowest costs over positions that each are one of `places`, and over all links of a cluster."""
        forward = np.array([place.forward_s for place in places])
        passes = forward + [place.backward_s for place in places]
        urgent = passes - [place.weight_s for place in places]
        used = np.unique(cluster.link[~np.eye(cluster.size, dtype=bool)])
        share = layers.crossing_bytes / max(place.ranks for place in places)
        times = [cluster.curves[curve].of(share) for curve in used[used != NO_LINK]]
        return cls(
            passes_s=passes.min(axis=0),
            forward_s=forward.min(axis=0),
            urgent_s=urgent.min(axis=0),
            transfer_s=np.min(times, axis=0) if times else np.zeros(layers.size + 1),
        )


def cut_bounds_s(lowest: LowestCosts, schedule: Schedule, positions: int, microbatches: int) -> FloatArray:
    r"""Return bounds [p] on the seconds of an iteration of any plan of 1, 2, .. p stages, one at each position.

    All-reduces of gradients are left out. A stage of load L_s, of which P_s are passes, is on a path of
    :math:`A_s + m L_s` seconds behind the passes A_s of the layers before, and, k stages behind it, in 1F1B of

    .. math:: W - P_s + m L_s - \min(m - 1, k) (f_s + c_s)

    with the passes W of one microbatch, and f_s + c_s for a forward pass and its messages; with 2 k in interleaved
    1F1B, without the last term in GPipe. With zero-bubble A_s has forward passes alone. The bound is the least over
    cuts of the longest path, found backwards, stage by stage. Infinite for more stages than layers, 0 above 2,000
    layers. O(p L^2), for GPipe `WINDOWS` times that, as its longest path may be at one stage forward and another back.
    """
    size = len(lowest.passes_s)
    if size > MOST_LAYERS:
        return np.zeros(positions)
    paths = _paths(lowest, lowest, schedule, microbatches)
    bounds = _sweep([paths] * positions, schedule, microbatches)
    if schedule == "gpipe" and microbatches > 1 and positions * size**2 <= MOST_WINDOWED:
        parts = _window_paths(lowest, paths, positions, microbatches)
        windows = [_sweep([part] * positions, schedule, microbatches) for part in parts]
        bounds = np.maximum(bounds, np.min(windows, axis=0))
    return bounds


def _sweep(stages: Sequence[Paths], schedule: Schedule, microbatches: int) -> FloatArray:
    """Return the bounds of pipelines of one stage, two, .. for the paths of each, the last stage first."""
    size = len(stages[0][0]) - 1
    behind = np.where(np.arange(size + 1) == size, 0.0, np.inf)
    bounds, longest, found = np.empty(len(stages)), np.empty((size + 1, size + 1)), np.empty((size + 1, size + 1))
    known: tuple[Paths, int] | None = None
    for after, paths in enumerate(stages):
        ahead, around, forward = paths
        count = _count_early_passes(schedule, microbatches, after) if schedule in EARLY else 0
        if known is None or known[0] is not paths or known[1] != count:
            np.maximum(ahead, around - count * forward, out=longest)
            known = paths, count
        # Bellman's recursion on a longest path: row i begins with layer i, the stages behind begin at column j.
        behind = np.maximum(longest, behind, out=found).min(axis=1)
        bounds[after] = behind[0]
    return bounds


def _window_paths(lowest: LowestCosts, paths: Paths, positions: int, microbatches: int) -> Iterator[Paths]:
    """Yield the paths of GPipe for its largest forward pass, messages included, in each of some windows.

    A microbatch passes all stages, m - 1 more the stage with that pass, and m - 1 more back the stage of the path.
    """
    message = lowest.transfer_s[:, None] + lowest.transfer_s[None, :]
    forward = spans(lowest.forward_s) + message
    back = spans(lowest.passes_s) - spans(lowest.forward_s) + message
    # No pipeline has all its forward passes below that of the largest layer, nor below their mean.
    least = max(float(lowest.forward_s.max()), float(lowest.forward_s.sum()) / positions)
    lows = least * np.append(np.linspace(1, 2, WINDOWS, endpoint=False), [2.0, 4.0, 8.0])
    for low, high in zip(lows, np.append(lows[1:], np.inf), strict=True):
        around = lowest.passes_s.sum() + 2 * message + (microbatches - 1) * (low + back)
        # Rounding must not ban the pass that is as large as the window allows.
        banned = np.where(forward > high * (1 + TIE), np.inf, 0.0)
        yield paths[0] + banned, around + banned, paths[2]


def _count_early_passes(schedule: Schedule, microbatches: int, after: int) -> int:
    """Return how many forward passes a stage with others behind it runs between its first and its first backward."""
    return min(microbatches - 1, after * (2 if schedule == "interleaved" else 1))


def _paths(every: LowestCosts, own: LowestCosts, schedule: Schedule, microbatches: int) -> Paths:
    """Return, for stages of layers i to j - 1 [L + 1, L + 1], both kinds of path, and the seconds of an early pass.

    A stage costs `own`, all others at least `every`. Infinite where i >= j.
    """
    message = own.transfer_s[:, None] + own.transfer_s[None, :]
    passes, urgent = spans(own.passes_s), spans(own.urgent_s)
    banned = np.where(np.tri(len(message), dtype=bool), np.inf, 0.0)
    before = _prefix_sums(every.passes_s)[:, None]
    if schedule == "zero-bubble":
        # Weight passes may come last; without them, the last gradients of a stage go all the way back.
        ahead = banned + _prefix_sums(every.forward_s)[:, None] + microbatches * (passes + 2 * message)
        around = banned + _prefix_sums(every.urgent_s)[:, None] + microbatches * (urgent + 2 * message)
        return ahead, around, np.zeros_like(banned)
    ahead = banned + before + microbatches * (passes + 2 * message)
    behind = _prefix_sums(every.passes_s[::-1])[::-1]
    around = ahead + behind
    return ahead, around, np.zeros_like(banned) if schedule == "gpipe" else spans(own.forward_s) + message


def spans(values: FloatArray) -> FloatArray:
    """Return the sums [L + 1, L + 1] of layers i to j - 1, 0 where there are none.

    Each is added up from its first layer on: a difference of sums from layer 0 on would lose small ones behind large.
    """
    size = len(values)
    sums = np.zeros((size + 1, size + 1))
    sums[:size, 1:] = np.triu(np.broadcast_to(values, (size, size)))
    return np.cumsum(sums, axis=1, out=sums)


def _prefix_sums(layers_s: FloatArray) -> FloatArray:
    """Return the seconds [L + 1] of the first k layers."""
    return np.concatenate([[0.0], np.cumsum(layers_s)])
