"""Orders of devices to begin a search with."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.training.hardware.cluster import Cluster

# Orders of each of two kinds to start from, and the most devices for which neighbours are compared, as that is O(n^3).
STARTS, MOST_DEVICES = 16, 512
# The message by which devices are near, in bytes: of the size of activations, so that bandwidth counts.
NEAR_BYTES = 1e6


def starts(cluster: Cluster, seed: int) -> IntArray:
    """Return orders of all devices `[N, n]`: the cluster's own, the fastest first, and machine by machine.

    And along the widest links from each device, and some at random, so that something fits where links are missing.
    """
    _, machine = np.unique(cluster.machine, return_inverse=True)
    speed = np.bincount(machine, cluster.speed) / np.bincount(machine)
    fastest = np.argsort(-cluster.speed, kind="stable")
    together = np.lexsort((-cluster.speed, machine, -speed[machine]))
    near = cluster.table_s(NEAR_BYTES) / NEAR_BYTES
    count = min(cluster.size, STARTS) if cluster.size <= MOST_DEVICES else 0
    chains = [_nearest_neighbours(near, begin) for begin in range(count)]
    rng = np.random.default_rng(derive(seed, cluster.size))
    drawn = [rng.permutation(cluster.size) for _ in range(STARTS)]
    return np.array([np.arange(cluster.size), fastest, together, *chains, *drawn])


def _nearest_neighbours(near: FloatArray, begin: int) -> IntArray:
    """Return all devices, each the nearest to the one before of those not visited."""
    order, left = [begin], near.copy()
    for _ in range(len(near) - 1):
        left[:, order[-1]] = np.inf
        row = left[order[-1]]
        free = np.setdiff1d(np.arange(len(near)), order)
        order.append(int(free[np.argmin(row[free])]))
    return np.array(order, np.int64)
