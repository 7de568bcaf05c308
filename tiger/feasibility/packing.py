"""Vector bin packing of items of several sizes, by greedy rules, bin completion or a mixed-integer program."""

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

# Sets of items that bin completion looks at, and its restarts: each method has a brief try before a long one. Without
# restarts 16 of 600 random problems of memory to the byte are undecided after 4 s instead of 6, without the method 20
# more of 800.
BRIEF_BIN_WORK, BIN_WORK = (10_000_000, 12), (300_000_000, 400)
# Variables that a program may have, and nodes of its branch and bound. Without programs 4 more of 800 are undecided.
BRIEF_MILP_WORK, MILP_WORK = (50_000, 20), (2_000_000, NODES)
# Greedy orders drawn at random, and the numbers that they may look at together: without any, 2 of 800 random problems
# of up to 3,000 tasks are undecided after 4 s. Without the rule "emptiest" too, 31 of the first 237 are.
SHUFFLES, GREEDY_WORK = 24, 50_000_000
Rule = Literal["first", "fullest", "emptiest"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Packing:
    """State which of b bins may take each item of k classes.

    `load[k, d]` are the whole amounts that one item of a class needs, `count[k]` > 0 how many of it there are,
    `room[b, d]` what the bins have; items of a class may go to the bins `open[kind[k], b]`.
    """

    load: IntArray
    count: IntArray
    room: IntArray
    kind: IntArray
    open: BoolArray

    def allowed_bins(self, k: int) -> BoolArray:
        """Return allowed[b], the bins that one item of class k fits into when they are empty."""
        return np.asarray(self.open[self.kind[k]] & (self.load[k] <= self.room).all(axis=1))

    @property
    def misfit(self) -> int | None:
        """Return a class that fits into no bin, if there is one."""
        return next((k for k in range(len(self.count)) if not self.allowed_bins(k).any()), None)


class PackingResult(NamedTuple):
    """Hold the bin of every item, class after class, or None, and whether that is proved."""

    bins: IntArray | None
    proved: bool


def pack(packing: Packing, until_s: float) -> PackingResult:
    """Pack all items, prove that it is impossible, or give up by `until_s` of the monotonic clock.

    The answer is deterministic unless time runs out. The first try fills the bins in order.
    """
    if (packing.load.T @ packing.count > packing.room.sum(axis=0)).any() or packing.misfit is not None:
        return PackingResult(None, proved=True)
    packing = _drop_slack_amounts(packing)
    for order, rule in _orders(packing):
        bins = _pack_greedily(packing, order, rule)
        if bins is not None:
            return PackingResult(bins, proved=True)
        if time.monotonic() >= until_s:
            return PackingResult(None, proved=False)
    packed = _decide_by_bins(packing, until_s, *BRIEF_BIN_WORK)
    if not packed.proved:
        packed = _decide_by_milp(packing, until_s, *BRIEF_MILP_WORK)
    if not packed.proved:
        packed = _decide_by_bins(packing, until_s, *BIN_WORK)
    return packed if packed.proved else _decide_by_milp(packing, until_s, *MILP_WORK)


def _drop_slack_amounts(packing: Packing) -> Packing:
    """Return the packing without amounts that every bin has enough of for everything, the scarcest amount first."""
    total = packing.load.T @ packing.count
    room = np.minimum(packing.room, total)
    scarce = np.flatnonzero((room < total).any(axis=0))
    # A dimension whose largest items are large beside a bin is the hardest to fill.
    grain = packing.load.max(axis=0, initial=0)[scarce] / np.maximum(room.max(axis=0)[scarce], 1)
    scarce = scarce[np.argsort(-grain, kind="stable")]
    return replace(packing, load=packing.load[:, scarce], room=room[:, scarce])


def _orders(packing: Packing) -> Iterator[tuple[IntArray, Rule]]:
    """Yield orders of the classes, and which of the open bins they take."""
    yield np.arange(len(packing.count)), "first"
    if not packing.load.shape[1]:
        return
    size = (packing.load / np.maximum(packing.room.sum(axis=0), 1)).max(axis=1)
    falling = np.argsort(-packing.load[:, 0], kind="stable")
    yield np.argsort(-size, kind="stable"), "fullest"
    yield falling, "fullest"
    yield falling, "emptiest"
    rng = np.random.default_rng(0)
    for _ in range(min(SHUFFLES, GREEDY_WORK // (packing.load.size * len(packing.room)))):
        yield np.argsort(-size * rng.uniform(0.7, 1.3, len(size)), kind="stable"), "fullest"


def _pack_greedily(packing: Packing, order: IntArray, rule: Rule) -> IntArray | None:
    """Put class after class where it is open, as many as fit into one bin before the next; None at a dead end."""
    if rule == "emptiest":
        return _pack_evenly(packing, order)
    left, starts = packing.room.copy(), np.cumsum(packing.count) - packing.count
    bins = np.empty(int(packing.count.sum()), np.int64)
    for k in order.tolist():
        done, count = 0, int(packing.count[k])
        while done < count:
            taken, amount = _fill_in_order(packing, k, left, rule)
            amount = np.diff(np.minimum(np.cumsum(amount), count - done), prepend=0)
            if not amount.any():
                return None
            left[taken] -= amount[:, None] * packing.load[k]
            begin = starts[k] + done
            done += int(amount.sum())
            bins[begin : starts[k] + done] = np.repeat(taken, amount)
    return bins


def _fill_in_order(packing: Packing, k: int, left: IntArray, rule: Rule) -> tuple[IntArray, IntArray]:
    """Return the bins that take items of class k next, in order, and how many each."""
    fits = np.where(packing.open[packing.kind[k]], packing.count[k], 0)
    for d in np.flatnonzero(packing.load[k]):
        np.minimum(fits, left[:, d] // packing.load[k, d], out=fits)
    taken = np.flatnonzero(fits)
    if rule == "fullest" and left.shape[1]:
        taken = taken[np.argsort(left[taken, 0], kind="stable")]
    return taken, fits[taken]


def _pack_evenly(packing: Packing, order: IntArray) -> IntArray | None:
    """Put items one by one into the bin with the most room for each that it can still take; None at a dead end.

    O(log b) for each item that the emptiest bin can take.
    """
    left, starts = packing.room.tolist(), (np.cumsum(packing.count) - packing.count).tolist()
    bins = np.empty(int(packing.count.sum()), np.int64)
    heap = [(-room[0] / max(room[-1], 1), b) for b, room in enumerate(left)]
    heapq.heapify(heap)
    for k in order.tolist():
        load, allowed_bins, aside = packing.load[k].tolist(), packing.open[packing.kind[k]].tolist(), []
        for item in range(starts[k], starts[k] + int(packing.count[k])):
            while heap and not (allowed_bins[heap[0][1]] and all(map(operator.le, load, left[heap[0][1]]))):
                aside.append(heapq.heappop(heap))
            if not heap:
                return None
            b = heap[0][1]
            room = left[b] = list(map(operator.sub, left[b], load))
            heapq.heapreplace(heap, (-room[0] / max(room[-1], 1), b))
            bins[item] = b
        for entry in aside:
            heapq.heappush(heap, entry)
    return bins


def _list_bins(amount: IntArray) -> IntArray:
    """Return the bin of every item, class after class, for amount[k, b]."""
    k, b = np.nonzero(amount)
    return np.repeat(b, amount[k, b])


def _decide_by_bins(packing: Packing, until_s: float, work: int, restarts: int) -> PackingResult:
    """Decide by filling bin after bin, within bounded work."""
    found = complete(
        packing.load, packing.count, packing.room, packing.open[packing.kind], until_s, work=work, restarts=restarts
    )
    return PackingResult(None if found.amount is None else _list_bins(found.amount), found.proved)


def _decide_by_milp(packing: Packing, until_s: float, limit: int, nodes: int) -> PackingResult:
    """Decide by a mixed-integer program how many items of each class go into each bin, within bounded work."""
    if len(packing.count) * len(packing.room) > limit:
        return PackingResult(None, proved=False)
    k, b = np.nonzero([packing.allowed_bins(k) for k in range(len(packing.count))])
    cells, proved = np.arange(len(k)), False
    taken = LinearConstraint(sum_matrix(k, cells, len(k), len(packing.count)), packing.count, packing.count)
    for limited in limits(packing.load[k], b, packing.room, len(k)):
        x, proved = solve([taken, *limited], packing.count[k], until_s, nodes)
        if x is not None:
            amount = np.zeros((len(packing.count), len(packing.room)), np.int64)
            amount[k, b] = np.rint(x)
            if (amount.T @ packing.load <= packing.room).all() and (amount.sum(axis=1) == packing.count).all():
                return PackingResult(_list_bins(amount), proved=True)
    return PackingResult(None, proved=proved)
