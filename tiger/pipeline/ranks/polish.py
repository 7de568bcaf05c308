"""Orders of devices made better move by move, judged by the bottleneck between exact cuts."""

from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.pipeline.chain.backtrace import Line
from tiger.pipeline.ranks.lines import UNUSED, Lines
from tiger.pipeline.ranks.moves import neighbours, prefixes
from tiger.pipeline.ranks.search import OrderSearch

HALVINGS, GAIN, ROUGHLY = 12, 1e-9, 1e-2
CHUNK, KICKS, KICK = 512, 8, 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Polish:
    """Improve orders over prepared costs; `kind[n]` are the classes of devices that nothing tells apart.

    Lines have `stages` stages, or any number of them where that is None.
    """

    lines: Lines
    search: OrderSearch
    kind: IntArray
    stages: int | None

    @property
    def widest(self) -> int:
        """Return how many stages a line has at most: one a device, a layer each."""
        return self.stages or min(self.lines.size, self.lines.boundaries - 1)

    def best(self, orders: IntArray, line: Line) -> Line:
        """Return the line of the best of `orders[N, k]`, -1 behind the last device, or the given one if as good.

        Halves the bottleneck asked for until one order is left that reaches it.
        """
        orders = self._distinct_orders(orders)
        low, high = self.lines.least_s, line.bottleneck_s * (1 - GAIN)
        orders = orders[self.lines.within(orders, np.full(len(orders), high))]
        for _ in range(HALVINGS):
            if len(orders) < 2 or self.search.stop():
                break
            middle = (low + high) / 2 if high < np.inf else self._longest_s()
            reach = self.lines.within(orders, np.full(len(orders), middle))
            low, high, orders = (low, middle, orders[reach]) if reach.any() else (middle, high, orders)
        found = [self.lines.cut(order[order != UNUSED].tolist(), high, ROUGHLY) for order in orders[:1]]
        return min([line, *found], key=lambda each: each.bottleneck_s)

    def best_prefix(self, orders: IntArray) -> Line:
        """Return the best line along the beginnings of `orders[N, n]`, infinite where nothing fits along any."""
        first = Line(devices=tuple(range(self.widest)), cuts=(), bottleneck_s=np.inf, bound_s=self.lines.least_s)
        best = self.best(orders[:, : self.stages] if self.stages else prefixes(orders[:, : self.widest]), first)
        return self.lines.cut(best.devices) if best.cuts else best

    def descend(self, line: Line) -> Line:
        """Return the line that moves lead to until none makes the bottleneck smaller."""
        while True:
            found = self._step(line)
            if found is line:
                return self.lines.cut(line.devices, line.bottleneck_s * (1 + GAIN)) if line.cuts else line
            line = found

    def perturb(self, line: Line) -> Line:
        """Return the best of descents from an order shaken by a few swaps, again and again."""
        rng = np.random.default_rng(derive(self.search.seed, len(line.devices)))
        for _ in range(KICKS * self.search.effort):
            if self.search.stop() or line.bottleneck_s == np.inf:
                break
            shaken = self.lines.cut(self._shake(line, rng), np.inf, ROUGHLY)
            line = min(line, self.descend(shaken), key=lambda each: each.bottleneck_s)
        return line

    def _step(self, line: Line) -> Line:
        """Return the first better neighbour, the best of its chunk, or the line itself."""
        order = np.array(line.devices, np.int64)
        unused = np.setdiff1d(np.arange(self.lines.size), order)
        around = neighbours(order, unused, self.widest)
        if self.stages is not None:
            around = around[(around != UNUSED).sum(axis=1) == self.stages]
        around = np.random.default_rng(derive(self.search.seed, len(around))).permutation(around)
        for begin in range(0, len(around), CHUNK):
            found = line if self.search.stop() else self.best(around[begin : begin + CHUNK], line)
            if found is not line:
                return found
        return line

    def _shake(self, line: Line, rng: np.random.Generator) -> list[int]:
        """Return the devices of a line after some random swaps, among all devices."""
        order = [*line.devices, *np.setdiff1d(np.arange(self.lines.size), line.devices).tolist()]
        for _ in range(KICK):
            a, b = rng.integers(len(line.devices)), rng.integers(len(order))
            order[a], order[b] = order[b], order[a]
        return order[: len(line.devices)]

    def _distinct_orders(self, orders: IntArray) -> IntArray:
        """Return one of all orders that differ in devices of one class only, in the order of their first."""
        kinds = np.where(orders == UNUSED, UNUSED, self.kind[orders])
        return orders[np.sort(np.unique(kinds, axis=0, return_index=True)[1])]

    def _longest_s(self) -> float:
        """Return a bottleneck that every line without missing links stays below."""
        sent = self.lines.sent_s[np.isfinite(self.lines.sent_s)]
        return float(self.lines.done_s.max() + 2 * sent.max(initial=0.0)) * (1 + GAIN)
