"""Multilevel mapping: halve the hardware and cut the tasks of every region to match, over and over.

Tasks outside a region attract those inside that they exchange traffic with towards the half that is closer. After each
round of cuts regions of one size change places where that gains, and pairs of regions that exchange traffic share out
their tasks again.

Sources: F. Pellegrini, J. Roman, doi:10.1007/3-540-61142-8_588 (dual recursive bipartitioning); A. E. Dunlop,
B. W. Kernighan, doi:10.1109/TCAD.1985.1270101 (terminal propagation).
"""

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from tiger.model.arrays import BoolArray, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Search, Stop, Usage
from tiger.model.seeds import derive
from tiger.solvers.annealing import cost_changes
from tiger.solvers.annealing.renumbering import renumber_by_node, restore
from tiger.solvers.instance import Instance, instance_of
from tiger.solvers.multilevel import fm_bisection
from tiger.solvers.multilevel.dissection import BATCH, Dissection
from tiger.solvers.multilevel.label_propagation import CoarseLevel
from tiger.solvers.multilevel.low_degree import contract_chains
from tiger.solvers.multilevel.quotient import anneal_quotient
from tiger.solvers.multilevel.v_cycle import VCycle
from tiger.solvers.repair import repair_mapping

# Fewest tasks, and the most part of all pairs, one in this many, that may exchange traffic.
FEWEST, DENSITY = 16, 8
# Part of a cost that may be rounding alone.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MultilevelParams:
    """Set the search.

    A region is cut `cuts` times, or `later_cuts` times once there are `first_regions`, each time from the best of
    `tries` cuts of the coarsest graph, and the best cut is improved by `cycles` more. The first `first_regions` are
    made at least twice, up to `starts` times where the task graph has no more than `entries` / `starts` neighbour
    entries, and the cheapest go on. Then, and after every further round, up to `most_regions` change places by `sweeps`
    tries each, at `temperatures` from `hot` to `cold`, relative to a typical cost; and pairs of regions with
    `pair_tasks` tasks each, or more, share these out again in `rounds`, each region with the `partners` that it
    exchanges most traffic with. The first regions do so in `first_rounds`, by cuts from scratch in every other one.
    Before that they are annealed in a `v_cycle`; where that gains they share in `annealed_rounds` alone, and are
    annealed again. 4 rounds and 2 with 30 proposals of the V-cycle, in place of 10, 4 and 100, and half the refinement
    after them take 0.77 of the time of ten problems of 512 to 32,768 tasks, which cost as much in the mean (three
    seeds, from -2.2 to +1.5 %). Once time is up, the levels left are cut hastily where their number times that of tasks
    is `late` at most: 32,768 take 0.1 s.
    """

    cuts: int = 3
    chained_cuts: int = 0
    later_cuts: int = 3
    tries: int = 8
    cycles: int = 1
    first_regions: int = 8
    starts: int = 8
    entries: int = 800_000
    rounds: int = 2
    first_rounds: int = 4
    annealed_rounds: int = 2
    pair_tasks: int = 4
    partners: int = 8
    most_regions: int = 1024
    sweeps: int = 1000
    temperatures: int = 50
    hot: float = 0.3
    cold: float = 0.01
    v_cycle: VCycle | None = field(default=VCycle())
    late: int = 0

    @property
    def hasty(self) -> "MultilevelParams":
        """Return the parameters of cuts once time is up."""
        return replace(self, cuts=1, tries=1, cycles=0)

    def starts_at(self, entries: int) -> int:
        """Return how often the first regions are made."""
        return min(max(self.entries // max(entries, 1), 2), self.starts)


# Two first cuts for one and 250 sweeps for 1000: 0.1 to 5.8 % cheaper, 2.5 % in the mean, on eight problems of 4,096 to
# 32,768 tasks on trees and tori (three seeds). Later cuts once in place of twice, 100 sweeps in place of 250 and 256
# regions in place of 1,024 take half of the time of 4,096 tasks on as many nodes, which cost 0 to 0.9 % more. With
# three times as many cuts of contracted graphs, roads of 65,536 vertices cost 3 to 6 % less in as much time; the
# thorough search gains nothing by them, and trees cost up to 7 % more.
QUICK = MultilevelParams(
    cuts=2,
    chained_cuts=3,
    later_cuts=1,
    tries=2,
    cycles=0,
    starts=1,
    rounds=0,
    first_rounds=0,
    most_regions=256,
    sweeps=100,
    v_cycle=None,
    late=1 << 15,
)
# Between QUICK and the above, for graphs of few neighbours: roads of 16,384 and 65,536 vertices cost 14 to 17 % less
# than by QUICK in 3 times its time, and 5 to 8 % more than by the above in 0.4 to 0.5 times that.
MEDIUM = replace(
    QUICK, cycles=1, later_cuts=2, tries=4, starts=3, first_rounds=2, most_regions=1024, sweeps=250, late=0
)


def applies(problem: Problem) -> bool:
    """Return whether a problem is one for multilevel mapping: by capacity or one to one, not small, and sparse."""
    size = problem.free.size
    return problem.rule != "levels" and size >= FEWEST and problem.tasks.traffic.nnz * DENSITY <= size * size


@dataclass(frozen=True, slots=True)
class Multilevel:
    """Map by recursive bisection of hardware and tasks, with no promise of quality.

    `begin` improves the start, by which tasks are numbered, whatever time is left, and `finish` every mapping.
    """

    params: MultilevelParams = MultilevelParams()
    begin: Search | None = None
    finish: Search | None = None
    usage: Usage = field(default=Usage(parts=2))

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of `effort` mappings and the feasible `start[n]`, which comes back where none applies.

        Once `stop` says so, what `begin` finds comes back.

        The elite is the cheapest one but for the start. O(effort entries log(m) log(n)) time, O(entries + m) memory.
        """
        if not applies(problem):
            return Assignment(places=start.copy())
        if self.begin is not None:
            start = self.begin.search(problem, start, effort=1, seed=seed, stop=stop).places
            if stop():
                return Assignment(places=start)
        problem, order = renumber_by_node(problem, start)
        inst = instance_of(problem)
        best, least = None, np.inf
        for number in range(effort):
            places = dissect(problem, inst, self.params, derive(seed, number), stop)
            if places is None:
                break
            places = repair_mapping(problem, inst, places, stop)
            if places is None:
                continue
            if self.finish is not None:
                places = self.finish.search(problem, places, effort=1, seed=derive(seed, number, 1), stop=stop).places
            cost = cost_changes.total(inst, places)
            if cost < least:
                best, least = places, cost
        found = choose(inst, start[order], best)
        elites = None if found.elites is None else restore(found.elites[0], order)[None]
        return Assignment(places=restore(found.places, order), elites=elites)


def choose(inst: Instance, start: IntArray, best: IntArray | None) -> Assignment:
    """Return the cheaper of a start and the best mapping found, the elite; the start where none is."""
    if best is None:
        return Assignment(places=start.copy())
    cheaper = cost_changes.total(inst, best) < cost_changes.total(inst, start)
    return Assignment(places=best if cheaper else start.copy(), elites=best[None])


def dissect(problem: Problem, inst: Instance, params: MultilevelParams, seed: int, stop: Stop) -> IntArray | None:
    """Return the places of one recursive bisection, which keep pins and slots; None if `stop` says so at once.

    Where it says so later, tasks are shared out as far as regions have been cut, and fill the nodes of these in turn,
    unless the cuts that are left are few. Cuts count memory by regions, and forbidden pairs as a pull: single nodes may
    break a rule.
    """
    parts = _first_regions(problem, inst, params, seed, stop)
    while parts is not None and not stop():
        _rearrange(parts, params, stop)
        _share_tasks(parts, params, derive(seed, params.starts), stop)
        if not len(parts.open):
            break
        _halve_regions(parts, params, stop)
    if parts is None:
        return None
    levels = (max(map(len, parts.members)) - 1).bit_length()
    if levels * problem.free.size <= params.late:
        while len(parts.open):
            _halve_regions(parts, params.hasty, bool)
    return parts.places()


def dissect_fully(problem: Problem, inst: Instance, params: MultilevelParams, seed: int, stop: Stop) -> IntArray:
    """Return the places of one recursive bisection; once `stop` says so, with one cut a region and nothing else."""
    parts = _first_regions(problem, inst, params, seed, stop) or Dissection(problem, inst, derive(seed, 0))
    while True:
        if not stop():
            _rearrange(parts, params, stop)
            _share_pairs(parts, params, stop)
        if not len(parts.open):
            return parts.places()
        _halve_regions(parts, params.hasty if stop() else params, bool)


def _first_regions(
    problem: Problem, inst: Instance, params: MultilevelParams, seed: int, stop: Stop
) -> Dissection | None:
    """Return the cheapest of several dissections into the first regions, fewer if `stop` says so."""
    # Dual recursive bipartitioning (Pellegrini and Roman 1996); the first cuts decide most, so the best of several.
    best, least, starts = None, np.inf, params.starts_at(inst.indices.size)
    for start in range(starts):
        if stop():
            break
        parts = Dissection(problem, inst, derive(seed, start))
        while len(parts.nodes) < params.first_regions and len(parts.open) and not stop():
            _halve_regions(parts, params, stop)
        if best is not None and stop():
            break
        cost = parts.cost() if starts > 1 else 0.0
        if best is None or cost < least:
            best, least = parts, cost
    return best


def _halve_regions(parts: Dissection, params: MultilevelParams, stop: Stop) -> None:
    """Halve every region with tasks."""
    if len(parts.nodes) >= params.first_regions:
        params = replace(params, cuts=min(params.cuts, params.later_cuts))
    for regions in parts.batches():
        if stop():
            break
        if len(parts.members[regions[0]]) > BATCH:
            _cut(parts, regions[0], params, stop)
        else:
            parts.cut(regions, (params.cuts, params.cycles), params.tries)


def _cut(parts: Dissection, first: int, params: MultilevelParams, stop: Stop) -> None:
    """Halve a large region and cut its tasks like `Dissection.cut`, with questions for an end between the cuts."""
    second = parts.halve(first)
    graph, bounds = parts.graph(first, second), parts.bounds(first, second)
    # Cuts from scratch, then V-cycles, which coarsen within the sides of the best cut and so never lose it.
    coarse = contract_chains(graph) if params.chained_cuts else CoarseLevel(graph, np.arange(len(graph.weight)))
    shrunk = len(coarse.graph.weight) < len(coarse.label)
    repeats = params.chained_cuts if shrunk else 1
    best, least = np.zeros(len(coarse.graph.weight), np.int64), np.inf
    for number in range(repeats * (params.cuts + params.cycles)):
        if number and stop():
            break
        side = best.copy()
        tries = params.tries if number < repeats * params.cuts else 0
        cost = fm_bisection.bisect(coarse.graph, side, bounds, tries, parts.draw())
        if cost < least - ROUNDING * abs(cost):
            best, least = side, cost
    best = best[coarse.label]
    if shrunk:
        fm_bisection.refine(graph, best, bounds)
    parts.share(first, second, best)


def _rearrange(parts: Dissection, params: MultilevelParams, stop: Stop) -> None:
    """Let regions of equal size change places where that gains; with prices or forbidden pairs nothing happens."""
    count = len(parts.nodes)
    if not 2 < count <= params.most_regions or parts.has_prices:
        return
    quotient = parts.quotient()
    if not len(quotient.flow) or not (quotient.distances > 0).any():
        return
    place, block_at = np.arange(count), np.arange(count)
    scale = float(np.median(quotient.flow) * np.median(quotient.distances[quotient.distances > 0]))
    best, level, least = place.copy(), 0.0, 0.0
    for temperature in scale * np.geomspace(params.hot, params.cold, params.temperatures):
        if stop():
            break
        temperatures = np.full(params.sweeps // params.temperatures, temperature)
        level += anneal_quotient(quotient, place, block_at, temperatures, parts.draw())
        if level < least - ROUNDING * scale:
            best, least = place.copy(), level
    if least < 0.0:
        parts.move(best)


def _share_tasks(parts: Dissection, params: MultilevelParams, seed: int, stop: Stop) -> None:
    """Let regions share out their tasks again: pairs of them and, where they are few, all by V-cycles with annealing.

    Where the first V-cycle gains, there is another one in place of most rounds of pairs.
    """
    if not _anneal_first(parts, params, derive(seed, 0), stop):
        _share_pairs(parts, params, stop)
        return
    _share_pairs(parts, replace(params, first_rounds=params.annealed_rounds), stop)
    _anneal_first(parts, params, derive(seed, 1), stop)


def _share_pairs(parts: Dissection, params: MultilevelParams, stop: Stop) -> None:
    """Let pairs of regions that exchange traffic divide their tasks again, and once more where one has changed."""
    few, changed = len(parts.nodes) <= params.first_regions, np.ones(len(parts.nodes), bool)
    for number in range(params.first_rounds if few else params.rounds):
        size = np.array([len(members) for members in parts.members])
        traffic = parts.traffic().tocoo()
        ends = np.stack([traffic.row, traffic.col], axis=1)[traffic.row < traffic.col]
        large = (size[ends].min(axis=1) > 0) & (size[ends].sum(axis=1) >= 2 * params.pair_tasks)
        ends = ends[large & _are_close(traffic, params.partners)[traffic.row < traffic.col]]
        before, changed = changed, np.zeros(len(parts.nodes), bool)
        # Cuts from scratch and V-cycles in turn where regions are few, else Fiduccia and Mattheyses' moves alone.
        tries = (0, params.tries)[number % 2] if few else None
        for a, b in parts.rng.permutation(ends).tolist():
            if stop():
                return
            if few or before[a] or before[b] or changed[a] or changed[b]:
                changed[[a, b]] |= _share_pair(parts, a, b, tries)


def _anneal_first(parts: Dissection, params: MultilevelParams, seed: int, stop: Stop) -> bool:
    """Let a V-cycle with annealing share out the tasks of the first regions again, where these may go anywhere.

    Return whether that has gained.
    """
    if params.v_cycle is None or len(parts.nodes) > params.first_regions or not parts.is_plain:
        return False
    before = parts.region.copy()
    found = params.v_cycle.improve(parts.whole, parts.regions(), before, seed, stop)
    if (found == before).all():
        return False
    parts.assign(found)
    return True


def _are_close(traffic: sp.coo_array, partners: int) -> BoolArray:
    """Return close[e]: whether either end of an entry is among those that the other exchanges most traffic with.

    The matrix is symmetric. Where all regions exchange traffic with each other, all pairs would be too many.
    """
    order = np.lexsort((traffic.col, -traffic.data, traffic.row))
    row, close = traffic.row[order], np.zeros(traffic.nnz, bool)
    close[order] = np.arange(traffic.nnz) - np.searchsorted(row, row) < partners
    here, there = (np.lexsort(ends) for ends in ((traffic.col, traffic.row), (traffic.row, traffic.col)))
    # The entries in order of (row, column) and their mirror images in the same order.
    close[here] |= close[there]
    return close


def _share_pair(parts: Dissection, a: int, b: int, tries: int | None) -> bool:
    """Share out the tasks of two regions again, with `tries` from scratch; return whether that is cheaper."""
    graph, bounds = parts.graph(a, b), parts.bounds(a, b)
    side = np.repeat([0, 1], [len(parts.members[a]), len(parts.members[b])])
    before = fm_bisection.value(graph, side)
    if tries is None:
        after = fm_bisection.refine(graph, side, bounds)
    else:
        after = fm_bisection.bisect(graph, side, bounds, tries, parts.draw())
    if not after < before - ROUNDING * abs(before):
        return False
    parts.share(a, b, side)
    return True
