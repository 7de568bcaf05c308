"""Hardware without names of levels, as of a SPEC or of links: all one can state is how far its nearest two are."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tiger.errors import InputError
from tiger.formats.hardware.levels import FIELD
from tiger.model.arrays import FloatArray, lock
from tiger.model.metrics import DenseMetric, GridMetric, Metric, TreeMetric
from tiger.model.problem import LARGEST
from tiger.model.topology import Topology

# Rows of distances that are looked at together: 16 MiB at the largest size with a dense table.
BLOCK = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MessageRates:
    """Hold what a description states of messages between each two of m nodes, in the slower direction.

    `bandwidth[m, m]` in bytes per second, `latency_s[m, m]` in seconds; None where it says nothing of either.
    """

    bandwidth: FloatArray | None = None
    latency_s: FloatArray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlainHardware:
    """Hold `nodes` as they are described, the name of the distance of the nearest two, and how to find stated rates.

    `nearest` is that distance where it is not the one of the nodes here, but of a whole that these are cut from.
    """

    nodes: Topology
    level: str
    find_rates: Callable[[], MessageRates] = MessageRates
    nearest: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return self.nodes.names

    def cut(self, needed: Collection[str]) -> "PlainHardware":  # noqa: ARG002 (all nodes are measured)
        """Return the hardware as it is, whatever a job needs of it."""
        return self

    @property
    def distances(self) -> dict[str, float]:
        """Return the distance of the nearest two nodes that hold tasks, nothing where none are apart."""
        nearest = self.nearest or find_nearest(self.nodes)
        return {} if nearest is None else {self.level: nearest}

    def topology(self, given: Mapping[str, float]) -> Topology:
        """Return the nodes, with all distances in proportion to that of the nearest two where it is stated.

        Raises InputError of `levels` where that is 0, or so large that others leave the range of float64.
        """
        if self.level not in given or not (usual := self.distances):
            return self.nodes
        metric, links = self.nodes.metric, self.nodes.links
        nearest = usual[self.level]
        factor = given[self.level] / nearest
        if not factor > 0:
            raise InputError(f"{FIELD}/{self.level}", f"expected more than 0, got {given[self.level]:g}")
        farthest = max(metric.farthest, 0.0 if links is None else float(links.weight.max(initial=0.0)))
        if not farthest * factor <= LARGEST:
            what = f"expected at most {LARGEST:g} for the farthest two, {farthest / nearest:g} times as far apart"
            raise InputError(f"{FIELD}/{self.level}", f"{what}, got {given[self.level]:g}")
        if links is not None:
            links = replace(links, weight=links.weight * factor)
        return replace(self.nodes, metric=_scale(metric, factor), links=links)


def find_nearest(topology: Topology) -> float | None:
    """Return the least distance > 0 between two nodes that hold tasks."""
    metric, hosts = topology.metric, topology.hosts
    if isinstance(metric, TreeMetric):
        levels = zip(reversed(metric.fanouts), metric.distances, strict=True)
        return next((distance for fanout, distance in levels if fanout > 1 and distance > 0), None)
    if isinstance(metric, GridMetric):
        return metric.hop if metric.size > 1 and metric.hop > 0 else None
    nearest = np.inf
    for begin in range(0, len(hosts), BLOCK):
        rows = metric.between(hosts[begin : begin + BLOCK, None], hosts[None, :])
        nearest = rows.min(initial=nearest, where=rows > 0)
    return float(nearest) if np.isfinite(nearest) else None


def _scale(metric: Metric, factor: float) -> Metric:
    """Return a metric with all distances times a factor."""
    if isinstance(metric, TreeMetric):
        return replace(metric, distances=tuple(distance * factor for distance in metric.distances))
    if isinstance(metric, GridMetric):
        return replace(metric, hop=metric.hop * factor)
    return DenseMetric(lock(metric.arrays().table * factor))
