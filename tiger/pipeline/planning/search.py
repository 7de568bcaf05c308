"""The search over choices: bounds first, then a few simulated plans of each, then a search for the most promising."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tiger.pipeline import solve
from tiger.pipeline.costs.tolerances import MET, SUMS, TOO_LARGE
from tiger.pipeline.hardware.cluster import Cluster
from tiger.pipeline.planning.attempt import Attempt, Bound, Candidate, simulate_choice
from tiger.pipeline.planning.choices import Choice, families, positions, schedules_of
from tiger.pipeline.planning.family_bounds import FamilyBounds
from tiger.pipeline.planning.heuristic import usual_plan
from tiger.pipeline.planning.incumbent import PlanIncumbent
from tiger.pipeline.planning.links import Links
from tiger.pipeline.planning.model import Model
from tiger.pipeline.planning.params import PlanParams
from tiger.pipeline.planning.pruning import Pruned
from tiger.pipeline.schedules.pass_orders import Schedule
from tiger.run.progress import Progress
from tiger.run.stage import Stage

# Work is counted in forward passes. Simulating a plan takes as long as ASIDE of them beside its own, and a pass of the
# zero-bubble schedule, whose order is searched for, GREEDY times as long.
ASIDE, GREEDY = 10_000, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningParams:
    """Set the work of a search for one unit of effort, in forward passes.

    Plans are simulated for as long as the work of `simulated` lasts, `simulations` for each choice, and then choices
    are searched as placements, each for the work of `searches` simulations at the least, while `searched` lasts.
    """

    simulated: int = 20_000_000
    searched: int = 20_000_000
    simulations: int = 3
    searches: int = 150


PARAMS = PlanningParams()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanResult:
    """Hold what the search for a plan knows at its end.

    `attempts` are the choices of which plans were simulated, the quickest first, `usual` is the plan that people write
    by hand, and `lower_bound_s` a lower bound on the iteration of every plan by any choice.
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
) -> PlanResult:
    """Search for the degrees, the schedule and the plan by which an iteration takes the least simulated time.

    What a bound rules out is never better. Of what is left, all are simulated with a few plans and the best are
    searched, each as a placement, for as long as the work of `effort` lasts: exact in the choices for small problems.
    """
    request = Request(model, cluster, params)
    incumbent = PlanIncumbent(solution=None, stop=stop, watch=watch)
    with incumbent.stage("heuristic"):
        _judge_usual_plan(request, incumbent)
    with incumbent.stage("bounds"):
        _bound_choices(request, incumbent)
    with incumbent.stage("simulation"):
        _simulate_candidates(request, incumbent)
    with incumbent.stage("placement"):
        _place_best(request, incumbent)
    return _make_result(incumbent)


class Request(NamedTuple):
    """Hold a model, a cluster, and what is asked of the search."""

    model: Model
    cluster: Cluster
    params: PlanParams


def _judge_usual_plan(request: Request, incumbent: PlanIncumbent) -> None:
    """Judge the plan that people write by hand."""
    incumbent.usual = usual_plan(*request)
    if incumbent.usual is not None:
        incumbent.keep(incumbent.usual)


def _bound_choices(request: Request, incumbent: PlanIncumbent) -> None:
    """List all choices, and rule out what cannot fit or cannot be quick enough."""
    model, cluster, params = request
    links = Links.of(cluster)
    for family in families(model, cluster, params):
        counts = positions(model, cluster, params, family)
        listed = [each for count in counts for each in schedules_of(model, params, family, count)]
        incumbent.choices += len(listed)
        if incumbent.stop():
            incumbent.pruned.add("budget", listed[0] if listed else None, 0.0, len(listed))
            continue
        bounds = FamilyBounds.of(model.layers(family.microbatch), cluster, links, family)
        if not bounds.possible:
            incumbent.pruned.add("links", listed[0] if listed else None, np.inf, len(listed))
        elif listed:
            _bound_family(bounds, listed, float(cluster.memory_bytes.max()), incumbent)
    incumbent.candidates.sort(key=lambda each: (each.bound_s, each.choice))


def _bound_family(bounds: FamilyBounds, listed: Sequence[Choice], most_bytes: float, incumbent: PlanIncumbent) -> None:
    """Rule choices of one family out by work and memory, then by the best of all cuts; keep the others."""
    left = defaultdict[Schedule, list[Choice]](list)
    work = {count: bounds.work_s(count) for count in {each.pipeline for each in listed}}
    needs = {each: bounds.need_bytes(*each) for each in {_flight(choice) for choice in listed}}
    for choice in listed:
        work_s, need = work[choice.pipeline], needs[_flight(choice)]
        if incumbent.is_too_slow(work_s):
            incumbent.rule_out("work", choice, work_s)
        elif need > most_bytes * (1 + TOO_LARGE):
            incumbent.rule_out("memory", choice, need)
        elif choice.virtual == 1:
            left[choice.schedule].append(choice)
        else:
            incumbent.add(_make_candidate(choice, work_s, 0.0))
    for schedule, some in left.items():
        deepest = max(each.pipeline for each in some)
        held, cuts = bounds.cut_bytes(schedule, deepest), bounds.cuts_s(schedule, deepest)
        for choice in some:
            at = choice.pipeline - 1
            if held[at] > most_bytes * (1 + TOO_LARGE):
                incumbent.rule_out("memory", choice, float(held[at]))
            else:
                incumbent.add(_make_candidate(choice, work[choice.pipeline], float(cuts[at])))


def _make_candidate(choice: Choice, work_s: float, cuts_s: float) -> Candidate:
    """Return a choice with the larger of two bounds."""
    bound: Bound = "cuts" if cuts_s > work_s else "work"
    return Candidate(choice=choice, bound_s=max(work_s, cuts_s), bound=bound)


def _simulate_candidates(request: Request, incumbent: PlanIncumbent) -> None:
    """Simulate a few plans of every choice that no bound rules out, the most promising first."""
    left = PARAMS.simulated * request.params.effort
    for done, candidate in enumerate(incumbent.candidates):
        if incumbent.rules_out(candidate):
            continue
        work = PARAMS.simulations * _work(candidate.choice)
        if work > left or (incumbent.stop() and incumbent.attempts):
            incumbent.rule_out("budget", candidate.choice, candidate.bound_s)
            continue
        left -= work
        layers = request.model.layers(candidate.choice.family.microbatch)
        incumbent.report_step("simulation", done / len(incumbent.candidates))
        incumbent.keep(simulate_choice(layers, request.cluster, candidate))


def _place_best(request: Request, incumbent: PlanIncumbent) -> None:
    """Search for a placement by the best choices, one after another, till the work is done."""
    meter = Meter(PARAMS.searched * request.params.effort, incumbent.stop)
    attempts = incumbent.attempts.values()
    waiting = sorted(attempts, key=lambda each: (each.iteration_s, each.lacking_bytes, each.choice))
    for done, attempt in enumerate(waiting):
        if meter.spent and incumbent.stop():
            break
        best_s = incumbent.value
        better = attempt.candidate.bound_s < best_s * (1 - MET) or attempt.iteration_s <= best_s
        if better and PARAMS.searches * _work(attempt.choice) <= meter.left:
            incumbent.report_step("placement", done / len(waiting), str(attempt.choice))
            incumbent.keep(_place(request, attempt, meter))


def _place(request: Request, attempt: Attempt, meter: "Meter") -> Attempt:
    """Return an attempt with the result of a search for a placement by its choice, if that is no worse."""
    choice = attempt.choice
    layers, params = request.model.layers(choice.family.microbatch), choice.params(request.params)
    placed = solve.place_layers(layers, request.cluster, params, meter.stop_for(choice))
    value = np.inf if placed.iteration_s is None else placed.iteration_s
    if placed.plan is None or value > attempt.iteration_s:
        return replace(attempt, violations=placed.violations)
    return Attempt(candidate=attempt.candidate, plan=placed.plan, iteration_s=value, placed=placed)


def _make_result(incumbent: PlanIncumbent) -> PlanResult:
    """Return what is known at the end."""
    attempts = sorted(incumbent.attempts.values(), key=lambda each: (each.iteration_s, each.placed is None))
    pruned = incumbent.pruned.rows()
    bounds = [candidate.bound_s for candidate in incumbent.candidates]
    # Choices that a bound rules out are no better than the best, up to rounding.
    bounds += [each.least for each in pruned if each.reason in ("budget", "work", "cuts")]
    return PlanResult(
        attempts=tuple(attempts),
        usual=incumbent.usual,
        pruned=pruned,
        choices=incumbent.choices,
        lower_bound_s=min([incumbent.value, *bounds]) * (1 - SUMS),
        stages=tuple(incumbent.stages),
    )


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
