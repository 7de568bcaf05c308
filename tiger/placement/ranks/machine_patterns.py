"""Patterns of ranks over machines: ranks of one pattern cost the same, whichever machines they are on."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from tiger.model.arrays import IntArray
from tiger.placement.ranks.position_keys import row_batches
from tiger.training.hardware.cluster import NO_LINK, Cluster


class AlikeRanks(NamedTuple):
    """Hold what costs the same in each of c parts of a grid.

    Of t tensor-parallel indices `first[c, t]` is the first one with the same devices, and of L labels of devices
    `label[c, L]` is one whose devices may stand in for them.
    """

    first: IntArray
    label: IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachinePatterns:
    """Hold the machine of each device [n], numbered from 0, and its properties `kind[n]` as numbers.

    All links inside machines are alike, and so are all between two: of some ranks it only counts which of them share a
    machine, and the order of tensor-parallel indices does not count.
    """

    machine: IntArray
    kind: IntArray

    @classmethod
    def of(cls, cluster: Cluster) -> Self | None:
        """Return the patterns on a cluster, None where links are not alike."""
        if min(cluster.only_links) < NO_LINK:
            return None
        machine = np.unique(cluster.machine, return_inverse=True)[1].reshape(-1)
        return cls(machine=machine, kind=cluster.number_properties())

    def compare(self, ranks: IntArray, label: IntArray) -> AlikeRanks:
        """Return what costs the same in parts with `ranks[c, r, t]`, for the labels of all devices [n].

        Any machine that has none of the ranks may stand in for another with devices of the same kind.
        """
        code, parts = self._number_columns(ranks), np.arange(len(ranks))[:, None]
        device = np.unique(label, return_index=True)[1]
        machine, kind, labels = self.machine[device], self.kind[device], np.arange(len(device))
        is_used = np.zeros((len(ranks), int(self.machine.max()) + 1), np.bool_)
        is_used[parts, self.machine[ranks.reshape(len(ranks), int(np.prod(ranks.shape[1:])))]] = True
        used, stand_in = is_used[:, machine], np.tile(labels, (len(ranks), 1))
        for one in np.unique(kind):
            free = ~used & (kind == one)
            stand_in = np.where(free, np.argmax(free, axis=1)[:, None], stand_in)
        return AlikeRanks(np.argmax(code[:, :, None] == code[:, None, :], axis=1), stand_in)

    def keys(self, ranks: IntArray, column: IntArray) -> IntArray:
        """Return keys of 64 bits of `ranks[k, r, t]` and their `column[k]`, equal for equal patterns alone.

        Not all equal patterns have one key, as indices are put in order by the machines themselves. O(k r t).
        """
        count = ranks[0].size
        # Others than those by which keys are mixed, as products of the same ones would be equal in any order.
        factors = np.random.default_rng(2).integers(2**63, size=2 * count + 1)
        found = column * factors[-1]
        for part in row_batches(len(ranks), count):
            order = np.argsort(self._number_columns(ranks[part]), axis=1, kind="stable")
            some = np.take_along_axis(ranks[part], order[:, None, :], axis=2).reshape(-1, count).T
            found[part] += (self._first(some) * factors[:count, None]).sum(axis=0)
            found[part] += (self.kind[some] * factors[count:-1, None]).sum(axis=0)
        # Sums of keys times factors would agree by more than chance if both were linear.
        found = (found ^ (found >> 32)) * (factors[0] | 1)
        return np.asarray(found ^ (found >> 29))

    def _number_columns(self, ranks: IntArray) -> IntArray:
        """Return a number `[c, t]` of the devices that parts `ranks[c, r, t]` have of each index."""
        factors = np.random.default_rng(3).integers(2**63, size=(2, ranks.shape[1], 1))
        return np.asarray((self.machine[ranks] * factors[0] + self.kind[ranks] * factors[1]).sum(axis=1))

    def _first(self, ranks: IntArray) -> IntArray:
        """Return for `ranks[r, k]` the first of the r that is on the same machine."""
        machines = int(self.machine.max()) + 1
        cells = self.machine[ranks] + np.arange(0, ranks.shape[1] * machines, machines)
        first = np.empty(ranks.shape[1] * machines, np.int64)
        # What is written last remains.
        first[cells[::-1]] = np.arange(len(ranks))[::-1, None]
        return np.asarray(first[cells])
