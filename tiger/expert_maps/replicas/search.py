"""Numbers of replicas and their GPUs for pools: a start, exchanges, and other numbers where the bound is far."""

from itertools import product

import numpy as np

from tiger.expert_maps.replicas.bounds import bound_load
from tiger.expert_maps.replicas.descent import take_step
from tiger.expert_maps.replicas.exchange import exchange
from tiger.expert_maps.replicas.loads import count_replicas
from tiger.expert_maps.replicas.packing import pack
from tiger.expert_maps.replicas.pools import Pools
from tiger.expert_maps.replicas.replication import replicate, replicate_below
from tiger.model.arrays import FloatArray, IntArray

# A pool is searched on where its load is more above its bound: below, other numbers of replicas gained nothing.
NEAR = 2e-3
# Largest replicas that are tried, as parts of the way from the least possible to the bound on a GPU's load. With two of
# them, Zipf loads of exponent 1.2 in nodes stay up to 52 % above their bound, with these 7 %, with nine still 7 %.
LARGEST = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
# Experts with replicas above such a part of the largest one come last where slots are left. Two replicas above 0.75 do
# not fit on one GPU, and halves of smaller ones do. Those above 0.25 may not fit beside the largest even then, and need
# a GPU without it as they are: with 0.75 alone, the same loads stay up to 14 % above their bound.
SHARED = (0.75, 0.25)
# The largest replica of experts without load, which they are divided by.
TINY = 1e-300


def search_pools(pools: Pools) -> tuple[IntArray, FloatArray]:
    """Return the experts of slots, [pools, GPUs, slots of a GPU], and a lower bound on the largest load of each pool.

    Never worse than largest replicas first, from the numbers that make the largest replica least.
    """
    owners = replicate(pools)
    slots = exchange(pools, pack(pools, owners))
    load = largest_load(pools, slots)
    bound = bound_load(pools, load)
    least = (pools.weight / count_replicas(owners, pools.experts)).max(axis=1)
    for part, shared in product(LARGEST, SHARED):
        far = np.flatnonzero(load > bound * (1 + NEAR))
        if not far.size:
            break
        some = pools._replace(weight=pools.weight[far])
        other = replicate_below(some, least[far] + part * np.maximum(bound - least, 0)[far] + TINY, shared)
        found = exchange(some, pack(some, other))
        better = (reached := largest_load(some, found)) < load[far]
        slots[far[better]], load[far[better]] = found[better], reached[better]
    _polish(pools, slots, np.flatnonzero(load > bound * (1 + NEAR)))
    return slots, np.minimum(bound, largest_load(pools, slots))


def _polish(pools: Pools, slots: IntArray, rows: IntArray) -> None:
    """Take steps that also change numbers of replicas in some pools, until none helps."""
    while rows.size:
        stepped = take_step(pools._replace(weight=pools.weight[rows]), slots[rows], 1)
        changed = (stepped != slots[rows]).any(axis=(1, 2))
        slots[rows] = stepped
        rows = rows[changed]


def largest_load(pools: Pools, slots: IntArray) -> FloatArray:
    """Return the largest load of a GPU of each pool."""
    flat = slots.reshape(len(slots), -1)
    share = pools.weight / count_replicas(flat, pools.experts)
    held = np.take_along_axis(share, flat, axis=1).reshape(slots.shape)
    return np.asarray(held.sum(axis=2).max(axis=1))
