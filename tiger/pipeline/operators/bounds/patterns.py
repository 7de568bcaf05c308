"""Shares: what one device may hold of all classes, what it then has to do, and the cheapest share that is worth it."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.pipeline.operators.bounds.contraction import Contraction
from tiger.pipeline.operators.bounds.floors import Floors
from tiger.pipeline.operators.terms import Terms


class Limits(NamedTuple):
    """Set when the search for the cheapest share ends: at a relative gap, after nodes, or, if not None, seconds."""

    gap: float
    nodes: int
    seconds: float | None = None


class Cheapest(NamedTuple):
    """Hold what no share that is worth enough goes below, the best found [C] or None, and the nodes of the search."""

    bound: float
    share: BoolArray | None
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    r"""Hold C classes as nodes of a hypergraph, and what a share S of them costs a device of each of g kinds.

    .. math:: f_g(S) = \sum_{c \in S} w_{g c} + \sum_{e \text{ cut by } S} s_{g e}

    A net e joins the class of a producer with those of its consumers. Whether S has the producer or some consumers, the
    device pays for the output once, and not at all where all or none of them are in S: f depends on nothing but S, and
    a placement gives every device a share. Times are in units that the maker chooses, `memory[g, C]` in parts of what
    a device has. The classes of net e are `pin[pin_start[e]:pin_start[e + 1]]`.
    """

    floors: Floors
    work: FloatArray
    cost: FloatArray
    memory: FloatArray
    pin_start: IntArray
    pin: IntArray

    @property
    def classes(self) -> int:
        """Return C."""
        return int(self.work.shape[1])

    @property
    def size(self) -> int:
        """Return how many classes, nets and ends of nets there are."""
        return self.classes + len(self.pin_start) + len(self.pin)

    @classmethod
    def of(cls, terms: Terms, made: Contraction, unit_s: float) -> Self:
        """Return the shares of groups of classes; O(e log e). Costs and memory above two units count as two.

        A share of either is no device's, and programmes solve badly with coefficients that are far apart.
        """
        ends: dict[bytes, int] = {}
        nets: list[IntArray] = []
        paid: list[FloatArray] = []
        group = made.group[terms.of]
        for operator in np.flatnonzero(np.diff(terms.consumer_start)):
            consumers = terms.consumer[terms.consumer_start[operator] : terms.consumer_start[operator + 1]]
            pins = np.unique(np.append(group[consumers], group[operator]))
            costs = made.floors.paid[:, operator]
            if len(pins) > 1 and costs.any():
                net = ends.setdefault(pins.tobytes(), len(nets))
                if net == len(nets):
                    nets.append(pins)
                    paid.append(np.zeros(made.floors.size))
                paid[net] = paid[net] + costs
        return cls(
            floors=made.floors,
            work=np.minimum(made.floors.work / unit_s, 2.0),
            cost=np.minimum(np.array(paid).reshape(-1, made.floors.size).T / unit_s, 2.0),
            memory=_parts(made),
            pin_start=np.cumsum([0, *map(len, nets)]),
            pin=np.concatenate([np.empty(0, np.int64), *nets]),
        )

    def load(self, kind: int, share: BoolArray) -> float:
        """Return what a share costs a device of a kind."""
        inside = np.add.reduceat(share[self.pin], self.pin_start[:-1], dtype=np.int64) if len(self.pin) else np.empty(0)
        cut = (inside > 0) & (inside < np.diff(self.pin_start))
        return float(self.work[kind] @ share + self.cost[kind] @ cut)

    def cheapest(self, kind: int, worth: tuple[FloatArray, float], limits: Limits) -> Cheapest:
        """Return the cheapest share for a kind among those of `worth[0] @ share >= worth[1]`, and a bound on it.

        One variable for each class, two for each net: the largest and the smallest of its classes. The bound holds to
        a relative 1e-6, and is infinite where no share is worth enough.
        """
        pins, nets = np.arange(len(self.pin)), np.repeat(np.arange(len(self.pin_start) - 1), np.diff(self.pin_start))
        count, size = len(pins), self.classes + 2 * (len(self.pin_start) - 1)
        high, low = self.classes + 2 * nets, self.classes + 2 * nets + 1
        ones = np.ones(count)
        rows = np.concatenate([pins, pins, count + pins, count + pins])
        ends = sp.csr_array(
            (np.concatenate([ones, -ones, ones, -ones]), (rows, np.concatenate([high, self.pin, self.pin, low]))),
            shape=(2 * count, size),
        )
        sums = sp.csr_array(np.stack([worth[0], self.memory[kind]]))
        sums.resize((2, size))
        goal = np.zeros(size)
        goal[: self.classes] = self.work[kind]
        goal[self.classes :] = np.repeat(self.cost[kind], 2) * np.tile([1.0, -1.0], len(self.pin_start) - 1)
        top = np.ones(size)
        top[: self.classes] = self.floors.allowed[kind]
        return _solve(
            goal,
            np.arange(size) < self.classes,
            Bounds(0, top),
            [LinearConstraint(ends, 0, np.inf), LinearConstraint(sums, [worth[1], -np.inf], [np.inf, 1.0])],
            limits,
        )


def _parts(made: Contraction) -> FloatArray:
    """Return the memory of groups in parts of what a device of every kind has [g, C], 0 where that is infinite."""
    room = made.floors.capacity[:, None]
    parts: FloatArray = np.where(room > 0, made.memory / np.where(room > 0, room, 1.0), 0.0)
    return np.minimum(parts, 2.0)


def _solve(
    goal: FloatArray,
    whole: BoolArray,
    bounds: Bounds,
    rows: list[LinearConstraint],
    limits: Limits,
) -> Cheapest:
    """Return what a mixed-integer programme comes to, and its first variables where it has an answer."""
    options = {"node_limit": limits.nodes, "mip_rel_gap": limits.gap}
    if limits.seconds is not None:
        options["time_limit"] = max(limits.seconds, 1e-3)
    found = milp(goal, integrality=whole, bounds=bounds, constraints=rows, options=options)
    share = None if found.x is None else found.x[whole] > 0.5
    bound = np.inf if found.status == 2 else found.mip_dual_bound
    return Cheapest(0.0 if bound is None or np.isnan(bound) else float(bound), share, int(found.mip_node_count or 0))
