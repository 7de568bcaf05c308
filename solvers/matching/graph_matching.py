"""Search for mappings under which traffic goes to the closest nodes: the task graph as part of the hardware's graph."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tiger.model.arrays import BoolArray, Int32Array, IntArray
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage
from tiger.solvers.annealing import cost_changes
from tiger.solvers.annealing.refinement import Cooling, Refinement, RefineParams
from tiger.solvers.greedy import complete
from tiger.solvers.instance import Instance, instance_of
from tiger.solvers.matching.growth import Growth
from tiger.solvers.matching.monomorphism import TargetGraph, matcher_of, search_embeddings
from tiger.solvers.matching.neighbourhoods import Neighbourhoods, rule_out
from tiger.solvers.matching.partial_matching import MatchingParams, count_edges, embed_most
from tiger.solvers.matching.regrowth import RegrownRegion, regrow

# Nodes up to which hops between all of them are worked out, which takes 0.2 GB.
MOST_NODES = 2896
# Edges a task, and these as a part of all tasks, above which a graph is too dense to look for.
DENSEST, SHARE = 32, 0.125
# The part of the edges that may be missing from the hardware, as far as degrees tell.
MISSING = 0.1
# Decisions of the exact search for each task, at least so many, and at most so many divided by tasks. All 34 graphs
# drawn of 100 to 2,000 vertices but dragonflies are found in themselves within 140, parts of trees of 500 within 2,000.
CALLS, FEWEST_CALLS, CALL_WORK = 4, 300, 1_000_000
# Edges that an embedding keeps from which on it is worth a polish: others are only a start for other searches.
KEPT = 0.75
# Witnesses for each task that regrowth may take: a first few only where fewer edges are kept, more while costs fall.
# With 40,000 in all, heavy hexagons of 115 vertices with a twentieth of their edges moved cost 1.059 of their place in
# place of 1.127 after a whole solve, and trees of 500 with a hundredth 1.186 in place of 1.350; with 10,000 they cost
# 1.084 and 1.228. All of them, at most MOST_REGROWTH, take 1 to 2 s of a processor and are not interrupted.
REGROW, MOST_REGROWTH = (500, 12_000, 28_000), 20_000_000
# Edges that an embedding keeps from which on parts grow anew, and what costs must fall by where fewer are kept than for
# a polish. Trees of 500 with a twentieth moved keep less, and cost as much after a whole solve with regrowth, for 0.3 s
# more; 34 graphs that do not lie on grids, tori and heavy hexagons take 0.2 s longer here, of 11 s for whole solves.
FEWEST, GAIN = 0.6, 0.1
# What is left after an embedding of most of a graph: swaps at temperatures that keep it. After this stage alone, heavy
# hexagons and trees of 100 vertices with a twentieth or a hundredth of their edges moved cost 4 and 1.5 % less than at
# the local optimum, Drezner's as much, which cost 1 to 2 % more from a `hot` of 0.2 or 0.3.
COLD = Cooling(hot=0.1, cold=0.01, share=1.0)
POLISH = RefineParams(task_proposals=1000, base_proposals=0, swaps=COLD, group_swaps=COLD)

DEFAULT = MatchingParams()


@dataclass(frozen=True, slots=True)
class GraphMatching:
    """Embed the graph of the tasks in that of the closest nodes, all of it or else most of it."""

    params: MatchingParams = DEFAULT
    usage: ClassVar[Usage] = Usage(rounds="first")

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the mapping that an embedding leads to, or the feasible `start[n]` where that is no dearer.

        O(n (n + edges)) time for the hops between vertices, and work in proportion to n; effort plays no part. A
        problem whose degrees show that no embedding comes near comes back as it is.
        """
        if not applies(problem, self.params) or stop():
            return Assignment(places=start.copy())
        ends, pairs = list_edges(problem), list_closest(problem)
        if not fits(problem, ends, pairs):
            return Assignment(places=start.copy())
        inst = instance_of(problem)
        guest, target = Neighbourhoods.of(ends, problem.tasks.size), Neighbourhoods.of(pairs, problem.topology.size)
        allowed = _list_hosts(problem, inst)
        place = _embed_all(guest, target, allowed)
        found = None if place is None else complete(problem, inst, place, start)
        if place is None:
            limits = allowed, problem.pins
            place, left = embed_most((guest, target), limits, PartialPrice(problem), self.params, seed, stop)
            found = complete(problem, inst, place, start)
            if found is not None and not stop():
                found = _improve((guest, target), inst, (allowed, min(left, MOST_REGROWTH)), found, seed)
            if found is not None and count_edges(guest, target, found) > KEPT * len(ends):
                found = Refinement(POLISH).search(problem, found, effort=1, seed=seed, stop=stop).places
        if found is None or not cost_changes.total(inst, found) < cost_changes.total(inst, start):
            return Assignment(places=start.copy())
        return Assignment(places=found)


class PartialPrice:
    """Say what the traffic of a partial embedding costs, that with tasks without a place as much as the mean would."""

    def __init__(self, problem: Problem) -> None:
        """Keep the edges of a problem, and the mean distance."""
        edges, hosts = problem.tasks.traffic.tocoo(), problem.topology.hosts
        self._row, self._col, self._volume, self._metric = edges.row, edges.col, edges.data, problem.metric
        self._mean = float(problem.metric.between(hosts[:, None], hosts[None, :]).mean())

    def __call__(self, place: IntArray) -> float:
        """Return the cost at places [n], -1 for none; O(edges)."""
        row, col = place[self._row], place[self._col]
        known = (row >= 0) & (col >= 0)
        cost = self._volume[known] @ self._metric.between(row[known], col[known])
        return float(cost + self._mean * self._volume[~known].sum())


def applies(problem: Problem, params: MatchingParams = DEFAULT) -> bool:
    """Return whether the search is worth a try: one task a node, of a sparse graph, distances the same both ways."""
    n, edges = problem.tasks.size, problem.tasks.traffic.nnz
    few = n >= params.fewest and 0 < edges <= min(DENSEST, SHARE * n) * n
    few = few and problem.topology.size <= MOST_NODES
    return few and problem.rule == "one-to-one" and problem.metric.symmetric


def list_closest(problem: Problem) -> IntArray:
    """Return the pairs of hosts that are closest to each other, `[e, 2]`, lower first."""
    hosts = problem.topology.hosts
    table = problem.metric.between(hosts[:, None], hosts[None, :])
    above = np.triu(np.ones(table.shape, bool), 1)
    a, b = np.nonzero(above & (table <= table[above].min(initial=np.inf)))
    return np.stack([hosts[a], hosts[b]], axis=1)


def list_edges(problem: Problem) -> IntArray:
    """Return the pairs of tasks with traffic, `[e, 2]`, lower first."""
    both = problem.tasks.traffic + problem.inflow
    row, col = both.nonzero()
    once = row < col
    return np.stack([row[once], col[once]], axis=1).astype(np.int64)


def fits(problem: Problem, ends: IntArray, pairs: IntArray) -> bool:
    """Return whether degrees let most edges of the tasks lie on pairs of nodes, the highest on the highest."""
    size = max(problem.tasks.size, problem.topology.size)
    have, room = (-np.sort(-np.bincount(both.ravel(), minlength=size)) for both in (ends, pairs))
    return bool(np.maximum(have - room, 0).sum() <= 2 * MISSING * len(ends))


def _list_hosts(problem: Problem, inst: Instance) -> BoolArray:
    """Return which nodes each task may have, [n, m], pinned tasks only theirs, which no other may have."""
    allowed = np.zeros((problem.tasks.size, problem.topology.size), np.bool_)
    allowed[:, problem.topology.hosts] = True
    allowed &= inst.memory[:, None] <= inst.room
    allowed[problem.banned[:, 0], problem.banned[:, 1]] = False
    pinned = np.flatnonzero(problem.pins >= 0)
    allowed[:, problem.pins[pinned]] = False
    allowed[pinned] = False
    allowed[pinned, problem.pins[pinned]] = True
    return allowed


def _embed_all(guest: Neighbourhoods, target: Neighbourhoods, allowed: BoolArray) -> IntArray | None:
    """Return places [n] by which all edges lie on edges, -1 for vertices without any; None where none are found."""
    active = np.flatnonzero(guest.degrees)
    left, number = allowed[active], np.full(len(allowed), -1)
    rule_out(guest.within[active], target.within, left)
    if not left.any(axis=1).all():
        return None
    number[active] = np.arange(len(active))
    beside = _pad(guest)[active]
    partner = np.where(beside >= 0, number[beside], -1).astype(np.int32)
    graph = TargetGraph(_pad(target), target.hops.astype(np.int32))
    matcher = matcher_of(partner, graph, left, np.full(len(active), -1, np.int32))
    places = np.empty((1, len(active)), np.int32)
    calls = min(max(CALLS * len(active), FEWEST_CALLS), CALL_WORK // len(active))
    found, _, _ = search_embeddings(matcher, places, 1, calls, 0)
    place = np.full(len(allowed), -1)
    place[active] = places[0]
    return place if found else None


def _improve(
    graphs: tuple[Neighbourhoods, Neighbourhoods],
    inst: Instance,
    limits: tuple[BoolArray, int],
    start: IntArray,
    seed: int,
) -> IntArray:
    """Return a mapping after parts of an embedding grew anew, `start[n]` where that gains little.

    `limits` are `allowed[n, N]`, which nodes a task may have, and the most witnesses.
    """
    (guest, target), (allowed, work), n = graphs, limits, len(start)
    growth, region = Growth.of(allowed, target), RegrownRegion.allocate(inst, len(target.hops), seed)
    growth.place[:], growth.owner[start] = start, np.arange(n)
    edges, found = len(guest.indices) // 2, start
    for number, share in enumerate(REGROW):
        kept = count_edges(guest, target, found) / edges
        if kept < FEWEST:
            break
        if number == 0 and kept >= KEPT:
            continue
        least = cost_changes.total(inst, found) * (1.0 - (GAIN if kept < KEPT else 0.0))
        regrow(guest, target, inst, growth, region, min(share * n, work))
        if cost_changes.total(inst, growth.place) >= least:
            break
        work, found = work - int(growth.counts[1]), growth.place.copy()
    return found


def _pad(graph: Neighbourhoods) -> Int32Array:
    """Return the neighbours of every vertex, padded by -1."""
    degrees = graph.degrees
    table = np.full((len(degrees), max(int(degrees.max(initial=0)), 1)), -1, np.int32)
    row = np.repeat(np.arange(len(degrees)), degrees)
    table[row, np.arange(len(row)) - graph.indptr[row]] = graph.indices
    return table
