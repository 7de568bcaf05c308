"""Replicas that change places between the GPU with the largest load and another, until that helps no more."""

import numpy as np

from tiger.expert_maps.replicas.loads import count_replicas
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import BoolArray, FloatArray, IntArray

# Pairs of slots that are compared at a time, which is about 100 MB of temporary arrays.
PAIRS = 2_000_000
# An exchange has to lower the load by so much of it: less is an error of rounding.
LEAST = 1e-12


def exchange(pools: Pools, slots: IntArray) -> IntArray:
    """Return slots, [pools, GPUs, slots of a GPU], after the best exchange with the fullest GPU, as long as one helps.

    Every exchange lowers the larger load of two GPUs, so that this ends. O(slots * slots of a GPU) an exchange.
    """
    found = slots.copy()
    step = max(1, PAIRS // (pools.slots * pools.size))
    for start in range(0, len(slots), step):
        part = slice(start, start + step)
        found[part] = _exchange_part(pools.take(part), found[part])
    return found


def _exchange_part(pools: Pools, slots: IntArray) -> IntArray:
    """Exchange as `exchange` does, in pools that are few enough for one go."""
    share = pools.weight / count_replicas(slots, pools.experts)
    value = np.take_along_axis(share, slots.reshape(len(slots), -1), axis=1).reshape(slots.shape)
    active = np.arange(len(slots))
    while len(active):
        worst, mine, other = find_exchanges(pools.take(active), value[active], slots[active])
        load = value[active].sum(axis=2) / pools.take(active).speeds
        top = load.argmax(axis=1)
        helps = worst < load.max(axis=1) * (1 - LEAST)
        active, top, mine, other = active[helps], top[helps], mine[helps], other[helps]
        gpu, at = other // pools.size, other % pools.size
        for array in (slots, value):
            first = array[active, top, mine].copy()
            array[active, top, mine] = array[active, gpu, at]
            array[active, gpu, at] = first
    return slots


def find_exchanges(pools: Pools, value: FloatArray, slots: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the larger time of the two GPUs after the best exchange of each pool, and its two slots.

    The first slot is one of the GPU with the largest time, the second of all slots of the pool.
    """
    count, gpus, size = value.shape
    load, rows = value.sum(axis=2), np.arange(count)
    speed = pools.speeds
    top = (load / speed).argmax(axis=1)
    less = value[rows, top][:, :, None] - value.reshape(count, 1, -1)
    other = np.repeat(load, size, axis=1)[:, None, :]
    after = np.maximum(
        (load[rows, top][:, None, None] - less) / speed[rows, top][:, None, None],
        (other + less) / np.repeat(speed, size, axis=1)[:, None, :],
    )
    after[~_allowed(pools, slots, top)] = np.inf
    flat = after.reshape(count, -1)
    best = flat.argmin(axis=1)
    return flat[rows, best], best // (gpus * size), best % (gpus * size)


def _allowed(pools: Pools, slots: IntArray, top: IntArray) -> BoolArray:
    """Return which exchanges are with another GPU and leave no GPU with more of an expert than it may hold."""
    count, gpus, size = slots.shape
    rows = np.arange(count)
    mine, every = slots[rows, top], slots.reshape(count, -1)
    here = (count_on_gpus(mine[:, None], every)[:, :, 0] < pools.copies) & (every != pools.blank)
    there = (count_on_gpus(slots, mine) < pools.copies) & (mine != pools.blank)[:, :, None]
    elsewhere = np.repeat(np.arange(gpus)[None, :] != top[:, None], size, axis=1)
    return np.asarray(np.repeat(there, size, axis=2) & (here & elsewhere)[:, None, :])


def count_on_gpus(slots: IntArray, experts: IntArray) -> IntArray:
    """Return how many slots, [pools, GPUs, slots of a GPU], of each GPU some experts have, [pools, experts, GPUs]."""
    number = np.zeros((*experts.shape, slots.shape[1]), np.int64)
    # One slot of all GPUs after another: numpy takes several times as long for sums along so short an axis.
    for k in range(slots.shape[2]):
        number += slots[:, None, :, k] == experts[:, :, None]
    return number
