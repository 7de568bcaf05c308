"""The mapping of a circuit: layouts without SWAPs, proposals, segments and search, in the order of a request."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from tiger.circuits.coupling import Coupling, IndexArray
from tiger.circuits.embedding.embedding import EmbeddingParams, perfect_layouts
from tiger.circuits.embedding.parts import allot_parts
from tiger.circuits.embedding.segments import Anchor, SegmentParams, anchors
from tiger.circuits.gate_dag import GateDag
from tiger.circuits.ising.proposals import ProposalParams, proposals
from tiger.circuits.ising.static import Losses
from tiger.circuits.noise.placement import Judge, PlacementParams, Placer
from tiger.circuits.params import LayoutParams
from tiger.circuits.route import PLAIN, Route
from tiger.circuits.routing.search import Origins, SearchParams, search
from tiger.circuits.routing.windows import WindowParams, polish
from tiger.run.deadline import Deadline
from tiger.run.stage import Detail, Stage

SEGMENTING, PROPOSING = 2, 2
WIDE, FEW, ALL = 200, 4, 16
CALLS = (2_000, 20_000, 200_000, 1_000_000)
EVEN = 64
TRIAL = 2_000_000
SHORT_S = 1e-3
PLACING = (
    PlacementParams(lanes=0),
    PlacementParams(lanes=2, scouts=50, finalists=1, trials=100),
    PlacementParams(),
    PlacementParams(),
)


class Budget(NamedTuple):
    """Set an amount of work: a base, so much more for every two-qubit gate, and the most there is."""

    base: int
    gate: int
    most: int

    def work(self, dag: GateDag, effort: int) -> int:
        """Return the work for a circuit at an effort."""
        return min(self.base + self.gate * dag.gates, self.most) * effort


SEARCH = (
    Budget(0, 0, 0),
    Budget(50_000, 0, 100_000_000),
    Budget(10_000_000, 20_000, 100_000_000),
    Budget(40_000_000, 1_000_000, 250_000_000),
)
PASSAGES = (0, 32, 0, 0)
WINDOWS = (
    Budget(0, 0, 0),
    Budget(0, 0, 0),
    Budget(2_000_000, 1_000, 10_000_000),
    Budget(10_000_000, 10_000, 50_000_000),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """Hold the best route, and what every stage reached: its cost is in extra CX gates."""

    route: Route
    stages: tuple[Stage, ...] = field(default=())


def map_circuit(
    dag: GateDag,
    coupling: Coupling,
    params: LayoutParams,
    *,
    fixed: IndexArray | None = None,
    known: tuple[Route, ...] = (),
    judge: Judge | None = None,
) -> Mapped:
    """Map a circuit; `fixed[n]` is a layout it has to start from, `known` are routes that the result must not exceed.

    What counts is the extra CX gates, those in blocks of control flow left out, or what the judge says. Same arguments,
    same route, whatever the number of threads. Raises InputError when parts of the circuit do not fit those of the
    device.
    """
    hunt = Hunt(dag, coupling, params, fixed, known)
    if known:
        with hunt.stage("known"):
            pass
    hunt.embed()
    if hunt.open:
        hunt.propose(None if judge is None else judge.losses())
        hunt.cut()
        hunt.search()
        hunt.polish()
    route = hunt.best if judge is None else hunt.place_best(judge)
    return Mapped(route=route, stages=tuple(hunt.stages))


class Hunt:
    """Hold what is known of a circuit's routes while stage after stage looks for better ones."""

    def __init__(
        self,
        dag: GateDag,
        coupling: Coupling,
        params: LayoutParams,
        fixed: IndexArray | None,
        known: tuple[Route, ...],
    ) -> None:
        limit = params.time_limit_s
        self.gate_dag, self.coupling, self.params, self.fixed = dag, coupling, params, fixed
        self.stop = Deadline(None if limit is None else time.monotonic() + limit)
        self.start = allot_parts(dag, coupling, fixed).start
        self.routes: list[Route] = list(known)
        self.anchors: list[Anchor] = []
        self.stages: list[Stage] = []

    @property
    def best(self) -> Route:
        """Return the cheapest route known."""
        return min(self.routes, key=lambda route: route.extra_cx)

    @property
    def open(self) -> bool:
        """Return whether a better route may exist."""
        return not self.routes or self.best.extra_cx > 0

    def embed(self) -> None:
        """Look for a layout without SWAPs."""
        params = EmbeddingParams(calls=CALLS[self.params.level], seed=self.params.seed)
        nodes = np.arange(len(self.gate_dag.pairs), dtype=np.int32)
        with self.stage("embedding"):
            for place in perfect_layouts(self.gate_dag, self.coupling, params, self.fixed):
                self.routes.append(Route(start=place, steps=np.stack([nodes, np.full_like(nodes, PLAIN)], axis=1)))

    def propose(self, losses: Losses | None = None) -> None:
        """Route from the layouts of both Ising formulations, which errors count in where they are given."""
        if self.params.level < PROPOSING or self.stop():
            return
        left_s = self.stop.left_s
        params = ProposalParams(
            solver=self.params.solver,
            seed=self.params.seed,
            effort=self.params.effort,
            fixed=self.fixed,
            losses=losses,
            time_limit_s=None if left_s is None else max(left_s, SHORT_S),
        )
        with self.stage("proposals") as detail:
            many = ALL if self.coupling.size <= WIDE else FEW
            made = list(islice(proposals(self.gate_dag, self.coupling, params, self.stop), many))
            for name in ("static", "levels"):
                own = [p.anchor for p in made if p.name.startswith(name)]
                if own:
                    self.routes.append(self.search_routes(own, (), TRIAL))
                    detail[f"{name}_extra_cx"] = self.routes[-1].extra_cx
        self.anchors += [p.anchor for p in made]

    def cut(self) -> None:
        """Route from the layouts of segments that need no SWAP."""
        if self.fixed is not None or self.params.level < SEGMENTING or self.stop():
            return
        with self.stage("segments") as detail:
            many = ALL if self.coupling.size <= WIDE else FEW
            found = list(
                islice(anchors(self.gate_dag, self.coupling, SegmentParams(seed=self.params.seed), self.stop), many)
            )
            if found:
                self.routes.append(self.search_routes(found, (), TRIAL))
                detail["extra_cx"] = self.routes[-1].extra_cx
        self.anchors += found

    def search(self) -> None:
        """Search on whole routes; the same work takes longer on devices of many qubits, which get less of it."""
        work = SEARCH[self.params.level].work(self.gate_dag, self.params.effort)
        with self.stage("search"):
            share = int(work / (1 + self.coupling.size / EVEN))
            self.routes.append(self.search_routes(self.anchors, self.routes, share))

    def polish(self) -> None:
        """Route windows of the best route again."""
        work = WINDOWS[self.params.level].work(self.gate_dag, self.params.effort)
        if not work or not self.open:
            return
        setting = WindowParams(
            work=work,
            seed=self.params.seed,
            threads=self.params.threads,
            fixed=None if self.fixed is None else self.start[: self.gate_dag.qubits],
        )
        with self.stage("windows"):
            self.routes.append(polish(self.gate_dag, self.coupling, self.best, setting, self.stop))

    def search_routes(self, starts: Iterable[Anchor], routes: Iterable[Route], work: int) -> Route:
        """Return what a search finds from layouts for some time and from routes."""
        origins = Origins(
            layouts=(self.start,),
            anchors=tuple(starts),
            routes=tuple(routes),
            fixed=None if self.fixed is None else self.start,
        )
        passages = int(PASSAGES[self.params.level] * self.params.effort * min(1, EVEN / self.coupling.size))
        setting = SearchParams(work=work, passages=passages, seed=self.params.seed, threads=self.params.threads)
        return search(self.gate_dag, self.coupling, origins, setting, self.stop)

    def place_best(self, judge: Judge) -> Route:
        """Return the best route by a judge, from those known on."""
        level, effort = self.params.level, self.params.effort
        with self.stage("placement") as detail:
            params = replace(PLACING[level], trials=PLACING[level].trials * effort, pinned=self.fixed is not None)
            placer = Placer(self.gate_dag, self.coupling, judge, params)
            found = placer.best(self.routes, self.params.seed, self.stop)
            detail["loss"] = judge.loss(found)
            self.routes = [found]
        return found

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, Detail]]:
        """Time a stage and record what it reached."""
        detail: dict[str, Detail] = {}
        begun = time.perf_counter()
        yield detail
        cost = float(self.best.extra_cx) if self.routes else float("inf")
        self.stages.append(Stage(name=name, cost=cost, seconds=time.perf_counter() - begun, detail=detail))
