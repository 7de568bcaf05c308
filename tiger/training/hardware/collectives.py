"""The time of collective operations among ranks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import NO_LINK, Cluster


def all_reduce_s(cluster: Cluster, ring: Sequence[int], size_bytes: ArrayLike) -> FloatArray:
    r"""Return the seconds of all-reducing messages among r devices, along a ring in the order that NCCL chooses.

    .. math:: 2 (r - 1) \max_k T_{k, k+1}(B / r)

    T is the time of a message over a link of the ring; each of the 2 (r - 1) steps waits for the slowest. Source:
    Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009) 117, doi:10.1016/j.jpdc.2008.09.002.
    """
    # Times near the end of float64 become infinite, without a warning.
    with np.errstate(over="ignore"):
        return 2 * all_gather_s(cluster, np.array(ring)[:, None], size_bytes)


def all_gather_s(cluster: Cluster, rings: IntArray, size_bytes: ArrayLike) -> FloatArray:
    """Return the seconds in which all of r ranks have messages, of which each has had an equal part.

    Of `rings[r, k]` side by side the slowest counts. A reduce-scatter takes as long, and both are an all-reduce.
    """
    size, ranks = np.asarray(size_bytes, np.float64), len(rings)
    if ranks == 1:
        return np.zeros(size.shape)
    ordered = cluster.ring_orders.arrange(rings, 0)
    links = np.unique(cluster.link[ordered, np.roll(ordered, 1, axis=0)])
    slowest = np.max(_link_seconds(cluster, links, size / ranks), axis=0)
    with np.errstate(over="ignore"):
        return np.asarray((ranks - 1) * slowest)


def all_to_all_s(cluster: Cluster, groups: IntArray, size_bytes: ArrayLike) -> FloatArray:
    r"""Return the seconds in which each of r ranks sends every other an equal part of its message, one after another.

    .. math:: \max_i \sum_{j \ne i} T_{i, j}(B / r)

    The slowest of all ranks of `groups[r, k]` counts.
    """
    size, ranks = np.asarray(size_bytes, np.float64), len(groups)
    known = np.arange(-1, len(cluster.curves))
    seconds = _link_seconds(cluster, known, size / ranks)
    spent = np.zeros((*groups.shape, *size.shape))
    for step in range(1, ranks):
        spent += seconds[1 + cluster.link[groups, np.roll(groups, step, axis=0)]]
    return np.asarray(spent.max(axis=(0, 1)))


def _link_seconds(cluster: Cluster, links: IntArray, size_bytes: FloatArray) -> FloatArray:
    """Return the seconds of messages over each of some links by number; without one they are infinite."""
    none = np.where(size_bytes > 0, np.inf, 0.0)
    return np.array([none if link == NO_LINK else cluster.curves[link].of(size_bytes) for link in links.tolist()])
