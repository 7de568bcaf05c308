"""Descent over orders of devices by moves, evaluated by the bottleneck between exact cuts."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.placement.chain.backtrace import ChainResult
from tiger.placement.ranks.line_costs import UNUSED, LayerLinkCosts
from tiger.placement.ranks.order_moves import neighbours, prefixes
from tiger.placement.ranks.search import OrderSearch
from tiger.training.costs.tolerances import GAIN

# The share of a bottleneck to which cuts are searched where they are only compared.
ROUGHLY = 1e-2


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderDescentParams:
    """Set a descent over orders; all are counts.

    Orders are compared by at most `halvings` of the bottleneck asked for, `chunk` neighbours at a time. After a descent
    follow `kicks` for each effort, each of `swaps` random pairs of devices.
    """

    halvings: int = 12
    chunk: int = 512
    kicks: int = 8
    swaps: int = 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderDescent:
    """Improve orders over prepared costs; `device_type[n]` is equal for devices that can be exchanged.

    LayerLinkCosts have `stages` stages, or any number of them where that is None.
    """

    lines: LayerLinkCosts
    search: OrderSearch
    device_type: IntArray
    stages: int | None
    params: OrderDescentParams = OrderDescentParams()

    @property
    def widest(self) -> int:
        """Return how many stages a line has at most: one a device, a layer each."""
        return self.stages or min(self.lines.size, self.lines.boundaries - 1)

    def choose_best(self, orders: IntArray, line: ChainResult) -> ChainResult:
        """Return the line of the best of `orders[N, k]`, -1 behind the last device, or the given one if as good.

        Halves the bottleneck asked for until one order is left that reaches it: all are compared by the same sweeps.
        """
        orders = self._distinct_orders(orders)
        low, high = self.lines.bound_s, line.bottleneck_s * (1 - GAIN)
        orders = orders[self.lines.within(orders, np.full(len(orders), high))]
        for _ in range(self.params.halvings):
            if len(orders) < 2 or self.search.stop():
                break
            middle = (low + high) / 2 if high < np.inf else self._longest_s()
            reach = self.lines.within(orders, np.full(len(orders), middle))
            low, high, orders = (low, middle, orders[reach]) if reach.any() else (middle, high, orders)
        found = [self.lines.cut(order[order != UNUSED].tolist(), high, ROUGHLY) for order in orders[:1]]
        return min([line, *found], key=lambda each: each.bottleneck_s)

    def best_prefix(self, orders: IntArray) -> ChainResult:
        """Return the best line along the beginnings of `orders[N, n]`, infinite where nothing fits along any."""
        first = ChainResult(devices=tuple(range(self.widest)), cuts=(), bottleneck_s=np.inf, bound_s=self.lines.bound_s)
        best = self.choose_best(orders[:, : self.stages] if self.stages else prefixes(orders[:, : self.widest]), first)
        return self.lines.cut(best.devices) if best.cuts else best

    def descend(self, line: ChainResult) -> ChainResult:
        """Return the line that moves lead to until none makes the bottleneck smaller."""
        while True:
            found = self._step(line)
            if found is line:
                return self.lines.cut(line.devices, line.bottleneck_s * (1 + GAIN)) if line.cuts else line
            line = found

    def perturb(self, line: ChainResult) -> ChainResult:
        """Return the best of descents from orders perturbed by a few swaps: iterated local search."""
        rng = np.random.default_rng(derive(self.search.seed, len(line.devices)))
        for _ in range(self.params.kicks * self.search.effort):
            if self.search.stop() or line.bottleneck_s == np.inf:
                break
            perturbed = self.lines.cut(self._swap_randomly(line, rng), np.inf, ROUGHLY)
            line = min(line, self.descend(perturbed), key=lambda each: each.bottleneck_s)
        return line

    def _step(self, line: ChainResult) -> ChainResult:
        """Return the first better neighbour, the best of its chunk, or the line itself."""
        order = np.array(line.devices, np.int64)
        unused = np.setdiff1d(np.arange(self.lines.size), order)
        around = neighbours(order, unused, self.widest)
        if self.stages is not None:
            around = around[(around != UNUSED).sum(axis=1) == self.stages]
        around = np.random.default_rng(derive(self.search.seed, len(around))).permutation(around)
        chunk = self.params.chunk
        for begin in range(0, len(around), chunk):
            found = line if self.search.stop() else self.choose_best(around[begin : begin + chunk], line)
            if found is not line:
                return found
        return line

    def _swap_randomly(self, line: ChainResult, rng: np.random.Generator) -> list[int]:
        """Return the devices of a line after some random swaps, among all devices."""
        order = [*line.devices, *np.setdiff1d(np.arange(self.lines.size), line.devices).tolist()]
        for _ in range(self.params.swaps):
            a, b = rng.integers(len(line.devices)), rng.integers(len(order))
            order[a], order[b] = order[b], order[a]
        return order[: len(line.devices)]

    def _distinct_orders(self, orders: IntArray) -> IntArray:
        """Return one of all orders that differ in equal devices only, in the order of their first."""
        types = np.where(orders == UNUSED, UNUSED, self.device_type[orders])
        return orders[np.sort(np.unique(types, axis=0, return_index=True)[1])]

    def _longest_s(self) -> float:
        """Return a bottleneck that every line without missing links stays below."""
        sent = self.lines.sent_s[np.isfinite(self.lines.sent_s)]
        return float(self.lines.done_s.max() + 2 * sent.max(initial=0.0)) * (1 + GAIN)
