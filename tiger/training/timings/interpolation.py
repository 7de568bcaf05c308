"""Rates between the rows of a table whose grid may be ragged."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.timings.timed import Source


class Estimate(NamedTuple):
    """Hold the logarithm of seconds per unit of work, and its source."""

    log_rate: float
    source: Source


@dataclass(frozen=True, slots=True)
class AxisNode:
    """Hold the values that one axis has where those before it have theirs, and what is below each of them."""

    values: list[float]
    logs: list[float]
    below: "list[AxisNode] | list[float]"


def build_axes(axes: FloatArray, log_rates: FloatArray) -> AxisNode:
    """Return the tree of r rows `axes` (r x a, > 0, no row twice), an axis a level; O(r a)."""
    order = np.lexsort(axes.T[::-1])
    return _build(axes[order], log_rates[order])


def _build(axes: FloatArray, log_rates: FloatArray) -> AxisNode:
    """Return the tree of sorted rows."""
    starts = np.flatnonzero(np.diff(axes[:, 0], prepend=-1.0))
    values = axes[starts, 0]
    logs = np.log(values).tolist()
    if axes.shape[1] == 1:
        return AxisNode(values.tolist(), logs, log_rates.tolist())
    ends = [*starts[1:].tolist(), len(axes)]
    parts = zip(starts.tolist(), ends, strict=True)
    return AxisNode(values.tolist(), logs, [_build(axes[a:b, 1:], log_rates[a:b]) for a, b in parts])


def estimate(node: AxisNode, sizes: Sequence[float], depth: int = 0) -> Estimate:
    """Return the rate at some sizes: that of their row, or linear in logarithms between the next values of each axis.

    Each value of an axis has its own values of the axes after it, so a grid may have holes. Beyond the first or the
    last value the rate is the one at that value.
    """
    size = sizes[depth]
    at = bisect_left(node.values, size)
    if at < len(node.values) and node.values[at] == size:
        return _below(node, at, sizes, depth)
    if at in (0, len(node.values)):
        return Estimate(_below(node, max(at - 1, 0), sizes, depth).log_rate, "extrapolated")
    low, high = _below(node, at - 1, sizes, depth), _below(node, at, sizes, depth)
    part = (log(size) - node.logs[at - 1]) / (node.logs[at] - node.logs[at - 1])
    inside = "extrapolated" not in (low.source, high.source)
    rate = low.log_rate + part * (high.log_rate - low.log_rate)
    return Estimate(rate, "interpolated" if inside else "extrapolated")


def _below(node: AxisNode, at: int, sizes: Sequence[float], depth: int) -> Estimate:
    """Return the rate where an axis has one of its values."""
    below = node.below[at]
    return estimate(below, sizes, depth + 1) if isinstance(below, AxisNode) else Estimate(below, "measured")
