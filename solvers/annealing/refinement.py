"""Refinement of large sparse mappings: annealing at the boundaries of nodes, from the widest distances to the least.

Where nodes are shared, tasks drift under a soft balance, first between the domains that are farthest apart, then
within; chains of moves restore exact capacity. Everywhere trading of places at exact capacity comes last.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.seeds import derive
from tiger.solvers.annealing import boundary_annealing as boundary
from tiger.solvers.annealing import ejection_chains as chains
from tiger.solvers.annealing import moves
from tiger.solvers.annealing import swap_annealing as trading
from tiger.solvers.annealing.tiers import tiers_of
from tiger.solvers.instance import Instance, State, fixed_of, instance_of, restrict, state_of, uniform

SAMPLE = 512
CHUNK = 150_000
ENTRIES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling:
    """Set falling temperatures: `heats` of them, from `hot` to `cold` times the median size of a cost change.

    `share` is the part of all proposals that this annealing gets.
    """

    hot: float
    cold: float
    share: float
    heats: int = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineParams:
    """Set the refinement: at effort 1 `each` proposals a task and `base` more, at most `most` a task.

    Where there are `crowded` tasks a node or more, tasks `drift`, else they `trade`, or `swap` where no two of a group
    share a node; `mend` comes last. The toll on squared overload is `toll` times the temperature, and rises to `strict`
    times the median cost change while the coldest temperature is repeated, `squeeze` times as often as there are
    temperatures. The node of a neighbour or, for a part `beside` of the proposals, one near it is asked for; on a
    shared node the best of `tries` partners. Half the effort, then half of the rest, .. is spent on a lap; each starts
    from the cheapest mapping so far, `milder` times as hot as the last.
    """

    each: int = 120
    base: int = 4_000_000
    most: int = 2000
    crowded: int = 24
    drift: Cooling = field(default_factory=lambda: Cooling(hot=0.4, cold=0.1, share=0.8))
    trade: Cooling = field(default_factory=lambda: Cooling(hot=0.3, cold=0.02, share=0.8))
    swap: Cooling = field(default_factory=lambda: Cooling(hot=0.5, cold=0.05, share=0.8))
    mend: Cooling = field(default_factory=lambda: Cooling(hot=0.1, cold=0.01, share=0.2))
    toll: float = 0.3
    strict: float = 10.0
    squeeze: float = 0.25
    beside: tuple[float, float] = (0.25, 0.75)
    tries: int = 4
    milder: float = 0.7

    def proposals(self, tasks: int, effort: int) -> int:
        """Return how many proposals there are in all."""
        return effort * min(self.each * tasks + self.base, self.most * tasks)


@dataclass(frozen=True, slots=True)
class Refinement:
    """Anneal at low temperature from a mapping that is good already."""

    params: RefineParams = field(default_factory=RefineParams)
    usage: ClassVar[Usage] = Usage(rounds="later")

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a mapping at most as costly as the feasible `start[n]`; O(effort n degree) time, not optimal.

        A problem comes back as it is where distances depend on the direction or are too many for a table.
        """
        inst = instance_of(problem)
        if not (inst.plain and inst.movable.size and inst.indices.size):
            return Assignment(places=start.copy())
        best, left = start.copy(), effort
        for lap in range(effort.bit_length() + 1):
            part = left - left // 2
            if part == 0 or stop():
                break
            best = self._lap(Run(problem, inst, self.params, (part, self.params.milder**lap), stop), best, seed, lap)
            left -= part
        return Assignment(places=best)

    def _lap(self, run: "Run", start: IntArray, seed: int, lap: int) -> IntArray:
        """Return the cheaper of a mapping and what one round of all annealings makes of it."""
        params, best = self.params, start
        if run.crowded:
            places = run.drift_all(start, derive(seed, lap, 0))
            best = run.cheaper(start, run.trade_all(places, params.mend, derive(seed, lap, 1)))
        else:
            cooling = params.swap if run.grouped else params.trade
            best = run.cheaper(start, run.trade_all(start, cooling, derive(seed, lap, 0)))
        if not run.crowded or (best == start).all():
            best = run.cheaper(best, run.trade_all(best, params.mend, derive(seed, lap, 2)))
        return best


class Run:
    """Hold the arrays of one refinement."""

    def __init__(
        self, problem: Problem, inst: Instance, params: RefineParams, lap: tuple[int, float], stop: Stop
    ) -> None:
        self._problem, self._inst, self._params, self._stop = problem, inst, params, stop
        self._web = boundary.web_of(inst)
        effort, self._mild = lap
        self._proposals = params.proposals(inst.movable.size, effort)
        self.grouped = bool(problem.groups)
        self.crowded = not self.grouped and inst.movable.size >= params.crowded * inst.hosts.size
        self._ends = np.repeat(np.arange(len(inst.work)), np.diff(inst.indptr))
        self._fixed = fixed_of(inst)
        self._tiers = tiers_of(problem)

    def cheaper(self, places: IntArray, others: IntArray) -> IntArray:
        """Return the cheaper of two feasible mappings, the first where they are equal."""
        before, after = moves.total(self._inst, places), moves.total(self._inst, others)
        return others if after < before - moves.smallest_gain(self._inst, before) else places

    def drift_all(self, start: IntArray, seed: int) -> IntArray:
        """Return a mapping after drifting in all tiers, or the start if that is stopped or leaves a node overfull."""
        tiers, places = self._tiers, start.copy()
        for k in range(len(tiers) - 1, -1, -1):
            crowd = self._crowd(places, tiers[k:])
            scale = self._scale(places, tiers[k], seed)
            boundary.enlist(self._web, crowd)
            plan = self._soft(scale)
            moves_each = int(self._proposals * self._params.drift.share / len(tiers) / len(plan))
            for part, (rows, count) in enumerate(self._slices(plan, moves_each)):
                if self._stop():
                    return start
                boundary.drift(self._inst, self._web, crowd, rows, (count, derive(seed, k, part)))
            places = crowd.place
        settled = self._settle(places)
        return start if settled is None else settled

    def _settle(self, places: IntArray) -> IntArray | None:
        """Return a mapping with the overload of `places[n]` moved on to where there is room, None if that fails."""
        lists = chains.chains_of(self._inst, places)
        left = 1
        while left > 0 and not self._stop():
            left = chains.settle(self._inst, self._web, lists, 64)
        return lists.place if left == 0 else None

    def trade_all(self, start: IntArray, cooling: Cooling, seed: int) -> IntArray:
        """Return a mapping after trading of places at exact capacity in all tiers; what there is once told to stop."""
        state, tiers = state_of(self._problem, start), self._tiers
        for k in range(len(tiers) - 1, -1, -1):
            scale = self._scale(state.place, tiers[k], seed)
            heats = scale * self._temperatures(cooling)
            moves_each = int(self._proposals * cooling.share / len(tiers) / len(heats))
            for part, (rows, count) in enumerate(self._slices(heats, moves_each)):
                if self._stop():
                    return state.place
                self._trade(state, tiers[k], (rows, count, derive(seed, k, part)))
        return state.place

    def _trade(self, state: State, label: IntArray, plan: tuple[FloatArray, int, int]) -> None:
        """Trade places between domains for a number of proposals at each heat."""
        heats, count, seed = plan
        inst, params = self._inst, self._params
        cut = label[state.place[self._ends]] != label[state.place[inst.indices]]
        tasks = np.zeros(len(inst.work), bool)
        tasks[self._ends[cut]] = True
        border = inst.movable[tasks[inst.movable]]
        if border.size:
            beside = params.beside[int(self.grouped)]
            rows = np.array([(heat, count, beside, params.tries, derive(seed, k)) for k, heat in enumerate(heats)])
            inst = restrict(inst, border, inst.hosts)
            trading.trade(inst, self._web, state, (uniform(self._fixed), uniform(label)), rows)

    def _temperatures(self, cooling: Cooling) -> FloatArray:
        """Return the falling temperatures of an annealing."""
        return np.geomspace(max(cooling.hot * self._mild, cooling.cold), cooling.cold, cooling.heats)

    def _soft(self, scale: float) -> FloatArray:
        """Return the temperatures and tolls of a tier."""
        params, cooling = self._params, self._params.drift
        heats = scale * self._temperatures(cooling)
        last = int(params.squeeze * cooling.heats)
        rise = scale * np.geomspace(params.toll * cooling.cold, params.strict, last)
        tolls = np.concatenate([params.toll * heats, rise])
        return np.stack([np.concatenate([heats, np.full(last, heats[-1])]), tolls], axis=1)

    def _crowd(self, places: IntArray, tiers: IntArray) -> boundary.Crowd:
        """Return the state of a drift between the domains of the first of some tiers."""
        inst, size = self._inst, self._problem.topology.size
        load = np.stack([np.bincount(tier[places], minlength=size) for tier in tiers])
        limit = np.stack([np.bincount(tier, inst.slots, size).astype(np.int64) for tier in tiers])
        used = np.zeros(size, np.int64)
        np.add.at(used, places, inst.memory)
        rank = np.where(self._fixed > 0, -2, -1)
        # Where prices differ a task may gain by a move wherever its neighbours are.
        apart = np.full(len(places), int(np.ptp(inst.price[inst.hosts]) > 0), np.int64)
        border, count = np.empty(len(places), np.int64), np.zeros(1, np.int64)
        return boundary.Crowd(places, np.ascontiguousarray(tiers), load, limit, used, border, count, rank, apart)

    def _scale(self, places: IntArray, label: IntArray, seed: int) -> float:
        """Return the median size of a cost change of tasks that move to a neighbour's node in another domain."""
        rng = np.random.default_rng(seed)
        other = self._inst.indices
        cut = np.flatnonzero((label[places[self._ends]] != label[places[other]]) & (self._fixed[self._ends] == 0))
        if not cut.size:
            return 0.0
        drawn = rng.choice(cut, SAMPLE)
        sizes = np.empty(SAMPLE)
        boundary.sample_changes(self._web, places, self._ends[drawn], places[other[drawn]], sizes)
        sizes = sizes[sizes > self._inst.tolerance]
        return float(np.median(sizes)) if sizes.size else 0.0

    def _slices(self, rows: FloatArray, moves_each: int) -> Iterator[tuple[FloatArray, int]]:
        """Yield the rows in parts, and the proposals at each row, so that no part takes long."""
        inst = self._inst
        chunk = max(CHUNK * ENTRIES * len(inst.work) // max(inst.indices.size, ENTRIES * len(inst.work)), 1)
        repeats = -(-max(moves_each, 1) // chunk)
        rows = np.repeat(rows, repeats, axis=0)
        count = -(-max(moves_each, 1) // repeats)
        for part in np.array_split(rows, -(-len(rows) * count // chunk)):
            yield part, count
