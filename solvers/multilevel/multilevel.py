"""Multilevel mapping: halve the hardware and cut the tasks of every region to match, over and over.

Tasks outside a region attract those inside that they exchange traffic with towards the half that is closer. After each
round of cuts regions of one size change places where that gains, and pairs of regions that exchange traffic share out
their tasks anew.

Sources: F. Pellegrini, J. Roman, doi:10.1007/3-540-61142-8_588 (dual recursive bipartitioning); A. E. Dunlop,
B. W. Kernighan, doi:10.1109/TCAD.1985.1270101 (terminal propagation).
"""

from dataclasses import dataclass, field

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Search, Stop, Usage
from tiger.model.seeds import derive
from tiger.solvers.annealing import moves
from tiger.solvers.instance import Instance, instance_of
from tiger.solvers.multilevel import fm_bisection as bisecting
from tiger.solvers.multilevel.dissection import Dissection
from tiger.solvers.multilevel.quotient import arrange
from tiger.solvers.repair import mend

FEWEST = 16
DENSITY = 8
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class MultilevelParams:
    """Set the search.

    A region is cut `cuts` times, each time from the best of `tries` cuts of the coarsest graph, and the best cut is
    improved by `cycles` more. So `few` regions come about at least twice, up to `heads` times where the task graph has
    no more than `entries` neighbour entries in all, and the cheapest go on. Then, and after every further round, up to
    `blocks` regions change places by `sweeps` tries each, at `heats` temperatures from `hot` to `cold`, relative to a
    typical cost; and pairs of regions with `paired` tasks or more each share these out anew in `rounds`.
    """

    cuts: int = 3
    tries: int = 8
    cycles: int = 1
    few: int = 8
    heads: int = 8
    entries: int = 800_000
    rounds: int = 2
    paired: int = 4
    blocks: int = 1024
    sweeps: int = 1000
    heats: int = 50
    hot: float = 0.3
    cold: float = 0.01

    def heads_at(self, entries: int) -> int:
        """Return how many beginnings there are."""
        return min(max(self.entries // max(entries, 1), 2), self.heads)


QUICK = MultilevelParams(cuts=1, tries=2, cycles=0, heads=1, rounds=0)


def applies(problem: Problem) -> bool:
    """Return whether a problem is one for multilevel mapping: by capacity or one to one, not small, and sparse."""
    size = problem.free.size
    return problem.rule != "levels" and size >= FEWEST and problem.tasks.traffic.nnz * DENSITY <= size * size


@dataclass(frozen=True, slots=True)
class Multilevel:
    """Map by recursive bisection of hardware and tasks, with no promise of quality; `finish` improves every mapping."""

    params: MultilevelParams = MultilevelParams()
    finish: Search | None = None
    usage: Usage = field(default=Usage(parts=2))

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the cheapest of `effort` mappings and the feasible `start[n]`, which comes back where none applies.

        O(effort entries log(m) log(n)) time, O(entries + m) memory.
        """
        best = start.copy()
        if not applies(problem):
            return Assignment(places=best)
        inst = instance_of(problem)
        least = moves.total(inst, best)
        for lap in range(effort):
            parts = _dissect(problem, inst, self.params, derive(seed, lap), stop)
            if parts is None:
                break
            places = mend(problem, inst, _places(problem, parts), stop)
            if places is None:
                continue
            if self.finish is not None:
                places = self.finish.search(problem, places, effort=1, seed=derive(seed, lap, 1), stop=stop).places
            cost = moves.total(inst, places)
            if cost < least:
                best, least = places, cost
        return Assignment(places=best)


def _dissect(problem: Problem, inst: Instance, params: MultilevelParams, seed: int, stop: Stop) -> Dissection | None:
    """Cut until every region with tasks is one node; None once told to stop."""
    parts, least = None, np.inf
    for head in range(params.heads_at(inst.indices.size)):
        if stop():
            return None
        begun = Dissection(problem, inst, derive(seed, head))
        while len(begun.nodes) < params.few and len(begun.open) and not stop():
            _halve_regions(begun, params, stop)
        if stop():
            return None
        cost = begun.cost()
        if parts is None or cost < least:
            parts, least = begun, cost
    while parts is not None:
        _rearrange(parts, params, stop)
        _share_pairs(parts, params, stop)
        if stop():
            return None
        if not len(parts.open):
            break
        _halve_regions(parts, params, stop)
    return parts


def _halve_regions(parts: Dissection, params: MultilevelParams, stop: Stop) -> None:
    """Halve every region with tasks."""
    for region in parts.walk(parts.open):
        if stop():
            break
        _cut(parts, region, params, stop)


def _cut(parts: Dissection, first: int, params: MultilevelParams, stop: Stop) -> None:
    """Halve a region and cut its tasks, keeping the best of several cuts."""
    second = parts.halve(first)
    graph, bounds = parts.graph(first, second), parts.bounds(first, second)
    best, least = np.zeros(len(graph.weight), np.int64), np.inf
    for number in range(params.cuts + params.cycles):
        if number and stop():
            break
        side = best.copy()
        tries = params.tries if number < params.cuts else 0
        cost = bisecting.bisect(graph, side, bounds, tries, parts.draw())
        if cost < least - ROUNDING * abs(cost):
            best, least = side, cost
    parts.share(first, second, best)


def _rearrange(parts: Dissection, params: MultilevelParams, stop: Stop) -> None:
    """Let regions of equal size change places where that gains; with prices or forbidden pairs nothing happens."""
    count = len(parts.nodes)
    if not 2 < count <= params.blocks or parts.has_prices:
        return
    quotient = parts.quotient()
    if not len(quotient.flow):
        return
    place, holder = np.arange(count), np.arange(count)
    scale = float(np.median(quotient.flow) * np.median(quotient.away[quotient.away > 0]))
    best, level, least = place.copy(), 0.0, 0.0
    for heat in scale * np.geomspace(params.hot, params.cold, params.heats):
        if stop():
            break
        heats = np.full(params.sweeps // params.heats, heat)
        level += arrange(quotient, place, holder, heats, parts.draw())
        if level < least - ROUNDING * scale:
            best, least = place.copy(), level
    if least < 0.0:
        parts.move(best)


def _share_pairs(parts: Dissection, params: MultilevelParams, stop: Stop) -> None:
    """Let pairs of regions that exchange traffic share out their tasks anew, again where one has changed."""
    changed = np.ones(len(parts.nodes), bool)
    for _ in range(params.rounds):
        size = np.array([len(members) for members in parts.members])
        traffic = parts.traffic().tocoo()
        ends = np.stack([traffic.row, traffic.col], axis=1)[traffic.row < traffic.col]
        ends = ends[(size[ends].min(axis=1) > 0) & (size[ends].sum(axis=1) >= 2 * params.paired)]
        before, changed = changed, np.zeros(len(parts.nodes), bool)
        for a, b in parts.rng.permutation(ends).tolist():
            if stop():
                return
            if before[a] or before[b] or changed[a] or changed[b]:
                changed[[a, b]] |= _share_pair(parts, a, b, params)


def _share_pair(parts: Dissection, a: int, b: int, params: MultilevelParams) -> bool:
    """Share out the tasks of two regions anew, by a cycle where regions are few; return whether that is cheaper."""
    graph, bounds = parts.graph(a, b), parts.bounds(a, b)
    side = np.repeat([0, 1], [len(parts.members[a]), len(parts.members[b])])
    before = bisecting.value(graph, side)
    if len(parts.nodes) <= params.few:
        after = bisecting.bisect(graph, side, bounds, 0, parts.draw())
    else:
        after = bisecting.refine(graph, side, bounds)
    if not after < before - ROUNDING * abs(before):
        return False
    parts.share(a, b, side)
    return True


def _places(problem: Problem, parts: Dissection) -> IntArray:
    """Return the node of every task."""
    places = problem.pins.copy()
    for nodes, members in zip(parts.nodes, parts.members, strict=True):
        if len(members):
            places[members] = nodes[0]
    return places
