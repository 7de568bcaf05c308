"""The search over choices: bounds first, then a few simulated plans of each, then a search for the most promising."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from tiger.pipeline import solve
from tiger.pipeline.costs.tolerances import MET, SUMS, TOO_LARGE
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.planning.attempt import Attempt, Bound, Candidate, simulate_choice
from tiger.pipeline.planning.choices import Choice, families, positions, schedules_of
from tiger.pipeline.planning.floors import Floors
from tiger.pipeline.planning.heuristic import usual_plan
from tiger.pipeline.planning.links import Links
from tiger.pipeline.planning.model import Model
from tiger.pipeline.planning.params import PlanParams
from tiger.pipeline.planning.pruning import Pruned, Reason, Tally
from tiger.pipeline.schedules.orders import Schedule
from tiger.run.progress import Progress
from tiger.run.stage import Detail, Stage

# Of simulating a plan, in forward passes: what it takes beside the passes, and by how much zero-bubble takes longer.
ASIDE, GREEDY = 10_000, 10
SIMULATED, SEARCHED = 20_000_000, 20_000_000
# How many plans of a choice are simulated, and how many its search simulates at the least.
SIMULATIONS, SEARCHES = 3, 150


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Explored:
    """Hold what the search for a plan knows at its end.

    `attempts` are the choices of which plans were simulated, the quickest first, `usual` is the plan that people write
    by hand, and `lower_bound_s` what no plan by any choice goes below.
    """

    attempts: tuple[Attempt, ...]
    usual: Attempt | None
    pruned: tuple[Pruned, ...]
    choices: int
    lower_bound_s: float
    stages: tuple[Stage, ...]


def explore(
    model: Model,
    cluster: Cluster,
    params: PlanParams,
    stop: Callable[[], bool],
    watch: Callable[[Progress], None],
) -> Explored:
    """Search for the degrees, the schedule and the plan by which an iteration takes the least simulated time.

    What a bound rules out is never better. Of what is left, all are simulated with a few plans and the best are
    searched, each as a placement, for as long as the work of `effort` lasts: exact in the choices for small problems.
    """
    search = Search(model, cluster, params, stop, watch)
    with search.stage("heuristic"):
        search.write()
    with search.stage("bounds"):
        search.bound()
    with search.stage("simulation"):
        search.simulate()
    with search.stage("placement"):
        search.place()
    return search.result()


@dataclass(slots=True, eq=False)
class Search:
    """Hold what is known of choices while stage after stage rules some of them out."""

    model: Model
    cluster: Cluster
    params: PlanParams
    stop: Callable[[], bool]
    watch: Callable[[Progress], None]
    usual: Attempt | None = None
    open: list[Candidate] = field(default_factory=list)
    attempts: dict[Choice, Attempt] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    choices: int = 0
    stages: list[Stage] = field(default_factory=list)

    @property
    def best_s(self) -> float:
        """Return the least seconds so far, infinite before a plan fits."""
        return min((attempt.iteration_s for attempt in self.attempts.values()), default=np.inf)

    def write(self) -> None:
        """Judge the plan that people write by hand."""
        self.usual = usual_plan(self.model, self.cluster, self.params)
        if self.usual is not None:
            self.attempts[self.usual.choice] = self.usual

    def bound(self) -> None:
        """List all choices, and rule out what cannot fit or cannot be quick enough."""
        links = Links.of(self.cluster)
        for family in families(self.model, self.cluster, self.params):
            counts = positions(self.model, self.cluster, self.params, family)
            listed = [each for count in counts for each in schedules_of(self.model, self.params, family, count)]
            self.choices += len(listed)
            if self.stop():
                self.tally.add("budget", listed[0] if listed else None, 0.0, len(listed))
                continue
            floors = Floors.of(self.model.layers(family.microbatch), self.cluster, links, family)
            if not floors.possible:
                self.tally.add("links", listed[0] if listed else None, np.inf, len(listed))
            elif listed:
                self._bound(floors, listed)
        self.open.sort(key=lambda each: (each.bound_s, each.choice))

    def simulate(self) -> None:
        """Simulate a few plans of every choice that no bound rules out, the most promising first."""
        left = SIMULATED * self.params.effort
        for done, candidate in enumerate(self.open):
            if self._is_ruled_out(candidate):
                continue
            work = SIMULATIONS * _work(candidate.choice)
            if work > left or (self.stop() and self.attempts):
                self._rule_out("budget", candidate.choice, candidate.bound_s)
                continue
            left -= work
            layers = self.model.layers(candidate.choice.family.microbatch)
            self._tell("simulation", done / len(self.open))
            self.attempts[candidate.choice] = simulate_choice(layers, self.cluster, candidate)

    def place(self) -> None:
        """Search for a placement by the best choices, one after another, till the work is done."""
        meter = Meter(SEARCHED * self.params.effort, self.stop)
        waiting = sorted(self.attempts.values(), key=lambda each: (each.iteration_s, each.lacking_bytes, each.choice))
        for done, attempt in enumerate(waiting):
            if meter.spent and self.stop():
                break
            better = attempt.candidate.bound_s < self.best_s * (1 - MET) or attempt.iteration_s <= self.best_s
            if better and SEARCHES * _work(attempt.choice) <= meter.left:
                self._tell("placement", done / len(waiting), str(attempt.choice))
                self.attempts[attempt.choice] = self._place(attempt, meter)

    def result(self) -> Explored:
        """Return what is known."""
        attempts = sorted(self.attempts.values(), key=lambda each: (each.iteration_s, each.placed is None))
        least = [candidate.bound_s for candidate in self.open]
        # Those that a bound rules out are no better than the best, but for rounding.
        least += [pruned.least for pruned in self.tally.rows() if pruned.reason in ("budget", "work", "cuts")]
        return Explored(
            attempts=tuple(attempts),
            usual=self.usual,
            pruned=self.tally.rows(),
            choices=self.choices,
            lower_bound_s=min([self.best_s, *least]) * (1 - SUMS),
            stages=tuple(self.stages),
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage and record what it reached, in seconds."""
        self._tell(name, None)
        begun = time.perf_counter()
        yield
        detail: dict[str, Detail] = {"simulated": len(self.attempts)}
        detail["placed"] = sum(attempt.placed is not None for attempt in self.attempts.values())
        self.stages.append(Stage(name=name, cost=self.best_s, seconds=time.perf_counter() - begun, detail=detail))

    def _tell(self, stage: str, fraction: float | None, message: str = "") -> None:
        """Tell how far the search is."""
        best = self.best_s
        self.watch(Progress(stage, fraction, None if best == np.inf else best, None, message))

    def _bound(self, floors: Floors, listed: Sequence[Choice]) -> None:
        """Rule choices of one family out, and keep the others with the larger of their bounds."""
        most, left = float(self.cluster.memory_bytes.max()), defaultdict[Schedule, list[Choice]](list)
        work = {count: floors.work_s(count) for count in {each.pipeline for each in listed}}
        needs = {each: floors.need_bytes(*each) for each in {_flight(choice) for choice in listed}}
        for choice in listed:
            slow, need = work[choice.pipeline], needs[_flight(choice)]
            if self._is_too_slow(slow):
                self._rule_out("work", choice, slow)
            elif need > most * (1 + TOO_LARGE):
                self._rule_out("memory", choice, need)
            elif choice.virtual == 1:
                left[choice.schedule].append(choice)
            else:
                self._keep(choice, slow, 0.0)
        for schedule, some in left.items():
            deepest = max(each.pipeline for each in some)
            held, cuts = floors.cut_bytes(schedule, deepest), floors.cuts_s(schedule, deepest)
            for choice in some:
                at = choice.pipeline - 1
                if held[at] > most * (1 + TOO_LARGE):
                    self._rule_out("memory", choice, float(held[at]))
                else:
                    self._keep(choice, work[choice.pipeline], float(cuts[at]))

    def _keep(self, choice: Choice, work_s: float, cuts_s: float) -> None:
        """Keep a choice with the larger of two bounds, unless that rules it out."""
        bound: Bound = "cuts" if cuts_s > work_s else "work"
        candidate = Candidate(choice=choice, bound_s=max(work_s, cuts_s), bound=bound)
        if not self._is_ruled_out(candidate):
            self.open.append(candidate)

    def _is_ruled_out(self, candidate: Candidate) -> bool:
        """Return whether a bound shows that a candidate is no better than what is known, and count it then."""
        if not self._is_too_slow(candidate.bound_s):
            return False
        self._rule_out(candidate.bound, candidate.choice, candidate.bound_s)
        return True

    def _rule_out(self, reason: Reason, choice: Choice, least: float) -> None:
        """Count a choice that a bound rules out, but for the usual one, whose plan is known to be as good as any."""
        attempt = self.attempts.get(choice)
        if attempt is None:
            self.tally.add(reason, choice, least)
        else:
            candidate = Candidate(choice=choice, bound_s=min(least, attempt.iteration_s), bound=attempt.candidate.bound)
            self.attempts[choice] = replace(attempt, candidate=candidate)

    def _is_too_slow(self, bound_s: float) -> bool:
        """Return whether seconds that nothing goes below are no less than the best."""
        return bound_s >= self.best_s * (1 - MET)

    def _place(self, attempt: Attempt, meter: "Meter") -> Attempt:
        """Return an attempt with what a search for its choice comes to, if that is no worse."""
        choice = attempt.choice
        layers, params = self.model.layers(choice.family.microbatch), choice.params(self.params)
        placed = solve.place_layers(layers, self.cluster, params, meter.stop_for(choice))
        value = np.inf if placed.iteration_s is None else placed.iteration_s
        if placed.plan is None or value > attempt.iteration_s:
            return replace(attempt, violations=placed.violations)
        return Attempt(candidate=attempt.candidate, plan=placed.plan, iteration_s=value, placed=placed)


@dataclass(slots=True)
class Meter:
    """Count the work of searches by how often they ask whether to stop, the same on every machine."""

    work: int
    stop: Callable[[], bool]
    spent: int = 0

    @property
    def left(self) -> int:
        """Return the work that is left, less than none where a search took more."""
        return self.work - self.spent

    def stop_for(self, choice: Choice) -> Callable[[], bool]:
        """Return what a search for one choice polls; it never stops that search for the work it takes."""
        step = _work(choice)

        def stop() -> bool:
            self.spent += step
            return self.stop()

        return stop


def _flight(choice: Choice) -> tuple[Schedule, int, int]:
    """Return what the microbatches that a choice holds at once depend on."""
    return choice.schedule, min(choice.virtual, 2), choice.pipeline


def _work(choice: Choice) -> int:
    """Return the work of simulating a plan once."""
    return ASIDE + choice.passes * (GREEDY if choice.schedule == "zero-bubble" else 1)
