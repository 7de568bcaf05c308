"""Bin completion: bin after bin is filled with the sets of items that fill it best, found by meeting in the middle.

Sources: E. Horowitz, S. Sahni, J. ACM 21 (1974), doi:10.1145/321812.321823 (two sorted lists of subset sums);
A. Fukunaga, R. Korf, J. Artificial Intelligence Research 28 (2007), doi:10.1613/jair.2106 (bin completion).
"""

import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, IntArray

# Recursion is as deep as there are bins; with more than slots, memory and a cut, lists of sets seldom match.
DIMENSIONS, BINS = 3, 300
# The longest list of sets of one half, of pairs of both, whose arrays take 16 MB, and of completions tried of one bin.
SETS, PAIRS, CHOICES = 1 << 20, 1 << 21, 4096
# Sets are numbered in int64.
CODES = 1 << 61
# Of 600 random problems of memory to the byte 6 are undecided after 4 s; without fillings at random, or without the
# exhaustive search of the last TAIL items, 10.
BIN_TRIES, RANDOM_TRIES, TARGETS, TAIL = 4, 8, 8, 30
# Sets that the search of the last items may look at, a hundredth of all.
TAIL_WORK = 3_000_000


class Completion(NamedTuple):
    """Hold amount[k, b], or None, and whether that is proved."""

    amount: IntArray | None
    proved: bool


class _Sets(NamedTuple):
    """Hold sums[s, d] of sets of items, and code[s], whose digits to base most + 1 say how many of each class."""

    sums: IntArray
    code: IntArray
    classes: IntArray
    most: IntArray


@dataclass(slots=True, kw_only=True, eq=False)
class _BinSearch:
    """Hold load[k, d], room[b, d] and open[k, b], the work that may be done, and whether anything was left out."""

    load: IntArray
    room: IntArray
    open: BoolArray
    until_s: float
    work: int
    cut: bool = False
    seen: set[bytes] = field(default_factory=set)

    def spend(self, amount: int) -> None:
        """Count work done."""
        self.work -= amount
        self.cut |= self.ended

    @property
    def ended(self) -> bool:
        """Return whether work or time is used up."""
        return self.work <= 0 or time.monotonic() >= self.until_s


def complete(
    load: IntArray, count: IntArray, room: IntArray, open_: BoolArray, until_s: float, *, work: int, restarts: int
) -> Completion:
    """Return how many items of each class go into each bin, or that there is no way, or neither.

    Above 3 dimensions or 300 bins nothing is tried.

    :param load: whole amounts [k, d] of an item of each class
    :param count: items of each class [k]
    :param room: whole amounts [b, d] that bins take
    :param open_: where a class may go [k, b]
    :param until_s: the monotonic clock at which to stop
    :param work: about how many sets of items are looked at
    :param restarts: randomised fillings where the search was cut short
    """
    if not 0 < load.shape[1] <= DIMENSIONS or len(room) > BINS:
        return Completion(None, proved=False)
    order = np.argsort(room[:, 0], kind="stable")
    search = _BinSearch(load=load, room=room[order], open=open_[:, order], until_s=until_s, work=work)
    amount = _exhaust(search, count, 0, strict=True)
    proved = not search.cut
    for restart in range(restarts):
        if amount is not None or proved or search.ended:
            break
        amount = _fill_randomised(search, count, np.random.default_rng(restart), 1 << min(8 + restart // 4, 18))
    if amount is None:
        return Completion(None, proved)
    return Completion(amount[:, np.argsort(order)], proved=True)


def _exhaust(search: _BinSearch, count: IntArray, at: int, *, strict: bool) -> IntArray | None:
    """Fill bins from number `at` on in every way, fullest first; with `strict` only if every way can be tried."""
    load, room, open_ = search.load, search.room[at:], search.open[:, at:]
    amount = np.zeros(open_.shape, np.int64)
    if not count.any():
        return amount
    # What all bins together may leave unused bounds what this one may (Fukunaga and Korf 2007, section 3).
    slack = room.sum(axis=0) - count @ load
    key = count.tobytes() + bytes([at % 256, at // 256])
    if (slack < 0).any() or key in search.seen:
        return None
    search.seen.add(key)
    # Items that no later bin is open to have to be in this one.
    later = open_[:, 1:].any(axis=1)
    forced = np.where(later, 0, count)
    if forced[~open_[:, 0]].any():
        return None
    high = room[0] - forced @ load
    classes = np.flatnonzero(open_[:, 0] & later & (count > 0))
    classes = classes[np.argsort(-load[classes, 0], kind="stable")]
    if (high < 0).any():
        return None
    # All sets of each half of the classes, then the pairs that fill the bin within its slack (Horowitz and Sahni 1974).
    one, two = (_list_sets(search, half, count, high, int(count.sum()), SETS) for half in (classes[::2], classes[1::2]))
    for picks in _choices(search, one, two, high - slack, high):
        if search.ended or (strict and search.cut):
            return None
        rest = _exhaust(search, count - forced - picks, at + 1, strict=strict)
        if rest is not None:
            amount[:, 0] = forced + picks
            amount[:, 1:] = rest
            return amount
    return None


def _choices(search: _BinSearch, one: _Sets, two: _Sets, low: IntArray, high: IntArray) -> IntArray:
    """Return picks[c, k], unions of sets of both lists with sums from low[d] to high[d], fullest first."""
    i, j = _pairs(search, one.sums[0], two.sums[0], max(int(low[0]), 0), int(high[0]))
    good = np.ones(len(i), bool)
    for d in range(1, len(high)):
        total = one.sums[d, i] + two.sums[d, j]
        good &= (total >= low[d]) & (total <= high[d])
    i, j = i[good], j[good]
    search.cut |= len(i) > CHOICES
    chosen = np.argsort(-one.sums[0, i] - two.sums[0, j], kind="stable")[:CHOICES]
    picks = np.zeros((len(chosen), len(search.load)), np.int64)
    for half, code in ((one, one.code[i[chosen]]), (two, two.code[j[chosen]])):
        rest = code
        for k, most in zip(half.classes, half.most + 1, strict=True):
            rest, picks[:, k] = np.divmod(rest, most)
    return picks


def _list_sets(search: _BinSearch, classes: IntArray, count: IntArray, high: IntArray, each: int, limit: int) -> _Sets:
    """List the sets of at most `each` items of some classes that stay within high[d], sorted by their first sum.

    The first class that would make them more than `limit` and all after it are left out.
    """
    sums, code, radix = np.zeros((len(high) + 1, 1), np.int64), np.zeros(1, np.int64), 1
    used: list[tuple[int, int]] = []
    bound = np.append(high, each)
    for k in classes.tolist():
        load = np.append(search.load[k], 1)
        most = min(int(count[k]), int((bound[load > 0] // load[load > 0]).min()))
        fits = [np.flatnonzero((sums <= (bound - taken * load)[:, None]).all(axis=0)) for taken in range(1, most + 1)]
        if sums.shape[1] + sum(map(len, fits)) > limit or radix * (most + 1) > CODES:
            search.cut = True
            break
        more = [
            (sums[:, fit] + (taken * load)[:, None], code[fit] + taken * radix) for taken, fit in enumerate(fits, 1)
        ]
        sums = np.concatenate([sums, *(added for added, _ in more)], axis=1)
        code = np.concatenate([code, *(added for _, added in more)])
        radix *= most + 1
        used.append((k, most))
    search.spend(sums.shape[1])
    order = np.argsort(sums[0], kind="stable")
    chosen, most_of = np.array(used, np.int64).reshape(-1, 2).T
    return _Sets(sums[:-1, order], code[order], chosen, most_of)


def _pairs(search: _BinSearch, one: IntArray, two: IntArray, low: int, high: int) -> tuple[IntArray, IntArray]:
    """Return index pairs of two sorted lists with low <= one[i] + two[j] <= high; the fullest of them if too many."""
    # Both lists are sorted: partners of a set are a range of the other list.
    last = np.searchsorted(two, high - one, side="right")
    number = np.maximum(last - np.searchsorted(two, low - one), 0)
    while number.sum() > PAIRS:
        search.cut = True
        if low >= high:
            number = np.minimum(number, 1)
            break
        low = high - (high - low) // 4
        number = np.maximum(last - np.searchsorted(two, low - one), 0)
    search.spend(len(one) + int(number.sum()))
    i = np.repeat(np.arange(len(one)), number)
    back = np.arange(len(i)) - np.repeat(np.cumsum(number) - number, number)
    return i, last[i] - 1 - back


def _fill_randomised(search: _BinSearch, count: IntArray, rng: np.random.Generator, limit: int) -> IntArray | None:
    """Fill a bin about the largest item that is left, then the next; try every way for the last few items."""
    load, left, amount = search.load, count.copy(), np.zeros(search.open.shape, np.int64)
    bins = np.arange(len(search.room))
    size = load[:, 0] * rng.uniform(0.8, 1.0, len(load))
    while left.any():
        if left.sum() <= TAIL:
            tail = _place_last(search, left, bins)
            if tail is not None:
                amount[:, bins] = tail
                return amount
        k = int(np.argmax(np.where(left > 0, size, -1)))
        found = _fill_best(search, left, k, bins, rng, limit)
        for _ in range(RANDOM_TRIES if found is None else 0):
            found = found or _fill_at_random(search, left, bins, rng)
        if found is None or search.ended:
            return None
        here, picks = found
        amount[:, here] = picks
        left -= picks
        bins = bins[bins != here]
    return amount


def _place_last(search: _BinSearch, left: IntArray, bins: IntArray) -> IntArray | None:
    """Place the last few items into the bins that are left."""
    few = _BinSearch(
        load=search.load, room=search.room[bins], open=search.open[:, bins], until_s=search.until_s, work=TAIL_WORK
    )
    amount = _exhaust(few, left, 0, strict=False)
    search.spend(TAIL_WORK - few.work)
    return amount


def _fill_best(
    search: _BinSearch, left: IntArray, k: int, bins: IntArray, rng: np.random.Generator, limit: int
) -> tuple[int, IntArray] | None:
    """Return a bin and what fills it best beside a item of class k, leaving enough room for the rest elsewhere."""
    slack = search.room[bins].sum(axis=0) - left @ search.load
    open_ = bins[search.open[k, bins] & (search.load[k] <= search.room[bins]).all(axis=1)]
    noise = rng.uniform(0.9, 1.1, len(open_))
    best: tuple[int, IntArray] | None = None
    spare = np.inf
    for b in open_[np.argsort(search.room[open_, 0] * noise, kind="stable")][:BIN_TRIES].tolist():
        picks = _fill_beside(search, left, k, b, slack, rng, limit)
        if picks is None:
            continue
        unused = float(search.room[b, 0] - picks @ search.load[:, 0])
        if unused < spare:
            best, spare = (b, picks), unused
        if spare <= slack[0] / len(bins):
            break
    return best


def _fill_beside(
    search: _BinSearch, left: IntArray, k: int, b: int, slack: IntArray, rng: np.random.Generator, limit: int
) -> IntArray | None:
    """Return the items that fill bin b best beside one of class k, among items drawn at random."""
    load, base = search.load, np.zeros(len(left), np.int64)
    base[k] = 1
    units = rng.permutation(np.repeat(np.arange(len(left)), np.where(search.open[:, b], left - base, 0)))
    high = search.room[b] - load[k]
    # About this many more fit. Where sets of as many are too many to list, the first ones are not chosen but given.
    more = rng.uniform(0.8, 1.25) * high[0] / max(float(load[units, 0].mean()) if len(units) else 1.0, 1.0)
    given = units[: max(int(more) - limit.bit_length(), 0)]
    given = given[(np.cumsum(load[given], axis=0) <= high).all(axis=1)]
    base += np.bincount(given, minlength=len(left))
    rest = units[len(given) :]
    high = search.room[b] - base @ load
    each = max(-(-(int(more) - len(given)) // 2), 1)
    order, count = _count_drawn(rest, len(left))
    one, two = (_list_sets(search, half, count, high, each, limit) for half in (order[::2], order[1::2]))
    picks = _choices(search, one, two, high - slack, high)
    return base + picks[0] if len(picks) else None


def _count_drawn(units: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the classes of drawn items in order of appearance, and how many items of each of `size` classes."""
    return units[np.sort(np.unique(units, return_index=True)[1])], np.bincount(units, minlength=size)


def _fill_at_random(
    search: _BinSearch, left: IntArray, bins: IntArray, rng: np.random.Generator
) -> tuple[int, IntArray] | None:
    """Return a bin and items drawn at random that fill it so well that the rest has room enough elsewhere.

    The same two lists of sets serve all bins that are open to the same items, and many choices of items given.
    """
    slack = search.room[bins].sum(axis=0) - left @ search.load
    b = int(rng.choice(bins))
    alike = bins[(search.open[left > 0][:, bins] == search.open[left > 0][:, [b]]).all(axis=0)]
    units = rng.permutation(np.repeat(np.arange(len(left)), np.where(search.open[:, b], left, 0)))
    if not len(units):
        return None
    order, count = _count_drawn(units, len(left))
    mean = max(float(search.load[units, 0].mean()), 1.0)
    each = max(int(np.ceil(rng.uniform(0.8, 1.25) * search.room[b, 0] / mean / 2)), 1)
    high = search.room[alike].max(axis=0)
    one, two = (_list_sets(search, half, count, high, each, SETS) for half in (order[::2], order[1::2]))
    window = np.concatenate([one.classes, two.classes])
    others = units[~np.isin(units, window)]
    middle = float((search.load[window, 0] * count[window]).sum()) / 2
    for number in range(TARGETS):
        here = int(alike[number % len(alike)])
        given = rng.permutation(others)
        given = given[: int(np.searchsorted(np.cumsum(search.load[given, 0]), search.room[here, 0] - middle))]
        base = np.bincount(given, minlength=len(left))
        rest = search.room[here] - base @ search.load
        picks = _choices(search, one, two, rest - slack, rest)
        if len(picks):
            return here, base + picks[0]
    return None
