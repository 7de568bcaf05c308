"""The search for a placement of operators: what is known of it while stage after stage looks for a better one."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.violation import Violation
from tiger.pipeline.costs.tolerances import MEMORY
from tiger.pipeline.operators.bounds.bound import BoundParams, load_bound_s
from tiger.pipeline.operators.bounds.exact import place_exactly
from tiger.pipeline.operators.found import Found
from tiger.pipeline.operators.latency.latency import LatencyParams, bound_s
from tiger.pipeline.operators.latency.latency import place_classes as quick
from tiger.pipeline.operators.latency.list_scheduling import makespan_s
from tiger.pipeline.operators.lines import draw_line
from tiger.pipeline.operators.loads import held_bytes, loads_s
from tiger.pipeline.operators.params import OperatorParams
from tiger.pipeline.operators.terms import Terms
from tiger.pipeline.operators.throughput.contiguous import line_of_places, split
from tiger.pipeline.operators.throughput.cuts import CutParams, cut_lines
from tiger.pipeline.operators.throughput.multilevel import MultilevelParams
from tiger.pipeline.operators.throughput.multilevel import place_classes as coarsened
from tiger.pipeline.operators.throughput.search import SearchParams, search_placement
from tiger.pipeline.operators.uniform import uniform_split
from tiger.pipeline.operators.unmet import overall_violation
from tiger.run.progress import Progress
from tiger.run.stage import Detail, Stage

UNDECIDED = "no placement was found that fits, nor a proof that there is none"
APART = "no placement fits into memory and sends over links that are there alone"
HEURISTIC = "contiguous stages are searched for by their largest load alone"
# Fewer classes may be placed exactly, and more have to be joined.
FEW, MANY = 24, 5_000
# Contiguous stages are found in less time than a good bound takes for graphs larger than this.
QUICK = 100
# Small graphs need no more visits than these; large ones have as many as the search allows.
PASSES, PER_CLASS = LatencyParams().passes, 2_000_000


class Hunt:
    """Hold what is known of placements of operators while stage after stage looks for better ones."""

    def __init__(
        self, terms: Terms, params: OperatorParams, stop: Callable[[], bool], watch: Callable[[Progress], None]
    ) -> None:
        self.terms, self.params, self.stop, self.watch = terms, params, stop, watch
        self.place: IntArray | None = None
        self.line: tuple[int, ...] = ()
        self.weights = 0.0, 1.0
        self.cost = np.inf
        self.proved = False
        self.lower_bound_s: float | None = None
        self.latency_bound_s: float | None = None
        self.plain = uniform_split(terms, draw_line(terms, params.seed))
        self.stages: list[Stage] = []

    def begin(self) -> None:
        """Take the plain split as what there is to beat; it may cut apart what contiguous stages have to hold whole."""
        with self._stage("uniform"):
            if not self.params.contiguous:
                self.offer(self.plain)

    def load(self) -> None:
        """Look for a small largest load: exactly among few classes, and by what suits their number else."""
        seed, effort = self.params.seed, self.params.effort
        if self.params.contiguous:
            self._split()
            return
        if self.params.solver != "auto":
            self._sample()
            return
        if self.terms.classes <= FEW:
            self._branch()
        if self.proved:
            return
        if self.terms.classes > MANY:
            with self._stage("multilevel"):
                params = MultilevelParams(seed=seed, effort=effort)
                self.offer(coarsened(self.terms, params, self.stop, self._tell))
        else:
            with self._stage("search"):
                self.offer(search_placement(self.terms, SearchParams(seed=seed, effort=effort), self.stop, self._tell))

    def prove(self) -> None:
        """Bound the largest load from below: by that of the best of all placements where there are few."""
        if self.lower_bound_s is not None:
            return
        with self._stage("bound"):
            params = BoundParams(effort=self.params.effort)
            if self.params.contiguous:
                params = replace(params, largest=QUICK)
            if self.terms.classes <= FEW:
                made = place_exactly(self.terms, params, self.stop, self.place)
                self.lower_bound_s = made.bound_s
                self._restage(made.place)
            else:
                self.lower_bound_s = load_bound_s(self.terms, params, self.stop, self._least_s())

    def latency(self) -> None:
        """Bound the makespan of a microbatch, and look for a small one, or for a small sum of both objectives."""
        with self._stage("latency"):
            self.latency_bound_s = bound_s(self.terms)
            self._weigh()
            if self.params.contiguous:
                return
            params = LatencyParams(
                makespan_weight=self.weights[0],
                load_weight=self.weights[1],
                seed=self.params.seed,
                effort=self.params.effort,
                passes=min(PASSES, PER_CLASS * self.terms.classes),
            )
            starts = [] if self.place is None else [self.place]
            self.offer(quick(self.terms, params, starts, self.stop, self._tell))

    def offer(self, place: IntArray | None, devices: tuple[int, ...] = ()) -> None:
        """Keep a placement if it fits and is better."""
        if place is None or not fits(self.terms, place):
            return
        cost = self.value(place)
        if cost < self.cost:
            self.place, self.line, self.cost = place, devices, cost

    def value(self, place: IntArray) -> float:
        """Return what is made small."""
        makespan, load = self.weights
        late = makespan * makespan_s(self.terms, place) if makespan else 0.0
        return late + load * self.bottleneck_s(place)

    def bottleneck_s(self, place: IntArray) -> float:
        """Return the largest load of a device."""
        compute, communication = loads_s(self.terms, place)
        return float((compute + communication).max())

    def result(self) -> Found:
        """Return what has been found."""
        plain_s = self.bottleneck_s(self.plain)
        uniform_s = plain_s if np.isfinite(plain_s) else None
        if self.place is None:
            lacking = Violation(kind="undecided", message=UNDECIDED)
            if self.lower_bound_s is not None and np.isinf(self.lower_bound_s):
                lacking = self._misfit()
            return Found(place=None, uniform_bottleneck_s=uniform_s, stages=tuple(self.stages), violations=(lacking,))
        timed = self.params.objective != "throughput"
        return Found(
            place=self.place,
            line=self.line,
            bottleneck_s=self.bottleneck_s(self.place),
            lower_bound_s=self.lower_bound_s,
            latency_s=makespan_s(self.terms, self.place) if timed else None,
            latency_bound_s=self.latency_bound_s,
            uniform_bottleneck_s=uniform_s,
            uniform_feasible=fits(self.terms, self.plain),
            stages=tuple(self.stages),
            warnings=(HEURISTIC,) if timed and self.params.contiguous else (),
        )

    def _misfit(self) -> Violation:
        """Return what lacks where nothing fits: links, if something does where all devices are linked; else memory."""
        if (self.terms.link < 0).sum() > self.terms.devices:
            size = self.terms.devices
            linked = replace(
                self.terms,
                link=np.zeros((size, size), np.int64) - np.eye(size, dtype=np.int64),
                send=np.zeros((1, self.terms.operators)),
            )
            if np.isfinite(place_exactly(linked, BoundParams(), self.stop, None).bound_s):
                return Violation(kind="links", message=APART)
        return overall_violation(self.terms)

    def _sample(self) -> None:
        """Look for a small largest load by a sampler, on QUBOs of the problem."""
        from tiger.pipeline.operators.qubo.sampled import sample
        from tiger.solvers.registry import sampler

        params = SearchParams(seed=self.params.seed, effort=self.params.effort)
        with self._stage("samples"):
            self.offer(sample(self.terms, sampler(self.params.solver), params, self.stop, self._tell))

    def _branch(self) -> None:
        """Look for the smallest largest load among all placements, as far as that can be done."""
        with self._stage("exact") as detail:
            made = place_exactly(self.terms, BoundParams(effort=self.params.effort), self.stop, self.place)
            self.offer(made.place)
            self.proved = detail["proved"] = made.proven
            self.lower_bound_s = made.bound_s

    def _split(self) -> None:
        """Look for contiguous stages with a small largest load."""
        seed, effort = self.params.seed, self.params.effort
        with self._stage("contiguous"):
            if self.terms.classes > MANY:
                made = cut_lines(self.terms, CutParams(seed=seed, effort=effort), self.stop, self._tell)
            else:
                made = split(self.terms, SearchParams(seed=seed, effort=effort), self.stop, self._tell)
            if made is not None:
                self.offer(made.place, made.devices)

    def _restage(self, place: IntArray | None) -> None:
        """Take the best of all placements, contiguous or not, where it is one of stages."""
        made = None if place is None or not self.params.contiguous else line_of_places(self.terms, place)
        if made is not None:
            self.offer(made.place, made.devices)

    def _least_s(self) -> float:
        """Return the largest load of what is known, infinite before anything is."""
        return np.inf if self.place is None else self.bottleneck_s(self.place)

    def _weigh(self) -> None:
        """Turn to the makespan, or to the sum of both objectives in units of their bounds, where these are not 0."""
        load = 1 / self.lower_bound_s if self.lower_bound_s else 1.0
        makespan = 1 / self.latency_bound_s if self.latency_bound_s else 1.0
        self.weights = (makespan, load) if self.params.objective == "both" else (1.0, 0.0)
        if self.place is not None:
            self.cost = self.value(self.place)

    def _tell(self, stage: str, _: IntArray, cost: float) -> None:
        """Tell whoever watches what a step of a search has reached."""
        self.watch(Progress(stage, None, cost))

    @contextmanager
    def _stage(self, name: str) -> Iterator[dict[str, Detail]]:
        """Record what a stage reaches and how long it takes, with figures of its own."""
        begun = time.perf_counter()
        detail: dict[str, Detail] = {}
        self.watch(Progress(name, None, self.cost if np.isfinite(self.cost) else None))
        yield detail
        self.stages.append(Stage(name=name, cost=self.cost, seconds=time.perf_counter() - begun, detail=detail))


def fits(terms: Terms, place: IntArray) -> bool:
    """Return whether every class is where it may go, and within memory but for rounding."""
    allowed = terms.allowed[np.arange(terms.classes), place].all()
    return bool(allowed and (held_bytes(terms, place) <= terms.capacity * (1 + MEMORY)).all())
