"""Layouts in which a circuit needs no SWAP: its interaction graph as a subgraph of the coupling map."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, IntArray
from tiger.routing.coupling import KEPT, Coupling, IndexArray
from tiger.routing.embedding.colours import refuses_colours
from tiger.routing.embedding.degrees import DegreeWatch, count_by_degree
from tiger.routing.gate_dag import GateDag, sort_distinct
from tiger.solvers.matching.monomorphism import Matcher, TargetGraph, matcher_of, search_embeddings

# Where more layouts are asked for than one run should give, each run may give this part of them.
RUNS = 16
# Seconds of a call at least, and for each pair of a circuit qubit and a device qubit: rough, so that limits of time
# hold on devices of tens of qubits and of a thousand alike.
CALL_S, CELL_S = 2e-6, 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingParams:
    """Set how long embeddings are looked for: `calls` (places tried for a qubit), until `layouts` are found."""

    calls: int = 200_000
    layouts: int = 1
    seed: int = 0


def find_perfect_layouts(
    dag: GateDag, coupling: Coupling, params: EmbeddingParams, fixed: IndexArray | None = None
) -> list[IndexArray]:
    """Return different layouts `place[N]` without SWAPs, at most `params.layouts`, none where none is found.

    As `search_perfect_layouts` does.
    """
    return search_perfect_layouts(dag, coupling, params, fixed)[0]


def search_perfect_layouts(
    dag: GateDag, coupling: Coupling, params: EmbeddingParams, fixed: IndexArray | None = None
) -> tuple[list[IndexArray], bool]:
    """Return different layouts `place[N]` without SWAPs, at most `params.layouts`, and whether there are no others.

    `fixed[n]` are device qubits that some circuit qubits have to be on, -1 for the others. Qubits without a pair and
    spare ones fill what is left in order. Pairs inside control flow count. When there are more layouts than asked for,
    half and more of them come from runs that begin in different places. Not exact: a search may run out of calls, and
    200,000 of them take about 0.1 s on 27 qubits, 0.7 s on 127.
    """
    wanted = PlaceConstraints.build_free(dag.qubits)
    if fixed is not None:
        wanted = wanted._replace(fixed=fixed.astype(np.int32))
    embedder, pairs = Embedder(coupling), list_interactions(dag)
    refused = embedder.refuses(pairs) or refuses_colours(pairs, coupling)
    found = [] if refused else embedder.embeddings(pairs, params, wanted)
    return [complete_layout(place, coupling.size) for place in found], embedder.complete


def needs_swaps(dag: GateDag, coupling: Coupling) -> bool:
    """Return whether degrees or two colours show that a circuit needs a SWAP in every layout; False says nothing."""
    pairs = list_interactions(dag)
    return Embedder(coupling).refuses(pairs) or refuses_colours(pairs, coupling)


def estimate_call_s(dag: GateDag, coupling: Coupling) -> float:
    """Return about how many seconds a call takes: it reads the places of all qubits."""
    return CALL_S + CELL_S * dag.qubits * coupling.size


def list_interactions(dag: GateDag) -> IndexArray:
    """Return the different pairs of qubits that have to meet, `[e, 2]`, lower first, sorted; O(g log g)."""
    a, b = np.concatenate([dag.pairs[dag.pairs[:, 0] >= 0], dag.inner[:, 1:]]).T.astype(np.int64)
    keys = sort_distinct(np.minimum(a, b) * dag.qubits + np.maximum(a, b))
    return np.stack(np.divmod(keys, max(dag.qubits, 1)), axis=1).astype(np.int32)


class PlaceConstraints(NamedTuple):
    """Hold where each of n qubits has to be or should be, -1 for anywhere.

    `fixed[n]` is its device qubit, `part[n]` its part of the device, `near[n]` a qubit that it is tried close to.
    """

    fixed: IndexArray
    part: IndexArray
    near: IndexArray

    @classmethod
    def build_free(cls, qubits: int) -> "PlaceConstraints":
        """Return no wishes."""
        return cls(*(np.full(qubits, -1, np.int32) for _ in range(3)))


class EmbeddingResult(NamedTuple):
    """Return the embedding `place[n]` that a search found, None for none, which is a proof where it is `complete`."""

    place: IndexArray | None
    complete: bool
    calls: int


class Embedder:
    """Look for embeddings of graphs on circuit qubits in one device; `complete` if the last search saw them all."""

    def __init__(self, coupling: Coupling) -> None:
        self.coupling, self.complete = coupling, True
        self.by_degree, self.device, self.ranks = _describe(coupling)

    def refuses(self, pairs: IndexArray) -> bool:
        """Return whether degrees alone show that the pairs do not fit."""
        degrees = DegreeWatch(int(pairs.max(initial=-1)) + 1, self.by_degree)
        for a, b in pairs.tolist():
            if not degrees.admits(a, b):
                return True
            degrees.add(a, b)
        return False

    def decide(self, pairs: IndexArray, calls: int) -> EmbeddingResult:
        """Look within `calls` calls for one embedding of pairs that differ, or for the proof that there is none."""
        if self.refuses(pairs):
            return EmbeddingResult(None, complete=True, calls=0)
        active, place = np.unique(pairs), np.full(int(pairs.max()) + 1, -1, np.int32)
        partner = _table(np.searchsorted(active, pairs), len(active))
        free = PlaceConstraints.build_free(len(active))
        matcher = matcher_of(partner, self.device, self._domains(partner, free), free.near)
        places = np.empty((1, len(active)), np.int32)
        count, complete, used = search_embeddings(matcher, places, 1, calls, 0)
        place[active] = places[0]
        return EmbeddingResult(place if count else None, complete, used)

    def embeddings(self, pairs: IndexArray, params: EmbeddingParams, wanted: PlaceConstraints) -> list[IndexArray]:
        """Return places[n] of the qubits of the pairs and the fixed ones, -1 for others, for every embedding found.

        `pairs[e, 2]` differ. Embeddings are different and in the order they are found; none is no proof.
        """
        self.complete = True
        # Two circuit qubits cannot be on one device qubit.
        is_fixed = wanted.fixed >= 0
        if len(np.unique(wanted.fixed[is_fixed])) < is_fixed.sum():
            return []
        active = np.union1d(pairs, np.flatnonzero(is_fixed)).astype(np.int32)
        partner = _table(np.searchsorted(active, pairs), len(active))
        mine = PlaceConstraints(*(wish[active] for wish in wanted))
        found = self._find(matcher_of(partner, self.device, self._domains(partner, mine), mine.near), params)
        places = np.full((len(found), len(is_fixed)), -1, np.int32)
        places[:, active] = found
        return list(places)

    def _find(self, matcher: Matcher, params: EmbeddingParams) -> IndexArray:
        """Return different embeddings: all of them, or some from runs that begin in different places."""
        places = np.empty((params.layouts, len(matcher.size)), np.int32)
        count, self.complete, _ = search_embeddings(matcher, places, params.layouts, params.calls, params.seed)
        if not self.complete and 1 < count == params.layouts:
            # One run goes through all embeddings of a corner of the device before it leaves it.
            spread = places.copy()
            quota = -(-params.layouts // RUNS)
            count, _, _ = search_embeddings(matcher, spread, quota, params.calls, params.seed + 1)
            places = np.concatenate([spread[:count], places])
            count = len(places)
        # Runs may repeat an embedding: each counts once, in the order found.
        _, first = np.unique(places[:count], axis=0, return_index=True)
        return places[np.sort(first)[: params.layouts]]

    def _domains(self, partner: IndexArray, wanted: PlaceConstraints) -> BoolArray:
        """Return where each vertex may go: its neighbours' degrees are at most those of the qubit's neighbours."""
        own = _ranks(partner)
        # Necessary for an embedding: the k-th highest degree beside a vertex is at most that beside its qubit.
        allowed: BoolArray = (wanted.part[:, None] < 0) | (wanted.part[:, None] == self.coupling.part)
        for k in range(own.shape[1]):
            allowed &= own[:, k, None] <= (self.ranks[:, k] if k < self.ranks.shape[1] else 0)
        pinned = np.flatnonzero(wanted.fixed >= 0)
        places = wanted.fixed[pinned]
        kept = allowed[pinned, places]
        allowed[:, places] = False
        allowed[pinned] = False
        allowed[pinned, places] = kept
        return allowed


@lru_cache(maxsize=KEPT)
def _describe(coupling: Coupling) -> tuple[list[int], TargetGraph, IndexArray]:
    """Return the qubits of a device by degree, what the search reads of it, and the degrees of neighbours."""
    device = TargetGraph(coupling.neighbours.copy(), coupling.hops.astype(np.int32))
    return count_by_degree(coupling), device, _ranks(device.near)


def complete_layout(place: IndexArray, size: int) -> IndexArray:
    """Return the layout with every qubit without a place, and the spare ones, on what is free, in order."""
    whole = np.full(size, -1, np.int32)
    whole[: len(place)] = place
    whole[whole < 0] = np.setdiff1d(np.arange(size, dtype=np.int32), place)
    return whole


def _table(pairs: IntArray, size: int) -> IndexArray:
    """Return the neighbours of every vertex, padded by -1, from pairs that all differ."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    degree = np.bincount(ends[:, 0], minlength=size)
    table = np.full((size, max(int(degree.max(initial=0)), 1)), -1, np.int32)
    table[ends[:, 0], np.arange(len(ends)) - np.repeat(np.cumsum(degree) - degree, degree)] = ends[:, 1]
    return table


def _ranks(table: IndexArray) -> IndexArray:
    """Return the degrees of the neighbours of every vertex, highest first, padded by 0."""
    degree = (table >= 0).sum(axis=1)
    return -np.sort(-np.where(table >= 0, degree[table], 0), axis=1).astype(np.int32)
