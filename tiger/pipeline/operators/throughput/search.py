"""The search for the devices of operators: dynamic programming, annealing, and placements combined."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.seeds import derive
from tiger.pipeline.costs.tolerances import MEMORY
from tiger.pipeline.operators.device_types import keep_linked, keep_paying
from tiger.pipeline.operators.lines import draw_line
from tiger.pipeline.operators.loads import held_bytes
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.cut_dp import cut
from tiger.pipeline.operators.throughput.moves import (
    UNSTAGED,
    Moves,
    Plan,
    SearchParams,
    count_tries,
    ideal_load_s,
    largest_load_s,
)
from tiger.pipeline.operators.throughput.path_relinking import agreed_groups

__all__ = ["SearchParams", "search_placement"]

ORDERS, ROUNDS, PATIENCE, ELITE = 10, 8, 2, 4
TRIES, PER_CLASS = 1_000_000, 5_000
PLANS = ((0.01, 4), (0.003, 4), (0.03, 4), (0.01, 6), (0.1, 4), (0.003, 4), (0.1, 6), (0.01, 4))
COMBINED, RELEASED = 0.01, 0.003


def search_placement(
    terms: Terms, params: SearchParams, stop: Callable[[], bool], tell: Callable[[str, IntArray, float], None]
) -> IntArray | None:
    """Return the device of every class [C] with the smallest largest load that is found, None where nothing fits.

    `tell` is called with the best places so far, and their largest load in seconds, at the end of every stage. Stages:
    exact cuts of some linear orders, annealing from them, and annealing of what pairs of the results agree on.
    """
    if not terms.allowed.any(axis=1).all():
        return None
    moves = Moves.of(terms, np.arange(terms.classes), UNSTAGED, stop)
    pool = _Pool(terms, params, stop, moves, count_tries(terms, TRIES, PER_CLASS))
    for name, stage in (("linear", pool.cut), ("annealing", pool.anneal), ("relinking", pool.relink)):
        stage()
        if pool.found:
            tell(name, pool.found[0][1], pool.found[0][0])
    return pool.found[0][1] if pool.found else None


@dataclass(slots=True, eq=False)
class _Pool:
    """Hold different placements, (largest load, device of every class), the best first.

    Runs of annealing make so many `tries`.
    """

    terms: Terms
    params: SearchParams
    stop: Callable[[], bool]
    moves: Moves
    tries: int
    found: list[tuple[float, IntArray]] = field(default_factory=list)
    start: list[IntArray] = field(default_factory=list)

    @property
    def scale(self) -> float:
        """Return the largest load of the best, or of what it begins with that does not fit."""
        if self.found:
            return self.found[0][0]
        loads = [load for place in self.start if np.isfinite(load := largest_load_s(self.terms, place))]
        return min(loads, default=0.0) or ideal_load_s(self.terms)

    def cut(self) -> None:
        """Add the best line of some orders, of one at least."""
        for number in range(ORDERS * self.params.effort):
            if number and self.stop():
                break
            position = draw_line(self.terms, derive(self.params.seed, 0, number))
            made = cut(
                keep_paying(keep_linked(self.terms, number), number), position, derive(self.params.seed, 1, number)
            )
            self.start.append(made.place if made else _spread(self.terms, position))
            self.add(self.start[-1])
        self.start.sort(key=lambda place: largest_load_s(self.terms, place))

    def anneal(self) -> None:
        """Add what annealing makes of the lines, cold and hot."""
        for number, (heat, doublings) in enumerate(PLANS * self.params.effort):
            if self.stop() or not self.start:
                break
            start = self.start[number % len(self.start)]
            self.run(
                self.moves, start, Plan(heat=heat, doublings=doublings, tries=self.tries, seed=self.seed(2, number))
            )

    def relink(self) -> None:
        """Add what annealing makes of pairs of the best, what they agree on moved as one and then by itself."""
        reached = [np.inf]
        for number in range(ROUNDS * self.params.effort):
            reached.append(self.scale)
            # No better for a while.
            if len(reached) > PATIENCE and reached[-1] >= reached[-1 - PATIENCE]:
                break
            for pair, (first, second) in enumerate(itertools.combinations(self.found[:ELITE], 2)):
                if self.stop():
                    return
                moves = Moves.of(self.terms, agreed_groups(self.terms, first[1], second[1]), UNSTAGED, self.stop)
                seed = self.seed(3, number, pair)
                place = self.run(moves, first[1], Plan(heat=COMBINED, tries=self.tries // 4, seed=seed))
                self.run(self.moves, place, Plan(heat=RELEASED, tries=self.tries // 4, seed=seed))

    def run(self, moves: Moves, place: IntArray, plan: Plan) -> IntArray:
        """Add and return what annealing makes of a placement."""
        place, _ = moves.anneal(place, self.scale, plan)
        self.add(place)
        return place

    def add(self, place: IntArray) -> None:
        """Add a placement that fits, unless one as good is there."""
        load = largest_load_s(self.terms, place)
        over = held_bytes(self.terms, place) > self.terms.capacity * (1 + MEMORY)
        barred = ~self.terms.allowed[np.arange(self.terms.classes), place]
        if over.any() or barred.any() or not np.isfinite(load):
            return
        if all(abs(load - other) > 1e-9 * load for other, _ in self.found):
            self.found.append((load, place))
            self.found.sort(key=lambda entry: entry[0])

    def seed(self, *path: int) -> int:
        """Return a seed of its own for every run."""
        return derive(self.params.seed, *path)


def _spread(terms: Terms, position: IntArray) -> IntArray:
    """Return devices in turn along a line, each class on one that it is allowed on; it may not fit."""
    wish = position * terms.devices // (int(position.max()) + 1)
    away = np.abs(np.arange(terms.devices) - wish[:, None])
    return np.asarray(np.where(terms.allowed, away, terms.devices).argmin(axis=1), np.int64)
