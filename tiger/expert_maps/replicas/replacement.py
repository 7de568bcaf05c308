"""A slot of an expert with several replicas, given to an expert of the GPU with the largest load."""

import numpy as np

from tiger.expert_maps.replicas.exchange import count_on_gpus
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import FloatArray, IntArray


def find_replacements(
    pools: Pools, slots: IntArray, value: FloatArray, counts: IntArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the largest time that the best replacement of each pool leaves on the GPUs it changes, slot and expert.

    `slots` and `value` are experts and loads, [pools, GPUs, slots of a GPU], `counts` the replicas of each expert. The
    other replicas of the expert that loses a slot carry more, those of the one that gains it less.
    """
    count, gpus, size = slots.shape
    rows, load, speed = np.arange(count), value.sum(axis=2), np.repeat(pools.speeds, size, axis=1)
    top = (load / pools.speeds).argmax(axis=1)
    flat, gained = slots.reshape(count, -1), slots[rows, top]
    number = np.take_along_axis(counts, flat, axis=1)
    rise = np.take_along_axis(pools.weight, flat, axis=1) * (1 / np.maximum(number - 1, 1) - 1 / number)
    share = value[rows, top]
    less = np.take_along_axis(pools.weight, gained, axis=1) / (np.take_along_axis(counts, gained, axis=1) + 1)
    # A GPU may hold an expert more than once, and each replica that stays carries more.
    alike = sum((slots == slots[..., k, None]).astype(np.int64) for k in range(size)).reshape(count, -1)
    raised = np.repeat(load, size, axis=1) + alike * rise
    there = raised - rise - value.reshape(count, -1)
    there = (there[:, None, :] + less[:, :, None]) / speed[:, None, :]
    after = np.maximum(there, _others(flat, raised / speed, counts, size)[:, None, :])
    left = (load[rows, top][:, None] - share + less) / pools.speeds[rows, top][:, None]
    after = np.maximum(after, left[:, :, None])
    full = (count_on_gpus(slots, gained) >= pools.copies) | (gained == pools.blank)[:, :, None]
    elsewhere = np.repeat(np.arange(gpus)[None, :] != top[:, None], size, axis=1)
    after[np.repeat(full, size, axis=2) | ~((number > 1) & elsewhere & (flat != pools.blank))[:, None, :]] = np.inf
    best = after.reshape(count, -1).argmin(axis=1)
    expert = gained[rows, best // (gpus * size)]
    return after.reshape(count, -1)[rows, best], best % (gpus * size), expert


def _others(flat: IntArray, held: FloatArray, counts: IntArray, size: int) -> FloatArray:
    """Return for each slot the largest of the numbers `held` for slots of its expert on other GPUs, [pools, slots]."""
    count, slots = flat.shape
    gpu = np.arange(slots) // size
    order, rows = np.argsort(held, axis=1, kind="stable"), np.arange(count)[:, None]
    largest, where = np.zeros(counts.shape), np.full(counts.shape, -1)
    # Where an expert occurs again, the last value, the largest, is the one that stays.
    owner = np.take_along_axis(flat, order, axis=1)
    largest[rows, owner], where[rows, owner] = np.take_along_axis(held, order, axis=1), gpu[order]
    first = np.take_along_axis(where, flat, axis=1) == gpu
    second = np.zeros(counts.shape)
    rest = np.take_along_axis(first, order, axis=1)
    value = np.where(rest, 0.0, np.take_along_axis(held, order, axis=1))
    np.maximum.at(second, (rows, owner), value)
    return np.where(first, np.take_along_axis(second, flat, axis=1), np.take_along_axis(largest, flat, axis=1))
