"""The costs of lines of single devices, and exact cuts along many orders at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.rounding import TIE
from tiger.placement.chain.backtrace import ChainResult
from tiger.placement.chain.fitting_runs import admitted_ends, fitting_ends, prefix_sums
from tiger.placement.chain.params import LineParams
from tiger.training.hardware.cluster import NO_LINK, Cluster
from tiger.training.models.layers import Layers

# Stands behind the last device of an order that is shorter than others.
UNUSED = -1
# The share by which bands of boundaries are wider than the loads need.
SLACK = 1e-9
# Orders times boundaries at a time: tables of 1 MB, which stay in the cache of a core.
BATCH_CELLS = 1 << 17


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerLinkCosts:
    """Hold the costs of L layers on each of n devices, and of messages over each of c types of links.

    `done_s[n, L + 1]` are the seconds of all layers before a boundary; `sent_s[c + 1, L + 1]` those of a message
    forward and one back, the last row for pairs without a link; `link_type[n, n]` is the row of a pair. A stage on
    device d with a stages behind it that ends at boundary j begins at `first[window[d, a], j]` or later, by memory and
    pins. `bound_s` is a lower bound on the bottleneck of all lines.
    """

    done_s: FloatArray
    sent_s: FloatArray
    link_type: IntArray
    first: IntArray
    window: IntArray
    bound_s: float

    @classmethod
    def of(cls, layers: Layers, cluster: Cluster, params: LineParams) -> Self:
        """Return the costs of a model on a cluster, and the limits of its stages."""
        load_s, crossing = layers.forward_s + layers.backward_s, layers.crossing_bytes
        none = np.where(crossing > 0, np.inf, 0.0)
        first, window = _windows(layers, cluster, params)
        speeds = np.sort(cluster.speed)[::-1][: params.stages or layers.size]
        return cls(
            done_s=prefix_sums(load_s) / cluster.speed[:, None],
            sent_s=np.array([*(2 * curve.of(crossing) for curve in cluster.curves), none]),
            link_type=np.where(cluster.link == NO_LINK, len(cluster.curves), cluster.link),
            first=first,
            window=window,
            bound_s=max(float(load_s.sum() / speeds.sum()), float(load_s.max() / speeds[0])),
        )

    @property
    def size(self) -> int:
        """Return n, the number of devices."""
        return len(self.done_s)

    @property
    def boundaries(self) -> int:
        """Return L + 1."""
        return len(self.done_s[0])

    def loads_s(self, devices: Sequence[int], cuts: Sequence[int]) -> FloatArray:
        """Return the loads of the stages between cuts."""
        order, ends = np.array(devices), np.array(cuts)
        between = self.sent_s[self.link_type[order[:-1], order[1:]], ends[1:-1]]
        load_s = self.done_s[order, ends[1:]] - self.done_s[order, ends[:-1]]
        return np.asarray(load_s + np.append(between, 0.0) + np.append(0.0, between))

    def find_reachable(self, orders: IntArray, limits: FloatArray) -> list[BoolArray]:
        """Return which boundaries can end each stage of `orders[N, k]` with no load above `limits[N]`.

        Orders shorter than k end in -1, and keep the boundaries of their last stage. Returns k + 1 arrays [N, L + 1].
        O(N k L), times log L where memory limits a stage. The probe of a limit, stage by stage, of Pinar and Aykanat,
        J. Parallel Distrib. Comput. 64 (2004) 974, doi:10.1016/j.jpdc.2004.05.003, for all orders side by side.
        """
        reached = np.zeros((len(orders), self.boundaries), bool)
        reached[:, 0] = True
        found, finite = [reached], np.minimum(limits, np.finfo(np.float64).max)
        bands = self._bands(orders, finite)
        for position in range(orders.shape[1]):
            used = orders[:, position] != UNUSED
            begins, ends = bands[position : position + 2]
            ended = np.where(used[:, None], False, found[-1])
            ended[used, ends] = self._stage(orders[used], position, finite[used], (begins, ends, found[-1][used]))
            found.append(ended)
        return found

    def within(self, orders: IntArray, limits: FloatArray) -> BoolArray:
        """Return which orders have cuts without a load above their limit; in batches that stay in the cache."""
        batch = max(BATCH_CELLS // self.boundaries, 1)
        parts = [slice(begin, begin + batch) for begin in range(0, len(orders), batch)]
        answers = [self.find_reachable(orders[part], limits[part])[-1][:, -1] for part in parts]
        return np.concatenate(answers) if answers else np.zeros(0, bool)

    def cut(self, devices: Sequence[int], limit_s: float = np.inf, slack: float = TIE) -> ChainResult:
        """Return the cuts of the smallest bottleneck along an order that uses all its devices, up to the slack.

        Bisection on the bottleneck, each step of which ends at loads that occur, and asks whether there is any below;
        infinite where nothing fits, or nothing below `limit_s`.
        """
        order = np.array([devices], np.int64)
        best = self._trace(order, limit_s)
        low = min(self.bound_s, best.bottleneck_s)
        while best.bottleneck_s - low > slack * best.bottleneck_s:
            middle = max((low + best.bottleneck_s) / 2, low)
            line = self._trace(order, middle)
            if not line.cuts:
                low = middle
                continue
            best, line = line, self._trace(order, line.bottleneck_s * (1 - slack))
            if not line.cuts:
                break
            best = line
        return best

    def _bands(self, orders: IntArray, limits: FloatArray) -> list[slice]:
        """Return which boundaries can lie before, between and behind stages, for all orders together.

        A stage ends no later than compute alone does in the limit, and no earlier than all later ones can catch up.
        """
        whole = self.done_s[:, -1]
        if not whole.all():
            return [slice(0, self.boundaries)] * (orders.shape[1] + 1)
        with np.errstate(over="ignore"):
            shares = np.where(orders == UNUSED, 0.0, limits[:, None] / whole[orders])
            ahead_of, behind = (np.cumsum(each, axis=1) for each in (shares, shares[:, ::-1]))
        most = np.append(0.0, ahead_of.max(axis=0, initial=0.0))
        least = 1 - np.append(behind.max(axis=0, initial=0.0)[::-1], 0.0)
        parts = self.done_s[0] / whole[0]
        low = np.searchsorted(parts, least - SLACK)
        high = np.searchsorted(parts, most + SLACK, side="right")
        low[0] = 0
        return [slice(a, max(a, b)) for a, b in zip(low.tolist(), high.tolist(), strict=True)]

    def _stage(
        self, orders: IntArray, position: int, limits: FloatArray, band: tuple[slice, slice, BoolArray]
    ) -> BoolArray:
        """Return the ends of a stage of orders that all have it, from the ends of the stage before."""
        begins, ends, reached = band
        after = (orders[:, position + 1 :] != UNUSED).sum(axis=1)
        first = self.first[self.window[orders[:, position], after]]
        every = slice(0, self.boundaries)
        # A load is the end's seconds less the begin's: the best begin of each end is a range maximum.
        if first.any():
            open_s = np.where(reached, self._begin_costs(orders, position, every), -np.inf)
            best = _window_maxima(open_s, first)[:, ends]
        else:
            best = _range_maxima(
                np.where(reached[:, begins], self._begin_costs(orders, position, begins), -np.inf), begins, ends
            )
        return np.asarray(self._end_costs(orders, position, ends) - best <= limits[:, None])

    def _begin_costs(self, orders: IntArray, position: int, part: slice) -> FloatArray:
        """Return the seconds to subtract for the begin of a stage, at some boundaries."""
        device = orders[:, position]
        begun: FloatArray = self.done_s[:, part][device]
        if position:
            begun -= self.sent_s[:, part][self.link_type[orders[:, position - 1], device]]
        return begun

    def _end_costs(self, orders: IntArray, position: int, part: slice) -> FloatArray:
        """Return the seconds to add for the end of a stage, at some boundaries: layers before it, and messages out."""
        device = orders[:, position]
        load_s: FloatArray = self.done_s[:, part][device]
        if position + 1 < orders.shape[1]:
            following = orders[:, position + 1]
            sent = self.sent_s[:, part][self.link_type[device, following]]
            load_s += np.where((following == UNUSED)[:, None], 0.0, sent)
        return load_s

    def _trace(self, order: IntArray, limit_s: float) -> ChainResult:
        """Return cuts along one order with no load above a limit, empty and infinite where there are none."""
        devices = tuple(order[0].tolist())
        found = self.find_reachable(order, np.array([limit_s]))
        if not found[-1][0, -1]:
            return ChainResult(devices=devices, cuts=(), bottleneck_s=np.inf, bound_s=self.bound_s)
        cuts, every = [self.boundaries - 1], slice(0, self.boundaries)
        for position in range(len(devices) - 1, -1, -1):
            begun = np.where(found[position][0], self._begin_costs(order, position, every)[0], -np.inf)
            after = len(devices) - position - 1
            lowest = self.first[self.window[devices[position], after], cuts[-1]]
            cuts.append(int(lowest + np.argmax(begun[lowest : cuts[-1]])))
        cuts.reverse()
        worst = float(self.loads_s(devices, cuts).max())
        return ChainResult(devices=devices, cuts=tuple(cuts), bottleneck_s=worst, bound_s=self.bound_s)


def _windows(layers: Layers, cluster: Cluster, params: LineParams) -> tuple[IntArray, IntArray]:
    """Return the earliest begins of stages, a row for each limit, and the row of each device and place from the end."""
    pinned = set(params.pinned.values())
    own = [device if device in pinned else UNUSED for device in range(cluster.size)]
    hosts, host = np.unique(np.stack([cluster.memory_bytes, own], axis=1), axis=0, return_inverse=True)
    places = [params.in_flight(after) for after in range(min(cluster.size, layers.size))]
    flights, flight = np.unique(places, return_inverse=True)
    first = []
    for memory, device in hosts.tolist():
        for flying in flights.tolist():
            last = np.minimum(
                fitting_ends(layers, memory, flying), admitted_ends(layers.size, params.pinned, {int(device)})
            )
            # A later start may hold more, where tied layers differ in state: the earlier one is then left out.
            last = np.minimum.accumulate(last[::-1])[::-1]
            first.append(np.searchsorted(last, np.arange(layers.size + 1)))
    window = host.ravel()[:, None] * len(flights) + flight.ravel()[None, :]
    return np.array(first), window


def _range_maxima(values: FloatArray, begins: slice, ends: slice) -> FloatArray:
    """Return the largest of the values, at boundaries `begins`, before each of `ends`, -inf before the first."""
    best = np.full((len(values), values.shape[1] + 1), -np.inf)
    np.maximum.accumulate(values, axis=1, out=best[:, 1:])
    before = np.clip(np.arange(ends.start, ends.stop) - begins.start, 0, values.shape[1])
    return best[:, before]


def _window_maxima(values: FloatArray, first: IntArray) -> FloatArray:
    """Return the largest of the values from `first[N, L + 1]` to before each boundary, by a table of powers of two."""
    ends = np.arange(values.shape[1])
    width = ends - first
    level = np.where(width > 0, np.frexp(np.maximum(width, 1))[1] - 1, 0)
    tables = [values]
    for power in range(int(level.max())):
        step = 1 << power
        tables.append(np.maximum(tables[-1][:, : values.shape[1] - 2 * step + 1], tables[-1][:, step:]))
    best = np.full_like(values, -np.inf)
    for power, table in enumerate(tables):
        row, end = np.nonzero((level == power) & (width > 0))
        best[row, end] = np.maximum(table[row, first[row, end]], table[row, end - (1 << power)])
    return best
