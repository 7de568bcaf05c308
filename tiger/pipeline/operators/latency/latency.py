"""A placement for one microbatch to end early: list scheduling from several starts, and moves of pieces."""

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeGuard

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.seeds import derive
from tiger.pipeline.costs.tolerances import MEMORY, SUMS
from tiger.pipeline.operators.latency.critical import cost_of, move_arrays, walk
from tiger.pipeline.operators.latency.heft import place_earliest
from tiger.pipeline.operators.latency.list_scheduling import jobs_of
from tiger.pipeline.operators.lines import draw_line
from tiger.pipeline.operators.loads import held_bytes
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.filling import fill, spread
from tiger.pipeline.operators.throughput.generator import seed_state

STEPS, CELLS = 200, 1 << 25


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyParams:
    """Set what a placement costs, and the search.

    The cost is the makespan, `makespan_weight` times, and the largest load, `load_weight` times. Classes are listed
    with each of `leans`, and filled in along `lines` orders. The best `walks` placements are then each improved by
    `passes` visits of operators and edges in all, at temperatures from `hot` to `cold` times the cost; none is where
    that is not a move for every class.
    """

    makespan_weight: float = 1.0
    load_weight: float = 0.0
    seed: int = 0
    effort: int = 1
    leans: tuple[float, ...] = (0.0, 0.3, 1.0)
    lines: int = 8
    walks: int = 4
    passes: int = 1_000_000_000
    part: int = 20_000_000
    hot: float = 0.05
    cold: float = 1e-4


def bound_s(terms: Terms) -> float:
    r"""Return what no makespan goes below: the longest path on the fastest devices, or all work on all devices.

    For prices :math:`\lambda \ge 0` of the devices that sum to 1, no largest compute load, and so no makespan, is below
    :math:`\sum_u \min_d \lambda_d w_{d u}`; subgradient steps look for the prices where that is the most. O(k n).
    """
    jobs = jobs_of(terms)
    rows = np.array([np.bincount(terms.of, row, terms.classes) for row in terms.work])
    work = np.where(terms.allowed.T, rows, np.inf)
    if not np.isfinite(work.min(axis=0)).all():
        return float(jobs.tail.max())
    price = np.minimum(1 / np.maximum(rows.sum(axis=1), 1e-300), 1e300)
    price /= price.sum()
    best = 0.0
    for step in range(min(STEPS, max(CELLS // work.size, 1))):
        priced = work * price[:, None]
        choice = priced.argmin(axis=0)
        best = max(best, float(np.minimum.reduce(priced).sum()))
        load = np.bincount(choice, work[choice, np.arange(terms.classes)], terms.devices)
        price = price * np.exp((load / max(load.max(), 1e-300) - 1) / np.sqrt(step + 1))
        price /= price.sum()
    return max(float(jobs.tail.max()), best) * (1 - SUMS)


def place_classes(
    terms: Terms,
    params: LatencyParams,
    starts: Sequence[IntArray],
    stop: Callable[[], bool],
    tell: Callable[[str, IntArray, float], None],
) -> IntArray | None:
    """Return the device of every class [C] at a small cost within memory, None where none was found.

    Never dearer than the cheapest of `starts`, placements within memory. Heuristic.
    """
    search = _Search(terms, params)
    for stage, place in chain(search.starts(starts), search.moves(stop)):
        search.offer(place)
        if search.known:
            tell(stage, search.known[0][1], search.known[0][0])
        if stop():
            break
    return search.known[0][1] if search.known else None


class _Search:
    """Hold the placements that are known, the cheapest first."""

    def __init__(self, terms: Terms, params: LatencyParams) -> None:
        self.terms, self.jobs, self.params = terms, jobs_of(terms), params
        self.weights: FloatArray = np.array([params.makespan_weight, params.load_weight])
        self.known: list[tuple[float, IntArray]] = []
        self.visits = terms.operators + len(terms.consumer)
        self.rounds = params.passes * params.effort // self.visits

    def starts(self, given: Sequence[IntArray]) -> Iterator[tuple[str, IntArray | None]]:
        """Yield placements to begin with: those given, one device alone, lines filled into devices, and listed ones."""
        yield from (("given", place) for place in given)
        alone = np.flatnonzero(self.terms.allowed.all(axis=0))[:, None] * np.ones(self.terms.classes, np.int64)
        yield from (("one device", place) for place in alone)
        for number in range(self.params.lines):
            position = draw_line(self.terms, derive(self.params.seed, number))
            for count in sorted({self.terms.devices >> k for k in range(self.terms.devices.bit_length())}):
                yield "lines", fill(self.terms, position, count)
        seats = [spread(self.terms), *(place for _, place in self.known[:1])]
        for start in filter(self._fits, seats):
            for lean in self.params.leans:
                yield "listing", place_earliest(self.terms, self.jobs, start, lean)

    def offer(self, place: IntArray | None) -> None:
        """Remember a placement within memory, in the order of costs, unless one of the same cost is known."""
        if self._fits(place):
            cost = float(cost_of(self.jobs, move_arrays(self.terms, place, self.weights), np.inf))
            if all(cost != other for other, _ in self.known):
                insort(self.known, (cost, place), key=lambda each: each[0])

    def moves(self, stop: Callable[[], bool]) -> Iterator[tuple[str, IntArray | None]]:
        """Yield what moves from the best placements lead to."""
        if self.rounds < self.terms.classes:
            return
        for _, place in self.known[: self.params.walks]:
            yield from self._improve(place, stop)

    def _improve(self, place: IntArray, stop: Callable[[], bool]) -> Iterator[tuple[str, IntArray | None]]:
        """Yield the cheapest placement that moves from one have led to, and its cost, after each part of the walk."""
        params, room = self.params, move_arrays(self.terms, place, self.weights)
        cost = np.full(2, cost_of(self.jobs, room, np.inf))
        heats = cost[0] * np.geomspace(params.hot, params.cold, self.rounds)
        generator, best = seed_state(params.seed), place.copy()
        for part in np.array_split(heats, -(-self.rounds * self.visits // params.part)):
            if not stop():
                walk(self.jobs, room, part, cost, best, generator)
                yield "moves", best.copy()

    def _fits(self, place: IntArray | None) -> TypeGuard[IntArray]:
        """Return whether there is a placement, and within memory and where classes may go."""
        if place is None:
            return False
        fits = (held_bytes(self.terms, place) <= self.terms.capacity * (1 + MEMORY)).all()
        return bool(fits and self.terms.allowed[np.arange(self.terms.classes), place].all())
