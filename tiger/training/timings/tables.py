"""Times of operations that were measured on one type of device, and those between and beyond them."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, log

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.training.timings.axes import TableKey, axes_of, key_of, work_of
from tiger.training.timings.interpolation import AxisNode, build_axes, estimate
from tiger.training.timings.operations import Attention, Decoding, ExpertBlocks, Operation, Product
from tiger.training.timings.timed import SOURCES, Timed

# Sizes of rows (r x axes, as `axes_of` orders them), and their seconds (r).
MeasuredRows = tuple[FloatArray, FloatArray]
ReadRows = Callable[[TableKey], MeasuredRows | None]
# The backward pass of attention has five products where the forward pass has two, 2.5 times the FLOP, and reaches 63 %
# of an A100's peak where that reaches 73 %. Source: FlashAttention-2 (arXiv:2307.08691), sections 3 and 4.
ATTENTION_BACKWARD = 2.5 * 73 / 63
# Gradients of inputs and of weights each take the FLOP of the forward pass.
EXPERTS_BACKWARD = 2.0
# Operations whose times are kept, some 30 MB at most; a search for a plan asks for hundreds.
CACHED = 1 << 16


def no_rows(key: TableKey) -> None:
    """Return that there are no rows."""


class TimeTable:
    """Look up seconds of operations on one type of device, from rows that are read when their kind is first asked for.

    Between rows, seconds per unit of work (FLOP, or bytes in decoding) are interpolated linearly in the logarithms of
    all sizes, which is exact for power laws; beyond them the nearest rate stays.
    """

    def __init__(self, forward: ReadRows, backward: ReadRows = no_rows) -> None:
        self._forward, self._backward = _PassTimes(forward), _PassTimes(backward)

    def find(self, operation: Operation) -> Timed | None:
        """Return the seconds of a forward operation, None without rows of its kind and type."""
        return self._forward.find(operation)

    def find_backward(self, operation: Operation) -> Timed | None:
        """Return the seconds that the gradients of an operation take, None where there is nothing to tell them by.

        Without rows of backward passes, those of a product are two products, and those of attention and of experts a
        multiple of the forward pass.
        """
        found = self._backward.find(operation)
        if found is not None:
            return found
        match operation:
            case Product():
                return _sum(self.find(operation.by_inputs), self.find(operation.by_weights))
            case Attention():
                return _multiply(self.find(operation), ATTENTION_BACKWARD)
            case ExpertBlocks():
                return _multiply(self.find(operation), EXPERTS_BACKWARD)
            case Decoding():
                return None


class _PassTimes:
    """Hold the rows of one pass, and what was looked up among them."""

    def __init__(self, read: ReadRows) -> None:
        self._read = read
        self._trees: dict[TableKey, AxisNode | None] = {}
        self._found: dict[Operation, Timed | None] = {}

    def find(self, operation: Operation) -> Timed | None:
        """Return the seconds of an operation, None without rows of its kind and type."""
        if operation not in self._found:
            if len(self._found) >= CACHED:
                self._found.clear()
            self._found[operation] = self._look_up(operation)
        return self._found[operation]

    def _look_up(self, operation: Operation) -> Timed | None:
        """Return what `find` does, from the rows of the same window, or else from those without one."""
        key, axes = key_of(operation), axes_of(operation)
        tree = self._tree(key)
        if tree is not None:
            rate, source = estimate(tree, axes)
            return Timed(exp(rate + log(work_of(key, axes))), source)
        if isinstance(operation, Attention) and key.window is not None:
            whole = replace(operation, window=None)
            share = work_of(key, axes) / work_of(key_of(whole), axes)
            return _multiply(self.find(whole), share)
        return None

    def _tree(self, key: TableKey) -> AxisNode | None:
        """Return the rows of a key, read once."""
        if key not in self._trees:
            rows = self._read(key)
            self._trees[key] = _tree_of(key, rows) if rows is not None and len(rows[0]) else None
        return self._trees[key]


def _tree_of(key: TableKey, rows: MeasuredRows) -> AxisNode:
    """Return rows by their axes, with the logarithms of seconds per unit of work."""
    axes, seconds = rows
    return build_axes(axes, np.log(seconds) - np.log(work_of(key, tuple(axes.T))))


def _sum(first: Timed | None, second: Timed | None) -> Timed | None:
    """Return the seconds of two operations, by the source that says least."""
    if first is None or second is None:
        return None
    return Timed(first.seconds + second.seconds, max(first.source, second.source, key=SOURCES.index))


def _multiply(found: Timed | None, factor: float) -> Timed | None:
    """Return a multiple of measured seconds, which is no measurement."""
    return None if found is None else Timed(float(found.seconds * factor), "extrapolated")
