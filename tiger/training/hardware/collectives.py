"""The time of collective operations among ranks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import Cluster


def all_reduce_s(cluster: Cluster, ring: Sequence[int], size_bytes: ArrayLike) -> FloatArray:
    r"""Return the seconds of all-reducing messages along a ring of r devices, in the order given.

    .. math:: 2 (r - 1) \max_k T_{k, k+1}(B / r)

    T is the time of a message over a link of the ring; each of the 2 (r - 1) steps waits for the slowest. Source:
    Patarasuk and Yuan, J. Parallel Distrib. Comput. 69 (2009) 117, doi:10.1016/j.jpdc.2008.09.002.
    """
    size, ranks = np.asarray(size_bytes, np.float64), len(ring)
    # Links of one curve take equally long: one of each is enough.
    links = {int(cluster.link[ring[k - 1], ring[k]]): k for k in range(ranks)}
    steps = [cluster.seconds(ring[k - 1], ring[k], size / ranks) for k in links.values()]
    slowest: FloatArray = np.max(steps, axis=0)
    # Times near the end of float64 become infinite, without a warning.
    with np.errstate(over="ignore"):
        return 2 * (ranks - 1) * slowest


def all_gather_s(cluster: Cluster, rings: IntArray, size_bytes: ArrayLike) -> FloatArray:
    """Return the seconds in which all of r ranks have messages, of which each has had an equal part.

    Of `rings[r, k]` side by side the slowest counts. A reduce-scatter takes as long, and both are an all-reduce.
    """
    size, ranks = np.asarray(size_bytes, np.float64), len(rings)
    return (ranks - 1) * _slowest_s(cluster, rings, np.roll(rings, 1, axis=0), size / ranks)


def all_to_all_s(cluster: Cluster, groups: IntArray, size_bytes: ArrayLike) -> FloatArray:
    r"""Return the seconds in which each of r ranks sends every other an equal part of its message.

    .. math:: \sum_{k=1}^{r-1} \max_i T_{i, i+k}(B / r)

    in r - 1 rounds of exchanges, each as long as its slowest, in all of `groups[r, k]`. Source: Thakur, Rabenseifner
    and Gropp, Int. J. High Perform. Comput. Appl. 19 (2005) 49, doi:10.1177/1094342005051521.
    """
    size, ranks = np.asarray(size_bytes, np.float64), len(groups)
    rounds = [_slowest_s(cluster, groups, np.roll(groups, k, axis=0), size / ranks) for k in range(1, ranks)]
    total: FloatArray = np.sum([np.zeros(size.shape), *rounds], axis=0)
    return total


def _slowest_s(cluster: Cluster, sender: IntArray, receiver: IntArray, size_bytes: FloatArray) -> FloatArray:
    """Return the seconds of messages between pairs of different devices, of which the slowest counts."""
    # Links of one curve take equally long: one of each is enough.
    pairs = np.unique(cluster.link[sender, receiver], return_index=True)[1].tolist()
    ends = zip(sender.ravel()[pairs].tolist(), receiver.ravel()[pairs].tolist(), strict=True)
    slowest: FloatArray = np.max([cluster.seconds(a, b, size_bytes) for a, b in ends], axis=0)
    return slowest
