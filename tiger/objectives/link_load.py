r"""Max link load as an objective: its value, lower bounds, and distances that keep traffic off the busiest links.

With :math:`r^e_{pq} = 1` where the route from p to q crosses link e, of bandwidth :math:`b_e`, it is

.. math:: \max_e \frac1{b_e} \sum_{(u,v)} c_{uv}\, r^e_{p(u)p(v)}
    \;\ge\; \frac{\min_p \sum_{(u,v)} c_{uv}\, y_{p(u)p(v)}}{\sum_e y_e b_e},
    \qquad y_{pq} = \sum_e y_e\, r^e_{pq}

for any prices :math:`y_e \ge 0`: a mapping problem whose distances are sums of prices along routes bounds it, and cheap
mappings of that problem keep off the dear links.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from tiger.bounds.lower_bound import lower_bound, rank_partners
from tiger.model.arrays import FloatArray, IntArray
from tiger.model.metrics import DenseMetric
from tiger.model.objective_arrays import RouteArrays
from tiger.model.problem import Problem
from tiger.model.rounding import relative_error
from tiger.model.topology import link_matrix
from tiger.objectives.multipath import load_links, path_links
from tiger.objectives.names import RoutingName
from tiger.objectives.shortest_paths import LinkLoads, PathRoutes, Routes, transfers_of

# A matrix of distances between this many nodes takes 32 MB.
DENSE_NODES = 2048
# Prices against lengths: from 0.05 to 3 five small problems end at the same loads, after the annealing that follows.
STRENGTH = 0.3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MaxLinkLoad:
    """Evaluate and bound the max link load as an objective, on hardware with `routes`.

    Where transfers split over several paths, by their `routing`, the search still looks at one path each.
    """

    problem: Problem
    routes: Routes
    routing: RoutingName = "single"

    def value(self, places: IntArray) -> float:
        """Return the largest load of a link over its bandwidth for node indices `places[n]`."""
        split = None if self.routing == "single" else load_links(self.problem, places, self.routing)
        return (split or LinkLoads(self.routes, self.routes.loads(transfers_of(self.problem, places)))).worst

    def stress(self, places: IntArray) -> FloatArray:
        """Return stress[l], the load of every link over its bandwidth, the largest 1."""
        load = self.routes.loads(transfers_of(self.problem, places)) / self.routes.width
        return np.asarray(load / (load.max(initial=0.0) or 1.0))

    def surrogate(self, weights: FloatArray) -> Problem | None:
        """Return the problem with prices `weights[l]` over bandwidth added to distances, None above 2,048 nodes.

        The prices of all routes make up 0.3 times their lengths.
        """
        topology = self.problem.topology
        if topology.size > DENSE_NODES:
            return None
        nodes, priced = np.arange(topology.size), self.routes.lengths(weights / self.routes.width)
        distances = topology.metric.between(nodes[:, None], nodes[None, :])
        way = np.isfinite(distances) & np.isfinite(priced)
        scale = STRENGTH * float(distances[way].sum()) / (float(priced[way].sum()) or 1.0) or 1.0
        return replace(self.problem, topology=replace(topology, metric=DenseMetric(distances + scale * priced)))

    def bound(self) -> float:
        """Return a lower bound: what has to leave a node over its links, or the least load of all links on average.

        The latter, as far as there are at most 2,048 nodes, is the bound of the problem whose distances are one over
        bandwidth on every link.
        """
        real = self.routes.width[np.isfinite(self.routes.width)]
        roundings = 4 * self.problem.tasks.size + 2 * self.problem.topology.size + 64
        bound = max(self._cut(), self._average()) * (1 - relative_error(roundings))
        whole = self.routing == "single" and bool(
            (real == 1).all() and (self.problem.tasks.traffic.data % 1 == 0).all()
        )
        return float(math.ceil(bound)) if whole and self.routing == "single" else bound

    def arrays(self) -> RouteArrays | None:
        """Return the routes for compiled code, None above 2,048 nodes without grid or tree structure."""
        if isinstance(self.routes, PathRoutes) and self.problem.topology.size > DENSE_NODES:
            return None
        return self.routes.arrays()

    def _average(self) -> float:
        """Return the bound by prices of one over bandwidth."""
        topology, width = self.problem.topology, self.routes.width
        if topology.size > DENSE_NODES or not np.isfinite(width).any():
            return 0.0
        links = None if self.routing == "single" else path_links(self.problem)
        prices, count = self.routes.lengths(1 / width), int(np.isfinite(width).sum())
        if links is not None:
            # Any path may be taken, so that the cheapest one counts.
            cheap = link_matrix(replace(links, weight=1 / links.bandwidth), topology.size + len(topology.switches))
            nodes = np.arange(topology.size)
            prices, count = dijkstra(cheap, directed=False, indices=nodes)[:, : topology.size], cheap.nnz
        bare = replace(topology, metric=DenseMetric(prices), cost=np.zeros(topology.size))
        return lower_bound(replace(self.problem, topology=bare), self.problem.pins) / count

    def _cut(self) -> float:
        """Return the most that leaves a task's node, over its links; where tasks get a node each, the best pairing."""
        leaving, around = self._leaving_traffic(), np.sort(self.routes.around[self.problem.topology.hosts])[::-1]
        worst = 0.0
        for group in self.problem.groups or (np.array([leaving.argmax()]),):
            most = np.sort(leaving[group][leaving[group] > 0])[::-1]
            worst = max(worst, float((most / around[: len(most)]).max(initial=0.0)))
        return worst

    def _leaving_traffic(self) -> FloatArray:
        """Return leaving[n], the traffic of each task that crosses a link wherever the tasks lie.

        Beside a task there is room for one of each other group, or for one less than the most slots.
        """
        problem = self.problem
        volumes = sp.csr_array(problem.tasks.traffic + problem.inflow).tocoo()
        apart = volumes.row != volumes.col
        row, col, volume = volumes.row[apart], volumes.col[apart], volumes.data[apart]
        order, rank = rank_partners(row, problem.group_of[col], volume)
        row, group, volume = row[order], problem.group_of[col[order]], volume[order]
        room = group != problem.group_of[row] if problem.groups else problem.topology.slots.max() - 1
        return np.asarray(np.bincount(row, np.where(rank >= room, volume, 0.0), problem.tasks.size), np.float64)
