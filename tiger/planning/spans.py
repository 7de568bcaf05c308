"""Over which links the ranks of a plan talk."""

from collections.abc import Iterator

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.units import bytes_text
from tiger.planning.links import rate
from tiger.training.hardware.cluster import NO_LINK, Cluster

Pair = tuple[int, int]


def tensor_links(cluster: Cluster, grid: IntArray) -> str:
    """Return the slowest links within tensor-parallel groups in words."""
    return _name_slowest_ring(cluster, grid)


def data_links(cluster: Cluster, grid: IntArray) -> str:
    """Return the slowest links among replicas in words."""
    return _name_slowest_ring(cluster, np.swapaxes(grid, 1, 2))


def _name_slowest_ring(cluster: Cluster, rings: IntArray) -> str:
    """Return the slowest link of rings `[.., r]`, in the order in which they run."""
    ordered = cluster.ring_orders.arrange(rings)
    pairs = zip(np.roll(ordered, 1, axis=-1).ravel().tolist(), ordered.ravel().tolist(), strict=True)
    return _name_slowest(cluster, pairs)


def pipeline_links(cluster: Cluster, grid: IntArray) -> str:
    """Return the slowest links between positions in words."""
    return _name_slowest(cluster, zip(grid[:-1].ravel().tolist(), grid[1:].ravel().tolist(), strict=True))


def _name_slowest(cluster: Cluster, pairs: Iterator[Pair]) -> str:
    """Return the slowest link of pairs of devices as `50 GB/s between machines`; empty where nothing is sent."""
    linked = [(int(cluster.link[a, b]), a, b) for a, b in pairs if a != b and cluster.link[a, b] != NO_LINK]
    if not linked:
        return ""
    curve, a, b = max(linked, key=lambda each: (rate(cluster.curves[each[0]]), -each[1], -each[2]))
    where = "within a machine" if cluster.machine[a] == cluster.machine[b] else "between machines"
    seconds = rate(cluster.curves[curve])
    return f"{bytes_text(1 / seconds)}/s {where}" if seconds else where
