"""Lower bounds on the largest load over speed of a GPU in a pool, whatever numbers of replicas go wherever."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import BoolArray, FloatArray, IntArray

# Halvings of the range between the mean load and the one reached: what is left of it is below errors of rounding.
HALVINGS = 40
# Where no more than so much above the mean can be ruled out, the mean is the bound, which saves most halvings.
MEAN = 1e-9
# Needs of replicas and what is left over determine each other; each round of both only sharpens the bound.
ROUNDS = 3
# Two of so many experts are looked at: those that replicas do not make small.
LARGE = 3
# Thresholds are taken from so many speeds at most, the fastest ones: clusters have two or three.
SPEEDS = 4
# A load that cannot be told from the one that is tested for is not ruled out.
SLACK = 1e-12


def bound_load(pools: Pools, reached: FloatArray) -> FloatArray:
    """Return a bound for each pool: the largest load, at most the `reached` one, that is proven to be too small.

    It is the mean where nothing more can be proven. O(experts log experts) for each load that is tested.
    """
    mean = np.minimum(pools.weight.sum(axis=1) / pools.speeds.sum(axis=1), reached)
    above = np.flatnonzero(rule_out(pools, mean * (1 + MEAN)) & (mean * (1 + MEAN) < reached))
    part, low, high = pools.take(above), mean[above], reached[above]
    for _ in range(HALVINGS if len(above) else 0):
        middle = (low + high) / 2
        short = rule_out(part, middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    mean[above] = low
    fastest = pools.speeds.max(axis=1)
    return np.asarray(np.maximum(mean, np.minimum(bound_pairs(pools) / fastest, reached)))


def bound_pairs(pools: Pools) -> FloatArray:
    """Return a bound for each pool from two of its largest experts, whatever the numbers of their replicas.

    Either some GPU holds both, and slots to spare make replicas small, or the GPUs with one of them lack the other: on
    k of them, whatever the replicas, one carries a k-th of an expert's load.
    """
    order = np.argsort(-pools.weight, axis=1, kind="stable")
    spare = pools.slots - pools.experts
    needs = ReplicaNeeds(np.ones_like(order), np.full(len(order), spare))
    beside_one = _fill(pools, needs, pools.fewest - min(pools.copies, pools.fewest))[:, None]
    beside_both = _fill(pools, needs, pools.fewest - 2)[:, None]
    first = np.arange(1, pools.most + 1)
    second = np.minimum(pools.most, spare + 2 - first)
    free = np.minimum(second, pools.gpus - first)
    bound = np.zeros(len(order))
    for one, other in combinations(range(min(LARGE, pools.experts)), 2):
        a, b = (np.take_along_axis(pools.weight, order[:, [k]], axis=1) for k in (one, other))
        apart = np.where(free > 0, np.maximum(a / first, b / np.maximum(free, 1)) + beside_one, np.inf)
        both = a / first + b / second + beside_both if pools.size > 1 else np.inf
        bound = np.maximum(bound, np.minimum(apart, both).min(axis=1))
    return bound * (1 - SLACK)


class ReplicaNeeds(NamedTuple):
    """Hold the fewest replicas of each expert, [pools, experts], and how many slots are left to share, [pools]."""

    counts: IntArray
    spare: IntArray


def rule_out(pools: Pools, load: FloatArray) -> BoolArray:
    """Return for which pools no solution has a largest load, over speeds, of at most `load`, as far as can be seen.

    All GPUs are as fast as the fastest at first, which none can do without.
    An expert of load w needs w / (load - fill) replicas, where fill is the least that the other slots of a GPU carry.
    Of replicas above load / (j + 1) a GPU holds j, so that more than j on every GPU are too many.
    """
    short = _rule_out_unlike(pools, load)
    load = load * pools.speeds.max(axis=1)
    fill = np.zeros_like(load)
    for _ in range(ROUNDS):
        needs = _find_needs(pools, load - fill)
        fill = _fill(pools, needs, pools.fewest - 1)
    short |= (needs.spare < 0) | (needs.counts > pools.most).any(axis=1)
    for j in range(1, pools.fewest):
        least = (load - _fill(pools, needs, pools.fewest - 1 - j)) / (j + 1)
        short |= _count_above(pools, needs, least) > j * pools.gpus
    for some in np.unique(pools.speeds).tolist()[-SPEEDS:] if not pools.alike else ():
        short |= _exceed_speeds(pools, needs, load / pools.speeds.max(axis=1), some)
    return short


def _rule_out_unlike(pools: Pools, time: FloatArray) -> BoolArray:
    """Return for which pools speeds and slots leave no solution that takes at most a `time`, none if all are alike.

    The k GPUs with most slots for their speed have to fill these: the others hold no more than one expert a slot, and
    what is left has all replicas to spare. An expert with r replicas has one on the r-th fastest GPU or a slower one.
    """
    if pools.alike:
        return np.zeros(len(time), np.bool_)
    order = np.argsort(-pools.rooms / pools.speeds, axis=1, kind="stable")
    speed, rooms = (np.take_along_axis(some, order, axis=1) for some in (pools.speeds, pools.rooms))
    lightest = np.cumsum(np.sort(pools.weight, axis=1), axis=1)
    held = np.cumsum(rooms, axis=1) - (pools.slots - pools.experts)
    least = np.where(held > 0, np.take_along_axis(lightest, np.maximum(held, 1) - 1, axis=1), 0.0)
    short = (least * (1 - SLACK) > time[:, None] * np.cumsum(speed, axis=1)).any(axis=1)
    room = np.repeat(np.sort(pools.speeds, axis=1)[:, ::-1], pools.copies, axis=1)[:, : pools.most] * time[:, None]
    number = np.arange(1, room.shape[1] + 1)
    # The most that r replicas carry, by the largest of any smaller number: more replicas may be worse.
    carried = np.maximum.accumulate(room * number, axis=1) * (1 + SLACK)
    needed = np.array([np.searchsorted(most, row) for most, row in zip(carried, pools.weight, strict=True)]) + 1
    return np.asarray(short | (needed > room.shape[1]).any(axis=1) | (needed.sum(axis=1) > pools.slots))


def _exceed_speeds(pools: Pools, needs: ReplicaNeeds, time: FloatArray, speed: float) -> BoolArray:
    """Return in which pools more replicas are above a j-th of the load of a GPU of a speed than all GPUs can hold."""
    short = np.zeros(len(time), np.bool_)
    for j in range(1, pools.size + 1):
        room = np.minimum(np.ceil(pools.speeds / speed * j * (1 - SLACK)) - 1, pools.rooms).sum(axis=1)
        short |= _count_above(pools, needs, time * speed / j) > room
    return short


def _find_needs(pools: Pools, room: FloatArray) -> ReplicaNeeds:
    """Return how many replicas experts need at least where none may be larger than `room`, [pools]."""
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.ceil(pools.weight / room[:, None] * (1 - SLACK))
    needed[(room <= 0)[:, None] & (pools.weight > 0)] = np.inf
    counts = np.clip(np.nan_to_num(needed, posinf=pools.slots + 1), 1, pools.slots + 1).astype(np.int64)
    return ReplicaNeeds(counts, pools.slots - counts.sum(axis=1))


def _fill(pools: Pools, needs: ReplicaNeeds, number: int) -> FloatArray:
    """Return the least sum of `number` replicas on one GPU, each expert with all spare slots to itself."""
    counts = needs.counts + np.maximum(needs.spare, 0)[:, None]
    share = pools.weight / counts
    order = np.argsort(share, axis=1)
    share = np.take_along_axis(share, order, axis=1)
    times = np.minimum(np.take_along_axis(counts, order, axis=1), pools.copies)
    taken = np.clip(number - (np.cumsum(times, axis=1) - times), 0, times)
    return np.asarray((share * taken).sum(axis=1))


def _count_above(pools: Pools, needs: ReplicaNeeds, least: FloatArray) -> FloatArray:
    """Return how many replicas are larger than `least` at least, [pools], however the spare slots are shared.

    Spare slots that make an expert's replicas small take all of them out of the count; they go where a slot takes out
    most, the last in part (the bound of Dantzig, 1957, doi:10.1287/opre.5.2.266, on a knapsack problem).
    """
    above = pools.weight > needs.counts * (least * (1 + SLACK))[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.floor(pools.weight / least[:, None]) + 1 - needs.counts
    price = np.where(above, np.nan_to_num(np.maximum(price, 1), posinf=pools.slots), 1)
    worth = np.where(above, needs.counts, 0)
    order = np.argsort(-worth / price, axis=1)
    price, worth = np.take_along_axis(price, order, axis=1), np.take_along_axis(worth, order, axis=1)
    bought = np.clip((np.maximum(needs.spare, 0)[:, None] - (np.cumsum(price, axis=1) - price)) / price, 0, 1)
    return np.asarray(worth.sum(axis=1) - np.floor((worth * bought).sum(axis=1) + SLACK))
