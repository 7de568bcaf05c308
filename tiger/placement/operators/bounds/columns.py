"""The master problem of column generation: known patterns, and the dual prices at which none is worth its device."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import linprog

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.bounds.patterns import Patterns

# A pattern is worth its device if it is to this relative tolerance, that of the solver of linear programs.
EQUAL = 1e-7


class Duals(NamedTuple):
    """Hold dual prices: `group[t]` of a group of each type, and `device[g]`, what a device of each type is worth."""

    group: FloatArray
    device: FloatArray


@dataclass(slots=True, kw_only=True)
class Columns:
    """Hold known patterns, as `pattern[C]`, numbers of groups by type `column[t]`, device type, and load.

    `type_of[C]` is the type of a group: groups of one type have the same price.
    """

    patterns: Patterns
    type_of: IntArray
    column: list[IntArray] = field(default_factory=list)
    pattern: list[BoolArray] = field(default_factory=list)
    device_type: list[int] = field(default_factory=list)
    load: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, patterns: Patterns) -> Self:
        """Return no columns yet; groups are of one type that cost the same alone."""
        traits = np.vstack([patterns.work, patterns.memory, patterns.costs.allowed])
        # Rounding joins what differs by rounding; any partition into types is right.
        _, type_of = np.unique(np.round(traits, 6), axis=1, return_inverse=True)
        return cls(patterns=patterns, type_of=type_of.reshape(-1).astype(np.int64))

    def separate_types(self) -> None:
        """Make every group a type of its own."""
        self.type_of = np.arange(self.patterns.groups)
        self.column = [pattern.astype(np.int64) for pattern in self.pattern]

    def add(self, device_type: int, pattern: BoolArray, target: float) -> bool:
        """Add a pattern; return whether it is new and its load below the target."""
        column = np.bincount(self.type_of[pattern], minlength=self.type_of.max() + 1)
        load = self.patterns.load(device_type, pattern)
        known = zip(self.device_type, self.column, strict=True)
        if load >= target or any(k == device_type and np.array_equal(c, column) for k, c in known):
            return False
        self.column.append(column)
        self.pattern.append(pattern)
        self.device_type.append(device_type)
        self.load.append(load)
        return True

    def start_duals(self) -> list[Duals]:
        """Return prices to begin with: the work of groups, their memory, and the mean of the two."""
        number, devices = np.bincount(self.type_of), self.patterns.costs.count
        device = np.ones(len(devices))
        duals = []
        for amount in (self.patterns.work.min(axis=0), self.patterns.memory.max(axis=0)):
            price = np.bincount(self.type_of, amount) / number
            if (total := float(price @ number)) > 0:
                duals.append(Duals(price / total * devices.sum(), device))
        return [*duals, Duals(np.mean([each.group for each in duals], axis=0), device)] if len(duals) == 2 else duals

    def solve_master(self, target: float) -> tuple[Duals, float, int]:
        """Solve the master problem over patterns below a target; return its duals, its margin, and its size.

        The duals are those at which known patterns are worth least of their device, by the margin. If that is 0, no
        prices separate a placement from the known patterns.
        """
        number, devices = np.bincount(self.type_of), self.patterns.costs.count.astype(np.float64)
        types = len(number)
        use = np.flatnonzero(np.array(self.load) < target)
        device_types = np.concatenate([np.array(self.device_type, np.int64)[use], np.arange(len(devices))])
        rows = np.zeros((len(device_types), types + len(devices) + 1))
        rows[: len(use), :types] = np.array(self.column).reshape(-1, types)[use]
        rows[np.arange(len(device_types)), types + device_types] = -1.0
        rows[:, -1] = 1.0
        # Prices are bounded, or they would swing from one extreme to the other while patterns are few.
        most = max(1.0, 2 * devices.sum() / self.patterns.groups)
        solved = linprog(
            np.append(np.zeros(types + len(devices)), -1.0),
            A_ub=rows,
            b_ub=np.zeros(len(device_types)),
            A_eq=np.stack([np.append(number, np.zeros(len(devices) + 1)), np.concatenate([0 * number, devices, [0]])]),
            b_eq=[devices.sum(), devices.sum()],
            bounds=[(-most, most)] * types + [(0.0, None)] * len(devices) + [(None, None)],
        )
        return Duals(solved.x[:types], solved.x[types:-1]), float(solved.x[-1]), rows.size

    def separates(self, duals: Duals, target: float) -> bool:
        """Return whether some patterns below a target are known, and none of them is worth its device."""
        use = np.array(self.load) < target
        if not use.any():
            return True
        worth = np.array(self.column)[use] @ duals.group
        return not bool((worth >= duals.device[np.array(self.device_type)[use]] * (1 - EQUAL)).any())

    def best_patterns(self, device_type: int, price: FloatArray, target: float, count: int) -> list[BoolArray]:
        """Return the known patterns of a device type below a target that are worth most at prices [C]."""
        known = [k for k, each in enumerate(self.device_type) if each == device_type and self.load[k] < target]
        return [self.pattern[k] for k in sorted(known, key=lambda k: -float(price @ self.pattern[k]))[:count]]
