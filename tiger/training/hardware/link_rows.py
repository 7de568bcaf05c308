"""The seconds of messages over each type of link of a cluster."""

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import NO_LINK, Cluster


def link_types(cluster: Cluster, a: IntArray, b: IntArray) -> IntArray:
    """Return the row of pairs of devices among the types of links: a curve's, none, or the device itself."""
    link, curves = cluster.link[a, b], len(cluster.curves)
    return np.where(link == NO_LINK, np.where(a == b, curves + 1, curves), link)


def link_rows(cluster: Cluster, size_bytes: FloatArray) -> FloatArray:
    """Return the seconds of messages over each type of link, `[c + 2, sizes]`."""
    none = np.where(size_bytes > 0, np.inf, 0.0)
    return np.array([*(curve.of(size_bytes) for curve in cluster.curves), none, np.zeros(len(size_bytes))])


def link_starts_s(cluster: Cluster) -> FloatArray:
    """Return the seconds of the least message over each type of link, `[c + 2]`."""
    return np.array([*(curve.seconds[0] for curve in cluster.curves), 0.0, 0.0])
