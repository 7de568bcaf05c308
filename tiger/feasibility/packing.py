"""Packing: things of several sizes into bins, decided by greedy rules, by filling bin after bin, or by a programme."""

import heapq
import operator
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint

from tiger.feasibility.bin_completion import complete
from tiger.feasibility.milp import NODES, limits, solve, sum_matrix
from tiger.model.arrays import BoolArray, IntArray

BRIEF_FILLING, FILLING = (10_000_000, 12), (300_000_000, 400)
BRIEF_PROGRAMME, PROGRAMME = (50_000, 20), (2_000_000, NODES)
GREEDY_WORK = 50_000_000
SHUFFLES = 24
Rule = Literal["first", "fullest", "emptiest"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Packing:
    """Ask which of b bins takes each thing of k classes.

    `load[k, d]` are the whole amounts that one thing of a class needs, `count[k]` > 0 how many of it there are,
    `room[b, d]` what the bins have; things of a class may go to the bins `open[kind[k], b]`.
    """

    load: IntArray
    count: IntArray
    room: IntArray
    kind: IntArray
    open: BoolArray

    def may(self, k: int) -> BoolArray:
        """Return may[b], the bins that one thing of class k could have for itself."""
        return np.asarray(self.open[self.kind[k]] & (self.load[k] <= self.room).all(axis=1))

    @property
    def homeless(self) -> int | None:
        """Return a class that fits into no bin, if there is one."""
        return next((k for k in range(len(self.count)) if not self.may(k).any()), None)


class Packed(NamedTuple):
    """Hold the bin of every thing, class after class, or None; and whether that is the last word."""

    bins: IntArray | None
    proved: bool


def pack(ask: Packing, until_s: float) -> Packed:
    """Pack all things, prove that it is impossible, or give up by `until_s` of the monotonic clock.

    The answer depends on the question alone unless time runs out. The first try fills the bins in order.
    """
    if (ask.load.T @ ask.count > ask.room.sum(axis=0)).any() or ask.homeless is not None:
        return Packed(None, proved=True)
    ask = _binding(ask)
    for order, rule in _orders(ask):
        bins = _pack_greedily(ask, order, rule)
        if bins is not None:
            return Packed(bins, proved=True)
        if time.monotonic() >= until_s:
            return Packed(None, proved=False)
    packed = _decide_by_bins(ask, until_s, *BRIEF_FILLING)
    if not packed.proved:
        packed = _decide_by_milp(ask, until_s, *BRIEF_PROGRAMME)
    if not packed.proved:
        packed = _decide_by_bins(ask, until_s, *FILLING)
    return packed if packed.proved else _decide_by_milp(ask, until_s, *PROGRAMME)


def _binding(ask: Packing) -> Packing:
    """Return the question without amounts that every bin has enough of for everything, the scarcest amount first."""
    total = ask.load.T @ ask.count
    room = np.minimum(ask.room, total)
    scarce = np.flatnonzero((room < total).any(axis=0))
    # A dimension whose largest things are large beside a bin is the hardest to fill.
    grain = ask.load.max(axis=0, initial=0)[scarce] / np.maximum(room.max(axis=0)[scarce], 1)
    scarce = scarce[np.argsort(-grain, kind="stable")]
    return replace(ask, load=ask.load[:, scarce], room=room[:, scarce])


def _orders(ask: Packing) -> Iterator[tuple[IntArray, Rule]]:
    """Yield orders of the classes, and which of the open bins they take."""
    yield np.arange(len(ask.count)), "first"
    if not ask.load.shape[1]:
        return
    size = (ask.load / np.maximum(ask.room.sum(axis=0), 1)).max(axis=1)
    falling = np.argsort(-ask.load[:, 0], kind="stable")
    yield np.argsort(-size, kind="stable"), "fullest"
    yield falling, "fullest"
    yield falling, "emptiest"
    rng = np.random.default_rng(0)
    for _ in range(min(SHUFFLES, GREEDY_WORK // (ask.load.size * len(ask.room)))):
        yield np.argsort(-size * rng.uniform(0.7, 1.3, len(size)), kind="stable"), "fullest"


def _pack_greedily(ask: Packing, order: IntArray, rule: Rule) -> IntArray | None:
    """Put class after class where it is open, as many as fit into one bin before the next; None at a dead end."""
    if rule == "emptiest":
        return _pack_evenly(ask, order)
    left, starts = ask.room.copy(), np.cumsum(ask.count) - ask.count
    bins = np.empty(int(ask.count.sum()), np.int64)
    for k in order.tolist():
        done, count = 0, int(ask.count[k])
        while done < count:
            taken, amount = _fill_in_order(ask, k, left, rule)
            amount = np.diff(np.minimum(np.cumsum(amount), count - done), prepend=0)
            if not amount.any():
                return None
            left[taken] -= amount[:, None] * ask.load[k]
            begin = starts[k] + done
            done += int(amount.sum())
            bins[begin : starts[k] + done] = np.repeat(taken, amount)
    return bins


def _fill_in_order(ask: Packing, k: int, left: IntArray, rule: Rule) -> tuple[IntArray, IntArray]:
    """Return the bins that take things of class k next, in order, and how many each."""
    fits = np.where(ask.open[ask.kind[k]], ask.count[k], 0)
    for d in np.flatnonzero(ask.load[k]):
        np.minimum(fits, left[:, d] // ask.load[k, d], out=fits)
    taken = np.flatnonzero(fits)
    if rule == "fullest" and left.shape[1]:
        taken = taken[np.argsort(left[taken, 0], kind="stable")]
    return taken, fits[taken]


def _pack_evenly(ask: Packing, order: IntArray) -> IntArray | None:
    """Put things one by one into the bin with the most room for each that it can still take; None at a dead end.

    O(log b) for each thing that the emptiest bin can take.
    """
    left, starts = ask.room.tolist(), (np.cumsum(ask.count) - ask.count).tolist()
    bins = np.empty(int(ask.count.sum()), np.int64)
    heap = [(-room[0] / max(room[-1], 1), b) for b, room in enumerate(left)]
    heapq.heapify(heap)
    for k in order.tolist():
        load, may, aside = ask.load[k].tolist(), ask.open[ask.kind[k]].tolist(), []
        for thing in range(starts[k], starts[k] + int(ask.count[k])):
            while heap and not (may[heap[0][1]] and all(map(operator.le, load, left[heap[0][1]]))):
                aside.append(heapq.heappop(heap))
            if not heap:
                return None
            b = heap[0][1]
            room = left[b] = list(map(operator.sub, left[b], load))
            heapq.heapreplace(heap, (-room[0] / max(room[-1], 1), b))
            bins[thing] = b
        for item in aside:
            heapq.heappush(heap, item)
    return bins


def _spread(amount: IntArray) -> IntArray:
    """Return the bin of every thing, class after class, for amount[k, b]."""
    k, b = np.nonzero(amount)
    return np.repeat(b, amount[k, b])


def _decide_by_bins(ask: Packing, until_s: float, work: int, restarts: int) -> Packed:
    """Decide by filling bin after bin, within bounded work."""
    found = complete(ask.load, ask.count, ask.room, ask.open[ask.kind], until_s, work=work, restarts=restarts)
    return Packed(None if found.amount is None else _spread(found.amount), found.proved)


def _decide_by_milp(ask: Packing, until_s: float, limit: int, nodes: int) -> Packed:
    """Decide by a mixed-integer programme how many things of each class go into each bin, within bounded work."""
    if len(ask.count) * len(ask.room) > limit:
        return Packed(None, proved=False)
    k, b = np.nonzero([ask.may(k) for k in range(len(ask.count))])
    cells, proved = np.arange(len(k)), False
    taken = LinearConstraint(sum_matrix(k, cells, len(k), len(ask.count)), ask.count, ask.count)
    for held in limits(ask.load[k], b, ask.room, len(k)):
        x, proved = solve([taken, *held], ask.count[k], until_s, nodes)
        if x is not None:
            amount = np.zeros((len(ask.count), len(ask.room)), np.int64)
            amount[k, b] = np.rint(x)
            if (amount.T @ ask.load <= ask.room).all() and (amount.sum(axis=1) == ask.count).all():
                return Packed(_spread(amount), proved=True)
    return Packed(None, proved=proved)
