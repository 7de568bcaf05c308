"""Share out tasks among regions better by a V-cycle with annealing.

Vertices are joined only inside regions, so that every coarser graph can still be shared out as before; from there it is
annealed, and refined level by level.

Sources: C. Walshaw, doi:10.1023/B:ANOR.0000039525.80601.15 (iterated multilevel search); P. Sanders, C. Schulz,
doi:10.1007/978-3-642-23719-5_40 (V-cycles for partitions).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.model.seeds import derive
from tiger.solvers.generator import seed_state
from tiger.solvers.multilevel.coarsening import Graph
from tiger.solvers.multilevel.label_propagation import coarsen
from tiger.solvers.multilevel.v_cycle_kernels import (
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
# One in this many tasks is at a border at most as far as proposals go: a stencil melts, which only takes time.
WIDEST = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class VCycle:
    """Set a V-cycle.

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
    proposals: int = 30
    penalty: float = 0.3
    rounds: int = 3

    def improve(self, graph: Graph, regions: Regions, before: IntArray, seed: int, stop: Stop) -> IntArray:
        """Return region[n] that keeps the slots and costs less than `before[n]`, which keeps them, or that itself.

        Vertices weigh 1. Once `stop` says so, that is `before`. O(entries log n) time.
        """
        graphs, labels, region = self._coarsen(graph, before, seed)
        for level in range(len(graphs) - 1, -1, -1):
            region = region[labels[level]] if level < len(labels) else region.copy()
            scale = typical_change(graphs[level], regions, region, derive(seed, level))
            unit = (len(graphs[level].weight) / len(before)) ** 2
            for number, temperatures in enumerate(self._temperatures(scale, len(labels) - level)):
                if stop():
                    return before
                plan = temperatures, self.penalty * unit, self.proposals, self.proposals * len(before) // WIDEST
                anneal_regions(graphs[level], regions, region, plan, seed_state(seed, level, 0, number))
            changed = np.ones(len(regions.slots), bool)
            for number in range(self.rounds):
                if stop():
                    return before
                refine_pairs(graphs[level], regions, region, changed, derive(seed, level, 1, number))
        if not fit_regions(graph, regions, region, CHAINS):
            return before
        least = measure(graph, regions, before)
        return region if measure(graph, regions, region) < least - ROUNDING * abs(least) else before

    def _coarsen(self, graph: Graph, region: IntArray, seed: int) -> tuple[list[Graph], list[IntArray], IntArray]:
        """Return the graph and coarser ones, which vertex of the next stands for each of one, and the last's regions.

        Only vertices of one region are joined.
        """
        graphs, labels, cap = [graph], list[IntArray](), max(len(region) // self.clusters, 1)
        while len(graphs[-1].weight) > self.clusters:
            coarse, label = coarsen(graphs[-1], region, cap, derive(seed, len(graphs)))
            if len(coarse.weight) > SHRINK * len(label):
                break
            # Any vertex of a cluster tells where all of them are.
            one = np.empty(len(coarse.weight), np.int64)
            one[label] = np.arange(len(label))
            region = region[one]
            graphs.append(coarse)
            labels.append(label)
        return graphs, labels, region

    def _temperatures(self, scale: float, finer: int) -> Iterator[FloatArray]:
        """Yield falling temperatures for a graph some levels finer than the coarsest, a few at a time."""
        if scale > 0.0:
            hot = max(self.hot * self.fading**finer, min(self.hot, self.warm), self.cold)
            falling = scale * np.geomspace(hot, self.cold, self.temperatures)
            yield from np.array_split(falling, -(-self.temperatures // STEPS))
