"""Lower bounds on the seconds of messages around rings, whichever devices of a cluster the rings join."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray
from tiger.training.hardware.cluster import NO_LINK, Cluster, Curve
from tiger.training.hardware.collectives import RingTable

# Above this number of curves links are not told apart, as components cost O(n^2) for each.
MOST_CURVES = 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkCurves:
    """Hold the curves of a cluster, the quickest first, and how many devices those up to each of them join at most.

    `numbers` are those in the cluster, and `outside` says which of them join machines, which have up to `most_nics`.
    """

    cluster: Cluster
    numbers: tuple[int, ...]
    curves: tuple[Curve, ...]
    joined: tuple[int, ...]
    outside: tuple[bool, ...]
    most_nics: int

    @classmethod
    def of(cls, cluster: Cluster) -> Self:
        """Return the links of a cluster; O(n^2) for each of its curves, which above 64 are not told apart."""
        used = np.unique(cluster.link)
        order = sorted(used[used != NO_LINK].tolist(), key=lambda curve: (rate(cluster.curves[curve]), curve))
        between = set(np.unique(cluster.link[cluster.machine[:, None] != cluster.machine]).tolist())
        joined = [cluster.size] * len(order)
        if len(order) <= MOST_CURVES:
            joined = [_largest_component(np.isin(cluster.link, order[: end + 1])) for end in range(len(order))]
        return cls(
            cluster=cluster,
            numbers=tuple(order),
            curves=tuple(cluster.curves[curve] for curve in order),
            joined=tuple(joined),
            outside=tuple(curve in between for curve in order),
            most_nics=cluster.most_nics,
        )

    def need(self, ranks: int) -> int | None:
        """Return the first curve without which no ring joins so many devices, None where none does; 0 for one device.

        A ring of more devices than the curves before it join has a link of this curve, or of one behind it.
        """
        if ranks == 1:
            return 0
        return next((end for end, most in enumerate(self.joined) if most >= ranks), None)

    def least_s(self, need: int, size_bytes: FloatArray) -> FloatArray:
        """Return the seconds of messages over the quickest curve from one of them on."""
        return np.asarray(np.min([curve.of(size_bytes) for curve in self.curves[need:]], axis=0))

    def least_ring_s(self, need: int, table: RingTable, nics: float) -> FloatArray:
        """Return the least seconds of rings with a link of a curve or one behind it, by NICs between machines."""
        inside, between = table.bound_rows(nics)
        # Rings over several machines have links inside them as well, which start in fewer of their steps.
        beside = table.bound_rows(self.cluster.most_wires)[1] if self.cluster.machines > 1 else inside
        rows = [
            np.minimum(inside[number], (between if outside else beside)[number])
            for number, outside in zip(self.numbers[need:], self.outside[need:], strict=True)
        ]
        return np.asarray(np.min(rows, axis=0))

    def least_rate(self, need: int, nics: float, least_bytes: float) -> float:
        """Return the least seconds a byte, once begun, over any curve from one of them on.

        Messages of `least_bytes` or more go by so many NICs between machines, and by all wires of a device inside.
        """
        wires = self.cluster.most_wires
        widths = [max(nics if outside else 1.0, wires if curve.wire else 1.0) for curve, outside in self._from(need)]
        return min(
            _data_rate(curve, least_bytes / width) / width
            for (curve, _), width in zip(self._from(need), widths, strict=True)
        )

    def _from(self, need: int) -> list[tuple[Curve, bool]]:
        """Return the curves from one on, and whether they join machines."""
        return list(zip(self.curves[need:], self.outside[need:], strict=True))

    def count_nics(self, ranks: int, beside: int = 1) -> float:
        """Return the most NICs that a ring of so many ranks has on each machine, of as many rings side by side.

        It is on two machines or more, and so are the rings beside it, each of which has as many ranks there.
        """
        return max(min(ranks // 2, self.most_nics / beside), 1.0)


def _data_rate(curve: Curve, least_bytes: float) -> float:
    """Return the least seconds that a byte takes in messages of some size or more, after they have started."""
    (before, last), (early, late) = curve.size_bytes[-2:], curve.seconds[-2:]
    sizes = np.array([least_bytes, *curve.size_bytes[curve.size_bytes > least_bytes]])
    sizes = sizes[sizes > 0]
    # Beyond the table and between its entries the ratio is between those of the ends.
    ratios = (curve.of(sizes) - curve.seconds[0]) / sizes
    nothing = least_bytes == 0 < curve.size_bytes[0]
    return 0.0 if nothing else float(min([*ratios, (late - early) / (last - before)]))


def rate(curve: Curve) -> float:
    """Return the least seconds that a byte takes, in messages of any size."""
    (before, last), (early, late) = curve.size_bytes[-2:], curve.seconds[-2:]
    some = curve.size_bytes > 0
    # Beyond the table and between its entries the ratio is between those of the ends.
    return float(min([*(curve.seconds[some] / curve.size_bytes[some]), (late - early) / (last - before)]))


def _largest_component(linked: BoolArray) -> int:
    """Return how many devices the largest connected part of a graph `linked[n, n]` has."""
    left, most = np.ones(len(linked), bool), 0
    while left.any():
        part = np.zeros(len(linked), bool)
        part[np.argmax(left)] = True
        count = 0
        while part.sum() > count:
            count = int(part.sum())
            part |= linked[part].any(axis=0)
        left &= ~part
        most = max(most, count)
    return most
