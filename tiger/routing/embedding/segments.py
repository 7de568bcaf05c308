"""Cut a circuit into segments that run on the device without a SWAP, and anchor a route in each of them.

A segment is a set of nodes, closed under what they wait for, whose pairs all fit the device in one layout. That layout,
held at the time of the segment, is where a router starts: forwards with the rest of the circuit, and backwards with
what comes before. On circuits that need few SWAPs for their length, like those of arXiv:2502.08839, this finds the
layouts they were made for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import pairwise, zip_longest
from typing import NamedTuple

import numpy as np

from tiger.model.arrays import BoolArray, FloatArray
from tiger.routing.coupling import Coupling, IndexArray
from tiger.routing.embedding.degrees import DegreeWatch
from tiger.routing.embedding.embedding import Embedder, EmbeddingParams, PlaceConstraints
from tiger.routing.embedding.nearness import place_near_partners
from tiger.routing.embedding.parts import allot_parts
from tiger.routing.gate_dag import GateDag
from tiger.routing.interaction import assign_levels

Pair = tuple[int, int]
Source = Callable[[DegreeWatch, set[Pair]], "NodeRun"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentParams:
    """Set how segments are found.

    `calls`: places tried for a qubit in one search of an embedding; `bans`: how often pairs that no embedding is
    found for are left out before a segment ends, and `outlook` before its layout is left as it is, which also looks at
    the gates around; `segments`: the most in each direction; `half_life`: levels over which the pull of gates around a
    segment halves; `seed`: of the searches.
    """

    calls: int = 600
    bans: int = 6
    outlook: int = 2
    segments: int = 64
    half_life: float = 8.0
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Anchor:
    """Hold a layout `place[N]` in which a segment runs, and the nodes `done[g]` that come before that time.

    With every node, `done` has all that it waits for.
    """

    done: BoolArray
    place: IndexArray


def find_anchors(
    dag: GateDag, coupling: Coupling, params: SegmentParams, stop: Callable[[], bool] = lambda: False
) -> Iterator[Anchor]:
    """Yield anchors of segments in turn from the start and from the end of the circuit.

    Deterministic except for `stop`, which is called before each segment and ends the search.
    """
    embedder = Embedder(coupling)
    part = allot_parts(dag, coupling).part
    ahead = _segments(DagProgress(dag), embedder, params, part)
    back = _segments(DagProgress(dag.reverse()), embedder, params, part)
    for segment, reverse in zip_longest(_take_until(stop, ahead), _take_until(stop, back)):
        if segment is not None:
            yield segment
        if reverse is not None:
            yield Anchor(done=~reverse.done[::-1], place=reverse.place)


def _take_until(stop: Callable[[], bool], segments: Iterator[Anchor]) -> Iterator[Anchor]:
    """Yield segments until it is time to stop."""
    while not stop():
        segment = next(segments, None)
        if segment is None:
            return
        yield segment


def _segments(progress: "DagProgress", embedder: Embedder, params: SegmentParams, part: IndexArray) -> Iterator[Anchor]:
    """Yield the segments of a circuit one after another, each as long as it can be made."""
    wanted = PlaceConstraints.build_free(progress.qubits)._replace(part=part)
    search = EmbeddingParams(calls=params.calls, seed=params.seed)
    for _ in range(params.segments):
        if progress.is_finished():
            return
        prefix = EmbeddedPrefix(embedder, search, wanted)
        run = prefix.extend(progress.run, params.bans)
        around = progress.list_gates_around(run.nodes, params.half_life)
        # Gates around the segment tell where qubits should be that it leaves free, and which of its layouts is good.
        prefix.extend(partial(_drop_rejected, [*run.pairs, *around.pairs]), params.outlook)
        whole = place_near_partners(prefix.place, around.pull, embedder.coupling, part)
        yield Anchor(done=progress.done.copy(), place=whole)
        progress.carry_out(run.nodes)
        wanted = wanted._replace(near=whole[: progress.qubits])


class EmbeddedPrefix:
    """Hold the embedding `place[n]` of a list of pairs that is made as long as it can be."""

    def __init__(self, embedder: Embedder, params: EmbeddingParams, wanted: PlaceConstraints) -> None:
        self.place = np.full(len(wanted.part), -1, np.int32)
        self._embedder, self._params, self._wanted = embedder, params, wanted
        self._size = 0

    def extend(self, source: Source, bans: int) -> "NodeRun":
        """Return the longest start of a source without banned pairs that embeds.

        The pairs are taken all at once; when they do not embed, the longest start that does is found by halving, and
        the pair after it is banned, until that has happened too often. A ban must leave the pairs before it.
        """
        banned, run = set[Pair](), NodeRun([], [], [])
        for _ in range(bans):
            run = source(DegreeWatch(len(self.place), self._embedder.by_degree), banned)
            self._lengthen(run.pairs)
            if self._size == len(run.pairs):
                return run
            banned.add(run.pairs[self._size])
        cut = run.before[self._size] if self._size < len(run.pairs) else 0
        return NodeRun(run.nodes[:cut], run.pairs[: self._size], run.before[: self._size])

    def _lengthen(self, pairs: list[Pair]) -> None:
        """Embed as many of the pairs as halving finds."""
        high, middle = len(pairs) + 1, len(pairs)
        # Binary search: a start of pairs that embed embeds as well, as far as the search finds it.
        while self._size < middle < high:
            chosen = np.array(pairs[:middle], np.int32)
            found = self._embedder.embeddings(chosen, self._params, self._wanted)
            if found:
                self.place, self._size = found[0], middle
            else:
                high = middle
            middle = (self._size + high) // 2


def _drop_rejected(pairs: Sequence[Pair], degrees: DegreeWatch, banned: set[Pair]) -> "NodeRun":
    """Return the pairs without the banned ones and those that the device rejects at once."""
    run, rejected = NodeRun([], [], []), set(banned)
    for pair in pairs:
        _join(pair, degrees, rejected, run)
    return run


class SegmentContext(NamedTuple):
    """Hold the gates before and after a segment: their different `pairs`, nearest in time first, and `pull[n, n]`.

    A gate pulls its qubits together the less, the more levels it is away.
    """

    pairs: list[Pair]
    pull: FloatArray


class NodeRun(NamedTuple):
    """Hold nodes that may come next, and their different pairs in order; `before[k]` nodes come before pair k."""

    nodes: list[int]
    pairs: list[Pair]
    before: list[int]


class DagProgress:
    """Hold how far a circuit has been carried out, `done[g]`, and what may come next."""

    def __init__(self, dag: GateDag) -> None:
        self.qubits = dag.qubits
        self.done = np.zeros(len(dag.pairs), np.bool_)
        self._level = assign_levels(dag)
        self._order = np.argsort(self._level, kind="stable").tolist()
        self._rank = np.argsort(self._order, kind="stable").tolist()
        self._waits = dag.waits.tolist()
        bounds, after = dag.first.tolist(), dag.after.tolist()
        self._after = [after[i:j] for i, j in pairwise(bounds)]
        self._ready = [rank for rank, v in enumerate(self._order) if not self._waits[v]]
        gates = np.c_[np.arange(len(self.done)), dag.pairs][dag.pairs[:, 0] >= 0]
        self._gates = np.concatenate([gates, dag.inner])
        self._gates[:, 1:].sort(axis=1)
        self._pairs: list[list[Pair]] = [[] for _ in self._order]
        for v, a, b in self._gates.tolist():
            self._pairs[v].append((a, b))

    def is_finished(self) -> bool:
        """Return whether all nodes are carried out."""
        return bool(self.done.all())

    def run(self, degrees: DegreeWatch, banned: set[Pair]) -> NodeRun:
        """Return the nodes that may come next without a banned pair and one that the device rejects at once."""
        run, heap, rejected = NodeRun([], [], []), self._ready.copy(), set(banned)
        waits = dict[int, int]()
        heapify(heap)
        # In order of levels: list scheduling of all nodes whose predecessors are in the run.
        while heap:
            v = self._order[heappop(heap)]
            if all(_join(pair, degrees, rejected, run) for pair in self._pairs[v]):
                run.nodes.append(v)
                for w in self._after[v]:
                    waits[w] = waits.get(w, self._waits[w]) - 1
                    if waits[w] == 0:
                        heappush(heap, self._rank[w])
        return run

    def carry_out(self, nodes: list[int]) -> None:
        """Note that nodes are carried out, in an order that respects what they wait for; without any, those ready."""
        # A block of control flow may want more than any layout has.
        nodes = nodes or [self._order[rank] for rank in self._ready]
        self.done[nodes] = True
        for v in nodes:
            for w in self._after[v]:
                self._waits[w] -= 1
                if self._waits[w] == 0:
                    self._ready.append(self._rank[w])
        self._ready = [rank for rank in self._ready if not self.done[self._order[rank]]]

    def list_gates_around(self, nodes: list[int], half_life: float) -> SegmentContext:
        """Return the gates before and after the nodes of a segment, whose pull halves every `half_life` levels."""
        outside = np.ones(len(self.done), np.bool_)
        outside[nodes] = False
        times = self._level[nodes] if nodes else np.zeros(1)
        gap = np.maximum(0, np.maximum(times.min() - self._level, self._level - times.max()))
        gates = self._gates[outside[self._gates[:, 0]]]
        gates = gates[np.argsort(gap[gates[:, 0]], kind="stable")]
        pull = np.zeros((self.qubits, self.qubits))
        np.add.at(pull, (gates[:, 1], gates[:, 2]), 0.5 ** (gap[gates[:, 0]] / half_life))
        return SegmentContext(list(dict.fromkeys(map(tuple, gates[:, 1:].tolist()))), pull + pull.T)


def _join(pair: Pair, degrees: DegreeWatch, rejected: set[Pair], run: NodeRun) -> bool:
    """Add a pair to a run unless it is rejected; return whether it is in."""
    a, b = pair
    if b in degrees.near[a]:
        return True
    if pair in rejected or not degrees.admits(a, b):
        rejected.add(pair)
        return False
    degrees.add(a, b)
    run.before.append(len(run.nodes))
    run.pairs.append(pair)
    return True
