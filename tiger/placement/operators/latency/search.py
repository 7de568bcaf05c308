"""The search for a small makespan of one microbatch: list scheduling from several starts, and annealing."""

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeGuard

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.placement.operators.latency.annealing import anneal, cost_of, move_arrays
from tiger.placement.operators.latency.heft import place_by_heft
from tiger.placement.operators.latency.list_scheduling import make_jobs, renumber_by_list
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.loads import held_bytes
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.greedy import fill, spread
from tiger.solvers.generator import seed_state
from tiger.training.costs.tolerances import MEMORY, SUMS

# Subgradient steps for the bound, fewer where all of them would visit more entries of work [k, C] than CELLS.
STEPS, CELLS = 200, 1 << 25


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyParams:
    """Set what a placement costs, and the search.

    The cost is the makespan, `makespan_weight` times, plus the largest load, `load_weight` times, in seconds. HEFT
    runs with each of `lookaheads`, and groups are filled into devices along `lines` linear orders. Annealing runs
    from the `runs` best placements, with `passes` visits of operators and edges each, at temperatures from `hot` to
    `cold` times the cost; not at all where that is less than a move for every group. Where there are fewer than
    `plenty` moves for every group, too few to cool down from such temperatures, these are `cooler` times as high.
    `stop` is called every `part` visits.
    """

    makespan_weight: float = 1.0
    load_weight: float = 0.0
    seed: int = 0
    effort: int = 1
    lookaheads: tuple[float, ...] = (0.0, 0.3, 1.0)
    lines: int = 8
    runs: int = 4
    passes: int = 1_000_000_000
    part: int = 20_000_000
    hot: float = 0.05
    cold: float = 1e-4
    # What both are worth: `python -m benchmarks.vary_plans MODULE:LatencyParams.plenty 0 50 --only operators`, with the
    # name of this module. On graphs with more moves a group makespans may rise.
    plenty: int = 50
    cooler: float = 0.004


def makespan_bound_s(terms: Terms) -> float:
    r"""Return a lower bound on the makespan: the longest path on the fastest devices, or all work on all devices.

    For prices :math:`\lambda \ge 0` of the devices that sum to 1, no largest compute load, and so no makespan, is below
    :math:`\sum_u \min_d \lambda_d w_{d u}`; subgradient steps look for the prices where that is the most. O(k n).
    """
    jobs = make_jobs(terms)
    rows = np.array([np.bincount(terms.group_of, row, terms.groups) for row in terms.work])
    work = np.where(terms.allowed.T, rows, np.inf)
    if not np.isfinite(work.min(axis=0)).all():
        return float(jobs.tail.max())
    # Prices start in proportion to the speed of devices; exponentiated steps keep them positive.
    price = np.minimum(1 / np.maximum(rows.sum(axis=1), 1e-300), 1e300)
    price /= price.sum()
    best = 0.0
    for step in range(min(STEPS, max(CELLS // work.size, 1))):
        priced = work * price[:, None]
        choice = priced.argmin(axis=0)
        best = max(best, float(np.minimum.reduce(priced).sum()))
        load = np.bincount(choice, work[choice, np.arange(terms.groups)], terms.devices)
        price = price * np.exp((load / max(load.max(), 1e-300) - 1) / np.sqrt(step + 1))
        price /= price.sum()
    return max(float(jobs.tail.max()), best) * (1 - SUMS)


def search_latency(
    terms: Terms,
    params: LatencyParams,
    starts: Sequence[IntArray],
    stop: Callable[[], bool],
    on_step: Callable[[str, IntArray, float], None],
) -> IntArray | None:
    """Return the device of every group [C] at a small cost within memory, None where none was found.

    No more expensive than the best of `starts`, placements within memory. Heuristic.
    """
    search = _LatencySearch(terms, params)
    for stage, place in chain(search.starts(starts), search.moves(stop)):
        search.offer(place)
        if search.known:
            on_step(stage, search.known[0][1], search.known[0][0])
        if stop():
            break
    return search.known[0][1] if search.known else None


class _LatencySearch:
    """Hold the known placements, the best first."""

    def __init__(self, terms: Terms, params: LatencyParams) -> None:
        self.terms, self.jobs, self.params = terms, make_jobs(terms), params
        self.listed = renumber_by_list(self.jobs)
        self.weights: FloatArray = np.array([params.makespan_weight, params.load_weight])
        self.known: list[tuple[float, IntArray]] = []
        self.visits = terms.operators + len(terms.consumer)
        self.rounds = params.passes * params.effort // self.visits

    def starts(self, given: Sequence[IntArray]) -> Iterator[tuple[str, IntArray | None]]:
        """Yield placements to begin with: those given, one device alone, lines filled into devices, and listed ones."""
        yield from (("given", place) for place in given)
        alone = np.flatnonzero(self.terms.allowed.all(axis=0))[:, None] * np.ones(self.terms.groups, np.int64)
        yield from (("one device", place) for place in alone)
        for number in range(self.params.lines):
            position = draw_linear_order(self.terms, derive(self.params.seed, number))
            for count in sorted({self.terms.devices >> k for k in range(self.terms.devices.bit_length())}):
                yield "lines", fill(self.terms, position, count)
        seats = [spread(self.terms), *(place for _, place in self.known[:1])]
        for start in filter(self._fits, seats):
            for lookahead in self.params.lookaheads:
                yield "listing", place_by_heft(self.terms, self.jobs, start, lookahead)

    def offer(self, place: IntArray | None) -> None:
        """Remember a placement within memory, in the order of costs, unless one of the same cost is known."""
        if self._fits(place):
            cost = float(cost_of(move_arrays(self.terms, self.listed, place, self.weights), np.inf))
            if all(cost != other for other, _ in self.known):
                insort(self.known, (cost, place), key=lambda each: each[0])

    def moves(self, stop: Callable[[], bool]) -> Iterator[tuple[str, IntArray | None]]:
        """Yield what annealing from the best placements reaches."""
        if self.rounds < self.terms.groups:
            return
        for _, place in self.known[: self.params.runs]:
            yield from self._improve(place, stop)

    def _improve(self, place: IntArray, stop: Callable[[], bool]) -> Iterator[tuple[str, IntArray | None]]:
        """Yield the best placement that annealing from one has reached, after each part of the run."""
        params, arrays = self.params, move_arrays(self.terms, self.listed, place, self.weights)
        cost = np.full(2, cost_of(arrays, np.inf))
        scale = cost[0] * (params.cooler if self.rounds < params.plenty * self.terms.groups else 1.0)
        temperatures = scale * np.geomspace(params.hot, params.cold, self.rounds)
        generator, best = seed_state(params.seed), place.copy()
        for part in np.array_split(temperatures, -(-self.rounds * self.visits // params.part)):
            if not stop():
                anneal(self.jobs, arrays, part, cost, best, generator)
                yield "moves", best.copy()

    def _fits(self, place: IntArray | None) -> TypeGuard[IntArray]:
        """Return whether there is a placement, and within memory and where groups may go."""
        if place is None:
            return False
        fits = (held_bytes(self.terms, place) <= self.terms.capacity * (1 + MEMORY)).all()
        return bool(fits and self.terms.allowed[np.arange(self.terms.groups), place].all())
