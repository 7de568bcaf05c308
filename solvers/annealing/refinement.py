"""Refinement of large sparse mappings: annealing at the boundaries of nodes, from the widest distances to the least.

Where nodes are shared, tasks move under a soft balance, first between the domains that are farthest apart, then within;
ejection chains restore exact capacity. Everywhere swaps at exact capacity come last.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tiger.model.arrays import FloatArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.model.seeds import derive
from tiger.solvers.annealing import boundary_annealing, cost_changes, ejection_chains
from tiger.solvers.annealing.boundary import empty_boundary
from tiger.solvers.annealing.boundary_annealing import BoundarySchedule, Occupancy
from tiger.solvers.annealing.local import SAMPLE, moves_in_chunk
from tiger.solvers.annealing.renumbering import renumber_by_node, restore
from tiger.solvers.annealing.swap_annealing import SwapSchedule, anneal_swaps
from tiger.solvers.annealing.tiers import tiers_of
from tiger.solvers.generator import Generator, seed_state
from tiger.solvers.instance import Instance, State, instance_of, mark_fixed, restrict, state_of, uniform

# Moves of tasks with few neighbours, and chains, in a call that can't be stopped.
CHUNK, CHAINS_A_CALL = 150_000, 64
# Calls that clear overload once time is up, of 3 to 16 ms each: half-way through the annealing of 32,768 and 65,536
# tasks 6 to 25 were needed, and the mapping then was cheaper than its start in 3 of 4 cases.
LATE_CALLS = 25
# Share of all proposals that are swaps once tasks at boundaries were annealed: with 0.2 costs are 0.2 % lower and take
# 1.2 times as long to reach, with 0.05 they are 0.2 % higher (8,192 to 32,768 tasks, two seeds).
SHARED_FINAL = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooling:
    """Set falling temperatures: `temperatures` of them, from `hot` to `cold` times the median size of a cost change.

    `share` is the part of all proposals that this annealing gets.
    """

    hot: float
    cold: float
    share: float
    temperatures: int = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class RefineParams:
    """Set the refinement: `base_proposals` and `task_proposals` for each task at effort 1, at most `most_proposals`.

    From `shared_from` tasks a node on, tasks at a `boundary` are annealed under a soft balance, elsewhere `swaps` at
    exact capacity, or `group_swaps` where no two of a group share a node; `final` swaps come last, after boundaries
    `shared_final` ones. The penalty on squared overload is `overload_penalty` times the temperature, and rises to
    `last_penalty` times the median cost change while the coldest temperature is repeated, `squeeze` times as often as
    there are temperatures. The node of a neighbour or, for a part `near_share` of the proposals (`group_near_share` in
    groups), one near it is proposed; on a shared node the best of `partners` is swapped. Half the effort, then half of
    the rest, .. is spent on a round; each starts from the cheapest mapping so far, `reheat` times as hot as the last.
    """

    task_proposals: int = 120
    base_proposals: int = 4_000_000
    most_proposals: int = 2000
    shared_from: int = 24
    boundary: Cooling = field(default_factory=lambda: Cooling(hot=0.4, cold=0.1, share=0.8))
    swaps: Cooling = field(default_factory=lambda: Cooling(hot=0.3, cold=0.02, share=0.8))
    group_swaps: Cooling = field(default_factory=lambda: Cooling(hot=0.5, cold=0.05, share=0.8))
    final: Cooling = field(default_factory=lambda: Cooling(hot=0.1, cold=0.01, share=0.2))
    shared_final: Cooling = field(default_factory=lambda: Cooling(hot=0.1, cold=0.01, share=SHARED_FINAL))
    overload_penalty: float = 0.3
    last_penalty: float = 10.0
    squeeze: float = 0.25
    near_share: float = 0.25
    group_near_share: float = 0.75
    partners: int = 4
    reheat: float = 0.7

    def proposals(self, tasks: int, effort: int) -> int:
        """Return how many proposals there are in all."""
        return effort * min(self.task_proposals * tasks + self.base_proposals, self.most_proposals * tasks)


# For what geometry makes of lattices on hardware with holes: half the proposals leave 0.3 % more.
WARM = RefineParams(task_proposals=240, base_proposals=8_000_000, most_proposals=4000)
# For whole lattices with diagonals, of which the usual temperatures undo it and leave 0.5 % more (4,096 tasks, 16 x 16
# x 18 nodes); other lattices, those without some of their tasks above all, cost more by these than by the usual ones.
_COOL = Cooling(hot=0.15, cold=0.03, share=1.0)
COOL = replace(WARM, swaps=_COOL, group_swaps=_COOL)
# Half the proposals, after a multilevel search of tasks that share nodes; see what is said of its parameters. One task
# a node costs 0.8 % more with them (4,096 points near each other on a torus of as many nodes, three seeds).
SHORT = RefineParams(task_proposals=60, base_proposals=2_000_000)
# A quarter of the proposals: what a quick mapping gains in 0.3 to 1.2 s, 0 to 2 % on trees, before longer ones end.
BRIEF = RefineParams(task_proposals=30, base_proposals=1_000_000)
# After clusters, which are refined already: 32,768 and 65,536 tasks cost 0.7 to 0.8 % more than with the one above,
# until longer searches end, which begin sooner.
BRIEFEST = RefineParams(task_proposals=8, base_proposals=1_000_000)


@dataclass(frozen=True, slots=True)
class Refinement:
    """Anneal at low temperature from a mapping that is good already."""

    params: RefineParams = field(default_factory=RefineParams)
    usage: Usage = field(default=Usage(rounds="later"))

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return a mapping at most as costly as the feasible `start[n]`; O(effort n degree) time, not optimal.

        A problem comes back as it is where distances depend on the direction or are too many for a table.
        """
        problem, order = renumber_by_node(problem, start)
        inst = instance_of(problem)
        if not (inst.plain and inst.movable.size and inst.indices.size):
            return Assignment(places=start.copy())
        # Half the effort first: long runs at a high temperature find most, later ones repair what they have left.
        best, left = start[order], effort
        for number in range(effort.bit_length() + 1):
            part = left - left // 2
            if part == 0 or stop():
                break
            refining = RefinementRound(problem, inst, self.params, (part, self.params.reheat**number), stop)
            best = _run_round(refining, self.params, best, seed, number)
            left -= part
        return Assignment(places=restore(best, order))


def _run_round(refining: "RefinementRound", params: RefineParams, start: IntArray, seed: int, number: int) -> IntArray:
    """Return the cheaper of a mapping and what one round of all annealings makes of it, by seed and number."""
    best = start
    if refining.shared:
        places = refining.anneal_boundaries(start, derive(seed, number, 0))
        swapped = refining.anneal_swaps(places, params.shared_final, derive(seed, number, 1))
        best = refining.choose_cheaper(start, swapped)
    else:
        cooling = params.group_swaps if refining.grouped else params.swaps
        best = refining.choose_cheaper(start, refining.anneal_swaps(start, cooling, derive(seed, number, 0)))
    # Where the boundary annealing has been of no use, swaps alone still may be.
    if not refining.shared or (best == start).all():
        best = refining.choose_cheaper(best, refining.anneal_swaps(best, params.final, derive(seed, number, 2)))
    return best


class RefinementRound:
    """Hold the arrays of one round of refinement."""

    def __init__(
        self, problem: Problem, inst: Instance, params: RefineParams, budget: tuple[int, float], stop: Stop
    ) -> None:
        self._problem, self._inst, self._params, self._stop = problem, inst, params, stop
        self._graph = boundary_annealing.csr_graph_of(inst)
        effort, self._reheat = budget
        self._proposals = params.proposals(inst.movable.size, effort)
        self.grouped = bool(problem.groups)
        self.shared = not self.grouped and inst.movable.size >= params.shared_from * inst.hosts.size
        self._ends = np.repeat(np.arange(len(inst.work)), np.diff(inst.indptr))
        self._fixed = mark_fixed(inst)
        self._tiers = tiers_of(problem)

    def choose_cheaper(self, places: IntArray, others: IntArray) -> IntArray:
        """Return the cheaper of two feasible mappings, the first where they are equal."""
        before, after = cost_changes.total(self._inst, places), cost_changes.total(self._inst, others)
        return others if after < before - cost_changes.smallest_gain(self._inst, before) else places

    def anneal_boundaries(self, start: IntArray, seed: int) -> IntArray:
        """Return a mapping after annealing at boundaries, as far as it got; the start if a node stays overfull."""
        tiers, places, params = self._tiers, start.copy(), self._params
        # The widest domains first: what crosses them costs most, and moves within one leave its load as it is.
        for k in range(len(tiers) - 1, -1, -1):
            occupancy = self._occupancy_of(places, tiers[k:])
            boundary_annealing.collect_boundary(self._graph, occupancy)
            plan = self._penalised_temperatures(self._scale(places, tiers[k], seed))
            moves_each = int(self._proposals * params.boundary.share / len(tiers) / len(plan))
            for part, (rows, count) in enumerate(self._slices(plan, moves_each)):
                if self._stop():
                    break
                temperatures, penalties = np.ascontiguousarray(rows.T)
                generator = seed_state(seed, k, part)
                schedule = BoundarySchedule(temperatures, penalties, count, params.near_share, generator)
                boundary_annealing.anneal_boundary(self._inst, self._graph, occupancy, schedule)
            places = occupancy.place
        cleared = self._clear_overload(places)
        return start if cleared is None else cleared

    def _clear_overload(self, places: IntArray) -> IntArray | None:
        """Return a mapping with the overload of `places[n]` moved on to where there is room, None if that fails.

        Once `stop` says so there are a few more calls, as most of them clear what is left.
        """
        lists = ejection_chains.chains_of(self._inst, places)
        left, late = 1, 0
        while left > 0 and late < LATE_CALLS:
            left = ejection_chains.clear_overload(self._inst, self._graph, lists, CHAINS_A_CALL)
            late += self._stop()
        return lists.place if left == 0 else None

    def anneal_swaps(self, start: IntArray, cooling: Cooling, seed: int) -> IntArray:
        """Return a mapping after annealing by swaps in all tiers; as far as it got once `stop` says so."""
        state, tiers = state_of(self._problem, start), self._tiers
        for k in range(len(tiers) - 1, -1, -1):
            temperatures = self._scale(state.place, tiers[k], seed) * self._temperatures(cooling)
            moves_each = int(self._proposals * cooling.share / len(tiers) / len(temperatures))
            for part, (rows, count) in enumerate(self._slices(temperatures, moves_each)):
                if self._stop():
                    return state.place
                self._swap_between(state, tiers[k], (rows, count, seed_state(seed, k, part)))
        return state.place

    def _swap_between(self, state: State, label: IntArray, plan: tuple[FloatArray, int, Generator]) -> None:
        """Swap tasks between domains for a number of proposals at each temperature."""
        temperatures, count, generator = plan
        inst, params = self._inst, self._params
        cut = label[state.place[self._ends]] != label[state.place[inst.indices]]
        tasks = np.zeros(len(inst.work), bool)
        tasks[self._ends[cut]] = True
        at_boundary = inst.movable[tasks[inst.movable]]
        if at_boundary.size:
            schedule = SwapSchedule(
                fixed=uniform(self._fixed),
                label=uniform(label),
                temperatures=temperatures,
                generator=generator,
                proposals=count,
                near_share=params.group_near_share if self.grouped else params.near_share,
                partners=params.partners,
            )
            anneal_swaps(restrict(inst, at_boundary, inst.hosts), self._graph, state, schedule)

    def _temperatures(self, cooling: Cooling) -> FloatArray:
        """Return the falling temperatures of an annealing."""
        return np.geomspace(max(cooling.hot * self._reheat, cooling.cold), cooling.cold, cooling.temperatures)

    def _penalised_temperatures(self, scale: float) -> FloatArray:
        """Return the temperatures and overload penalties of a tier, a row for each."""
        params, cooling = self._params, self._params.boundary
        falling = scale * self._temperatures(cooling)
        last = int(params.squeeze * cooling.temperatures)
        rising = scale * np.geomspace(params.overload_penalty * cooling.cold, params.last_penalty, last)
        penalties = np.concatenate([params.overload_penalty * falling, rising])
        return np.stack([np.concatenate([falling, np.full(last, falling[-1])]), penalties], axis=1)

    def _occupancy_of(self, places: IntArray, tiers: IntArray) -> Occupancy:
        """Return the state of an annealing between the domains of the first of some tiers."""
        inst, size = self._inst, self._problem.topology.size
        # Where prices differ a task may gain by a move wherever its neighbours are.
        external = int(np.ptp(inst.price[inst.hosts]) > 0)
        used = np.zeros(size, np.int64)
        np.add.at(used, places, inst.memory)
        return Occupancy(
            place=places,
            label=np.ascontiguousarray(tiers),
            load=np.stack([np.bincount(tier[places], minlength=size) for tier in tiers]),
            limit=np.stack([np.bincount(tier, inst.slots, size).astype(np.int64) for tier in tiers]),
            used=used,
            boundary=empty_boundary(np.where(self._fixed > 0, -2, -1), np.full(len(places), external, np.int64)),
        )

    def _scale(self, places: IntArray, label: IntArray, seed: int) -> float:
        """Return the median size of a cost change of tasks that move to a neighbour's node in another domain."""
        rng = np.random.default_rng(seed)
        other = self._inst.indices
        cut = np.flatnonzero((label[places[self._ends]] != label[places[other]]) & (self._fixed[self._ends] == 0))
        if not cut.size:
            return 0.0
        drawn = rng.choice(cut, SAMPLE)
        sizes = np.empty(SAMPLE)
        boundary_annealing.sample_changes(self._graph, places, self._ends[drawn], places[other[drawn]], sizes)
        sizes = sizes[sizes > self._inst.tolerance]
        return float(np.median(sizes)) if sizes.size else 0.0

    def _slices(self, rows: FloatArray, moves_each: int) -> Iterator[tuple[FloatArray, int]]:
        """Yield the rows in parts, and the proposals at each row, so that no part takes long."""
        chunk = moves_in_chunk(self._inst, CHUNK)
        repeats = -(-max(moves_each, 1) // chunk)
        rows = np.repeat(rows, repeats, axis=0)
        count = -(-max(moves_each, 1) // repeats)
        for part in np.array_split(rows, -(-len(rows) * count // chunk)):
            yield part, count
