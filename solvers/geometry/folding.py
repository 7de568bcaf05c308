"""Foldings: how the axes of a lattice of tasks are laid along the axes of a grid of nodes or the levels of a tree."""

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tiger.solvers.geometry.lattices import Lattice

# Orders of the axes of a grid that are tried: all of four.
ORDERS = 24
# Beam of the dynamic program: ways to have cut the task axes that go on, and foldings kept for each.
STATES, VARIANTS = 512, 3
# Task axes up to which digits of a grid axis come in every order.
FEW = 4


class Digit(NamedTuple):
    """Cut every piece of the lattice into `parts` along task axis `axis`, and lay them along node column `column`."""

    axis: int
    column: int
    parts: int


Folding = tuple[Digit, ...]
Digits = tuple[tuple[int, int], ...]
AxisType = tuple[int, bool, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a grid: `extent` nodes in column `column`, out of a cycle of `around` nodes or 0, `hop` apart."""

    column: int
    extent: int
    around: int
    hop: float

    def span(self, steps: int) -> float:
        """Return the distance of two nodes a number of steps apart."""
        return self.hop * (min(steps, self.around - steps) if self.around else steps)

    def is_reopened(self, before: int) -> bool:
        """Return whether the ends of a cycle cut into `before` parts end up apart once the parts are cut.

        Every other part is laid backwards, so after an even number of them both ends come to lie on the same side.
        """
        return before % 2 == 1


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """A level of a tree: subtrees in column `column` with `extent` children, which are `distance` apart."""

    column: int
    extent: int
    distance: float

    def span(self, steps: int) -> float:
        """Return the distance of any two children."""
        return self.distance

    def is_reopened(self, before: int) -> bool:
        """Return whether the ends of a cycle are cut apart here: only where they have not been on a higher level."""
        return before == 1


Stage = Axis | TreeLevel
State = tuple[float, Folding]


def foldings(lattice: Lattice, stages: tuple[Stage, ...], keep: int) -> list[State]:
    """Return up to `keep` foldings with their costs, cheapest first.

    Stages come outermost first; the axes of a grid are tried in every order. A dynamic program over the parts that
    each task axis has been cut into so far; the costs are exact where all extents divide and layers are alike.
    """
    orders: Iterator[tuple[Stage, ...]] = iter([stages])
    if all(isinstance(stage, Axis) for stage in stages):
        orders = itertools.islice(_distinct_orders(stages), ORDERS)
    found = {folding: cost for order in orders for cost, folding in _cut_dp(lattice, order)}
    return heapq.nsmallest(keep, ((cost, folding) for folding, cost in found.items()))


def _distinct_orders(stages: tuple[Stage, ...]) -> Iterator[tuple[Stage, ...]]:
    """Yield the orders of the axes, leaving out those that differ in equal axes alone."""
    seen = set()
    for order in itertools.islice(itertools.permutations(stages), ORDERS**2):
        types = tuple((stage.extent, getattr(stage, "around", 0)) for stage in order)
        if types not in seen:
            seen.add(types)
            yield order


def _cut_dp(lattice: Lattice, stages: tuple[Stage, ...]) -> list[State]:
    """Return the cheapest foldings, up to three, for every way to end up with a number of parts an axis."""
    across, jags = lattice.across.tolist(), _price_layer_cuts(lattice)
    types = list(zip(lattice.dims, lattice.wrap, lattice.pull.round(9).tolist(), strict=True))
    # A state is into how many parts each task axis has been cut; a stage cuts them into `extent` times as many in all.
    states: dict[tuple[int, ...], list[State]] = {(1,) * len(lattice.dims): [(0.0, ())]}
    for number, stage in enumerate(stages):
        # A cut through the middle of layers leaves pieces that are no boxes, and all cuts after it suffer.
        worse = [jag * (len(stages) - number) for jag in jags]
        new: dict[tuple[int, ...], list[State]] = {}
        for parts, known in states.items():
            for digits in orderings(stage.extent, len(parts), isinstance(stage, Axis) and len(parts) <= FEW):
                if not _is_first_of_type(types, parts, digits):
                    continue
                after, more = _extend(lattice, stage, parts, digits, (across, worse))
                found = new.setdefault(after, [])
                if len(found) < VARIANTS or known[0][0] + more < found[-1][0]:
                    inner = _whole_first(lattice, stage, after, digits)
                    last = tuple(Digit(axis, stage.column, k) for axis, k in inner)
                    found += [(cost + more, folding + last) for cost, folding in known]
                    found[:] = sorted(found)[:VARIANTS]
        # Beam search: the cheapest states by the costs so far.
        states = dict(heapq.nsmallest(STATES, new.items(), key=lambda item: item[1]))
    return [state for found in states.values() for state in found]


def _is_first_of_type(types: list[AxisType], parts: tuple[int, ...], digits: Digits) -> bool:
    """Return whether no axis is cut more than an earlier one that it could change places with."""
    counts = dict(digits)
    most: dict[tuple[AxisType, int], int] = {}
    for axis, type_ in enumerate(zip(types, parts, strict=True)):
        if counts.get(axis, 1) > most.setdefault(type_, counts.get(axis, 1)):
            return False
        most[type_] = counts.get(axis, 1)
    return True


def _extend(
    lattice: Lattice, stage: Stage, parts: tuple[int, ...], digits: Digits, prices: tuple[list[float], list[float]]
) -> tuple[tuple[int, ...], float]:
    """Return the parts of every axis after a stage and what its cuts cost.

    `prices` are those of a cut through each axis, and what it costs more in the middle of a layer.
    """
    after, cost, stride = list(parts), 0.0, stage.extent
    for axis, count in digits:
        stride //= count
        before, after[axis] = after[axis], after[axis] * count
        reach = before * (count - 1) * stage.span(stride)
        if lattice.wrap[axis] and stage.is_reopened(before):
            reach += stage.span((count - 1) * stride)
        jagged = lattice.dims[axis] % after[axis] != 0
        twice = 2 if after[axis] > lattice.dims[axis] else 1
        cost += reach * (twice * prices[0][axis] + jagged * prices[1][axis])
    return tuple(after), cost


def _whole_first(lattice: Lattice, stage: Stage, after: tuple[int, ...], digits: Digits) -> Digits:
    """Return the digits of a level, which may come in any order, with those first that cut between layers."""
    if isinstance(stage, Axis):
        return digits
    return tuple(sorted(digits, key=lambda digit: lattice.dims[digit[0]] % after[digit[0]] != 0))


def _price_layer_cuts(lattice: Lattice) -> list[float]:
    """Return, for each axis, the cost of a cut through the middle of a layer over one between two layers."""
    across, dims = lattice.across.tolist(), lattice.dims
    others = [[across[k] / extent for k in range(len(dims)) if k != axis] for axis, extent in enumerate(dims)]
    return [min(found, default=0.0) for found in others]


@lru_cache(maxsize=256)
def orderings(extent: int, axes: int, strided: bool) -> tuple[Digits, ...]:  # noqa: FBT001 (a property, not a mode)
    """Return the ways to write an extent as a product of numbers > 1, at most one an axis, as (axis, number) pairs.

    Where they are strided, each in every order, outermost first.
    """
    found = []
    for numbers in factorisations(extent, axes):
        digits = [(axis, number) for axis, number in enumerate(numbers) if number > 1]
        found += list(itertools.permutations(digits)) if strided else [tuple(digits)]
    return tuple(found)


@lru_cache(maxsize=256)
def factorisations(extent: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Return all tuples of `count` numbers >= 1 whose product is the extent."""
    if count == 1:
        return ((extent,),)
    divisors = [k for k in range(1, math.isqrt(extent) + 1) if extent % k == 0]
    divisors += [extent // k for k in reversed(divisors) if k * k != extent]
    return tuple((d, *rest) for d in divisors for rest in factorisations(extent // d, count - 1))
