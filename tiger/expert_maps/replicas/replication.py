"""How many replicas each expert gets."""

import numpy as np

from tiger.expert_maps.replicas.loads import count_replicas
from tiger.expert_maps.replicas.pools import Pools
from tiger.model.arrays import FloatArray, IntArray

# A quotient of loads that is above a whole number by less is that number.
SLACK = 1e-12
# What makes a load smaller than all others that are not zero, and keeps their order.
TINY = 1e-30


def replicate(pools: Pools) -> IntArray:
    """Return the experts that slots are for, [pools, slots]: each one once, then always the one of the largest replica.

    This makes the largest replica as small as any numbers of replicas do: an expert is given a further one only while
    it has the largest, and every solution below that must give it one, too. O(slots * experts) a pool.
    """
    return _replicate_largest(pools, pools.slots)


def replicate_lightest(pools: Pools, part: float) -> IntArray:
    """Return the experts of slots with a part of the further replicas as `replicate` has them, others of the lightest.

    Slow GPUs have as many slots as fast ones. They fill them with as little load where a light expert has a replica on
    each of them.
    """
    owners = _replicate_largest(pools, pools.experts + int(part * (pools.slots - pools.experts)))
    counts = count_replicas(owners, pools.experts)
    slower = int((pools.speeds < pools.speeds.max(axis=1, keepdims=True)).sum(axis=1).max())
    order = np.argsort(pools.weight, axis=1, kind="stable")
    for most in (min(max(slower * pools.copies, 1), pools.most), pools.gpus * pools.copies):
        room = np.maximum(most - np.take_along_axis(counts, order, axis=1), 0)
        left = (pools.slots - counts.sum(axis=1))[:, None]
        given = np.clip(left - (np.cumsum(room, axis=1) - room), 0, room)
        np.put_along_axis(counts, order, np.take_along_axis(counts, order, axis=1) + given, axis=1)
    return _list_owners(counts)


def _replicate_largest(pools: Pools, slots: int) -> IntArray:
    """Return the experts of some of the slots, as `replicate` does of all."""
    count, experts = pools.weight.shape
    owners = np.tile(np.arange(slots), (count, 1))
    counts, share, rows = np.ones((count, experts), np.int64), pools.weight.copy(), np.arange(count)
    for slot in range(experts, slots):
        chosen = share.argmax(axis=1)
        owners[:, slot] = chosen
        counts[rows, chosen] += 1
        given = counts[rows, chosen]
        # An expert that has all the replicas it may have takes no further part.
        share[rows, chosen] = np.where(given < pools.gpus * pools.copies, pools.weight[rows, chosen] / given, -1.0)
    return owners


def replicate_below(pools: Pools, largest: FloatArray, part: float) -> IntArray:
    """Return the experts of slots with no replica above `largest`, [pools], and few for those above a part of it.

    Other experts then have more, and their replicas fit beside each other. Pools that have too few slots for that are
    left without the limits.
    """
    counts = np.maximum(np.ceil(pools.weight / largest[:, None] * (1 - SLACK)), 1).astype(np.int64)
    most = pools.gpus * pools.copies
    short = (counts.sum(axis=1) > pools.slots) | (counts > most).any(axis=1)
    counts[short], limit = 1, np.where(short, np.inf, part * largest)
    while (rows := np.flatnonzero(counts.sum(axis=1) < pools.slots)).size:
        share = pools.weight[rows] / counts[rows]
        # Experts above come last, and still before those that have all the replicas they may have.
        share = np.where(share > limit[rows, None], share * TINY, share)
        share[counts[rows] >= most] = -1.0
        counts[rows, share.argmax(axis=1)] += 1
    return _list_owners(counts)


def _list_owners(counts: IntArray) -> IntArray:
    """Return the expert of each slot, [pools, slots], by the numbers of replicas."""
    return np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel()).reshape(len(counts), -1)
