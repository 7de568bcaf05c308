"""Patterns, sets of groups on one device: what they cost, and the pricing problem of column generation over them."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.placement.operators.bounds.contraction import Contraction
from tiger.placement.operators.bounds.device_costs import DeviceTypeCosts
from tiger.placement.operators.terms import Terms


class PricingLimits(NamedTuple):
    """Set when the pricing problem ends: at a relative gap, after nodes of a search, or, if not None, seconds."""

    gap: float
    nodes: int
    seconds: float | None = None


class PricingResult(NamedTuple):
    """Hold a lower bound on the cost of patterns that are worth enough, the best found [C] or None, and the nodes."""

    bound: float
    pattern: BoolArray | None
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Patterns:
    r"""Hold C groups as nodes of a hypergraph, and what a pattern S of them costs a device of each of g types.

    .. math:: f_g(S) = \sum_{c \in S} w_{g c} + \sum_{e \text{ cut by } S} s_{g e}

    A net e joins the group of a producer with those of its consumers. Whether S has the producer or some consumers, the
    device pays for the output once, and not at all where all or none of them are in S: f depends on nothing but S, and
    a placement gives every device a pattern. Times are in units of `unit_s`, `memory[g, C]` is in parts of what a
    device has. The groups of net e are `pin[pin_start[e]:pin_start[e + 1]]`.
    """

    costs: DeviceTypeCosts
    work: FloatArray
    cost: FloatArray
    memory: FloatArray
    pin_start: IntArray
    pin: IntArray

    @property
    def groups(self) -> int:
        """Return C."""
        return int(self.work.shape[1])

    @property
    def size(self) -> int:
        """Return how many groups, nets and ends of nets there are."""
        return self.groups + len(self.pin_start) + len(self.pin)

    @classmethod
    def of(cls, terms: Terms, contraction: Contraction, unit_s: float) -> Self:
        """Return the patterns of contracted groups; O(e log e). Costs and memory above two units count as two.

        No device can hold a pattern of either, and solvers do badly with coefficients that are far apart.
        """
        ends: dict[bytes, int] = {}
        nets: list[IntArray] = []
        paid: list[FloatArray] = []
        vertex = contraction.vertex[terms.group_of]
        for operator in np.flatnonzero(np.diff(terms.consumer_start)):
            consumers = terms.consumer[terms.consumer_start[operator] : terms.consumer_start[operator + 1]]
            pins = np.unique(np.append(vertex[consumers], vertex[operator]))
            costs = contraction.costs.paid[:, operator]
            if len(pins) > 1 and costs.any():
                net = ends.setdefault(pins.tobytes(), len(nets))
                if net == len(nets):
                    nets.append(pins)
                    paid.append(np.zeros(contraction.costs.size))
                paid[net] = paid[net] + costs
        return cls(
            costs=contraction.costs,
            work=np.minimum(contraction.costs.work / unit_s, 2.0),
            cost=np.minimum(np.array(paid).reshape(-1, contraction.costs.size).T / unit_s, 2.0),
            memory=_parts(contraction),
            pin_start=np.cumsum([0, *map(len, nets)]),
            pin=np.concatenate([np.empty(0, np.int64), *nets]),
        )

    def load(self, device_type: int, pattern: BoolArray) -> float:
        """Return what a pattern costs a device of a type."""
        inside = (
            np.add.reduceat(pattern[self.pin], self.pin_start[:-1], dtype=np.int64) if len(self.pin) else np.empty(0)
        )
        cut = (inside > 0) & (inside < np.diff(self.pin_start))
        return float(self.work[device_type] @ pattern + self.cost[device_type] @ cut)

    def solve_pricing(self, device_type: int, worth: tuple[FloatArray, float], limits: PricingLimits) -> PricingResult:
        """Minimise the cost on a device type of patterns with `worth[0] @ pattern >= worth[1]`, and bound it.

        One variable for each group, two for each net: the largest and the smallest of its groups. The bound holds to
        a relative 1e-6, and is infinite where no pattern is worth enough.
        """
        # A net is cut if the largest of its bits is 1 and the smallest is 0: it costs (high - low) of its cost.
        pins, nets = np.arange(len(self.pin)), np.repeat(np.arange(len(self.pin_start) - 1), np.diff(self.pin_start))
        count, size = len(pins), self.groups + 2 * (len(self.pin_start) - 1)
        high, low = self.groups + 2 * nets, self.groups + 2 * nets + 1
        ones = np.ones(count)
        rows = np.concatenate([pins, pins, count + pins, count + pins])
        ends = sp.csr_array(
            (np.concatenate([ones, -ones, ones, -ones]), (rows, np.concatenate([high, self.pin, self.pin, low]))),
            shape=(2 * count, size),
        )
        sums = sp.csr_array(np.stack([worth[0], self.memory[device_type]]))
        sums.resize((2, size))
        goal = np.zeros(size)
        goal[: self.groups] = self.work[device_type]
        goal[self.groups :] = np.repeat(self.cost[device_type], 2) * np.tile([1.0, -1.0], len(self.pin_start) - 1)
        top = np.ones(size)
        top[: self.groups] = self.costs.allowed[device_type]
        return _solve(
            goal,
            np.arange(size) < self.groups,
            Bounds(0, top),
            [LinearConstraint(ends, 0, np.inf), LinearConstraint(sums, [worth[1], -np.inf], [np.inf, 1.0])],
            limits,
        )


def _parts(contraction: Contraction) -> FloatArray:
    """Return the memory of groups in parts of what a device of every type has [g, C], 0 where that is infinite."""
    room = contraction.costs.capacity[:, None]
    parts: FloatArray = np.where(room > 0, contraction.memory / np.where(room > 0, room, 1.0), 0.0)
    return np.minimum(parts, 2.0)


def _solve(
    goal: FloatArray,
    whole: BoolArray,
    bounds: Bounds,
    rows: list[LinearConstraint],
    limits: PricingLimits,
) -> PricingResult:
    """Solve a mixed-integer program; return its bound, and the integral variables of its best solution if any."""
    options = {"node_limit": limits.nodes, "mip_rel_gap": limits.gap}
    if limits.seconds is not None:
        options["time_limit"] = max(limits.seconds, 1e-3)
    solution = milp(goal, integrality=whole, bounds=bounds, constraints=rows, options=options)
    pattern = None if solution.x is None else solution.x[whole] > 0.5
    bound = np.inf if solution.status == 2 else solution.mip_dual_bound
    return PricingResult(
        0.0 if bound is None or np.isnan(bound) else float(bound), pattern, int(solution.mip_node_count or 0)
    )
