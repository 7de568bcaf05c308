"""Boxes: halve a lattice of tasks again and again by straight cuts while the nodes are halved along an order."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import IntArray
from tiger.solvers.geometry.lattices import Lattice
from tiger.solvers.geometry.slabs import cut, priorities, shares

MANY = 12
FEW = 4
DIGITS = 6


class Box(NamedTuple):
    """Hold the sides of a box of tasks and the run `low:high` of nodes that it is meant for."""

    sides: tuple[float, ...]
    low: int
    high: int


class Halving(NamedTuple):
    """Cut a box along `axis` where `share` of it lies on one side, for the nodes before `middle`."""

    axis: int
    share: float
    middle: int


Halve = Callable[[Box], Halving]
Side = tuple[float, float]
Sides = tuple[Side, ...]


class Guillotine:
    """Choose cuts of boxes for the levels of a tree: the best sequence of straight cuts within a level.

    `fanouts` are outermost first and `distances` too. A dynamic programme over shares between a third and a half, or
    halves alone where there are above 12 children or 4 axes; what the levels below cost is estimated by boxes of any
    shape.
    """

    def __init__(self, lattice: Lattice, fanouts: tuple[int, ...], distances: tuple[float, ...]) -> None:
        self._pull = lattice.pull.round(DIGITS).tolist()
        self._fanouts, self._distances = fanouts, distances
        self._leaves = [math.prod(fanouts[level + 1 :]) for level in range(len(fanouts))]
        self._known: dict[tuple[int, int, Sides], tuple[float, Side, int]] = {}

    def __call__(self, box: Box) -> Halving:
        """Return the first cut of a box for `high - low` > 1 nodes."""
        level = next(k for k, leaves in enumerate(self._leaves) if box.high - box.low > leaves)
        children = -(-(box.high - box.low) // self._leaves[level])
        sides = list(zip(box.sides, self._pull, strict=True))
        _, side, first = self._best(level, children, tuple(sorted(sides)))
        return Halving(sides.index(side), first / children, box.low + first * self._leaves[level])

    def _best(self, level: int, children: int, sides: Sides) -> tuple[float, Side, int]:
        """Return cost, the side that is cut and the number of children in one part, of the best cut."""
        if children == 1:
            return self._below(level, sides), sides[0], 1
        key = level, children, sides
        if key not in self._known:
            some = _parts(children) if len(sides) <= FEW else [children // 2]
            self._known[key] = min(
                (self._cost(level, children, sides, (side, first)), side, first)
                for side in dict.fromkeys(sides)
                for first in some
            )
        return self._known[key]

    def _cost(self, level: int, children: int, sides: Sides, choice: tuple[Side, int]) -> float:
        """Return the cost of a cut and the best ones after it, with a step where it goes through a layer."""
        (length, pull), first = choice
        at = length * first / children
        area = math.prod(side for side, _ in sides) / length
        through, others = pull * area, list(sides)
        others.remove(choice[0])
        if abs(at - round(at)) > 1e-6:
            through += min((each * area / side for side, each in others), default=0.0)
        left, right = (tuple(sorted([*others, (round(part, DIGITS), pull)])) for part in (at, length - at))
        cost = self._distances[level] * through
        return cost + self._best(level, first, left)[0] + self._best(level, children - first, right)[0]

    def _below(self, level: int, sides: Sides) -> float:
        """Return an estimate of what the levels below cost within a box."""
        cost, before, pieces = 0.0, 0.0, 1
        for fanout, distance in zip(self._fanouts[level + 1 :], self._distances[level + 1 :], strict=True):
            pieces *= fanout
            through = least_division_cut(sides, pieces)
            cost, before = cost + distance * (through - before), through
        return cost


def least_division_cut(sides: Sides, pieces: int) -> float:
    """Return the least traffic cut by dividing a box into equal boxes of any shape, by Lagrange multipliers."""
    volume = math.prod(side for side, _ in sides)
    across = sorted((pull * volume / side for side, pull in sides if pull > 0.0), reverse=True)
    while across:
        level = math.pow(pieces * math.prod(across), 1.0 / len(across))
        if level >= across[0]:
            break
        across.pop(0)
    return math.fsum(level - x for x in across)


def place_by_halving(lattice: Lattice, seats: IntArray, halve: Halve) -> IntArray:
    """Return spot[n], the position of each task in a row of nodes with `seats[k]`, by halving both until nodes are one.

    Each half gets its share of the tasks by seats. O(n log n) for each of about log k rounds.
    """
    reach = np.concatenate([[0], np.cumsum(seats)])
    labels, boxes = np.zeros(lattice.size, np.int64), [Box(tuple(map(float, lattice.dims)), 0, len(seats))]
    while any(box.high - box.low > 1 for box in boxes):
        counts = np.bincount(labels, minlength=len(boxes))
        axes, room, new = np.zeros(len(boxes), np.int64), np.zeros((len(boxes), 2), np.int64), []
        for number, box in enumerate(boxes):
            room[number, 0], halves = reach[box.high] - reach[box.low], [box]
            if box.high - box.low > 1:
                axis, share, middle = halve(box)
                side = box.sides[axis] * share
                halves = [
                    Box(_resize(box.sides, axis, side), box.low, middle),
                    Box(_resize(box.sides, axis, box.sides[axis] - side), middle, box.high),
                ]
                axes[number] = axis
                room[number] = reach[middle] - reach[box.low], reach[box.high] - reach[middle]
            new.append(halves)
        quotas = shares(counts, room)
        kept = np.array([len(halves) for halves in new])[:, None] > np.arange(2)
        labels = cut(labels, _keys(lattice, labels, boxes, axes), quotas[kept])
        boxes = [box for halves in new for box in halves]
    return np.array([box.low for box in boxes])[labels]


def _keys(lattice: Lattice, labels: IntArray, boxes: list[Box], axes: IntArray) -> IntArray:
    """Return key[n] by which the tasks of each box are sorted along the axis that it is cut along."""
    known: dict[tuple[tuple[float, ...], int], list[int]] = {}
    for box, axis in zip(boxes, axes.tolist(), strict=True):
        if (box.sides, axis) not in known:
            known[box.sides, axis] = priorities(lattice, np.array(box.sides), axis)
    order = np.array([known[box.sides, axis] for box, axis in zip(boxes, axes.tolist(), strict=True)])
    key, every, dims = np.zeros(lattice.size, np.int64), np.arange(lattice.size), np.array(lattice.dims)
    for rank in range(len(lattice.dims)):
        axis_of = order[labels, rank]
        key = key * dims[axis_of] + lattice.coords[every, axis_of]
    return key


def _resize(sides: tuple[float, ...], axis: int, side: float) -> tuple[float, ...]:
    """Return the sides with another one along an axis."""
    return (*sides[:axis], round(side, DIGITS), *sides[axis + 1 :])


def _parts(children: int) -> list[int]:
    """Return the numbers of children to try on the smaller side."""
    if children <= MANY:
        return list(range(-(-children // 3), children // 2 + 1))
    return [children // 3 if children % 2 and not children % 3 else children // 2]
