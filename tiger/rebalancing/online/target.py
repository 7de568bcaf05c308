"""The best plan by estimated costs of layers and devices."""

from dataclasses import replace

import numpy as np

from tiger.placement.chain.backtrace import trace_line
from tiger.placement.chain.cut_dp import Bracket, sweep
from tiger.placement.chain.device_types import device_types_of
from tiger.placement.chain.dp_states import device_graph, steps_of
from tiger.placement.chain.layered_graph import LayeredGraph
from tiger.placement.chain.params import LineParams
from tiger.rebalancing.online.costs import DeviceCuts, FixedCosts, LayerCosts
from tiger.rebalancing.online.moves import exchange, resize
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

# Steps of a sweep up to which all orders are compared, about 10 ns each: a few milliseconds a step of the planner.
WORK_LIMIT = 1_000_000
Candidate = tuple[float, DeviceCuts]


class Targets:
    """Find lines whose bottleneck is within a tolerance of the least, near the line that runs where there is one.

    Exact cuts for orders that are exchanges away from that line; then, where devices are few, sweeps over all orders
    show whether one of them is better by more than the tolerance.
    """

    def __init__(self, layers: Layers, cluster: Cluster, terms: FixedCosts, tolerance: float) -> None:
        self._terms, self._tolerance, self._count, self._size = terms, tolerance, cluster.size, layers.size
        groups = tuple((device,) for device in range(cluster.size))
        self._graph: LayeredGraph | None = None
        if steps_of(layers, LineParams(), groups) <= WORK_LIMIT:
            self._graph = device_graph(layers, device_types_of(layers, cluster, groups), LineParams())

    def find_best(self, costs: LayerCosts, line: DeviceCuts) -> Candidate:
        """Return the best line found, and its bottleneck first."""
        near = self._search_near(costs, line)
        return near if self._graph is None else self._search_all(costs, near, self._graph)

    def _search_near(self, costs: LayerCosts, line: DeviceCuts) -> Candidate:
        """Return the end of a steepest descent over orders, each with its best cuts."""
        best, better = (np.inf, line), self._terms.best_cuts(costs, line.devices)
        while better is not None:
            best, order = better, better[1].devices
            spare = [device for device in range(self._count) if device not in order]
            limit, better = best[0] * (1 - self._tolerance / 2), None
            for other in (*exchange(order, spare), *resize(order, spare, self._size)):
                found = self._terms.best_cuts(costs, other, limit)
                if found is not None:
                    limit, better = found[0], found
        return best

    def _search_all(self, costs: LayerCosts, near: Candidate, shape: LayeredGraph) -> Candidate:
        """Return a line of any order where that is better than one near by more than the tolerance."""
        graph = replace(shape, ahead_s=costs.ahead_s * costs.slowdown[:, None])
        low, high, limit = self._bound_s(costs), near[0], near[0] * (1 - self._tolerance)
        # Bisection over limits, down to a factor of the tolerance between the ends.
        while limit > low:
            found = sweep(graph, limit)
            if found.depth >= 0:
                high = found.below
            else:
                low = limit
            limit = max((low * high) ** 0.5, 0.0) if high > low * (1 + self._tolerance) else low
        if high >= near[0]:
            return near
        line = trace_line(graph, Bracket(low, high))
        return line.bottleneck_s, DeviceCuts(line.cuts, line.devices)

    def _bound_s(self, costs: LayerCosts) -> float:
        """Return a lower bound on the bottleneck: all devices equally busy."""
        return float(costs.ahead_s[-1] / (1 / costs.slowdown).sum())
