"""Search for mappings under which traffic goes to the closest nodes: the task graph as part of the hardware's graph."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from tiger.model.arrays import BoolArray, Int32Array, IntArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.seams import Assignment, Stop, Usage, left_of
from tiger.model.seeds import derive
from tiger.solvers.annealing import cost_changes
from tiger.solvers.annealing.refinement import Cooling, Refinement, RefineParams
from tiger.solvers.greedy import complete
from tiger.solvers.instance import Instance, instance_of
from tiger.solvers.matching.growth import Growth, keeps_all
from tiger.solvers.matching.isomorphism import find_isomorphism
from tiger.solvers.matching.levels import DENSEST, list_closest, list_edges, list_levels, list_links
from tiger.solvers.matching.monomorphism import TargetGraph, matcher_of, search_embeddings
from tiger.solvers.matching.neighbourhoods import Neighbourhoods, rule_out
from tiger.solvers.matching.partial_matching import MatchingParams, count_edges, embed_most
from tiger.solvers.matching.regrowth import RegrownRegion, regrow

# Nodes up to which hops between all of them are worked out, which takes 0.2 GB.
MOST_NODES = 2896
# Seconds for each pair of nodes that distances and hops take, which are not interrupted: 40 to 60 ns for 250 to 2,000.
PAIR_S = 6e-8
# Edges a task, as a part of all tasks, above which a graph is too dense to look for, as it is above DENSEST.
SHARE = 0.125
# Embeddings of which the cheapest is taken where other traffic follows, or links differ in length. With one, grids of
# 100 and 400 nodes with links of lengths 1 and 3 come to lie on themselves the wrong way round, for 1.3 to 1.4 times.
SEVERAL = 16
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
# Tries of different seeds, TRIED divided by tasks within bounds, until one keeps ENOUGH: what edges grow from first
# decides a lot. 3-regular graphs of 100 and 2,000 with a twentieth moved ended at up to 1.40 and 2.26 of their place
# with one try, and end at 1.00 with several, each of which takes up to a fifth of the time of a whole solve.
FEWEST_TRIES, TRIES, TRIED, ENOUGH = 2, 8, 2_000, 0.945
# The try, from 0, that grows ear by ear, without which heavy hexagons of 1,795 with a twentieth moved end at 1.4 to 1.9
# of their place. It does so where the try before kept EARS_FROM of the edges: these keep 0.75, random graphs on grids
# and tori less, and a 3-regular one of 2,000 with a twentieth moved, which another seed finds, 0.64. It does so up to a
# mean degree of EARS_UP_TO: where there are more edges, cycles are short and ears fit anywhere.
EAR_TRY, EARS_FROM, EARS_UP_TO = 1, 0.7, 6.0
# What is left after an embedding of most of a graph: swaps at temperatures that keep it. After this stage alone, heavy
# hexagons and trees of 100 vertices with a twentieth or a hundredth of their edges moved cost 4 and 1.5 % less than at
# the local optimum, Drezner's as much, which cost 1 to 2 % more from a `hot` of 0.2 or 0.3.
COLD = Cooling(hot=0.1, cold=0.01, share=1.0)
POLISH = RefineParams(task_proposals=1000, base_proposals=0, swaps=COLD, group_swaps=COLD)

DEFAULT = MatchingParams()


@dataclass(frozen=True, slots=True)
class GraphMatching:
    """Embed the graph of the tasks in that of the closest nodes or of the links, all of it or else most of it.

    Where not all traffic fits, or lies on it, that of the highest level is embedded, and the other follows.
    """

    params: MatchingParams = DEFAULT
    usage: ClassVar[Usage] = Usage(rounds="first", time_share=0.5)

    def search(self, problem: Problem, start: IntArray, *, effort: int, seed: int, stop: Stop) -> Assignment:
        """Return the mapping that an embedding leads to, or the feasible `start[n]` where that is no dearer.

        O(n (n + edges)) time for the hops between vertices, and work in proportion to n; effort plays no part. A
        problem whose degrees show that no embedding comes near comes back as it is, as one does whose hops would take
        more than the time that is left.
        """
        left_s = left_of(stop)
        late = left_s is not None and left_s < PAIR_S * problem.topology.size**2
        if late or not applies(problem, self.params) or stop():
            return Assignment(places=start.copy())
        inst = instance_of(problem)
        matching = LevelMatching(problem, inst, list_hosts(problem, inst), start, self.params, seed, stop)
        found = matching.embed()
        return Assignment(places=found if matching.price(found) < matching.price(start) else start.copy())


class GraphPair(NamedTuple):
    """Hold a guest, of tasks, and a target, of nodes; `perfect` where no mapping is cheaper than an embedding."""

    guest: Neighbourhoods
    target: Neighbourhoods
    perfect: bool


class LevelMatching(NamedTuple):
    """Hold what embeddings of parts of a task graph share: nodes `allowed[n, m]` and the mapping `start[n]`."""

    problem: Problem
    inst: Instance
    allowed: BoolArray
    start: IntArray
    params: MatchingParams
    seed: int
    stop: Stop

    def embed(self) -> IntArray:
        """Return the cheapest mapping found: by guests embedded whole, or for the most part where none is."""
        targets: list[list[GraphPair]] = []
        wholes: list[IntArray] = []
        for graphs in self.list_targets():
            targets.append([])
            for pair in graphs:
                targets[-1].append(pair)
                whole = self.embed_whole(pair)
                # Where tasks have made room for others, some edges may be longer.
                if whole is not None and pair.perfect and keeps_all(pair.guest, pair.target, whole):
                    return whole
                wholes += [] if whole is None else [whole]
                # Not before: hops take most of the time.
                if self.stop():
                    return min(wholes, key=self.price, default=self.start)
        if wholes:
            return self.polish(min(wholes, key=self.price))
        return min((self.embed_levels(graphs) for graphs in targets), key=self.price, default=self.start)

    def list_targets(self) -> Iterator[Iterator[GraphPair]]:
        """Yield guests for the graph of the closest nodes, and for that of the links where those differ in length."""
        closest, edges = list_closest(self.problem), len(list_edges(self.problem)[0])
        levels = list_levels(self.problem, closest)
        # Where nodes cost something by themselves, one embedding is dearer than another.
        alike = np.ptp(self.problem.topology.cost[self.problem.topology.hosts]) == 0.0
        yield self.list_graphs(closest, levels, edges if alike else None)
        # Links of grids and trees have one length, or are those of a tree.
        if isinstance(self.problem.metric, DenseMetric) and (not levels or len(levels[0]) < edges):
            links = list_links(self.problem)
            if len(links) > len(closest):
                yield self.list_graphs(links, list_levels(self.problem, links))

    def list_graphs(self, pairs: IntArray, levels: list[IntArray], edges: int | None = None) -> Iterator[GraphPair]:
        """Yield guests with a target of some pairs of nodes, perfect with so many edges."""
        if levels:
            target = Neighbourhoods.of(pairs, self.problem.topology.size)
            for ends in levels:
                yield GraphPair(Neighbourhoods.of(ends, self.problem.tasks.size), target, len(ends) == edges)

    def embed_whole(self, graphs: GraphPair) -> IntArray | None:
        """Return the cheapest mapping of several that embeddings of a whole guest lead to, None where none is found."""
        guest, target, perfect = graphs
        place = find_isomorphism(guest, target) if perfect else None
        if place is not None and self.allowed[guest.degrees > 0, place[guest.degrees > 0]].all():
            places = place[None]
        else:
            places = _embed_all(guest, target, self.allowed, 1 if perfect else SEVERAL)
        found = [mapping for place in places if (mapping := self.complete(place)) is not None]
        if not found and not self.stop():
            found = [self.make_room(place) for place in places[: max(1, TRIED // len(self.start))]]
        return min(found, key=self.price, default=None)

    def embed_levels(self, graphs: list[GraphPair]) -> IntArray:
        """Return the cheapest mapping that embeddings of most edges lead to, of one guest after the other."""
        cheapest = self.start
        for guest, target, _ in graphs:
            if self.stop():
                break
            found, share = self.embed_best(guest, target)
            kept = share > KEPT
            cheapest = min(cheapest, self.polish(found) if kept else found, key=self.price)
            if kept:
                break
        return cheapest

    def embed_best(self, guest: Neighbourhoods, target: Neighbourhoods) -> tuple[IntArray, float]:
        """Return the cheapest mapping that embeddings of most edges of a guest lead to, and the share that it keeps."""
        cheapest, edges, share = self.start, len(guest.indices) / 2, 0.0
        for number in range(max(FEWEST_TRIES, min(TRIES, TRIED // len(self.start)))):
            by_ears = number == EAR_TRY and share >= EARS_FROM and guest.degrees.mean() <= EARS_UP_TO
            params = self.params.for_ears() if by_ears else self.params
            found = self.embed_most(guest, target, params, derive(self.seed, number) if number else self.seed)
            cheapest, share = min(cheapest, found, key=self.price), count_edges(guest, target, found) / edges
            if share >= ENOUGH or self.stop():
                break
        return cheapest, count_edges(guest, target, cheapest) / edges

    def embed_most(self, guest: Neighbourhoods, target: Neighbourhoods, params: MatchingParams, seed: int) -> IntArray:
        """Return the mapping that an embedding of most edges of a guest leads to, `start[n]` where none does."""
        graphs, pins = (guest, target), self.problem.pins
        price = PartialPrice(self.problem)
        place = embed_most(graphs, (self.allowed, pins), price, params, seed, self.stop)
        found = self.complete(place)
        if self.stop():
            return self.start if found is None else found
        found = self.make_room(place) if found is None else found
        return _improve(graphs, self.inst, self.allowed, found, seed)

    def price(self, places: IntArray) -> float:
        """Return what a mapping costs."""
        return cost_changes.total(self.inst, places)

    def complete(self, place: IntArray) -> IntArray | None:
        """Return a mapping with the other tasks put where they cost least, None where they do not fit."""
        return complete(self.problem, self.inst, place, self.start)

    def make_room(self, place: IntArray) -> IntArray:
        """Return a mapping in which tasks with a place go elsewhere where others fit on no node that is left.

        They go as short a way as can be, by their traffic, and the others where their traffic with them costs least: a
        linear assignment, which there is as `start[n]` is one. Up to O(n^2 m), 1 s for 2,000 tasks, 900 of them moved.
        """
        placed, left, metric = np.flatnonzero(place >= 0), np.flatnonzero(place < 0), self.problem.metric
        volumes = sp.csr_array(self.problem.tasks.traffic + self.problem.inflow)
        way = metric.between(place[placed, None], np.arange(self.problem.topology.size))
        costs = np.empty(self.allowed.shape)
        costs[placed] = volumes.sum(axis=1)[placed, None] * way
        costs[left] = volumes[left][:, placed] @ way
        costs[~self.allowed] = np.inf
        return np.asarray(linear_sum_assignment(costs)[1], np.int64)

    def polish(self, places: IntArray) -> IntArray:
        """Return a mapping after swaps at temperatures that keep most of it."""
        return Refinement(POLISH).search(self.problem, places, effort=1, seed=self.seed, stop=self.stop).places


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


def list_hosts(problem: Problem, inst: Instance) -> BoolArray:
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


def _embed_all(guest: Neighbourhoods, target: Neighbourhoods, allowed: BoolArray, most: int) -> IntArray:
    """Return places [k, n] by which all edges lie on edges, `most` or fewer; -1 for vertices without any."""
    active = np.flatnonzero(guest.degrees)
    left, number, place = allowed[active], np.full(len(allowed), -1), np.full((most, len(allowed)), -1)
    rule_out(guest.within[active], target.within, left)
    if not left.any(axis=1).all():
        return place[:0]
    number[active] = np.arange(len(active))
    beside = _pad(guest)[active]
    partner = np.where(beside >= 0, number[beside], -1).astype(np.int32)
    graph = TargetGraph(_pad(target), target.hops.astype(np.int32))
    matcher = matcher_of(partner, graph, left, np.full(len(active), -1, np.int32))
    places = np.empty((most, len(active)), np.int32)
    calls = min(max(CALLS * len(active), FEWEST_CALLS), CALL_WORK // len(active))
    found, _, _ = search_embeddings(matcher, places, 1, calls, 0)
    place[:, active] = places
    return place[:found]


def _improve(
    graphs: tuple[Neighbourhoods, Neighbourhoods], inst: Instance, allowed: BoolArray, start: IntArray, seed: int
) -> IntArray:
    """Return a mapping after parts of an embedding grew anew, each task on a node `allowed[n, N]`.

    `start[n]` where that gains little.
    """
    (guest, target), work, n = graphs, MOST_REGROWTH, len(start)
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
