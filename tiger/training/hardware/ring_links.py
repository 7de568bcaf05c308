"""The links of rings of devices: their types, the machines that a ring spans, and the NICs that it leaves them by."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.training.hardware.cluster import NO_LINK, Cluster
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
        if min(cluster.only_links) >= NO_LINK:
            return cls._of_only_links(cluster, rings, share)
        ordered = cluster.ring_orders.arrange(rings)
        before = np.roll(ordered, 1, axis=-1)
        row = link_types(cluster, ordered, before)
        starts = link_starts_s(cluster)[row]
        inside, shape = cluster.ring_orders.count_wires(ordered), row.shape[:-1]
        crosses = np.zeros(row.shape, np.bool_)
        if cluster.machines > 1:
            crosses = cluster.machine[ordered] != cluster.machine[before]
        leaving = crosses.any(axis=-1)
        outside = np.ones(shape)
        if leaving.any():
            shares = share if share is WHOLE else _follow(rings, ordered, share)[leaving]
            outside[leaving] = _count_nics(crosses[leaving], shares)
        widths = np.unique([*np.unique(inside), *np.unique(outside)])
        if len(widths) > 1 or widths[0] != 1:
            which = (np.searchsorted(widths, each)[..., None] for each in (outside, inside))
            row = row + np.where(crosses, *which) * (len(cluster.curves) + 2)
        return cls(
            row=row,
            widths=widths,
            machines=np.maximum(crosses.sum(axis=-1), 1),
            inside_s=np.where(crosses, 0.0, starts).max(axis=-1),
            between_s=np.where(crosses, starts, 0.0).max(axis=-1),
            switched=np.where(leaving, 0.0, cluster.reduces[ordered[..., 0]]),
        )

    @classmethod
    def _of_only_links(cls, cluster: Cluster, rings: IntArray, share: FloatArray) -> Self:
        """Return the links of rings where all inside machines are alike, and all between two: one of each at most."""
        machine, ranks, none = cluster.machine[rings], rings.shape[-1], len(cluster.curves)
        own, shape = none + 1, rings.shape[:-1]
        if ranks > 2 and share is not WHOLE:
            order = np.argsort(machine, axis=-1, kind="stable")
            machine = np.take_along_axis(machine, order, axis=-1)
            share = np.take_along_axis(np.broadcast_to(share, rings.shape), order, axis=-1)
        elif ranks > 2 and cluster.machines > 1:
            machine = np.sort(machine, axis=-1)
        new = machine[..., 1:] != machine[..., :-1]
        machines = 1 + new.sum(axis=-1)
        leaving, outside = machines > 1, np.ones(shape)
        if leaving.any():
            crosses = np.concatenate([np.ones((int(leaving.sum()), 1), np.bool_), new[leaving]], axis=1)
            outside[leaving] = _count_nics(crosses, np.broadcast_to(share, rings.shape)[leaving])
        # Links inside have the first width, 1.
        widths = np.unique([1.0, *np.unique(outside)])
        widths = np.array([1.0, *widths[widths != 1]])
        which = np.searchsorted(widths[1:], outside) + 1 if len(widths) > 1 else np.zeros(shape, np.int64)
        which = np.where(outside == 1, 0, which)
        inner, outer = (none if link == NO_LINK else link for link in cluster.only_links)
        row = np.stack([np.where(ranks > machines, inner, own), np.where(leaving, outer, own)], axis=-1)
        starts = link_starts_s(cluster)
        return cls(
            row=row + which[..., None] * np.array([0, none + 2]),
            widths=widths,
            machines=machines,
            inside_s=np.full(shape, starts[inner]),
            between_s=np.full(shape, starts[outer]),
            switched=np.where(leaving, 0.0, cluster.reduces[rings[..., 0]]),
        )


def _count_nics(crosses: BoolArray, share: FloatArray) -> FloatArray:
    """Return how many NICs rings `[k, r]` over several machines have on that with the fewest."""
    # Devices of a machine follow each other: it begins where a link crosses.
    run = np.cumsum(crosses, axis=1) - 1 + np.arange(len(crosses))[:, None] * crosses.shape[1]
    weight = np.broadcast_to(share, crosses.shape).ravel()
    width = np.bincount(run.ravel(), weight, minlength=crosses.size).reshape(crosses.shape)
    return np.asarray(np.where(width > 0, width, np.inf).min(axis=1))


def _follow(rings: IntArray, ordered: IntArray, share: ArrayLike) -> FloatArray:
    """Return shares `[.., r]` of ranks in the order in which their ring visits them."""
    given, visited = np.argsort(rings, axis=-1), np.argsort(np.argsort(ordered, axis=-1), axis=-1)
    shares = np.take_along_axis(np.broadcast_to(share, rings.shape), given, axis=-1)
    return np.asarray(np.take_along_axis(shares, visited, axis=-1))
