"""Halos on tori, grids and trees, beside the best box partition and fold of it that enumeration finds."""

import heapq
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.clocks import processor_clock
from tiger.formats.patterns.spec import build as build_pattern
from tiger.mapping.mapper import solve
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of
from tiger.topologies.spec import build

SEED, PAIRS = 0, 60
KINDS = ("torus", "grid", "tree")
# Ranks of the smallest and the largest halo, how many times the smallest may be asked to double, and slots of a node.
FEWEST, MOST, DOUBLED = 64, 1 << 16, 9
SLOTS = (2, 4, 8, 16, 32, 64, 128)
# Extents are drawn from round numbers or all; those of hardware are 16 at most.
ROUND, ODD, WIDEST = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]), np.arange(2, 65), 16
# Draws of extents after which the numbers of axes and slots are drawn again.
TRIES = 1000
# Foldings of one box partition that are laid out, those first whose steps are shortest as counted.
LAID = 4
HEAD = (
    *("hardware", "slots", "halos", "TIGER over the best box", "least", "largest", "cheaper than it", "dearer"),
    "seconds of a processor, mean",
)
Extents = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold a halo of `ranks`, closed along all axes or none, and hardware of `kind` with some slots a node."""

    ranks: Extents
    closed: bool
    kind: str
    extents: Extents
    slots: int

    @property
    def distances(self) -> Extents:
        """Return the distances of the levels of a tree, innermost first."""
        return tuple(2 * level for level in range(1, len(self.extents) + 1))

    @property
    def halo(self) -> str:
        """Return the SPEC of the halo."""
        return f"halo:{'x'.join(map(str, self.ranks))}" + ",wrap=1" * self.closed

    @property
    def hardware(self) -> str:
        """Return the SPEC of the hardware."""
        shape = f"{self.kind}:{'x'.join(map(str, self.extents))}"
        return f"{shape}@{','.join(map(str, self.distances))}" if self.kind == "tree" else shape

    def problem(self) -> Problem:
        """Return the problem."""
        topology = build(self.hardware)
        return Problem(
            tasks=build_pattern(self.halo),
            topology=topology.with_slots(np.full(topology.size, self.slots)),
            rule="capacity",
        )


class Fold(NamedTuple):
    """Say how a grid of boxes is folded.

    `digits[axis][column]` multiply up to the boxes of an axis or more; axes of boxes count in a reflected Gray code,
    the digits of the columns in `order` first. Column c has the digits of the axes `nested[c]` inside each other, and
    every other run of the outermost of these is laid backwards where it is `turned[c]`.
    """

    digits: tuple[Extents, ...]
    order: Extents
    nested: tuple[Extents, ...]
    turned: tuple[bool, ...]


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield ratios of costs by kind of hardware, and the pairs that TIGER loses."""
    yield HEAD
    known = Pair((16, 16, 16, 16), closed=False, kind="torus", extents=(8, 8, 8), slots=128)
    measured = [(pair, *measure(pair, say)) for pair in (known, *draw_pairs())]
    yield (f"`{known.halo}` on `{known.hardware}`", str(known.slots), *_summarize(measured[:1]))
    drawn = measured[1:]
    for kind in KINDS:
        for name, several in (("1", False), ("2 to 128", True)):
            rows = [row for row in drawn if row[0].kind == kind and (row[0].slots > 1) == several]
            yield kind, name, *_summarize(rows)
    yield "**all drawn**", "", *_summarize(drawn)
    for pair, own, best, _ in drawn:
        if own > best:
            yield f"`{pair.halo}` on `{pair.hardware}`", str(pair.slots), "1", f"{own / best:.3f}", *[""] * 5


def _summarize(rows: list[tuple[Pair, float, float, float]]) -> tuple[str, ...]:
    """Return the cells of some pairs."""
    ratios = [own / best for _, own, best, _ in rows]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    counts = str(sum(ratio < 1 for ratio in ratios)), str(sum(ratio > 1 for ratio in ratios))
    seconds = sum(row[3] for row in rows) / len(rows)
    return str(len(rows)), f"{mean:.3f}", f"{min(ratios):.3f}", f"{max(ratios):.3f}", *counts, f"{seconds:.1f}"


def measure(pair: Pair, say: Callable[[str], None]) -> tuple[float, float, float]:
    """Return TIGER's cost at effort 1, that of the best box partition, and TIGER's seconds."""
    problem = pair.problem()
    best = find_best(pair, problem)
    with processor_clock():
        report = solve(problem, seed=SEED)
    assert report.cost is not None
    say(f"{pair.halo} on {pair.hardware}, {pair.slots} slots: {report.cost:,.0f}, best box {best:,.0f}")
    return report.cost, best, report.seconds


def draw_pairs() -> Iterator[Pair]:
    """Yield pairs for which there is a box partition, as many of each kind."""
    draw = np.random.default_rng(SEED)
    for number in range(PAIRS):
        # One pair in four has one slot a node.
        kind, slots = KINDS[number % len(KINDS)], SLOTS if number // len(KINDS) % 4 else (1,)
        pair = _draw(draw, kind, slots)
        while not math.isfinite(find_best(pair, pair.problem())):
            pair = _draw(draw, kind, slots)
        yield pair


def _draw(draw: np.random.Generator, kind: str, choice: tuple[int, ...]) -> Pair:
    """Return a halo of 2 to 4 axes that fills at least half of some hardware of 16 to 512 nodes."""
    while True:
        axes, columns, slots = int(draw.integers(2, 5)), int(draw.integers(2, 4)), int(draw.choice(choice))
        nodes_from, ranks_from = ((ROUND, ODD)[number] for number in draw.integers(2, size=2))
        closed = bool(draw.integers(4) == 0)
        fewest = FEWEST << int(draw.integers(DOUBLED)) if slots > 1 else FEWEST
        for _ in range(TRIES):
            extents = tuple(draw.choice(nodes_from[nodes_from <= WIDEST], columns).tolist())
            ranks = tuple(draw.choice(ranks_from, axes).tolist())
            nodes, size = math.prod(extents), math.prod(ranks)
            fills = nodes * slots // 2 <= size <= nodes * slots
            if 16 <= nodes <= 512 and fewest <= size <= MOST and fills and (not closed or min(ranks) > 2):
                return Pair(ranks, closed, kind, extents, slots)


def find_best(pair: Pair, problem: Problem) -> float:
    """Return the cost of the best fold of any partition into boxes of equal sides, infinity where there is none.

    Partitions come by the traffic between their boxes, and end where that, over one step each, is no less than a cost.
    """
    best = math.inf
    for surface, sides in sorted(_boxes(pair)):
        if surface * (pair.distances[0] if pair.kind == "tree" else 1) >= best:
            break
        boxes = tuple(-(-ranks // side) for ranks, side in zip(pair.ranks, sides, strict=True))
        for _, fold in heapq.nsmallest(LAID, _folds(pair, boxes)):
            best = min(best, cost_of(problem, lay(pair, sides, boxes, fold)).total)
    return best


def lay(pair: Pair, sides: Extents, boxes: Extents, fold: Fold) -> IntArray:
    """Return the node of every rank."""
    at = np.zeros((*boxes, len(pair.extents)), np.int64)
    for box in np.ndindex(*boxes):
        values = [_count(fold, axis, number) for axis, number in enumerate(box)]
        for column, nest in enumerate(fold.nested):
            inside = [(values[axis][column], fold.digits[axis][column]) for axis in nest]
            at[(*box, column)] = _place(inside, fold.turned[column])
    ranks = np.indices(pair.ranks).reshape(len(pair.ranks), -1)
    coords = at[tuple(ranks // np.array(sides)[:, None])]
    return np.asarray(np.ravel_multi_index(tuple(coords.T), pair.extents), np.int64)


def _boxes(pair: Pair) -> Iterator[tuple[int, Extents]]:
    """Yield the traffic between boxes, and their sides, of all partitions that fit."""
    size, nodes = math.prod(pair.ranks), math.prod(pair.extents)
    for first in itertools.product(*map(_sides, pair.ranks[:-1])):
        for last in _sides(pair.ranks[-1]):
            sides = (*first, last)
            counts = [-(-ranks // side) for ranks, side in zip(pair.ranks, sides, strict=True)]
            if math.prod(sides) <= pair.slots and math.prod(counts) <= nodes:
                cuts = [count - 1 + (pair.closed and count > 1) for count in counts]
                yield sum(2 * cut * size // ranks for cut, ranks in zip(cuts, pair.ranks, strict=True)), sides


def _sides(ranks: int) -> list[int]:
    """Return the sides that an axis of ranks may be cut to, the least of those that make as many boxes."""
    return sorted({-(-ranks // count) for count in range(1, ranks + 1)})


def _folds(pair: Pair, boxes: Extents) -> Iterator[tuple[float, Fold]]:
    """Yield the folds of a grid of boxes that fit, each with the length of its steps, weighed by traffic.

    Of all ways to nest the digits of a column, and to turn every other run of the outermost, the shortest.
    """
    columns, size = len(pair.extents), math.prod(pair.ranks)
    orders = [tuple(range(columns))] if pair.kind == "tree" else list(itertools.permutations(range(columns)))
    for digits in itertools.product(*(_spell(count, pair.extents) for count in boxes)):
        if any(math.prod(axis[c] for axis in digits) > pair.extents[c] for c in range(columns)):
            continue
        for order in orders:
            length, nested, turned = 0.0, [()] * columns, [False] * columns
            for rank, c in enumerate(order):
                weights = tuple(
                    2 * size // pair.ranks[k] * math.prod(axis[d] for d in order[:rank]) * (axis[c] - 1)
                    for k, axis in enumerate(digits)
                )
                column = tuple(axis[c] for axis in digits)
                more, nested[c], turned[c] = _nest(column, weights, pair.extents[c], _spacing(pair, c))
                length += more
            yield length, Fold(digits, order, tuple(nested), tuple(turned))


def _spacing(pair: Pair, column: int) -> int:
    """Return the distance of all nodes along a level of a tree, 0 along a cycle, -1 along a path."""
    if pair.kind == "tree":
        return pair.distances[::-1][column]
    return 0 if pair.kind == "torus" else -1


@lru_cache(maxsize=1 << 16)
def _nest(column: Extents, weights: Extents, extent: int, spacing: int) -> tuple[float, Extents, bool]:
    """Return the least weighed length of the steps of the digits of a column, how they are nested, and if turned."""
    used = [axis for axis, digit in enumerate(column) if digit > 1]
    found = []
    for nest in itertools.permutations(used):
        for turned in (False, True):
            steps = _measure_steps(tuple(column[axis] for axis in nest), extent, spacing, turned)
            found.append((sum(weights[axis] * step for axis, step in zip(nest, steps, strict=True)), nest, turned))
    return min(found)


@lru_cache(maxsize=1 << 16)
def _measure_steps(digits: Extents, extent: int, spacing: int, turned: bool) -> tuple[float, ...]:  # noqa: FBT001 (an orientation, not a mode)
    """Return the mean distance of a step of each digit, the outermost first."""
    lengths = []
    for k in range(len(digits)):
        steps = []
        for values in np.ndindex(*digits):
            if values[k]:
                before = (*values[:k], values[k] - 1, *values[k + 1 :])
                ends = [_place(list(zip(each, digits, strict=True)), turned) for each in (before, values)]
                gap = abs(ends[0] - ends[1])
                steps.append(spacing if spacing > 0 else gap if spacing < 0 else min(gap, extent - gap))
        lengths.append(sum(steps) / len(steps))
    return tuple(lengths)


def _place(inside: list[tuple[int, int]], turned: bool) -> int:  # noqa: FBT001 (as above)
    """Return where digits, as (value, base) from the outermost on, lie along a column."""
    at, run = 0, math.prod(base for _, base in inside[1:])
    for value, base in inside[1:]:
        at = at * base + value
    first = inside[0][0] if inside else 0
    return first * run + (run - 1 - at if turned and first % 2 else at)


@lru_cache(maxsize=1 << 12)
def _spell(count: int, extents: Extents) -> list[Extents]:
    """Return the ways to count to a number by one digit a column, none larger than it need be beside the others."""
    ways = itertools.product(*(range(1, min(count, extent) + 1) for extent in extents))
    return [
        way
        for way in ways
        if math.prod(way) >= count and all(math.prod(way) // digit * (digit - 1) < count for digit in way if digit > 1)
    ]


def _count(fold: Fold, axis: int, number: int) -> Extents:
    """Return the digits of a number by column, in the reflected Gray code of an axis."""
    digits, values = fold.digits[axis], [0] * len(fold.order)
    rest = math.prod(digits)
    for column in fold.order:
        rest //= digits[column]
        # A digit counts backwards in every other run of those before it.
        run, value = divmod(number // rest, digits[column])
        values[column] = digits[column] - 1 - value if run % 2 else value
    return tuple(values)
