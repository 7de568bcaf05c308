"""The links of rings of devices: their types, the machines that a ring spans, and the NICs that it leaves them by."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.link_rows import link_starts_s, link_types

# The share of a card that every rank has where no two ranks share one.
WHOLE = np.array(1.0)


def nic_shares(cluster: Cluster, ranks: IntArray) -> FloatArray:
    """Return the part of a NIC that each of `ranks[.., d, t]` has while all of the last two axes send at once.

    A rank has a NIC of its own while its machine has as many; one number, 1, where that is so on every machine.
    """
    if cluster.own_nics:
        return WHOLE
    beside = ranks.shape[-2] * ranks.shape[-1]
    machine = np.unique(cluster.machine, return_inverse=True)[1][ranks].reshape(-1, beside)
    key = np.arange(len(machine))[:, None] * cluster.machines + machine
    count, nics = np.bincount(key.ravel())[key].reshape(ranks.shape), cluster.nics[ranks]
    return np.asarray(np.where(nics > 0, np.minimum(nics / count, 1.0), 1.0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RingLinks:
    """Hold what decides the time of rings `[.., r]` of r ranks.

    `row[.., r]` is the row of each link in a table `[u (c + 2), x]` for messages over types of links that are
    `widths[u]` times as wide as in the cluster, by NICs between machines, by wires inside them. `machines[..]` are
    those that a ring spans. `inside_s[..]` and `between_s[..]` are the seconds in which the slowest link inside a
    machine and between two starts a message, and `switched[..]` the part of links to a switch that adds up what a ring
    inside its machine sends, 0 without one.
    """

    row: IntArray
    widths: FloatArray
    machines: IntArray
    inside_s: FloatArray
    between_s: FloatArray
    switched: FloatArray

    @classmethod
    def of(cls, cluster: Cluster, rings: IntArray, share: FloatArray = WHOLE) -> Self:
        """Return the links of rings `[.., r]`, whose ranks have a `share[.., r]` of a NIC each.

        As many messages go side by side between machines as the ring has NICs on that with the fewest: NCCL makes as
        many rings, each of which leaves a machine by another NIC (src/graph/search.cc).
        """
        ordered = cluster.ring_orders.arrange(rings)
        before = np.roll(ordered, 1, axis=-1)
        row = link_types(cluster, ordered, before)
        starts = link_starts_s(cluster)[row]
        machine = cluster.machine[ordered]
        crosses = machine != cluster.machine[before]
        outside = _count_nics(crosses, share if share is WHOLE else _follow(rings, ordered, share))
        width = np.where(crosses, outside[..., None], cluster.ring_orders.count_wires(ordered)[..., None])
        widths, which = np.unique(width, return_inverse=True)
        return cls(
            row=row + which.reshape(width.shape) * (len(cluster.curves) + 2),
            widths=widths,
            machines=np.maximum(crosses.sum(axis=-1), 1),
            inside_s=np.where(crosses, 0.0, starts).max(axis=-1),
            between_s=np.where(crosses, starts, 0.0).max(axis=-1),
            switched=np.where(crosses.any(axis=-1), 0.0, cluster.reduces[ordered[..., 0]]),
        )


def _count_nics(crosses: BoolArray, share: FloatArray) -> FloatArray:
    """Return how many NICs rings `[.., r]` have on the machine with the fewest; 1 inside one machine."""
    shape, ranks = crosses.shape[:-1], crosses.shape[-1]
    flat = crosses.reshape(-1, ranks)
    # Devices of a machine follow each other: it begins where a link crosses.
    run = np.maximum(np.cumsum(flat, axis=1) - 1, 0) + np.arange(len(flat))[:, None] * ranks
    weight = np.broadcast_to(share, crosses.shape).ravel()
    width = np.bincount(run.ravel(), weight, minlength=flat.size).reshape(flat.shape)
    fewest = np.where(width > 0, width, np.inf).min(axis=1)
    return np.asarray(np.where(flat.any(axis=1), fewest, 1.0).reshape(shape))


def _follow(rings: IntArray, ordered: IntArray, share: ArrayLike) -> FloatArray:
    """Return shares `[.., r]` of ranks in the order in which their ring visits them."""
    given, visited = np.argsort(rings, axis=-1), np.argsort(np.argsort(ordered, axis=-1), axis=-1)
    shares = np.take_along_axis(np.broadcast_to(share, rings.shape), given, axis=-1)
    return np.asarray(np.take_along_axis(shares, visited, axis=-1))
