"""Embeddings of most of a guest, where some of its edges are not those of the target: seeds that grow."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray, IntArray
from tiger.model.seams import Stop
from tiger.solvers.matching.colours import ROUNDS, match_unique
from tiger.solvers.matching.ears import EarSearch, grow_by_ears
from tiger.solvers.matching.growth import Growth, count_matches, grow
from tiger.solvers.matching.neighbourhoods import HopArray, Neighbourhoods
from tiger.solvers.matching.patterns import EarPattern, PatternSearch, Wave, build_pattern, match_pattern

# Steps of one pattern for each vertex; on random graphs of 2,000 vertices 60 are usual. With 50, one of 28 graphs of
# 100 and 500 vertices whose edges moved ends 1.85 times as dear, with 1,000 all end where they do.
ONCE = 200
# Vertices of a pattern that count as much as two bits of how many nodes are like its centre: patterns at the rim of a
# grid of 44 x 45 vertices come first so, without which 3 of 5 such grids end 3 to 11 % dearer.
VERTICES = 20
# Rounds of refinement whose colours say which vertex is which, of the whole graphs and then of what is left. With the
# first alone three trees of 2,000 with a hundredth of their edges moved cost 1.02 to 1.12 times as much as at their
# place, with all 0.99 to 1.06 times.
WAVES = ROUNDS, *(range(1, ROUNDS.stop),) * 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchingParams:
    """Set the search for embeddings, of `fewest` tasks or more, as other searches find as much where there are fewer.

    - Partial ones grow from `patterns` of `ears` ears, one number after the other, and up to `vertices` vertices; where
      no cycle is, a pattern is a `ball` of that many vertices. With 4 ears alone 2 of 14 random 3-regular graphs of 100
      and 500 with a twentieth of their edges moved end far from their place, with 3 and 4 ears by turns 1 or 2 of 3
      triangulations of 2,000 do.
    - Of each the `keep` best places wait, of which one anchor gives `each` at most, and the best `grown` of those
      waiting grow. With 1 to 16 kept, as many of 60 graphs of 100 and 500 vertices end closer as end farther off; with
      4 an anchor one torus of 100 in four ends 13 % dearer, with 64 all end where they do. Nodes are alike that have as
      many others within up to `reach` hops.
    - `pattern_steps` and `growth_work` (witnesses), both for each vertex, and `base_work` bound the work.
    - None grows once the part `enough` of the edges is kept, and `placed` of the vertices have a node: with three more,
      45 graphs of 100 to 2,000 vertices end at the same cost, in 1.1 to 1.3 times the time. None does either where the
      first `grown` seeds have kept less than the part `hope[0]`; or `hopeless` of them, or patterns that have no
      places, and one more for each `each_vertices`, less than `hope[1]`. `seed_work` witnesses for each vertex are
      those of a seed at least. Random graphs of 30 to 400 vertices on grids and tori mostly take 0 to 18 % longer to
      map than without the search so, and 30 to 50 % where 40 patterns are tried; graphs of 100 and 500 of the families
      of `python -m benchmarks embeddings` cost as much after a whole solve.
    - The best embedding is repaired in up to `repairs` rounds.
    - Growth goes `by_ears` or vertex by vertex. By ears heavy hexagons of 115, 409 and 1,795 vertices with a twentieth
      of the edges moved, twelve of each, end at 0.99, 1.01 and 1.01 of their place in the mean; without patterns of one
      ear those of 115 at 1.05, and with balls among the patterns those of 1,795 at 1.08. With 8 places of a pattern
      those of 409 and 1,795 end at 1.04 and 1.03, with a hope of 0.4 from the first at 1.04 and 1.11.
    """

    fewest: int = 17
    ears: tuple[int, ...] = (3, 6)
    vertices: int = 24
    ball: int = 6
    patterns: int = 60
    keep: int = 8
    each: int = 16
    grown: int = 4
    reach: int = 3
    pattern_steps: int = 10_000
    growth_work: int = 50_000
    base_work: int = 6_000_000
    enough: float = 0.93
    placed: float = 0.995
    hopeless: int = 8
    each_vertices: int = 50
    hope: tuple[float, float] = (0.4, 0.75)
    seed_work: int = 300
    repairs: int = 3
    by_ears: bool = False

    def for_ears(self) -> "MatchingParams":
        """Return a search with growth ear by ear, of 64 places of a pattern, as those which are wrong end soon."""
        best_first = replace(self, keep=64, grown=1, hope=(0.0, self.hope[1]))
        return replace(best_first, by_ears=True, ears=(1, 3, 6), ball=0, enough=0.92, placed=0.9)


class Seed(NamedTuple):
    """Hold nodes `places[k]` for the vertices `order[k]` of a pattern; those of lower `rank`, then `number`, first.

    The rank is the mean score of the places kept less its own, as a pattern that fits everywhere says little. Where it
    was the score alone, dragonflies of 500 and Drezner's graphs of 2,000 with a twentieth of the edges moved ended 1
    and 2 % dearer.
    """

    rank: float
    number: int
    order: IntArray
    places: IntArray


@dataclass(kw_only=True)
class SeedNursery:
    """Grow seeds of a guest in a target, one after another, and hold the embedding of the lowest `price` so far.

    `empty` has the pinned vertices alone. `work` are the witnesses that are left to it, `kept` is the most edges kept,
    `done` says that they are enough. `grown[: count, n]` are the places of all that have grown.
    """

    guest: Neighbourhoods
    target: Neighbourhoods
    empty: Growth
    price: Callable[[IntArray], float]
    params: MatchingParams
    best: Growth = field(init=False)
    least: float = field(init=False)
    work: int = field(init=False)
    grown: HopArray = field(init=False)
    search: EarSearch = field(init=False)
    kept: int = 0
    count: int = 0
    used: int = 0
    done: bool = False

    def __post_init__(self) -> None:
        """Begin with the pinned vertices."""
        self.best, self.least = self.empty, self.price(self.empty.place)
        params, n = self.params, len(self.empty.place)
        self.work = params.growth_work * n + params.base_work
        self.search = EarSearch.allocate(n, len(self.empty.owner))
        self.grown = np.empty((params.patterns * params.keep + len(WAVES), n), np.int16)

    @property
    def edges(self) -> int:
        """Return the edges of the guest."""
        return len(self.guest.indices) // 2

    @property
    def over(self) -> bool:
        """Return whether enough is kept, or the work is used up."""
        return self.done or self.work <= 0

    def is_hopeless(self, patterns: int) -> bool:
        """Return whether too few edges are kept after so many patterns, and the seeds that have grown so far."""
        params, n = self.params, len(self.empty.place)
        (low, high), last = params.hope, params.hopeless + n // params.each_vertices
        # Growth of sparse guests takes less, and they get more of it; ear by ear most seeds end soon.
        seeds = min(np.inf if params.by_ears else self.count, self.used / (params.seed_work * n))
        if seeds >= last or (patterns >= last and not self.count):
            return self.kept < high * self.edges
        return seeds >= params.grown and self.kept < low * self.edges

    def grow(self, seed: Seed) -> None:
        """Grow a seed, unless it is a part of what has grown before."""
        order, places, params = seed.order, seed.places, self.params
        if (self.grown[: self.count, order] == places).all(axis=1).any():
            return
        growth = self.empty.copy()
        if (growth.owner[places] >= 0).any() or (growth.place[order] >= 0).any():
            return
        growth.place[order], growth.owner[places] = places, order
        if params.by_ears:
            grow_by_ears(self.guest, self.target, growth, self.search, self.work)
        else:
            grow(self.guest, self.target, growth, 0.0, self.work)
        kept = count_edges(self.guest, self.target, growth.place)
        self.grown[self.count] = growth.place
        self.work -= int(growth.counts[1])
        self.used += int(growth.counts[1])
        placed = int((growth.place >= 0).sum())
        self.done = kept >= params.enough * self.edges and placed >= params.placed * len(growth.place)
        self.kept = max(self.kept, kept)
        if (cost := self.price(growth.place)) < self.least:
            self.best, self.least = growth, cost
        self.count += 1


def embed_most(
    graphs: tuple[Neighbourhoods, Neighbourhoods],
    limits: tuple[BoolArray, IntArray],
    price: Callable[[IntArray], float],
    params: MatchingParams,
    seed: int,
    stop: Stop,
) -> IntArray:
    """Return places [n] of the partial embedding of the lowest price, -1 for vertices without one.

    - `graphs` are the guest and the target.
    - `limits` are `allowed[n, N]`, which nodes a vertex may have, and `pins[n]`, the node of a pinned one or -1.
    - `price` says what places [n] cost.
    """
    (guest, target), (allowed, pins) = graphs, limits
    empty, pinned = Growth.of(allowed, target), np.flatnonzero(pins >= 0)
    empty.place[pinned], empty.owner[pins[pinned]] = pins[pinned], pinned
    nursery = SeedNursery(guest=guest, target=target, empty=empty, price=price, params=params)
    _grow_unique(nursery)
    waiting: list[Seed] = []
    for number, seeds in enumerate(_find_seeds(nursery, seed, stop)):
        waiting = sorted(waiting + seeds, key=lambda item: item[:2])
        first, waiting = waiting[: params.grown], waiting[params.grown :]
        for item in first:
            if not nursery.over:
                nursery.grow(item)
        if nursery.over or nursery.is_hopeless(number + 1):
            waiting = []
            break
    for item in waiting:
        # Where these end soon they are many; a 3-regular graph of 2,000 lay on itself by the last of few.
        if nursery.over or (params.by_ears and nursery.is_hopeless(0)) or stop():
            break
        nursery.grow(item)
    return _repair(nursery)


def _grow_unique(nursery: SeedNursery) -> None:
    """Grow what colours say which vertex is which of, before all patterns: irregular graphs grow from many vertices.

    Then what they say of the vertices and the nodes that are left, as long as prices fall.
    """
    empty = nursery.empty
    for rounds in WAVES:
        grown, before = nursery.best, nursery.least
        order, places = match_unique(nursery.guest, nursery.target, (grown.place < 0, grown.owner < 0), rounds)
        new = empty.allowed[order, places]
        known = np.flatnonzero((grown.place >= 0) & (empty.place < 0))
        if not new.any():
            break
        order, places = np.concatenate([known, order[new]]), np.concatenate([grown.place[known], places[new]])
        nursery.grow(Seed(-np.inf, 0, order, places))
        if nursery.over or nursery.least >= before:
            break


def count_edges(guest: Neighbourhoods, target: Neighbourhoods, place: IntArray) -> int:
    """Return how many edges of the guest lie on edges of the target; O(edges)."""
    return count_matches(guest, target, place, np.zeros(len(place), np.int64))


def _find_seeds(nursery: SeedNursery, seed: int, stop: Stop) -> Iterator[list[Seed]]:
    """Yield the best places of patterns, first of those that are small and whose centre few nodes are like."""
    guest, target, params, allowed = nursery.guest, nursery.target, nursery.params, nursery.empty.allowed
    patterns, steps = _list_patterns(guest, target, params, seed), params.pattern_steps * len(allowed)
    prices, suspicion = np.array([price for _, price in patterns]), np.zeros(len(allowed) + 1)
    members = np.full((len(patterns), params.vertices), len(allowed))
    for row, (pattern, _) in zip(members, patterns, strict=True):
        row[: len(pattern.order)] = pattern.order
    for number in range(min(params.patterns, len(patterns))):
        if stop() or steps <= 0:
            break
        chosen = int(np.argmin(prices + suspicion[members].sum(axis=1)))
        pattern, prices[chosen] = patterns[chosen][0], np.inf
        anchors = _rank_anchors(guest, target, pattern.order[0], params.reach)
        limits = params.keep, params.each, min(ONCE * len(allowed), steps)
        search = PatternSearch.begin(anchors, len(pattern.order), *limits)
        found, tried = match_pattern(guest, target, allowed, pattern, search)
        steps -= tried
        # Where all patterns share an edge that is not the target's, none leads anywhere: others come first.
        suspicion[pattern.order] += 1.0
        ranks = _rank_places(search.score[:found])
        yield [Seed(ranks[k], number * params.keep + k, pattern.order, search.found[k]) for k in range(found)]


def _rank_places(scores: FloatArray) -> FloatArray:
    """Return the ranks of places of a pattern by their scores; one that is the only place comes before all others."""
    return np.full(1, -np.inf) if len(scores) == 1 else scores.mean() - scores if len(scores) else scores


def _list_patterns(
    guest: Neighbourhoods, target: Neighbourhoods, params: MatchingParams, seed: int
) -> list[tuple[EarPattern, float]]:
    """Return patterns around the vertices that fewest nodes are like, with what each is taken for: less is better."""
    found = []
    alike = _count_alike(guest.within[:, : params.reach], target.within[:, : params.reach])
    wave, room = Wave.allocate(len(alike)), EarPattern.allocate(params.vertices)
    drawn = np.random.default_rng(seed).permutation(len(alike))
    for number, centre in enumerate(drawn[np.argsort(alike[drawn], kind="stable")].tolist()):
        size = build_pattern(guest, wave, room, centre, params.ears[number % len(params.ears)], params.ball)
        if size > 1:
            found.append((room.cut(size), size / VERTICES + alike[centre] / 2))
    return found


def _count_alike(within: IntArray, others: IntArray) -> FloatArray:
    """Return the bits of how many nodes have as many around them as a vertex, as if all had where none has."""
    known = np.unique(np.concatenate([within, others]), axis=0, return_inverse=True)[1].ravel()
    number = np.bincount(known[len(within) :], minlength=known.max() + 1)[known[: len(within)]]
    bits: FloatArray = np.log2(1 + np.where(number > 0, number, len(others)))
    return bits


def _rank_anchors(guest: Neighbourhoods, target: Neighbourhoods, v: int, reach: int) -> IntArray:
    """Return all nodes, those first around which as many nodes are as there are vertices around v."""
    counts, others = guest.within[v, :reach], target.within[:, :reach]
    return np.argsort((np.abs(others - counts) / (1 + others)).sum(axis=1), kind="stable")


def _repair(nursery: SeedNursery) -> IntArray:
    """Return places after vertices that keep fewer than half of their edges have been placed anew, while that gains."""
    guest, target, growth = nursery.guest, nursery.target, nursery.best
    best, kept = growth.place.copy(), np.zeros(len(growth.place), np.int64)
    most, pinned = count_matches(guest, target, best, kept), nursery.empty.place >= 0
    for _ in range(nursery.params.repairs):
        loose = np.flatnonzero((2 * kept < guest.degrees) & (growth.place >= 0) & ~pinned)
        growth.owner[growth.place[loose]], growth.place[loose] = -1, -1
        growth.counts[1] = 0
        grow(guest, target, growth, -np.inf, nursery.params.growth_work * len(best))
        total = count_matches(guest, target, growth.place, kept)
        if total <= most:
            break
        best, most = growth.place.copy(), total
    return best
