"""How far apart devices are: seconds per byte of messages of one size."""

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.pipeline.cluster import NO_LINK, Cluster


def seconds_per_byte(cluster: Cluster, size_bytes: float) -> FloatArray:
    """Return `[n, n]` seconds per byte of a message, infinite without a link, 0 within a device; 0 bytes count as 1."""
    size = max(size_bytes, 1.0)
    paces = np.array([*(float(curve.of(size)) / size for curve in cluster.curves), np.inf])
    table: FloatArray = paces[np.where(cluster.link == NO_LINK, len(cluster.curves), cluster.link)]
    np.fill_diagonal(table, 0.0)
    return table
