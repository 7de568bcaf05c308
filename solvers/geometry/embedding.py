"""Embeddings of a grid of boxes: each of its axes is written in digits, of which every axis of nodes takes one.

The digits of an axis of boxes count as in a reflected Gray code, so that boxes that follow each other differ in one
digit, by one. Those that an axis of nodes takes are laid inside each other. A level of a tree is an axis of nodes whose
coordinates are all as far apart.

Source: Y.-W. E. Ma, L. Tao, Embeddings among meshes and tori, Journal of Parallel and Distributed Computing 18 (1993)
44.
"""

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.solvers.geometry.folding import Axis, Stage, TreeLevel

# Ways to write all axes in digits that are kept, those that promise least, after each axis: with 48 and 512 each of 120
# drawn halos costs as much.
BEAM = 128
# Axes of nodes up to which embeddings are looked for: of a torus of four different ones in 0.2 s.
AXES = 4


class Boxes(NamedTuple):
    """Hold a grid of `parts[d]` boxes, the traffic `across[d]` of a step along each axis, and which of them close."""

    parts: tuple[int, ...]
    across: FloatArray
    wrap: tuple[bool, ...]


class Embedding(NamedTuple):
    """Hold what is laid on axis c of the nodes: `digits[d, c]`, of axis d of the boxes, `strides[d, c]` nodes apart.

    `before[d, c]` is the product of the more significant digits of the axis of boxes.
    """

    digits: IntArray
    strides: IntArray
    before: IntArray


def embed(boxes: Boxes, stages: tuple[Stage, ...], keep: int) -> list[Embedding]:
    """Return up to `keep` embeddings of a grid of boxes, those first that promise least.

    Prices are exact but for runs that are laid backwards around a cycle. None where the nodes have more than four axes.
    O(128 w c! d^2 c) for d axes of boxes, c of nodes, and w ways to write one of those.
    """
    if len(stages) > AXES:
        return []
    extents = tuple(stage.extent for stage in stages)
    digits = np.ones((1, len(boxes.parts), len(stages)), np.int64)
    found = digits, digits, digits
    # Beam search: the axes with most traffic first, as their digits are laid closest.
    for axis in sorted(range(len(boxes.parts)), key=lambda axis: -boxes.across[axis] * (boxes.parts[axis] - 1)):
        ways = np.array(digit_choices(boxes.parts[axis], extents), np.int64).reshape(-1, len(stages))
        new = np.repeat(found[0], len(ways), axis=0)
        new[:, axis] = np.tile(ways, (len(found[0]), 1))
        new = new[(new.prod(axis=1) <= np.array(extents)).all(axis=1)]
        costs, found = _arrange(new, boxes, stages)
        best = np.argsort(costs, kind="stable")[:BEAM]
        found = found[0][best], found[1][best], found[2][best]
    return [Embedding(*each) for each in zip(*(part[:keep] for part in found), strict=True)]


def lay(embedding: Embedding, parts: tuple[int, ...], stages: tuple[Stage, ...]) -> IntArray:
    """Return the coordinates [k, c] on the nodes of all boxes, row by row."""
    at = np.zeros((*parts, len(stages)), np.int64)
    for axis, count in enumerate(parts):
        values = _spell_gray(embedding.digits[axis], embedding.before[axis], np.arange(count)[:, None])
        shape = [count if other == axis else 1 for other in range(len(parts))]
        at += (values * embedding.strides[axis]).reshape(*shape, len(stages))
    at = at.reshape(-1, len(stages))
    for column, stage in enumerate(stages):
        inner = _outermost_stride(embedding, column)
        if isinstance(stage, Axis) and stage.around and inner > 1:
            # Every other run is laid backwards: around a cycle of two or three runs that is nearer.
            outer, rest = np.divmod(at[:, column], inner)
            at[:, column] = outer * inner + np.where(outer % 2 == 1, inner - 1 - rest, rest)
    return at


@lru_cache(maxsize=1024)
def digit_choices(parts: int, extents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the ways to count to `parts` in digits of at most the extents, none of which could do with less."""
    return tuple(
        way
        for way in _reach(parts, extents)
        if all(math.prod(way) // digit * (digit - 1) < parts for digit in way if digit > 1)
    )


def _reach(parts: int, extents: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield digits at most the extents whose product is `parts` or more, the last one as small as it may be."""
    if len(extents) == 1:
        if parts <= extents[0]:
            yield (parts,)
        return
    for digit in range(1, min(parts, extents[0]) + 1):
        for rest in _reach(-(-parts // digit), extents[1:]):
            yield (digit, *rest)


def _arrange(
    digits: IntArray, boxes: Boxes, stages: tuple[Stage, ...]
) -> tuple[FloatArray, tuple[IntArray, IntArray, IntArray]]:
    """Return costs[k], and the digits with their strides and what comes before them, for `digits[k, d, c]`.

    Along an axis of nodes digits of less traffic are laid farther out, within an axis of boxes those with longer steps
    are more significant: exchanging two neighbours that are not in this order never costs less. Both orders follow from
    each other: from every order of the axes of nodes, which all axes of boxes share, and once more.
    """
    best, strides, before = np.full(len(digits), np.inf), np.ones_like(digits), np.ones_like(digits)
    across = boxes.across[:, None]
    for columns in _orders(stages):
        guess = _products_before(digits, np.broadcast_to(np.array(columns), digits.shape), 2)
        for again in (True, False):
            laid, steps = _order_outward(digits, guess * across, stages)
            costs = (_count_steps(digits, guess, boxes) * steps * across).sum(axis=(1, 2))
            costs += _price_closing(digits, guess, laid, boxes, stages)
            better = costs < best
            best[better], strides[better], before[better] = costs[better], laid[better], guess[better]
            if again:
                guess = _products_before(digits, np.argsort(-steps, axis=2, kind="stable"), 2)
    return best, (digits, strides, before)


def _orders(stages: tuple[Stage, ...]) -> list[tuple[int, ...]]:
    """Return the orders of the axes of nodes that differ in more than axes that are alike; of levels, highest first."""
    every = tuple(range(len(stages)))
    if isinstance(stages[0], TreeLevel):
        return [every]
    types = [(stage.extent, getattr(stage, "around", 0)) for stage in stages]
    orders = {tuple(types[column] for column in order): order for order in itertools.permutations(every)}
    return list(orders.values())


def _count_steps(digits: IntArray, before: IntArray, boxes: Boxes) -> IntArray:
    """Return how many of the steps from box to box along its axis each digit takes."""
    last = np.array(boxes.parts)[:, None] - 1
    after = digits.prod(axis=2, keepdims=True) // (before * digits)
    return np.asarray(last // after - last // (after * digits))


def _price_closing(
    digits: IntArray, before: IntArray, strides: IntArray, boxes: Boxes, stages: tuple[Stage, ...]
) -> FloatArray:
    """Return what the steps from the last box back to the first cost along axes that close."""
    costs = np.zeros(len(digits))
    for axis in np.flatnonzero(boxes.wrap).tolist():
        values = _spell_gray(digits[:, axis], before[:, axis], boxes.parts[axis] - 1)
        gaps = np.zeros(values.shape)
        for column, stage in enumerate(stages):
            lengths = np.array([stage.span(step) for step in range(stage.extent)])
            ends = lengths[np.minimum(values[:, column] * strides[:, axis, column], stage.extent - 1)]
            gaps[:, column] = np.where(values[:, column] > 0, ends, 0.0)
        # Along axes of a grid distances add up; in a tree that of the highest level counts.
        costs += boxes.across[axis] * (gaps.sum(axis=1) if isinstance(stages[0], Axis) else gaps.max(axis=1))
    return costs


def _order_outward(digits: IntArray, weights: FloatArray, stages: tuple[Stage, ...]) -> tuple[IntArray, FloatArray]:
    """Return the strides of the digits, and the lengths of their steps; those of the least weight are outermost."""
    strides, steps = np.ones_like(digits), np.ones(digits.shape)
    total = digits.prod(axis=1)
    for column, stage in enumerate(stages):
        column_digits, column_weights = digits[:, :, column], weights[:, :, column]
        # Digits of one count nothing wherever they are.
        keys = np.where(column_digits > 1, column_weights, np.inf)
        least = np.full(len(digits), np.inf)
        forced = range(digits.shape[1]) if isinstance(stage, Axis) and stage.around else (-1,)
        for first in forced:
            order = keys.copy()
            if first >= 0:
                order[:, first] = np.where(column_digits[:, first] > 1, -1.0, np.inf)
            before = _products_before(column_digits, np.argsort(order, axis=1, kind="stable"), 1)
            laid = total[:, column, None] // (before * column_digits)
            length = _step_lengths(stage, laid, before == 1)
            cost = (column_weights * (column_digits - 1) * length).sum(axis=1)
            better = cost < least
            least[better] = cost[better]
            strides[better, :, column], steps[better, :, column] = laid[better], length[better]
    return strides, steps


def _products_before(digits: IntArray, order: IntArray, axis: int) -> IntArray:
    """Return for each digit the product of those that come before it in an order along an axis."""
    inside = np.take_along_axis(digits, order, axis)
    before = np.empty_like(digits)
    np.put_along_axis(before, order, np.cumprod(inside, axis=axis) // inside, axis)
    return before


def _step_lengths(stage: Stage, strides: IntArray, outermost: BoolArray) -> FloatArray:
    """Return the mean lengths of steps of digits along an axis of nodes."""
    extent = stage.extent
    plain = np.array([stage.span(stride) for stride in range(extent + 1)])
    if not isinstance(stage, Axis) or not stage.around:
        return plain[strides]
    # Runs of a stride that are laid backwards in turns: their nodes are 1, 3, .. apart.
    odd = np.cumsum([stage.span(min(2 * k + 1, extent)) for k in range(extent + 1)])
    turned = np.append(0.0, odd[:-1] / np.arange(1, extent + 1))
    return np.where(outermost, turned[strides], plain[strides])


def _outermost_stride(embedding: Embedding, column: int) -> int:
    """Return the stride of the outermost digit of an axis of nodes, 1 where there is none."""
    laid = embedding.strides[:, column] * (embedding.digits[:, column] > 1)
    return max(int(laid.max()), 1)


def _spell_gray(digits: IntArray, before: IntArray, number: IntArray | int) -> IntArray:
    """Return the digits of numbers in a reflected Gray code of mixed radix, broadcast against `digits[.., c]`."""
    after = digits.prod(axis=-1, keepdims=True) // (before * digits)
    value = number // after % digits
    # A digit counts backwards after an odd number of runs.
    return np.asarray(np.where(number // (after * digits) % 2 == 1, digits - 1 - value, value))
