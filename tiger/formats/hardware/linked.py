"""Hardware of nodes and links whose distances are shortest paths, measured once it is known what a job needs of it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import dijkstra

from tiger.formats.hardware.plain import MessageRates, PlainHardware
from tiger.model.topology import Topology, link_matrix
from tiger.model.wiring import Wiring


@dataclass(frozen=True, slots=True, eq=False)
class LinkedHardware:
    """Hold nodes and links, the name of the distance of the nearest two nodes, and how to find stated rates.

    `nearest` is that distance in the whole that this is cut from, None where this is the whole.
    """

    wiring: Wiring
    level: str
    find_rates: Callable[[], MessageRates] = MessageRates
    nearest: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return self.wiring.names

    @property
    def distances(self) -> dict[str, float]:
        """Return the distance of the nearest two nodes that hold tasks, nothing where none are apart."""
        nearest = self.nearest or find_nearest_linked(self.wiring)
        return {} if nearest is None else {self.level: nearest}

    def cut(self, needed: Collection[str]) -> "LinkedHardware":
        """Return the nodes that a job needs, and all that may be on a way between two of them."""
        return replace(self, wiring=self.wiring.cut(needed), nearest=self.distances.get(self.level))

    def topology(self, given: Mapping[str, float]) -> Topology:
        """Return the nodes at the lengths of shortest paths, in proportion to that of the nearest two where stated.

        Raises InputError of `topology` for more than 8,192 nodes, and of `levels` as `PlainHardware` does.
        """
        return PlainHardware(self.wiring.measure(), self.level, nearest=self.nearest).topology(given)


def find_nearest_linked(wiring: Wiring) -> float | None:
    """Return the least distance between two nodes that hold tasks, by one search from all of them at once.

    The way between the nearest two has a link one end of which is nearest to the one, and the other to the other.
    """
    links, hosts = wiring.links, np.flatnonzero(wiring.slots)
    if not len(hosts):
        return None
    graph = link_matrix(links, len(wiring.names))
    away, _, source = dijkstra(graph, directed=False, indices=hosts, min_only=True, return_predecessors=True)
    apart = source[links.u] != source[links.v]
    lengths = (away[links.u] + away[links.v] + links.weight)[apart]
    nearest = float(lengths.min(initial=np.inf))
    return nearest if np.isfinite(nearest) else None
