"""Placements as covers: prices of classes at which no share that a device can do in time is worth its part of all."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import linprog

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.pipeline.operators.bounds.patterns import Limits, Shares
from tiger.pipeline.operators.bounds.pricing_annealing import HOT, Growth, grow_share
from tiger.run.deadline import Deadline

CLOSE, EQUAL, LEAST, ROUNDING = 1e-3, 1e-7, 1e-6, 1e-14
GRID = 1_000_000
SMOOTHING = 0.3
WARM = 0.03
RUNS, STEPS, STEPS_PER_CLASS = 6, 5_000, 50
NODES, MORE, GAP = 100, 4, 0.03
BUDGET_S, STEP_S, NODE_S, CELL_S = 8.0, 1e-7, 3e-5, 2e-6


class Worth(NamedTuple):
    """Hold what a class of each type is worth, and what a device of each kind should get at most."""

    price: FloatArray
    part: FloatArray


@dataclass(slots=True, kw_only=True)
class Cover:
    """Hold the shares known, as classes by type `count[t]`, kind and load, and what is proved with their help.

    `bound` and `goal` are in units of the shares, as is `top`, which this proof will not go beyond. `nodes` limit the
    search for a cheapest share, and the last one was `limited` if they ended it; `spent_s` is an estimate that depends
    on sizes and counts alone.
    """

    shares: Shares
    alike: IntArray
    bound: float
    centre: Worth
    top: float = 1.0
    goal: float = 1.0
    nodes: int = NODES
    limited: bool = False
    spent_s: float = 0.0
    turn: int = 0
    column: list[IntArray] = field(default_factory=list)
    share: list[BoolArray] = field(default_factory=list)
    kind: list[int] = field(default_factory=list)
    load: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, shares: Shares, floor: float) -> Self:
        """Return a cover by no shares yet; classes are of one type that cost the same alone."""
        traits = np.vstack([shares.work, shares.memory, shares.floors.allowed])
        # Rounding joins what differs by rounding; any partition into types is right.
        _, alike = np.unique(np.round(traits, 6), axis=1, return_inverse=True)
        alike = alike.reshape(-1).astype(np.int64)
        count = np.bincount(alike)
        nothing = Worth(np.ones(len(count)), np.ones(len(shares.work)))
        return cls(shares=shares, alike=alike, bound=floor, centre=nothing)

    def split(self) -> None:
        """Make every class a type of its own, and aim as high as at first."""
        self.centre = Worth(self.centre.price[self.alike], self.centre.part)
        self.alike = np.arange(self.shares.classes)
        self.column = [share.astype(np.int64) for share in self.share]
        self.top = self.goal = 1.0

    def worths(self) -> list[Worth]:
        """Return prices to begin with: the work of classes, their memory, and the mean of the two."""
        number, devices = np.bincount(self.alike), self.shares.floors.count
        parts = np.ones(len(devices))
        made = []
        for amount in (self.shares.work.min(axis=0), self.shares.memory.max(axis=0)):
            price = np.bincount(self.alike, amount) / number
            if (total := float(price @ number)) > 0:
                made.append(Worth(price / total * devices.sum(), parts))
        return [*made, Worth(np.mean([each.price for each in made], axis=0), parts)] if len(made) == 2 else made

    def price(self) -> tuple[Worth, float]:
        """Return the prices at which known shares below the goal are worth least of their parts, and by how much."""
        shares, number = self.shares, np.bincount(self.alike)
        devices, types = shares.floors.count.astype(np.float64), len(number)
        use = np.flatnonzero(np.array(self.load) < self.goal)
        kinds = np.concatenate([np.array(self.kind, np.int64)[use], np.arange(len(devices))])
        worth = np.zeros((len(kinds), types + len(devices) + 1))
        worth[: len(use), :types] = np.array(self.column).reshape(-1, types)[use]
        worth[np.arange(len(kinds)), types + kinds] = -1.0
        worth[:, -1] = 1.0
        most = max(1.0, 2 * devices.sum() / shares.classes)
        found = linprog(
            np.append(np.zeros(types + len(devices)), -1.0),
            A_ub=worth,
            b_ub=np.zeros(len(kinds)),
            A_eq=np.stack([np.append(number, np.zeros(len(devices) + 1)), np.concatenate([0 * number, devices, [0]])]),
            b_eq=[devices.sum(), devices.sum()],
            bounds=[(-most, most)] * types + [(0.0, None)] * len(devices) + [(None, None)],
        )
        self.spent_s += CELL_S * worth.size
        return Worth(found.x[:types], found.x[types:-1]), float(found.x[-1])

    def smooth(self, worth: Worth) -> Worth:
        """Return prices on the way from the centre, unless a known share is worth its part there."""
        mixed = Worth(*(SMOOTHING * a + (1 - SMOOTHING) * b for a, b in zip(self.centre, worth, strict=True)))
        use = np.array(self.load) < self.goal
        if not use.any():
            return mixed
        over = np.array(self.column)[use] @ mixed.price >= mixed.part[np.array(self.kind)[use]] * (1 - EQUAL)
        return worth if over.any() else mixed

    def grow(self, worth: Worth) -> bool:
        """Add shares below the goal that are worth their part or more; return whether there are new ones.

        Grown from nothing, hot, and from the known ones that are worth most, less so.
        """
        steps = max(STEPS, STEPS_PER_CLASS * self.shares.classes)
        added = False
        for kind, part in enumerate(worth.part):
            price = worth.price[self.alike] / max(part, LEAST)
            for begin in self._beginnings(kind, price):
                self.turn += 1
                growth = Growth(kind=kind, price=price, goal=self.goal, begin=begin, hot=WARM if begin.any() else HOT)
                share = grow_share(self.shares, growth, derive(0, self.turn), steps)
                if price @ share >= 1 - EQUAL:
                    added |= self.add(kind, share)
        self.spent_s += STEP_S * RUNS * steps * len(worth.part)
        return added

    def _beginnings(self, kind: int, price: FloatArray) -> list[BoolArray]:
        """Return shares to grow from: none of the classes, and known ones that are worth most."""
        known = [k for k, each in enumerate(self.kind) if each == kind and self.load[k] < self.goal]
        most = sorted(known, key=lambda k: -float(price @ self.share[k]))[: RUNS // 2]
        none = np.zeros(self.shares.classes, np.bool_)
        return [none] * (RUNS - len(most)) + [self.share[k] for k in most]

    def add(self, kind: int, share: BoolArray) -> bool:
        """Add a share; return whether it is new and below the goal."""
        column = np.bincount(self.alike[share], minlength=self.alike.max() + 1)
        load = self.shares.load(kind, share)
        known = any(k == kind and np.array_equal(c, column) for k, c in zip(self.kind, self.column, strict=True))
        if known or load >= self.goal:
            return False
        self.column.append(column)
        self.share.append(share)
        self.kind.append(kind)
        self.load.append(load)
        return True

    def ask(self, worth: Worth, gap: float, stop: Callable[[], bool]) -> bool:
        """Raise the bound to the cheapest share that is worth its part; return whether shares are new.

        Some device of every placement has one: the parts, rounded up, come to more than all that there is.
        """
        price = np.round(worth.price[self.alike] * GRID)
        even = worth.part / (worth.part @ self.shares.floors.count) * price.sum()
        # Whole numbers must not be rounded up for what the quotient is wrong by.
        part = np.maximum(np.ceil(even * (1 - ROUNDING)), 1.0)
        least, added, self.limited = np.inf, False, False
        for kind in range(len(part)):
            left = stop.left_s if isinstance(stop, Deadline) else None
            found = self.shares.cheapest(kind, (price / GRID, float(part[kind]) / GRID), Limits(gap, self.nodes, left))
            least = min(least, found.bound)
            self.limited |= found.nodes >= self.nodes
            added |= found.share is not None and self.add(kind, found.share)
            self.spent_s += NODE_S * self.shares.size * (10 + found.nodes)
        if least > self.bound:
            self.bound, self.centre = least, worth
        return added


def cover_bound(shares: Shares, floor: float, effort: int, stop: Callable[[], bool]) -> float:
    r"""Return what no largest load is below, at most 1, in units of the shares; `floor` is known to be such a bound.

    A placement gives each of k devices a share S of the classes. For prices :math:`\pi_c` some device has one of
    :math:`\pi(S) \ge \sum_c \pi_c / k`, so that no load is below the cheapest of these: a knapsack with cuts, of one
    device, without the symmetry of many. Prices come from a linear programme over the shares known to cost less than a
    goal, in which none is worth its part; shares that are worth it, from annealing and from the knapsack. The limit is
    that of bin packing by columns, for bins that pay for cuts.

    Source: P. C. Gilmore, R. E. Gomory, Oper. Res. 9 (1961), doi:10.1287/opre.9.6.849.
    """
    cover = Cover.of(shares, floor)
    for worth in cover.worths():
        if not stop():
            cover.ask(worth, 0.0, stop)
    _approach(cover, BUDGET_S * effort, stop)
    if cover.bound < 1.0 - CLOSE and not stop():
        cover.split()
        _approach(cover, BUDGET_S * effort, stop)
    return min(cover.bound, 1.0)


def _approach(cover: Cover, budget_s: float, stop: Callable[[], bool]) -> None:
    """Raise the bound towards the goal, and where that takes too long, or cannot be, towards what is half as far."""
    until = (cover.spent_s + budget_s) / 2
    while cover.spent_s < budget_s and cover.top - cover.bound > CLOSE and not stop():
        worth, margin = cover.price()
        if margin <= LEAST:
            cover.top = cover.goal
        else:
            worth = cover.smooth(worth)
            if cover.spent_s > until:
                cover.ask(worth, 0.0, stop)
            elif cover.grow(worth) or cover.ask(worth, GAP, stop) or cover.ask(worth, 0.0, stop):
                continue
            if cover.bound < cover.goal * (1 - EQUAL):
                if cover.spent_s < until and cover.limited:
                    cover.nodes *= MORE
                    continue
                cover.top = cover.goal
            elif cover.goal == cover.top:
                break
        cover.goal, cover.nodes = (cover.top + cover.bound) / 2, NODES
        until = (cover.spent_s + budget_s) / 2
