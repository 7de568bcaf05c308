"""Combine two ways to share out tasks among regions into one that is no worse than the better of the two.

Vertices are joined only inside the cells of the overlay, which both ways keep together. So every coarser graph can
still be shared out either way; from the better one it is annealed, and refined level by level. Of one way combined
with itself this is a V-cycle.

Source: P. Sanders, C. Schulz, doi:10.1137/1.9781611972924.2 (combining partitions in a distributed evolutionary
algorithm).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.label_propagation import coarsen
from tiger.solvers.multilevel.overlay_kernels import (
    Regions,
    anneal_regions,
    fit_regions,
    measure,
    refine_pairs,
    typical_change,
)

# The share of its vertices that coarsening must leave behind to go on, and the part of a cost that may be rounding.
SHRINK, ROUNDING = 0.9, 1e-9
# Temperatures in a call that can't be stopped, some 25 ms with 65,536 tasks, and chains that make sizes exact.
STEPS, CHAINS = 5, 64
# One in so many tasks is at a border at most as far as proposals go: a stencil melts, which only takes time.
WIDEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlay:
    """Set a combination.

    Clusters are at most as heavy as one of `clusters` equal ones. The coarsest graph is annealed at `temperatures` from
    `hot` to `cold` times a typical cost change, and every finer one from `fading` times as hot, at least `warm`; at
    each, `proposals` moves are proposed for a vertex at a border. A unit of squared overload costs `penalty`
    temperatures where it is that of a mean vertex. Then pairs of regions are refined in `rounds`.
    """

    clusters: int = 1000
    hot: float = 2.0
    fading: float = 0.7
    warm: float = 0.4
    cold: float = 0.1
    temperatures: int = 50
    proposals: int = 100
    penalty: float = 0.3
    rounds: int = 3

    def combine(
        self, graph: Graph, regions: Regions, ways: tuple[IntArray, IntArray], seed: int, stop: Stop
    ) -> IntArray:
        """Return region[n] that keeps the seats and costs no more than the cheaper of two ways that keep them.

        Vertices weigh 1. Once `stop` says so, that is the cheaper way itself. O(entries log n) time.
        """
        costs = [measure(graph, regions, way) for way in ways]
        least, better = min(costs), ways[int(costs[1] < costs[0])]
        graphs, labels, region = self._coarsen(graph, better, ways[0] * len(regions.seats) + ways[1], seed)
        for level in range(len(graphs) - 1, -1, -1):
            region = region[labels[level]] if level < len(labels) else region.copy()
            scale = typical_change(graphs[level], regions, region, derive(seed, level))
            unit = (len(graphs[level].weight) / len(better)) ** 2
            for number, temperatures in enumerate(self._temperatures(scale, len(labels) - level)):
                if stop():
                    return better
                plan = temperatures, self.penalty * unit, self.proposals, self.proposals * len(better) // WIDEST
                anneal_regions(graphs[level], regions, region, plan, derive(seed, level, 0, number))
            changed = np.ones(len(regions.seats), bool)
            for number in range(self.rounds):
                if stop():
                    return better
                refine_pairs(graphs[level], regions, region, changed, derive(seed, level, 1, number))
        fits = fit_regions(graph, regions, region, CHAINS)
        return region if fits and measure(graph, regions, region) < least - ROUNDING * abs(least) else better

    def _coarsen(
        self, graph: Graph, region: IntArray, cell: IntArray, seed: int
    ) -> tuple[list[Graph], list[IntArray], IntArray]:
        """Return the graph and coarser ones, which vertex of the next stands for each of one, and the last's regions.

        Only vertices of one `cell[n]`, which are in one region, are joined.
        """
        graphs, labels, cap = [graph], list[IntArray](), max(len(region) // self.clusters, 1)
        while len(graphs[-1].weight) > self.clusters:
            coarse, label = coarsen(graphs[-1], cell, cap, derive(seed, len(graphs)))
            if len(coarse.weight) > SHRINK * len(label):
                break
            # Any vertex of a cluster tells where all of them are.
            one = np.empty(len(coarse.weight), np.int64)
            one[label] = np.arange(len(label))
            region, cell = region[one], cell[one]
            graphs.append(coarse)
            labels.append(label)
        return graphs, labels, region

    def _temperatures(self, scale: float, finer: int) -> Iterator[FloatArray]:
        """Yield falling temperatures for a graph so many levels finer than the coarsest, a few at a time."""
        if scale > 0.0:
            hot = max(self.hot * self.fading**finer, min(self.hot, self.warm), self.cold)
            falling = scale * np.geomspace(hot, self.cold, self.temperatures)
            yield from np.array_split(falling, -(-self.temperatures // STEPS))
