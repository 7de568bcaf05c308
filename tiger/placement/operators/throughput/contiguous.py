"""The search for contiguous stages: dynamic programming over linear orders, and annealing in keeping with them."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.placement.operators.device_types import keep_linked
from tiger.placement.operators.linear_orders import arcs, components, draw_linear_order
from tiger.placement.operators.loads import held_bytes
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealer import (
    Annealer,
    AnnealerParams,
    AnnealingParams,
    count_tries,
    largest_load_s,
)
from tiger.placement.operators.throughput.cut_dp import OrderedPlacement, cut
from tiger.training.costs.tolerances import MEMORY

__all__ = ["OrderedPlacement", "order_stages", "split"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContiguousParams:
    """Set the search for contiguous stages; numbers of orders and runs are for one unit of effort.

    `orders` lines are cut; annealing runs once at each of the `temperatures`, in units of the largest load, from the
    `elite` best lines in turns, with `tries` proposals, at most `tries_per_group` for each colocation group.
    """

    orders: int = 16
    elite: int = 3
    tries: int = 400_000
    tries_per_group: int = 2_000
    temperatures: tuple[float, ...] = (0.01, 0.003, 0.03, 0.01, 0.003, 0.03)


PARAMS = ContiguousParams()
# Loads of two lines that differ by less, relatively, are those of the same line up to rounding.
SAME = 1e-9


def split(
    terms: Terms, params: AnnealerParams, stop: Callable[[], bool], on_step: Callable[[str, IntArray, float], None]
) -> OrderedPlacement | None:
    """Return the line of stages, one a device, with the smallest largest load that is found; None where none fits.

    Stages never fall along an arc of `lines.arcs`: forward edges go forwards, those of the backward pass backwards.
    `on_step` is called with the best places so far, and their largest load in seconds, at the end of every stage.
    """
    lines = _StageLines(terms, params, stop)
    for name, stage in (("linear", lines.cut), ("annealing", lines.anneal)):
        stage()
        if lines.found:
            on_step(name, lines.found[0][1].place, lines.found[0][0])
    return lines.found[0][1] if lines.found else None


def order_stages(terms: Terms, place: IntArray) -> OrderedPlacement | None:
    """Return places [C] as a line of stages, None where no order of the devices keeps to all arcs; O(e + k^3)."""
    before, after = (place[side] for side in arcs(terms))
    waits = np.zeros((terms.devices, terms.devices), np.bool_)
    waits[after, before] = before != after
    left, order = np.unique(place), np.empty(0, np.int64)
    while len(left):
        free = ~waits[np.ix_(left, left)].any(axis=1)
        if not free.any():
            return None
        order, left = np.append(order, left[free]), left[~free]
    return OrderedPlacement(place=place, devices=tuple(order.tolist()))


@dataclass(slots=True, eq=False)
class _StageLines:
    """Hold different lines of stages, (largest load, line), the best first."""

    terms: Terms
    params: AnnealerParams
    stop: Callable[[], bool]
    found: list[tuple[float, OrderedPlacement]] = field(default_factory=list)

    def cut(self) -> None:
        """Cut the best line of each of some orders, of one at least."""
        for number in range(PARAMS.orders * self.params.effort):
            if number and self.stop():
                break
            position = draw_linear_order(self.terms, self.seed(0, number))
            self.add(cut(keep_linked(self.terms, number), position, self.seed(1, number)))

    def anneal(self) -> None:
        """Anneal lines, and cut again along the orders that they end in."""
        part, count = components(self.terms)[0], count_tries(self.terms, PARAMS.tries, PARAMS.tries_per_group)
        for number, temperature in enumerate(PARAMS.temperatures * self.params.effort):
            if self.stop() or not self.found:
                break
            scale, start = self.found[number % min(len(self.found), PARAMS.elite)]
            rank = self._ranks(start, np.random.default_rng(self.seed(2, number)))
            plan = AnnealingParams(temperature=temperature, tries=count, seed=self.seed(3, number))
            place, _ = Annealer.of(self.terms, part, rank, self.stop).anneal(start.place, scale, plan)
            devices = np.argsort(rank)
            line = OrderedPlacement(place=place, devices=tuple(devices[np.isin(devices, place)].tolist()))
            self.add(line)
            self.add(cut(self.terms, self._order(line, self.seed(4, number)), self.seed(5, number)))

    def add(self, line: OrderedPlacement | None) -> None:
        """Add a line that fits, unless one of the same load is there."""
        if line is None:
            return
        load = self._load(line.place)
        if np.isfinite(load) and all(abs(load - other) > SAME * load for other, _ in self.found):
            self.found.append((load, line))
            self.found.sort(key=lambda entry: entry[0])

    def seed(self, *path: int) -> int:
        """Return a seed of its own for every step."""
        return derive(self.params.seed, *path)

    def _load(self, place: IntArray) -> float:
        """Return the largest load, infinite where places do not fit or are not allowed."""
        over = held_bytes(self.terms, place) > self.terms.capacity * (1 + MEMORY)
        barred = ~self.terms.allowed[np.arange(self.terms.groups), place]
        return np.inf if over.any() or barred.any() else largest_load_s(self.terms, place)

    def _ranks(self, line: OrderedPlacement, rng: np.random.Generator) -> IntArray:
        """Return the stage of every device [k], those without one anywhere between."""
        unused = np.setdiff1d(np.arange(self.terms.devices), line.devices)
        spots = np.append(np.arange(len(line.devices)), rng.uniform(-1, len(line.devices), len(unused)))
        rank = np.empty(self.terms.devices, np.int64)
        rank[np.append(np.array(line.devices, np.int64), unused)] = np.argsort(np.argsort(spots))
        return rank

    def _order(self, line: OrderedPlacement, seed: int) -> IntArray:
        """Return a linear order [C] along which a line is one of the cuts."""
        stage = np.empty(self.terms.devices, np.int64)
        stage[list(line.devices)] = np.arange(len(line.devices))
        position = draw_linear_order(self.terms, seed)
        key = stage[line.place] * (int(position.max()) + 1) + position
        return np.asarray(np.unique(key, return_inverse=True)[1].reshape(-1), np.int64)
