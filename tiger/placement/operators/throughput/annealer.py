"""Runs of annealing from given places: their temperatures, lengths and results."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.placement.operators.loads import loads_s
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.annealing import AnnealingRun, Best, Energy, anneal
from tiger.placement.operators.throughput.proposals import make_proposal
from tiger.placement.operators.throughput.state import make_state
from tiger.placement.operators.throughput.tables import Tables, make_tables
from tiger.solvers.generator import seed_state

UNSTAGED: IntArray = np.empty(0, np.int64)
# Visits of operators and edges that the proposals of one run may take, an upper limit where groups are large.
VISITS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnealerParams:
    """Set how hard to search: `effort` >= 1 multiplies what is tried; same `seed` >= 0 and effort, same answer."""

    seed: int = 0
    effort: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnealingParams:
    """Set a run of annealing of `tries` proposals on the mean of loads of power 2^`doublings`.

    The `temperature`, in units of the largest load that is to be reached, falls geometrically by the factor `cooling`
    in so many `temperatures`; `stop` is called `polls` times. A byte too many costs as if the memory of all groups,
    spread evenly, cost the largest load `overload_penalty` times.
    """

    temperature: float
    tries: int
    seed: int
    doublings: int = 4
    cooling: float = 300.0
    temperatures: int = 100
    polls: int = 10
    overload_penalty: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinementParams:
    """Set a cold run for single groups: `tries` proposals for each.

    Its temperature is the lower of `temperature` and `share` of what an average group adds to a load, both in units of
    the largest load: there are too few tries to cool down from more.
    """

    temperature: float = 0.002
    share: float = 0.1
    tries: int = 20


@dataclass(frozen=True, slots=True, eq=False)
class Annealer:
    """Anneal the devices of vertices, sets of groups with the same `label[C]`."""

    terms: Terms
    label: IntArray
    tables: Tables
    stop: Callable[[], bool]

    @classmethod
    def of(cls, terms: Terms, label: IntArray, rank: IntArray, stop: Callable[[], bool]) -> Self:
        """Return the annealer of vertices that keep to the order of stages `rank[k]`, to none where that is empty."""
        return cls(terms, label, make_tables(terms, label, rank), stop)

    def anneal(self, place: IntArray, scale: float, params: AnnealingParams) -> tuple[IntArray, float]:
        """Return the best places [C] on the way from `place[C]`, the same within a vertex, and their largest load.

        The last places, and an infinite load, where none keep to memory and links. `scale` is about what the largest
        load may come to, in seconds.
        """
        even_bytes = float(self.tables.memory.sum()) / self.terms.devices
        run = self._begin(place, params.seed)
        energy = Energy(params.doublings, params.overload_penalty * scale / (even_bytes or 1.0))
        schedule = scale * params.temperature * np.geomspace(1.0, 1.0 / params.cooling, params.temperatures)
        for temperatures in np.array_split(schedule, params.polls):
            if self.stop():
                break
            anneal(self.tables, run, energy, temperatures, max(params.tries // params.temperatures, 1))
        fits = bool(np.isfinite(run.best.value[0]))
        reached = (run.best.place if fits else run.state.place)[self.label]
        return reached, largest_load_s(self.terms, reached) if fits else np.inf

    def _begin(self, place: IntArray, seed: int) -> AnnealingRun:
        """Return the state of annealing at places [C]."""
        first = np.zeros(len(self.tables.memory), np.int64)
        first[self.label] = place
        state, zeros = make_state(self.terms, self.tables, first), np.zeros_like(first)
        best = Best(first.copy(), np.array([np.inf]), zeros, zeros.copy(), np.zeros(1, np.int64))
        proposal = make_proposal(len(first), seed_state(seed))
        return AnnealingRun(state, proposal, best, state.load.copy(), state.held.copy())


def refine(terms: Terms, place: IntArray, params: AnnealerParams, stop: Callable[[], bool]) -> IntArray:
    """Return places [C] with a largest load no larger than that of `place[C]`, by cold annealing of single groups.

    From places that do not keep to memory or links it may return others that do not. O(C k degree) time, O(k n + e)
    memory.
    """
    annealer, cold = Annealer.of(terms, np.arange(terms.groups), UNSTAGED, stop), RefinementParams()
    temperature = min(cold.temperature, cold.share * terms.devices / terms.groups)
    run = AnnealingParams(temperature=temperature, tries=cold.tries * terms.groups * params.effort, seed=params.seed)
    start = largest_load_s(terms, place)
    return annealer.anneal(place, start if np.isfinite(start) else ideal_load_s(terms), run)[0]


def count_tries(terms: Terms, most: int, per_group: int) -> int:
    """Return how many proposals a run may make: fewer where groups have many operators, as each takes longer."""
    visits = (terms.operators + 2 * len(terms.consumer)) // terms.groups + 1
    return max(min(most, per_group * terms.groups, VISITS // visits), 1)


def largest_load_s(terms: Terms, place: IntArray) -> float:
    """Return the largest load, in seconds."""
    loads: FloatArray = np.add(*loads_s(terms, place))
    return float(loads.max())


def ideal_load_s(terms: Terms) -> float:
    """Return the seconds of work on the fastest devices, in k equal parts."""
    return float(terms.work.min(axis=0).sum() / terms.devices) or 1.0
