"""Hop weights between GPUs: what it costs that a token goes from one to another, the fastest link counting 1."""

import numpy as np

from tiger.errors import InputError
from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import Cluster

# Bytes of a message that is so long that its time says the bandwidth: the tokens of a large batch.
LONG_BYTES = 1e9
# Each level outweighs all those inside it, while costs keep their digits: the weights of an order of levels.
STEP = 1_000.0


def hosts_of_experts(cluster: Cluster) -> IntArray:
    """Return the numbers of the devices that hold experts: accelerators; raise InputError where there are none."""
    chosen = np.flatnonzero([kind == "accelerator" for kind in cluster.kinds])
    if not chosen.size:
        raise InputError("cluster", "expected an accelerator, got none")
    return chosen


def hop_weights(cluster: Cluster, devices: IntArray) -> FloatArray:
    """Return the weights [G, G] of hops between devices: 0 within one, and else inverse to the bandwidth.

    The widest link counts 1. Raises InputError of `cluster` for devices that are not linked, for tokens go anywhere.
    """
    seconds = cluster.table_s(LONG_BYTES)[np.ix_(devices, devices)]
    if not np.isfinite(seconds).all():
        a, b = devices[np.argwhere(~np.isfinite(seconds))[0]].tolist()
        names = cluster.names
        raise InputError("cluster", f"expected links between all devices, got none from {names[a]!r} to {names[b]!r}")
    apart = seconds[seconds > 0]
    return seconds / apart.min() if apart.size else seconds


def list_levels(hops: FloatArray) -> list[tuple[float, IntArray]]:
    """Return rising distances, each with the groups [G] of devices that are at least so far apart, ever fewer.

    By single linkage: devices are of one group where a chain of shorter hops joins them.
    """
    from scipy.sparse.csgraph import connected_components

    levels: list[tuple[float, IntArray]] = []
    for distance in np.unique(hops[hops > 0]).tolist():
        count, label = connected_components(hops < distance, directed=False)
        if levels and count == levels[-1][1].max() + 1:
            # The same groups are even further apart.
            levels.pop()
        if count == 1:
            break
        levels.append((distance, label.astype(np.int64)))
    return levels


def outermost_first(hops: FloatArray) -> FloatArray:
    """Return weights under which a hop between groups of an outer level outweighs all hops within them."""
    weights = np.zeros_like(hops)
    for number, (_, label) in enumerate(list_levels(hops)):
        weights[label[:, None] != label] = STEP**number
    return weights
