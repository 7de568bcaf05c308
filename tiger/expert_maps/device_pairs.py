"""Exchanges of experts between two devices in all layers at once, the best of which a dynamic program finds."""

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tiger.expert_maps.costs import ExpertProblem
from tiger.model.arrays import FloatArray, IntArray, lock

# Experts of each of two devices that are shared out anew: 70 ways a layer, where one more would make 252.
POOL = 4


def exchange_pairs(
    problem: ExpertProblem, start: IntArray, generator: np.random.Generator, trials: int, stop: Callable[[], bool]
) -> IntArray:
    """Share out the experts of two devices anew, in all layers together, until no pair gains or for so many trials.

    Single layers cannot leave a placement whose layers agree with each other on a poor choice; this changes them all.
    Of devices with more than four experts in a layer, four random ones take part. O(L (70^2 + E)) a trial.
    """
    pairs = list(combinations(range(problem.devices), 2))
    place, idle, order = start.copy(), 0, list[int]()
    for _ in range(trials):
        if idle == len(pairs) or stop():
            break
        order = order or generator.permutation(len(pairs)).tolist()
        idle = 0 if _share_out(problem, place, pairs[order.pop()], generator) else idle + 1
    return place


class _ExpertShares(NamedTuple):
    """Hold the experts `members[L, 2 k]` of two devices that take part, and the ways `masks[N, 2 k]` to share them out.

    A mask is 1 for an expert on the second device.
    """

    members: IntArray
    masks: FloatArray


def _share_out(problem: ExpertProblem, place: IntArray, pair: tuple[int, int], generator: np.random.Generator) -> bool:
    """Share the experts of two devices out in the best way, and return whether that is a gain."""
    pool = _draw_pool(place, pair, generator)
    linear, tables = _tabulate(problem, place, pair, pool)
    here = (np.take_along_axis(place, pool.members, axis=1) == pair[1]).astype(np.float64)
    now = (pool.masks == here[:, None]).all(axis=2).argmax(axis=1)
    rows = np.arange(len(tables))
    cost = linear[np.arange(len(linear)), now].sum() + tables[rows, now[:-1], now[1:]].sum()
    behind, chosen = linear[-1], []
    for table, own in zip(tables[::-1], linear[-2::-1], strict=True):
        sums = table + behind
        choice = sums.argmin(axis=1)
        behind = own + sums[np.arange(len(sums)), choice]
        chosen.append(choice)
    way = int(behind.argmin())
    # Rounding must not count as a gain, or pairs exchange for ever.
    if not behind[way] < cost - 1e-9 * problem.counts.sum():
        return False
    ways = [way]
    for choice in chosen[::-1]:
        ways.append(int(choice[ways[-1]]))
    np.put_along_axis(place, pool.members, np.where(pool.masks[ways] > 0, pair[1], pair[0]), axis=1)
    return True


def _draw_pool(place: IntArray, pair: tuple[int, int], generator: np.random.Generator) -> _ExpertShares:
    """Return experts of two devices in each layer, all of them where they are few, and the ways to share them out."""
    layers = len(place)
    members = []
    for device in pair:
        held = np.nonzero(place == device)[1].reshape(layers, -1)
        if held.shape[1] > POOL:
            held = generator.permuted(held, axis=1)[:, :POOL]
        members.append(held)
    return _ExpertShares(np.concatenate(members, axis=1), _list_masks(members[0].shape[1]))


@cache
def _list_masks(size: int) -> FloatArray:
    """Return all ways [N, 2 k] to choose k of 2 k experts, 1 for those chosen."""
    chosen = np.array(list(combinations(range(2 * size), size)))
    masks = np.zeros((len(chosen), 2 * size))
    np.put_along_axis(masks, chosen, 1.0, axis=1)
    return lock(masks)


def _tabulate(
    problem: ExpertProblem, place: IntArray, pair: tuple[int, int], pool: _ExpertShares
) -> tuple[FloatArray, FloatArray]:
    """Return the costs [L, N] of the ways of each layer, and those [L - 1, N, N] of two consecutive ones."""
    layer, counts, members = np.arange(len(place))[:, None], problem.counts, pool.members
    # What a hop to each device costs more from the second of the pair; to experts of the pool it is in the tables.
    more = (problem.hops[pair[1]] - problem.hops[pair[0]])[place]
    more[layer, members] = 0.0
    single = np.zeros(members.shape)
    single[:-1] += np.einsum("lef,lf->le", counts[layer[:-1], members[:-1]], more[1:])
    # Of two arrays of indices around a slice, numpy puts the slice last.
    single[1:] += np.einsum("lef,lf->le", counts[layer[:-1], :, members[1:]], more[:-1])
    within = counts[layer[:-1, :, None], members[:-1, :, None], members[1:, None]]
    apart = problem.hops[pair]
    # Two experts are apart where one of their bits is set, but not both.
    single[:-1] += apart * within.sum(axis=2)
    single[1:] += apart * within.sum(axis=1)
    tables = -2 * apart * (pool.masks @ within @ pool.masks.T)
    return single @ pool.masks.T, tables
