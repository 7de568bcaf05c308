"""Column generation: prices of groups at which no pattern that a device can do in time is worth the device.

Source: P. C. Gilmore, R. E. Gomory, Oper. Res. 9 (1961), doi:10.1287/opre.9.6.849.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray
from tiger.model.seeds import derive
from tiger.placement.operators.bounds.columns import EQUAL, Columns, Duals
from tiger.placement.operators.bounds.patterns import Patterns, PricingLimits
from tiger.placement.operators.bounds.pricing_annealing import PARAMS as PRICING
from tiger.placement.operators.bounds.pricing_annealing import PricingRun, anneal_pattern
from tiger.run.deadline import Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnGenerationParams:
    """Set column generation; loads are in units of the best known one.

    It ends once bound and target are `close`, or after `budget_s` estimated seconds a unit of effort and phase. Duals
    move `smoothing` of the way back to those of the best bound. Heuristic pricing makes `runs` runs for each device
    type, of `steps` or `steps_per_group` for each group, half of them from known patterns at the temperature `warm`.
    Exact pricing has `nodes` nodes of branch and bound, `more` times as many where it was they that ended it, and
    stops at a relative `gap` first.
    """

    close: float = 1e-3
    budget_s: float = 8.0
    smoothing: float = 0.3
    runs: int = 6
    steps: int = 5_000
    steps_per_group: int = 50
    warm: float = 0.03
    nodes: int = 100
    more: int = 4
    gap: float = 0.03


PARAMS = ColumnGenerationParams()
# Estimated seconds of a step of annealing, of a node for each group, net and pin, and of an entry of the master
# problem. Estimates and not clocks end the search, so that the same effort gives the same bound on any machine.
STEP_S, NODE_S, CELL_S = 1e-7, 3e-5, 2e-6
# Prices are rounded to whole numbers of this fraction of a unit, for bounds that hold exactly; ROUNDING is what a
# quotient of two of them may be wrong by. Smaller margins and prices of devices than LEAST are none.
GRID, ROUNDING, LEAST = 1_000_000, 1e-14, 1e-6


@dataclass(slots=True, kw_only=True)
class ColumnGeneration:
    """Hold the columns, the `bound` they prove with `centre`, its duals, and the `target` that is tried next.

    `top` is the least target that is known to be out of reach. `nodes` limit exact pricing, which was `limited` if
    they ended it; `spent_s` is estimated.
    """

    columns: Columns
    bound: float
    centre: Duals
    top: float = 1.0
    target: float = 1.0
    nodes: int = PARAMS.nodes
    limited: bool = False
    spent_s: float = 0.0
    runs: int = 0

    @classmethod
    def of(cls, patterns: Patterns, floor: float) -> Self:
        """Return column generation without columns, from a known bound."""
        columns = Columns.of(patterns)
        centre = Duals(np.ones(int(columns.type_of.max()) + 1), np.ones(len(patterns.work)))
        return cls(columns=columns, bound=floor, centre=centre)

    def separate_types(self) -> None:
        """Make every group a type of its own, and aim as high as at first."""
        self.centre = Duals(self.centre.group[self.columns.type_of], self.centre.device)
        self.columns.separate_types()
        self.top = self.target = 1.0

    def solve_master(self) -> tuple[Duals, float]:
        """Return the duals of the master problem, and its margin."""
        duals, margin, size = self.columns.solve_master(self.target)
        self.spent_s += CELL_S * size
        return duals, margin

    def smooth(self, duals: Duals) -> Duals:
        """Return duals on the way to the centre, unless a known pattern is worth its device there."""
        # P. Wentges, Int. Trans. Oper. Res. 4 (1997), doi:10.1016/S0969-6016(97)00001-4.
        share = PARAMS.smoothing
        mixed = Duals(*(share * a + (1 - share) * b for a, b in zip(self.centre, duals, strict=True)))
        return mixed if self.columns.separates(mixed, self.target) else duals

    def price_by_annealing(self, duals: Duals) -> bool:
        """Add patterns below the target that are worth their device; return whether there are new ones."""
        columns, patterns = self.columns, self.columns.patterns
        steps = max(PARAMS.steps, PARAMS.steps_per_group * patterns.groups)
        added = False
        for device_type, device in enumerate(duals.device):
            price = duals.group[columns.type_of] / max(device, LEAST)
            for begin in self._starts(device_type, price):
                self.runs += 1
                hot = PARAMS.warm if begin.any() else PRICING.hot
                run = PricingRun(device_type=device_type, price=price, target=self.target, begin=begin, hot=hot)
                pattern = anneal_pattern(patterns, run, derive(0, self.runs), steps)
                if price @ pattern >= 1 - EQUAL:
                    added |= columns.add(device_type, pattern, self.target)
        self.spent_s += STEP_S * PARAMS.runs * steps * len(duals.device)
        return added

    def price_exactly(self, duals: Duals, gap: float, stop: Callable[[], bool]) -> bool:
        """Raise the bound to the least cost of patterns that are worth their device; return whether some are new.

        Some device of every placement has such a pattern: what devices are worth adds up to the prices of all groups.
        """
        patterns = self.columns.patterns
        price = np.round(duals.group[self.columns.type_of] * GRID)
        even = duals.device / (duals.device @ patterns.costs.count) * price.sum()
        # Whole numbers must not be rounded up for what the quotient is wrong by.
        device = np.maximum(np.ceil(even * (1 - ROUNDING)), 1.0)
        least, added, self.limited = np.inf, False, False
        for device_type in range(len(device)):
            left_s = stop.left_s if isinstance(stop, Deadline) else None
            worth = price / GRID, float(device[device_type]) / GRID
            solved = patterns.solve_pricing(device_type, worth, PricingLimits(gap, self.nodes, left_s))
            least = min(least, solved.bound)
            self.limited |= solved.nodes >= self.nodes
            added |= solved.pattern is not None and self.columns.add(device_type, solved.pattern, self.target)
            self.spent_s += NODE_S * patterns.size * (10 + solved.nodes)
        if least > self.bound:
            self.bound, self.centre = least, duals
        return added

    def _starts(self, device_type: int, price: FloatArray) -> list[BoolArray]:
        """Return patterns to anneal from: empty ones, and known ones that are worth most."""
        best = self.columns.best_patterns(device_type, price, self.target, PARAMS.runs // 2)
        empty = np.zeros(self.columns.patterns.groups, np.bool_)
        return [empty] * (PARAMS.runs - len(best)) + best


def column_generation_bound(patterns: Patterns, floor: float, effort: int, stop: Callable[[], bool]) -> float:
    r"""Return a lower bound on the largest load, at most 1, in units of the patterns; `floor` is a known one.

    A placement gives each of k devices a pattern S of the groups. For prices :math:`\pi_c` some device has one of
    :math:`\pi(S) \ge \sum_c \pi_c / k`, so that no largest load is below the least cost of these: a knapsack with
    cuts, of one device, without the symmetry of many. Prices come from a linear program over the known patterns that
    cost less than a target, at which none is worth its device; new patterns come from annealing and from the knapsack.
    In the limit this is the bound of bin packing by columns, for bins that pay for cuts. Groups that cost the same
    alone first have one price, then each its own.
    """
    search = ColumnGeneration.of(patterns, floor)
    for duals in search.columns.start_duals():
        if not stop():
            search.price_exactly(duals, 0.0, stop)
    _raise_bound(search, PARAMS.budget_s * effort, stop)
    if search.bound < 1.0 - PARAMS.close and not stop():
        search.separate_types()
        _raise_bound(search, PARAMS.budget_s * effort, stop)
    return min(search.bound, 1.0)


def _raise_bound(search: ColumnGeneration, budget_s: float, stop: Callable[[], bool]) -> None:
    """Raise the bound to the target, by bisection: a target that cannot be proved, or takes too long, is the top."""
    until_s = (search.spent_s + budget_s) / 2
    while search.spent_s < budget_s and search.top - search.bound > PARAMS.close and not stop():
        duals, margin = search.solve_master()
        if margin <= LEAST:
            # No prices separate: the target is out of reach of this bound.
            search.top = search.target
        else:
            duals = search.smooth(duals)
            if search.spent_s > until_s:
                search.price_exactly(duals, 0.0, stop)
            # Annealing first, exact pricing with a gap next, and without where that finds nothing new.
            elif (
                search.price_by_annealing(duals)
                or search.price_exactly(duals, PARAMS.gap, stop)
                or search.price_exactly(duals, 0.0, stop)
            ):
                continue
            if search.bound < search.target * (1 - EQUAL):
                if search.spent_s < until_s and search.limited:
                    search.nodes *= PARAMS.more
                    continue
                search.top = search.target
            elif search.target == search.top:
                break
        search.target, search.nodes = (search.top + search.bound) / 2, PARAMS.nodes
        until_s = (search.spent_s + budget_s) / 2
