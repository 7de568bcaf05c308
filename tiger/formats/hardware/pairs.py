"""Hardware as kinds of connections between pairs of units."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tiger.formats.hardware.gpulinks import GpuFabric, join_gpus
from tiger.model.arrays import FloatArray, IntArray, lock
from tiger.model.resources import Resources
from tiger.model.wording import LOCALHOST

if TYPE_CHECKING:
    from tiger.model.metrics import Metric
    from tiger.model.topology import Topology

# Levels of a tree that is looked for in a matrix: more than hardware has.
LEVEL_LIMIT = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairHardware:
    """Hold units of a machine by name, the `distances` of kinds of connections, and the kind of every pair of units.

    `kind[n, n]` are positions in `distances`; the distance of a pair is that of its kind times `share[n, n]`. `fabric`
    is what joins the units, and `resources` what of the machine each is, where that is known.
    """

    names: tuple[str, ...]
    distances: Mapping[str, float]
    kind: IntArray
    share: FloatArray
    fabric: GpuFabric | None = None
    resources: tuple[Resources, ...] = ()

    def cut(self, needed: Collection[str]) -> "PairHardware":  # noqa: ARG002 (it is one machine)
        """Return the units as they are, whatever a job needs of them."""
        return self

    def topology(self, given: Mapping[str, float]) -> "Topology":
        """Return the units, for the distances stated of some kinds, which change no link."""
        # Clusters read the same matrices, and need neither these nor the scipy that they load.
        from tiger.model.metrics import DenseMetric
        from tiger.model.topology import Topology

        distances = [given.get(name, distance) for name, distance in self.distances.items()]
        table = np.array(distances)[self.kind] * self.share
        np.fill_diagonal(table, 0.0)
        metric = find_tree(table) or DenseMetric(lock(table))
        links, switches = (None, ()) if self.fabric is None else join_gpus(self.fabric)
        return Topology(
            names=self.names,
            metric=metric,
            links=links,
            switches=switches,
            host=LOCALHOST,
            resources=self.resources,
        )


def find_tree(table: FloatArray) -> "Metric | None":
    """Return the regular tree whose leaves are as far apart as a matrix [n, n] says, None where there is none; O(n^2).

    The leaves of every subtree must follow one another.
    """
    from tiger.model.metrics import TreeMetric

    distances, counts = np.unique(table[0], return_counts=True)
    if distances[0] != 0 or counts[0] != 1 or not 1 < len(distances) <= LEVEL_LIMIT or not np.isfinite(distances).all():
        return None
    totals = np.cumsum(counts).tolist()
    if any(outer % inner for inner, outer in pairwise(totals)):
        return None
    fanouts = tuple(outer // inner for inner, outer in pairwise(totals))[::-1]
    tree = TreeMetric(fanouts, tuple(distances[1:].tolist()))
    units = np.arange(len(table))
    return tree if np.array_equal(tree.between(units[:, None], units[None, :]), table) else None
