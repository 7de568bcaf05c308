"""Which device is which rank of tensor-, data- and pipeline-parallel groups."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.placement.ranks.cost_model import GridCostModel, ParallelDegrees
from tiger.placement.ranks.grid_estimates import GridEstimates
from tiger.placement.ranks.grid_moves import Grids, draw_grids, neighbour_grids
from tiger.placement.ranks.position_keys import PositionKeys
from tiger.placement.ranks.search import OrderSearch
from tiger.placement.ranks.starts import starts
from tiger.training.costs.plan import Plan, rank_order
from tiger.training.costs.tolerances import GAIN
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers

Cuts = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridParams:
    """Set how many grids a search for places of ranks looks at; all are counts.

    Of all starts the `starts` most promising are descended from, with at most `rounds` of moves and new cuts in turn.
    Moves that are evaluated in full are the `evaluated` most promising at a time. A perturbation draws `drawn` grids
    and descends from the `descents` most promising; the search ends after `failures` of them in a row without a gain,
    times effort. Work counts by how often a search asks whether to stop: once for as many grids as have `polled_ranks`
    ranks, equal ones included. Costs of parts of grids are kept for `kept` cuts at most. Descents take as many times as
    long as there are more ranks, so that of more than `whole_ranks` there are as many starts and failures fewer.

    In `python -m benchmarks.vary_plans tiger.placement.ranks.grid_search:GridParams.NAME .. --only groups` plans take
    up to 1.9 % longer without moves that are evaluated, and up to 0.5 % with two failures or none.
    """

    starts: int = 4
    rounds: int = 3
    evaluated: int = 24
    drawn: int = 2048
    descents: int = 3
    failures: int = 6
    polled_ranks: int = 1 << 14
    kept: int = 4
    whole_ranks: int = 128

    def scale(self, count: int, ranks: int) -> int:
        """Return how many descents there are of so many, at least one, for a number of ranks."""
        return -(-count * self.whole_ranks // max(ranks, self.whole_ranks))


@dataclass(frozen=True, slots=True, kw_only=True)
class GridFunctions:
    """Hold how grids are cut and evaluated: `cuts_of` a grid `[p, d, t]`, and `iteration_s` of a plan in seconds.

    `cuts_of` returns no cuts where nothing fits, `iteration_s` is infinite there.
    """

    cuts_of: Callable[[IntArray], Cuts]
    iteration_s: Callable[[Plan], float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvaluatedGrid:
    """Hold a grid, the cuts it was evaluated with, and the seconds of an iteration."""

    grid: IntArray
    cuts: Cuts
    iteration_s: float


def place_groups(
    layers: Layers, cluster: Cluster, degrees: ParallelDegrees, functions: GridFunctions, search: OrderSearch
) -> Plan | None:
    """Place the ranks of p x d x t groups on devices so that an iteration takes little time; None where nothing fits.

    Iterated local search. Starts from rank order, others and the answer of a quadratic assignment problem; in turns,
    ranks, groups, stages and machines change places between fixed cuts, and the layers are cut again; perturbed again
    and again. Never worse than rank order, which is kept where nothing gains; heuristic. The cluster has p x d x t
    devices or more. Source of the scheme: Lourenço, Martin and Stützle, Handbook of Metaheuristics, 2003,
    doi:10.1007/0-306-48056-5_11.
    """
    if layers.size < degrees.pipeline:
        return None
    keys = PositionKeys.of(cluster, degrees.shape)
    grids = GridSearch(layers=layers, cluster=cluster, degrees=degrees, functions=functions, search=search, keys=keys)
    start = grids.evaluate(rank_order(degrees.shape))
    if search.near is not None and search.near.shape == degrees.shape:
        best = grids.descend_by_evaluation(grids.alternate(better_of(start, grids.evaluate(search.near))))
    else:
        best = grids.search_starts(grids.alternate(start))
        if not search.stop():
            best = better_of(best, grids.alternate(grids.solve_assignment(start)))
        best = grids.perturb(grids.descend_by_evaluation(best))
    best = grids.prefer_rank_order(best)
    return None if best.iteration_s == np.inf else Plan(cuts=best.cuts, grid=best.grid)


def better_of(one: EvaluatedGrid, other: EvaluatedGrid) -> EvaluatedGrid:
    """Return the quicker of two, the first unless the other gains."""
    return other if other.iteration_s < one.iteration_s * (1 - GAIN) else one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GridSearch:
    """Search for places of ranks by moves between grids, each stage from the best grid of the one before."""

    layers: Layers
    cluster: Cluster
    degrees: ParallelDegrees
    functions: GridFunctions
    search: OrderSearch
    keys: PositionKeys
    params: GridParams = GridParams()
    known: dict[Cuts, GridEstimates] = field(default_factory=dict)

    def evaluate(self, grid: IntArray) -> EvaluatedGrid:
        """Return a grid with the best cuts for it."""
        cuts = self.functions.cuts_of(grid)
        return self._evaluate(grid, cuts) if cuts else EvaluatedGrid(grid=grid, cuts=(), iteration_s=np.inf)

    def search_starts(self, best: EvaluatedGrid) -> EvaluatedGrid:
        """Return the best of descents from the most promising orders of all devices, numbered as in rank order."""
        orders = starts(self.cluster, self.search.seed)[:, : self.degrees.ranks]
        grids = Grids.of(orders.reshape(-1, *self.degrees.shape))
        for grid in self._most_promising(
            self._estimates_between(best.cuts or self._even_cuts()),
            grids,
            self.params.scale(self.params.starts, self.degrees.ranks),
        ):
            if not self.search.stop():
                best = better_of(best, self.alternate(self.evaluate(grid)))
        return best

    def alternate(self, start: EvaluatedGrid) -> EvaluatedGrid:
        """Return the best of moves by estimated seconds between fixed cuts, and of new cuts, in turns."""
        best, cuts = start, start.cuts or self._even_cuts()
        for _ in range(self.params.rounds):
            grid = self._descend(self._estimates_between(cuts), best.grid)
            found = min((self._evaluate(grid, cuts), self.evaluate(grid)), key=lambda each: each.iteration_s)
            if better_of(best, found) is best:
                break
            best, cuts = found, found.cuts
        return best

    def solve_assignment(self, start: EvaluatedGrid) -> EvaluatedGrid:
        """Return the answer of a solver to the problem of putting ranks onto devices, cut for it."""
        from tiger.placement.ranks.assignment import assign
        from tiger.placement.ranks.traffic import rank_problem

        problem = rank_problem(self.layers, self.cluster, start.cuts or self._even_cuts(), self.degrees)
        places = assign(problem, self.search, derive(self.search.seed, self.degrees.ranks))
        return self.evaluate(places.reshape(self.degrees.shape))

    def descend_by_evaluation(self, best: EvaluatedGrid) -> EvaluatedGrid:
        """Return the grid that moves evaluated in full lead to, the most promising by estimate tried first."""
        while not self.search.stop():
            cuts = best.cuts or self._even_cuts()
            grids = self._most_promising(
                self._estimates_between(cuts), neighbour_grids(best.grid, self.cluster.machine), self.params.evaluated
            )
            tried = chain((self._evaluate(grid, cuts) for grid in grids), map(self.evaluate, grids))
            found = next((each for each in tried if better_of(best, each) is each), best)
            if found is best:
                break
            best = better_of(found, self.evaluate(found.grid))
        return best

    def perturb(self, best: EvaluatedGrid) -> EvaluatedGrid:
        """Return the best of descents from the most promising of many grids further away, until that often fails."""
        rng = np.random.default_rng(derive(self.search.seed, 1 + self.degrees.ranks))
        failed, allowed = 0, self.params.scale(self.params.failures * self.search.effort, self.degrees.ranks)
        while failed < allowed and not self.search.stop():
            cuts, known = best.cuts or self._even_cuts(), best
            grids = Grids.of(draw_grids(best.grid, self.cluster.machine, self.params.drawn, rng))
            for grid in self._most_promising(self._estimates_between(cuts), grids, self.params.descents):
                if not self.search.stop():
                    best = better_of(best, self.alternate(self._evaluate(grid, cuts)))
            failed = failed + 1 if best is known else 0
        return best

    def prefer_rank_order(self, best: EvaluatedGrid) -> EvaluatedGrid:
        """Return rank order with the same cuts if that is as good."""
        ranks = self._evaluate(rank_order(self.degrees.shape), best.cuts) if best.cuts else best
        return best if better_of(ranks, best) is best else ranks

    def _most_promising(self, estimates: GridEstimates, grids: Grids, count: int) -> IntArray:
        """Return the best grids by estimate, one of each estimate."""
        first = np.unique(self._estimates(estimates, grids), return_index=True)[1]
        return grids.take(first[:count])

    def _descend(self, estimates: GridEstimates, grid: IntArray) -> IntArray:
        """Return the grid that steepest descent by estimate leads to."""
        value = float(estimates.seconds(Grids.of(grid[None]), 1)[0])
        while not self.search.stop():
            grids = neighbour_grids(grid, self.cluster.machine)
            found = self._estimates(estimates, grids)
            least = int(np.argmin(found))
            if not found[least] < value * (1 - GAIN):
                break
            grid, value = grids.take(np.array(least)), float(found[least])
        return grid

    def _estimates(self, estimates: GridEstimates, grids: Grids) -> FloatArray:
        """Return estimates, infinite for grids that are left when time is up."""
        batch = max(self.params.polled_ranks // self.degrees.ranks, 1)
        ends = range(batch, len(grids) + batch, batch)
        count = min(next((end for end in ends if self.search.stop()), len(grids)), len(grids))
        found = np.full(len(grids), np.inf)
        found[:count] = estimates.seconds(grids, count)
        return found

    def _evaluate(self, grid: IntArray, cuts: Cuts) -> EvaluatedGrid:
        """Return a grid with given cuts."""
        return EvaluatedGrid(grid=grid, cuts=cuts, iteration_s=self.functions.iteration_s(Plan(cuts=cuts, grid=grid)))

    def _estimates_between(self, cuts: Cuts) -> GridEstimates:
        """Return the estimates of grids between cuts, those of the last few kept."""
        if cuts not in self.known:
            if len(self.known) >= self.params.kept:
                self.known.clear()
            cost_model = GridCostModel.of(self.layers, self.cluster, cuts, self.degrees)
            self.known[cuts] = GridEstimates.of(cost_model, self.keys)
        return self.known[cuts]

    def _even_cuts(self) -> Cuts:
        """Return cuts into stages of about as many layers each."""
        return tuple(np.linspace(0, self.layers.size, self.degrees.pipeline + 1).astype(int).tolist())
