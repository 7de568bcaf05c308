"""Places of classes made better by moves of groups of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.pipeline.operators.loads import loads_s
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.annealing import Best, Energy, Walk, anneal
from tiger.pipeline.operators.throughput.generator import seed_state
from tiger.pipeline.operators.throughput.proposals import proposal_arrays
from tiger.pipeline.operators.throughput.state import state_of
from tiger.pipeline.operators.throughput.tables import Tables, tables_of

UNSTAGED: IntArray = np.empty(0, np.int64)
HEATS, COOLING, PIECES = 100, 300.0, 10
OVERFULL = 10.0
REFINEMENT, SHARE, PER_CLASS = 0.002, 0.1, 20
VISITS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParams:
    """Set how hard to search: `effort` >= 1 multiplies what is tried; same `seed` >= 0 and effort, same answer."""

    seed: int = 0
    effort: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Set a run of annealing: from `heat` down to a 300th of it, both in units of the largest load it is to reach.

    It makes `tries` proposals on the mean of loads of power 2^`doublings`.
    """

    heat: float
    tries: int
    seed: int
    doublings: int = 4


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Anneal the devices of groups of classes `label[C]`, in stages unless these are free."""

    terms: Terms
    label: IntArray
    tables: Tables
    stop: Callable[[], bool]

    @classmethod
    def of(cls, terms: Terms, label: IntArray, rank: IntArray, stop: Callable[[], bool]) -> Self:
        """Return the moves of groups, which keep to the order of stages `rank[k]`, free where that is empty."""
        return cls(terms, label, tables_of(terms, label, rank), stop)

    def anneal(self, place: IntArray, scale: float, plan: Plan) -> tuple[IntArray, float]:
        """Return the best places [C] on the way from `place[C]`, which groups share, and their largest load.

        The last ones, and an infinite load, where none keep to memory and links. `scale` is about what the largest
        load may come to, in seconds.
        """
        share = float(self.tables.memory.sum()) / self.terms.devices
        walk, energy = self._begin(place, plan.seed), Energy(plan.doublings, OVERFULL * scale / (share or 1.0))
        for heats in np.array_split(scale * plan.heat * np.geomspace(1.0, 1.0 / COOLING, HEATS), PIECES):
            if self.stop():
                break
            anneal(self.tables, walk, energy, heats, max(plan.tries // HEATS, 1))
        fits = bool(np.isfinite(walk.best.value[0]))
        found = (walk.best.place if fits else walk.state.place)[self.label]
        return found, largest_load_s(self.terms, found) if fits else np.inf

    def _begin(self, place: IntArray, seed: int) -> Walk:
        """Return what annealing from places [C] begins with."""
        first = np.zeros(len(self.tables.memory), np.int64)
        first[self.label] = place
        begun, none = state_of(self.terms, self.tables, first), np.zeros_like(first)
        best = Best(first.copy(), np.array([np.inf]), none, none.copy(), np.zeros(1, np.int64))
        return Walk(begun, proposal_arrays(len(first), seed_state(seed)), best, begun.load.copy(), begun.held.copy())


def refine(terms: Terms, place: IntArray, params: SearchParams, stop: Callable[[], bool]) -> IntArray:
    """Return places [C] with a largest load no larger than that of `place[C]`, by cold annealing of single classes.

    From places that do not keep to memory or links it may return others that do not. O(C k degree) time, O(k n + e)
    memory.
    """
    moves = Moves.of(terms, np.arange(terms.classes), UNSTAGED, stop)
    # No hotter than what a class adds to a load, for there are too few tries to cool down from more.
    heat = min(REFINEMENT, SHARE * terms.devices / terms.classes)
    plan = Plan(heat=heat, tries=PER_CLASS * terms.classes * params.effort, seed=params.seed)
    start = largest_load_s(terms, place)
    return moves.anneal(place, start if np.isfinite(start) else ideal_load_s(terms), plan)[0]


def count_tries(terms: Terms, most: int, per_class: int) -> int:
    """Return how many proposals a run may make: fewer where classes have many operators, as each is then dear."""
    visits = (terms.operators + 2 * len(terms.consumer)) // terms.classes + 1
    return max(min(most, per_class * terms.classes, VISITS // visits), 1)


def largest_load_s(terms: Terms, place: IntArray) -> float:
    """Return the largest load, in seconds."""
    loads: FloatArray = np.add(*loads_s(terms, place))
    return float(loads.max())


def ideal_load_s(terms: Terms) -> float:
    """Return the seconds of work on the fastest devices, in k equal parts."""
    return float(terms.work.min(axis=0).sum() / terms.devices) or 1.0
