"""Numbers of replicas and their GPUs for pools: a start, exchanges, and other numbers where the bound is far."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from tiger.expert_maps.replicas.bounds import bound_load
from tiger.expert_maps.replicas.descent import largest_time, take_step
from tiger.expert_maps.replicas.exchange import exchange
from tiger.expert_maps.replicas.loads import count_replicas
from tiger.expert_maps.replicas.packing import pack
from tiger.expert_maps.replicas.pools import Pools
from tiger.expert_maps.replicas.replication import replicate, replicate_below, replicate_lightest
from tiger.model.arrays import FloatArray, IntArray

# A pool is searched on where its load is more above its bound. Nearer, other numbers of replicas make largest loads
# 0.1 % less, and those of later batches larger, as busy experts have fewer: with 2e-3, 64 experts of skew 0.8 and drift
# 0.3 in `python -m benchmarks next_batch` are at 1.280 times the mean for one batch, and not at 1.273 (EPLB: 1.276).
NEAR = 5e-3
# Largest replicas that are tried, as parts of the way from the least possible to the bound on a GPU's load. With two of
# them, Zipf loads of exponent 1.2 in nodes stay up to 52 % above their bound, with these 7 %, with nine still 7 %.
LARGEST = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
# Experts with replicas above such a part of the largest one come last where slots are left. Two replicas above 0.75 do
# not fit on one GPU, and halves of smaller ones do. Those above 0.25 may not fit beside the largest even then, and need
# a GPU without it as they are: with 0.75 alone, the same loads stay up to 14 % above their bound.
SHARED = (0.75, 0.25)
# Parts of the further replicas that busy experts get where GPUs are unlike; light ones get the others.
LIGHT = (0.0, 0.25, 0.5, 0.75)
# The largest replica of experts without load, which they are divided by.
TINY = 1e-300


def search_pools(pools: Pools) -> tuple[IntArray, FloatArray]:
    """Return the experts of slots, [pools, GPUs, slots of a GPU], and a lower bound on the largest time of each pool.

    Never worse than largest replicas first, from the numbers that make the largest replica least.
    """
    owners, whole = replicate(pools), pools.pad()
    slots = exchange(whole, pack(pools, owners))
    load = largest_time(whole, slots)
    bound = bound_load(pools, load)
    least = (pools.weight / count_replicas(owners, pools.experts)).max(axis=1)
    for number in _list_numbers(pools, least, bound):
        far = np.flatnonzero(load > bound * (1 + NEAR))
        if not far.size:
            break
        some = whole.take(far)
        found = exchange(some, pack(pools.take(far), number(far)))
        better = (reached := largest_time(some, found)) < load[far]
        slots[far[better]], load[far[better]] = found[better], reached[better]
    _polish(whole, slots, np.flatnonzero(load > bound * (1 + NEAR)))
    return slots, np.minimum(bound, largest_time(whole, slots))


def _list_numbers(pools: Pools, least: FloatArray, bound: FloatArray) -> Iterator[Callable[[IntArray], IntArray]]:
    """Yield functions from some of the pools to the experts of their slots, with other numbers of replicas."""
    for part in LIGHT if not pools.alike else ():
        yield partial(_favour_light, pools, part)
    for part, shared in product(LARGEST, SHARED):
        largest = least + part * np.maximum(bound * pools.speeds.max(axis=1) - least, 0) + TINY
        yield partial(_keep_below, pools, largest, shared)


def _favour_light(pools: Pools, part: float, rows: IntArray) -> IntArray:
    """Return the experts of slots of some pools, with a part of the further replicas for busy experts alone."""
    return replicate_lightest(pools.take(rows), part)


def _keep_below(pools: Pools, largest: FloatArray, shared: float, rows: IntArray) -> IntArray:
    """Return the experts of slots of some pools, with no replica above `largest`, [pools]."""
    return replicate_below(pools.take(rows), largest[rows], shared)


def _polish(pools: Pools, slots: IntArray, rows: IntArray) -> None:
    """Take steps that also change numbers of replicas in some pools, until none helps."""
    while rows.size:
        stepped = take_step(pools.take(rows), slots[rows], 1)
        changed = (stepped != slots[rows]).any(axis=(1, 2))
        slots[rows] = stepped
        rows = rows[changed]
