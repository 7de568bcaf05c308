"""The seconds of messages over each type of link of a cluster."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import NO_LINK, Cluster


def link_types(cluster: Cluster) -> IntArray:
    """Return the row of each pair of devices among the types of links: a curve's, none, or the device itself."""
    types = np.where(cluster.link == NO_LINK, len(cluster.curves), cluster.link)
    np.fill_diagonal(types, len(cluster.curves) + 1)
    return types


def link_rows(cluster: Cluster, size_bytes: FloatArray) -> FloatArray:
    """Return the seconds of messages over each type of link, `[c + 2, sizes]`."""
    none = np.where(size_bytes > 0, np.inf, 0.0)
    return np.array([*(curve.of(size_bytes) for curve in cluster.curves), none, np.zeros(len(size_bytes))])


def ring_rows(cluster: Cluster, size_bytes: FloatArray, ranks: int) -> FloatArray:
    """Return the seconds of all-reducing among ranks whose links are all of one type, `[c + 2, sizes]`."""
    seconds = link_rows(cluster, size_bytes / ranks)
    return 2 * (ranks - 1) * seconds if ranks > 1 else np.zeros_like(seconds)
