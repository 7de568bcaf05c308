"""The time of messages between pairs of ranks, alone and from all to all."""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.link_rows import link_rows, link_types
from tiger.training.hardware.ring_links import nic_shares

# Senders and receivers.
Ends = tuple[IntArray, IntArray]


def pair_shares(cluster: Cluster, ends: Ends) -> FloatArray:
    """Return the part of a NIC of each pair of `ranks[.., d, t]`, of which all send and receive at once."""
    return np.minimum(*(nic_shares(cluster, ranks) for ranks in ends))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageTable:
    """Hold the seconds of messages of `size_bytes[x]` over all types of links, added up from each of `begins` on."""

    cluster: Cluster
    size_bytes: FloatArray
    begins: IntArray | None = None
    times: FloatArray | float = 1.0
    known: dict[float, FloatArray] = field(default_factory=dict, init=False, repr=False)

    def seconds(self, ends: Ends, share: FloatArray, columns: IntArray | None = None) -> FloatArray:
        """Return the seconds `[.., x]` between pairs `[..]`, which have a `share[..]` of a NIC each.

        With `columns[..]` of x those alone.
        """
        row = link_types(self.cluster, *ends)
        part = np.array([1.0])
        if not self.cluster.own_nics and row.size:
            crosses = self.cluster.machine[ends[0]] != self.cluster.machine[ends[1]]
            part, which = np.unique(np.where(crosses, share, 1.0), return_inverse=True)
            row = row + which.reshape(row.shape) * (len(self.cluster.curves) + 2)
        table = np.concatenate([self._rows(each) for each in part.tolist()])
        return np.asarray(table[row] if columns is None else table[row, columns])

    def all_to_all_s(self, groups: IntArray, share: FloatArray, columns: IntArray | None = None) -> FloatArray:
        r"""Return the seconds `[.., x]` in which each of `groups[.., r]` sends every other a message, one by one.

        .. math:: \max_i \sum_{j \ne i} T_{i, j}
        """
        at = columns if columns is None else columns[..., None]
        spent = np.zeros((*groups.shape, len(self._rows(1.0)[0])) if columns is None else groups.shape)
        for step in range(1, groups.shape[-1]):
            apart = np.minimum(share, np.roll(share, step, axis=-1)) if share.shape else share
            spent = spent + self.seconds((groups, np.roll(groups, step, axis=-1)), apart, at)
        return np.asarray(spent.max(axis=-2 if columns is None else -1))

    def _rows(self, share: float) -> FloatArray:
        """Return the seconds over each type of link, `[c + 2, x]`."""
        if share not in self.known:
            rows = self.times * link_rows(self.cluster, self.size_bytes / share)
            self.known[share] = rows if self.begins is None else np.add.reduceat(rows, self.begins, axis=1)
        return self.known[share]
