"""Tests of packing items into bins."""

import itertools
import time

import numpy as np
import pytest

from tiger.feasibility import packing
from tiger.feasibility.bin_completion import complete
from tiger.feasibility.packing import Packing, pack


def ask_of(load, room, count=None, open_=None):
    """Return the question for load[k, d], room[b, d], count[k] (1) and open[k, b] (all)."""
    load, room = np.array(load, np.int64), np.array(room, np.int64)
    size = len(load)
    return Packing(
        load=load.reshape(size, load.size // max(size, 1) or 1),
        count=np.ones(size, np.int64) if count is None else np.array(count),
        room=room.reshape(len(room), -1),
        kind=np.arange(size),
        open=np.ones((size, len(room)), bool) if open_ is None else np.array(open_),
    )


def fits(ask, bins):
    """Return whether bins, class after class, keep every amount and go where they may."""
    item = np.repeat(np.arange(len(ask.count)), ask.count)
    used = np.zeros_like(ask.room)
    np.add.at(used, bins, ask.load[item])
    return bool((used <= ask.room).all() and ask.open[ask.kind[item], bins].all())


def soon(seconds=3600.0):
    """Return a time some seconds from now."""
    return time.monotonic() + seconds


def draw_question(seed):
    """Draw a small question of up to four amounts, with numbers of one digit or many."""
    rng = np.random.default_rng(seed)
    classes, bins, amounts = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
    unit = int(rng.choice([1, 10**10 + 3]))
    load = rng.integers(0, 6, (classes, amounts)) * unit
    count = rng.integers(1, 3, classes)
    room = rng.integers(0, 12, (bins, amounts)) * unit + rng.integers(0, unit)
    return ask_of(load, room, count, rng.random((classes, bins)) < 0.8)


@pytest.mark.slow
@pytest.mark.parametrize("skip", [(), ("_orders",), ("_orders", "BRIEF_BIN_WORK", "BIN_WORK"), ("BRIEF_MILP_WORK",)])
def test_every_method_decides_as_enumeration_does(skip, monkeypatch):
    """Tests small packings against complete enumeration, by all methods together and with some left out."""
    for name in skip:
        monkeypatch.setattr(packing, name, (lambda ask: iter(())) if name == "_orders" else (0, 0))
    decided = set()
    for seed in range(60):
        ask = draw_question(seed)
        every = itertools.product(range(len(ask.room)), repeat=int(ask.count.sum()))
        exists = any(fits(ask, np.array(bins)) for bins in every)
        packed = pack(ask, soon())
        assert (packed.bins is not None) == exists, seed
        assert packed.proved
        assert not exists or fits(ask, packed.bins)
        decided.add(exists)
    assert decided == {True, False}


def test_bins_are_filled_in_order_first():
    """Tests that what fits in order is packed in order, class after class."""
    assert pack(ask_of([2, 1], [3, 3, 3], [2, 3]), soon()).bins.tolist() == [0, 1, 0, 1, 2]


def test_nothing_is_packed():
    """Tests that no classes need no bins."""
    assert pack(ask_of(np.zeros((0, 1)), [3]), soon()).bins.tolist() == []


@pytest.mark.parametrize("seed", range(3))
def test_loads_of_many_digits_are_never_proved_too_many_when_they_fit(seed):
    """Tests planted packings without a byte to spare, by programs alone: found or undecided, never refused."""
    rng = np.random.default_rng(seed)
    load, place = rng.integers(10**9, 10**12, 12), rng.integers(0, 3, 12)
    ask = ask_of(load, np.bincount(place, weights=load, minlength=3).astype(np.int64))
    packed = packing._decide_by_milp(ask, soon(1.0), 10**6, 1000)
    assert not packed.proved or fits(ask, packed.bins)


@pytest.mark.slow
@pytest.mark.parametrize(("items", "bins"), [(60, 10), (50, 5)])
def test_larger_bins_are_filled_exactly(items, bins):
    """Tests planted loads of up to 10^12 that are too many for trying every way."""
    rng = np.random.default_rng(items)
    load, place = rng.integers(10**9, 10**12, items), rng.permutation(np.arange(items) % bins)
    ask = ask_of(load, np.bincount(place, weights=load).astype(np.int64))
    assert fits(ask, pack(ask, soon()).bins)


def test_equal_loads_of_many_classes_are_packed():
    """Tests 44 items of one load but classes of their own, which fill 4 bins in more ways than can be listed."""
    load, room = np.full((44, 1), 10), np.full((4, 1), 110)
    found = complete(load, np.ones(44, np.int64), room, np.ones((44, 4), bool), soon(), work=10**8, restarts=20)
    assert (found.amount.sum(axis=0) == 11).all()


def test_sizes_that_come_often_are_packed_exactly():
    """Tests 300 items of small sizes that fill 40 bins to the last unit."""
    rng = np.random.default_rng(3)
    sizes, place = rng.integers(3, 12, 300), rng.integers(0, 40, 300)
    values, count = np.unique(sizes, return_counts=True)
    ask = ask_of(values, np.bincount(place, weights=sizes, minlength=40).astype(np.int64), count)
    assert fits(ask, pack(ask, soon()).bins)


@pytest.mark.slow
def test_the_same_question_has_the_same_answer():
    """Tests that random restarts are seeded."""
    rng = np.random.default_rng(5)
    load = rng.integers(10**9, 10**12, 40)
    ask = ask_of(load, np.full(6, int(load.sum() / 6 * 1.0001)))
    assert pack(ask, soon()).bins.tolist() == pack(ask, soon()).bins.tolist()


def test_no_time_leaves_it_open():
    """Tests that without time nothing is proved beyond what the sums say."""
    assert pack(ask_of([8, 4, 4, 4], [10, 10]), soon(0)) == (None, False)
    assert pack(ask_of([8, 8, 8], [10, 10]), soon(0)) == (None, True)


@pytest.mark.parametrize(
    ("closed", "bins"), [((), [0, 0, 1]), ((1,), [0, 0, 2]), ((0,), [1, 1, 2]), ((1, 2), None), ((0, 1, 2), None)]
)
def test_the_emptiest_bin_has_most_room_for_each_that_it_can_still_take(closed, bins):
    """Tests three items of 3 on bins of 10, 9 and 8 with two slots each, some of them closed."""
    ask = ask_of([[3, 1]], [[10, 2], [9, 2], [8, 2]], [3], [[b not in closed for b in range(3)]])
    found = packing._pack_greedily(ask, np.zeros(1, np.int64), "emptiest")
    assert (None if found is None else found.tolist()) == bins
