"""Which device is which rank of tensor-, data- and pipeline-parallel groups."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.pipeline.costs.plan import Plan
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.models.layers import Layers
from tiger.pipeline.ranks.prices import Degrees, Prices
from tiger.pipeline.ranks.ranks import draw_grids, neighbour_grids, rank_order
from tiger.pipeline.ranks.search import OrderSearch
from tiger.pipeline.ranks.starts import starts

GAIN = 1e-9
BEGUN, JUDGED, DRAWN, SETTLED, ROUNDS = 4, 24, 2048, 3, 3
PATIENCE = 6
BATCH_RANKS = 1 << 14

Cuts = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judges:
    """Hold who cuts and who judges: `cuts_of` the layers for a grid `[p, d, t]`, `iteration_s` of a plan in seconds.

    `cuts_of` returns no cuts where nothing fits, `iteration_s` is infinite there.
    """

    cuts_of: Callable[[IntArray], Cuts]
    iteration_s: Callable[[Plan], float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judged:
    """Hold a grid, the cuts it was judged with, and the seconds of an iteration."""

    grid: IntArray
    cuts: Cuts
    iteration_s: float


def place_groups(
    layers: Layers, cluster: Cluster, degrees: Degrees, judges: Judges, search: OrderSearch
) -> Plan | None:
    """Place the ranks of p x d x t groups on devices so that an iteration takes little time; None where nothing fits.

    Starts from rank order, others and the answer of a quadratic assignment problem; in turns, ranks, groups, stages and
    machines change places between fixed cuts, and the layers are cut anew; shaken again and again. Never worse than
    rank order, which is kept where nothing gains; heuristic. The cluster has p x d x t devices or more.
    """
    if layers.size < degrees.pipeline:
        return None
    trade = Trade(layers=layers, cluster=cluster, degrees=degrees, judges=judges, search=search)
    start = trade.judge(rank_order(degrees.shape))
    best = trade.search_starts(trade.settle(start))
    if not search.stop():
        best = better_of(best, trade.settle(trade.solve_assignment(start)))
    best = trade.prefer_rank_order(trade.shake(trade.polish(best)))
    return None if best.iteration_s == np.inf else Plan(cuts=best.cuts, grid=best.grid)


def better_of(one: Judged, other: Judged) -> Judged:
    """Return the quicker of two, the first unless the other gains."""
    return other if other.iteration_s < one.iteration_s * (1 - GAIN) else one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trade:
    """Let ranks change places, step by step."""

    layers: Layers
    cluster: Cluster
    degrees: Degrees
    judges: Judges
    search: OrderSearch

    def judge(self, grid: IntArray) -> Judged:
        """Return a grid with the cuts made for it."""
        cuts = self.judges.cuts_of(grid)
        return self._judge(grid, cuts) if cuts else Judged(grid=grid, cuts=(), iteration_s=np.inf)

    def search_starts(self, best: Judged) -> Judged:
        """Return the best of what settles from the most promising orders of all devices, numbered as in rank order."""
        orders = starts(self.cluster, self.search.seed)[:, : self.degrees.ranks]
        grids = orders.reshape(-1, *self.degrees.shape)
        for grid in self._most_promising(self._prices(best.cuts or self._even_cuts()), grids, BEGUN):
            if not self.search.stop():
                best = better_of(best, self.settle(self.judge(grid)))
        return best

    def settle(self, start: Judged) -> Judged:
        """Return the best of cutting, and of moves by estimated seconds between these cuts, in turns."""
        best, cuts = start, start.cuts or self._even_cuts()
        for _ in range(ROUNDS):
            grid = self._descend(self._prices(cuts), best.grid)
            found = min((self._judge(grid, cuts), self.judge(grid)), key=lambda each: each.iteration_s)
            if better_of(best, found) is best:
                break
            best, cuts = found, found.cuts
        return best

    def solve_assignment(self, start: Judged) -> Judged:
        """Return the answer of a solver to the problem of putting ranks onto devices, cut for it."""
        from tiger.pipeline.ranks.assignment import assign
        from tiger.pipeline.ranks.traffic import rank_problem

        problem = rank_problem(self.layers, self.cluster, start.cuts or self._even_cuts(), self.degrees)
        places = assign(problem, self.search, derive(self.search.seed, self.degrees.ranks))
        return self.judge(places.reshape(self.degrees.shape))

    def polish(self, best: Judged) -> Judged:
        """Return the grid that moves judged in full lead to, the most promising by estimate tried first."""
        while not self.search.stop():
            cuts = best.cuts or self._even_cuts()
            grids = self._most_promising(self._prices(cuts), neighbour_grids(best.grid, self.cluster.machine), JUDGED)
            tried = chain((self._judge(grid, cuts) for grid in grids), map(self.judge, grids))
            found = next((each for each in tried if better_of(best, each) is each), best)
            if found is best:
                break
            best = better_of(found, self.judge(found.grid))
        return best

    def shake(self, best: Judged) -> Judged:
        """Return the best of what settles from the most promising of many grids further away, till that often fails."""
        rng = np.random.default_rng(derive(self.search.seed, 1 + self.degrees.ranks))
        failed = 0
        while failed < PATIENCE * self.search.effort and not self.search.stop():
            cuts, known = best.cuts or self._even_cuts(), best
            grids = draw_grids(best.grid, self.cluster.machine, DRAWN, rng)
            for grid in self._most_promising(self._prices(cuts), grids, SETTLED):
                if not self.search.stop():
                    best = better_of(best, self.settle(self._judge(grid, cuts)))
            failed = failed + 1 if best is known else 0
        return best

    def prefer_rank_order(self, best: Judged) -> Judged:
        """Return rank order between the same cuts if that is as good."""
        ranks = self._judge(rank_order(self.degrees.shape), best.cuts) if best.cuts else best
        return best if better_of(ranks, best) is best else ranks

    def _most_promising(self, prices: Prices, grids: IntArray, count: int) -> IntArray:
        """Return the best grids by estimate, one of all with the same."""
        first = np.unique(self._estimates(prices, grids), return_index=True)[1]
        return grids[first[:count]]

    def _descend(self, prices: Prices, grid: IntArray) -> IntArray:
        """Return the grid that the best move by estimate, again and again, leads to."""
        value = float(prices.estimates(grid[None])[0])
        while not self.search.stop():
            grids = neighbour_grids(grid, self.cluster.machine)
            found = self._estimates(prices, grids)
            least = int(np.argmin(found))
            if not found[least] < value * (1 - GAIN):
                break
            grid, value = grids[least], float(found[least])
        return grid

    def _estimates(self, prices: Prices, grids: IntArray) -> FloatArray:
        """Return estimates, in batches that stay in the cache."""
        batch = max(BATCH_RANKS // self.degrees.ranks, 1)
        found = np.full(len(grids), np.inf)
        for at in range(0, len(grids), batch):
            found[at : at + batch] = prices.estimates(grids[at : at + batch])
            if self.search.stop():
                break
        return found

    def _judge(self, grid: IntArray, cuts: Cuts) -> Judged:
        """Return a grid with given cuts."""
        return Judged(grid=grid, cuts=cuts, iteration_s=self.judges.iteration_s(Plan(cuts=cuts, grid=grid)))

    def _prices(self, cuts: Cuts) -> Prices:
        """Return what stages between cuts spend."""
        return Prices.of(self.layers, self.cluster, cuts, self.degrees)

    def _even_cuts(self) -> Cuts:
        """Return cuts into stages of about as many layers each."""
        return tuple(np.linspace(0, self.layers.size, self.degrees.pipeline + 1).astype(int).tolist())
