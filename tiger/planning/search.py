"""The search over choices: bounds first, then a few simulated plans of each, then a search for the most promising."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import groupby
from typing import NamedTuple, TypeVar

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.placement import solve
from tiger.placement.chain.params import never_stop
from tiger.planning.attempt import (
    Attempt,
    Bound,
    Candidate,
    KnownCuts,
    make_evaluator,
    simulate_choice,
    simulate_even_plan,
)
from tiger.planning.choices import Choice, Family, batch_of, families, positions, resize, schedules_of
from tiger.planning.family_bounds import FamilyBounds
from tiger.planning.heuristic import usual_plan
from tiger.planning.incumbent import PlanIncumbent
from tiger.planning.links import LinkCurves
from tiger.planning.params import PlanParams
from tiger.planning.pruning import Pruned
from tiger.run.answers import Answers
from tiger.run.island_call import IslandCall
from tiger.run.progress import Progress
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage
from tiger.training.costs.tolerances import MET, SUMS, TOO_LARGE
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers
from tiger.training.models.setup import CHOSEN
from tiger.training.models.sizes import Model
from tiger.training.schedules.pass_orders import Schedule

# Work is counted in forward passes. Simulating a plan takes as long as ASIDE of them beside its own, and a pass of the
# zero-bubble schedule, whose order is searched for, GREEDY times as long.
ASIDE, GREEDY = 10_000, 10

Judged = TypeVar("Judged")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningParams:
    """Set the work of a search for one unit of effort, in forward passes.

    Plans are simulated for as long as the work of `simulated` lasts, `simulations` for each choice, and then choices
    are searched as placements, each for the work of `searches` simulations at the least, while `searched` lasts. Of
    several islands each simulates plans of up to `grouped` choices at a time, of about 0.04 s each.
    """

    simulated: int = 20_000_000
    searched: int = 20_000_000
    simulations: int = 3
    searches: int = 150
    grouped: int = 4


PARAMS = PlanningParams()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanResult:
    """Hold what the search for a plan knows at its end.

    `attempts` are the choices of which plans were simulated, the quickest first, `usual` is the plan that people write
    by hand, `given` the one that somebody has, `lower_bound_s` a lower bound on the iteration of every plan by any
    choice, and `sampling` what a sampler drew that ordered devices, None of other solvers.
    """

    attempts: tuple[Attempt, ...]
    usual: Attempt | None
    given: Attempt | None
    pruned: tuple[Pruned, ...]
    choices: int
    lower_bound_s: float
    stages: tuple[Stage, ...]
    sampling: SamplingReport | None


class SearchInputs(NamedTuple):
    """Hold a model, a cluster, what is asked, who judges the choices of several islands, and plans that there are.

    `given` is the plan that somebody has, `starts` are plans for another batch, and `cuts` those known from that.
    """

    model: Model
    cluster: Cluster
    params: PlanParams
    executor: Executor | None = None
    given: Choice | None = None
    starts: tuple[Attempt, ...] = ()
    cuts: KnownCuts | None = None

    def layers(self, choice: Choice) -> Layers:
        """Return the layers of a microbatch of a choice, as its ranks hold them."""
        return self.model.layers(choice.family.microbatch, choice.family.setup(self.params))

    def is_searched(self, choice: Choice) -> bool:
        """Return whether a choice keeps to what is asked of all plans."""
        own = {name: getattr(choice, name) for name in ("pipeline", "schedule", "virtual")}
        own |= {name: getattr(choice.family, name) for name in ("microbatch", *CHOSEN)}
        return all(getattr(self.params, name) in (None, value) for name, value in own.items())

    def run(self, judge: Callable[..., Judged], *given: Sequence[object]) -> Iterable[Judged]:
        """Return what `judge` makes of what each island is given, on the executor if there are several."""
        judge_here = IslandCall(judge, self.cluster)
        return (self.executor.map if self.executor and self.params.islands > 1 else map)(judge_here, *given)


def explore(request: SearchInputs, stop: Callable[[], bool], watch: Callable[[Progress], None]) -> PlanResult:
    """Search for the degrees, the schedule and the plan by which an iteration takes the least simulated time.

    What a bound rules out is never better. Of what is left, all are simulated with a few plans and the best are
    searched, each as a placement, for as long as the work of `effort` lasts: exact in the choices for small problems.
    Islands have that work each, and judge as many choices side by side, all by the best plan before them.
    """
    incumbent = PlanIncumbent(
        solution=None,
        stop=stop,
        watch=watch,
        answers=Answers.of(request.params.solver),
        offloads=request.params.offload is not None,
    )
    with incumbent.stage("heuristic"):
        _judge_usual_plan(request, incumbent)
    given = _judge_given_plan(request, incumbent)
    if request.starts:
        with incumbent.stage("starts"):
            _judge_starts(request, incumbent)
    with incumbent.stage("bounds"):
        _bound_choices(request, incumbent)
    with incumbent.stage("simulation"):
        _simulate_candidates(request, incumbent)
    with incumbent.stage("placement"):
        _place_best(request, incumbent)
    return replace(_make_result(incumbent, request.params.solver), given=given)


def _judge_usual_plan(request: SearchInputs, incumbent: PlanIncumbent) -> None:
    """Judge the plan that people write by hand."""
    incumbent.usual = usual_plan(request.model, request.cluster, request.params)
    if incumbent.usual is not None:
        incumbent.keep(incumbent.usual)


def _judge_given_plan(request: SearchInputs, incumbent: PlanIncumbent) -> Attempt | None:
    """Judge the plan that somebody has, which is one of those searched over if it keeps to what is asked of them."""
    if request.given is None:
        return None
    with incumbent.stage("given"):
        attempt = simulate_even_plan(request.layers(request.given), request.cluster, request.given)
        if request.is_searched(request.given) and attempt.iteration_s < np.inf:
            incumbent.keep(attempt)
    return attempt


def _judge_starts(request: SearchInputs, incumbent: PlanIncumbent) -> None:
    """Judge plans for another batch with as many microbatches as this one has, where that can be."""
    batch = batch_of(request.model, request.cluster, request.params)
    for start in request.starts:
        choice = resize(start.choice, batch)
        if choice is None or start.plan is None:
            continue
        value = make_evaluator(request.layers(choice), request.cluster, choice).value(start.plan)
        if value < np.inf:
            candidate = Candidate(choice=choice, bound_s=0.0, bound="work")
            near = start.plan if start.placed is not None else None
            attempt = Attempt(candidate=candidate, plan=start.plan, iteration_s=value, near=near, polls=start.polls)
            incumbent.keep(attempt)


def _list_choices(request: SearchInputs) -> Iterator[list[tuple[Family, list[Choice]]]]:
    """Yield all choices by families, those of the same degrees together; last the plan given if it is no such."""
    model, cluster, params, given = request.model, request.cluster, request.params, request.given
    other = given if given is not None and request.is_searched(given) else None
    for _, ways in groupby(families(model, cluster, params), key=lambda family: replace(family.degrees, expert=1)):
        group = []
        for family in ways:
            counts = positions(model, cluster, params, family)
            listed = [each for count in counts for each in schedules_of(model, params, family, count)]
            other = None if other in listed else other
            group.append((family, listed))
        yield group
    if other is not None:
        yield [(other.family, [other])]


def _bound_choices(request: SearchInputs, incumbent: PlanIncumbent) -> None:
    """List all choices, and rule out what cannot fit or cannot be quick enough."""
    model, cluster, params = request.model, request.cluster, request.params
    links = LinkCurves.of(cluster)
    for group in _list_choices(request):
        known: list[tuple[FamilyBounds, list[Choice]]] = []
        for family, listed in group:
            incumbent.choices += len(listed)
            if incumbent.stop():
                incumbent.pruned.add("budget", listed[0] if listed else None, 0.0, len(listed))
                continue
            layers = model.layers(family.microbatch, family.setup(params)).least
            bounds = FamilyBounds.of(layers, cluster, links, family)
            if not bounds.possible:
                incumbent.pruned.add("links", listed[0] if listed else None, np.inf, len(listed))
            elif listed:
                known.append((bounds, listed))
        if known:
            # Bounds by the best of all cuts take long, and are made once for all ways to hold the same layers.
            best_cuts = CutBounds(FamilyBounds.least([bounds for bounds, _ in known]))
            for bounds, listed in known:
                _bound_family(bounds, best_cuts, listed, incumbent, float(cluster.memory_bytes.max()))
    incumbent.candidates.sort(key=lambda each: (each.bound_s, each.choice.family.weight, each.choice))


@dataclass(slots=True)
class CutBounds:
    """Hold bounds by the best of all cuts, by schedule, as far as they are known."""

    bounds: FamilyBounds
    known: dict[Schedule, FloatArray] = field(default_factory=dict)

    def seconds(self, schedule: Schedule, positions: int) -> FloatArray:
        """Return bounds for pipelines of 1, 2, .. positions or more."""
        if len(self.known.get(schedule, ())) < positions:
            self.known[schedule] = self.bounds.cuts_s(schedule, positions)
        return self.known[schedule]


def _bound_family(
    bounds: FamilyBounds, best_cuts: CutBounds, listed: Sequence[Choice], incumbent: PlanIncumbent, most_bytes: float
) -> None:
    """Rule choices of one family out by work and memory, then by the best of all cuts; keep the others."""
    left = defaultdict[Schedule, list[Choice]](list)
    work = {count: bounds.work_s(count) for count in {each.pipeline for each in listed}}
    need_bytes = cache(bounds.need_bytes)
    for choice in listed:
        work_s = work[choice.pipeline]
        if incumbent.is_too_slow(work_s):
            incumbent.rule_out("work", choice, work_s)
        elif (need := need_bytes(*_flight(choice))) > most_bytes * (1 + TOO_LARGE):
            incumbent.rule_out("memory", choice, need)
        elif choice.virtual == 1:
            left[choice.schedule].append(choice)
        else:
            incumbent.add(_make_candidate(choice, work_s, 0.0))
    for schedule, some in left.items():
        deepest = max(each.pipeline for each in some)
        held, cuts = _bound_bytes(bounds, schedule, some, most_bytes), best_cuts.seconds(schedule, deepest)
        for choice in some:
            at = choice.pipeline - 1
            if held[at] > most_bytes * (1 + TOO_LARGE):
                incumbent.rule_out("memory", choice, float(held[at]))
            else:
                incumbent.add(_make_candidate(choice, work[choice.pipeline], float(cuts[at])))


def _bound_bytes(bounds: FamilyBounds, schedule: Schedule, some: Sequence[Choice], most_bytes: float) -> FloatArray:
    """Return bounds on the bytes of pipelines of 1, 2, .. positions by the best of all cuts, 0 where they will do."""
    deepest = max(each.pipeline for each in some)
    fits = bounds.fits_cuts(schedule, deepest, most_bytes * (1 + TOO_LARGE))
    open_ = max((each.pipeline for each in some if not fits[each.pipeline - 1]), default=0)
    found = np.zeros(deepest)
    found[:open_] = bounds.cut_bytes(schedule, open_) if open_ else 0.0
    return found


def _make_candidate(choice: Choice, work_s: float, cuts_s: float) -> Candidate:
    """Return a choice with the larger of two bounds."""
    bound: Bound = "cuts" if cuts_s > work_s else "work"
    return Candidate(choice=choice, bound_s=max(work_s, cuts_s), bound=bound)


def _simulate_candidates(request: SearchInputs, incumbent: PlanIncumbent) -> None:
    """Simulate a few plans of every choice that no bound rules out, the most promising first."""
    islands, count = request.params.islands, len(incumbent.candidates)
    left = PARAMS.simulated * request.params.effort * islands
    group: list[Candidate] = []
    for done, candidate in enumerate(incumbent.candidates):
        if incumbent.rules_out(candidate):
            continue
        if incumbent.has_lighter(candidate.choice):
            incumbent.rule_out("lighter", candidate.choice, candidate.bound_s)
            continue
        work = PARAMS.simulations * _work(candidate.choice)
        if work > left or (incumbent.stop() and incumbent.attempts):
            incumbent.rule_out("budget", candidate.choice, candidate.bound_s)
            continue
        left -= work
        group.append(candidate)
        # The first plan of all is found whatever the time.
        if len(group) == (1 if islands == 1 or not incumbent.attempts else islands * PARAMS.grouped):
            incumbent.report_step("simulation", done / count)
            _simulate_group(request, incumbent, group)
            group = []
    _simulate_group(request, incumbent, group)


def _simulate_group(request: SearchInputs, incumbent: PlanIncumbent, group: Sequence[Candidate]) -> None:
    """Simulate plans of choices that are dealt out to the islands, until time is up."""
    shares = [share for k in range(request.params.islands) if (share := group[k :: request.params.islands])]
    layers = [[request.layers(each.choice) for each in share] for share in shares]
    stop = incumbent.stop if incumbent.attempts else never_stop
    # What another process learns of cuts is lost.
    known_cuts = request.cuts if request.params.islands == 1 else None
    for attempts in request.run(partial(_simulate_share, stop, known_cuts), layers, shares):
        for attempt in attempts:
            incumbent.keep(attempt)
    for candidate in group:
        if candidate.choice not in incumbent.attempts:
            incumbent.rule_out("budget", candidate.choice, candidate.bound_s)


def _simulate_share(
    stop: Callable[[], bool],
    known_cuts: KnownCuts | None,
    cluster: Cluster,
    layers: Sequence[Layers],
    share: Sequence[Candidate],
) -> list[Attempt]:
    """Simulate plans of an island's choices, each with the layers of its microbatches, until time is up."""
    given = zip(layers, share, strict=True)
    return [simulate_choice(each, cluster, candidate, known_cuts) for each, candidate in given if not stop()]


def _place_best(request: SearchInputs, incumbent: PlanIncumbent) -> None:
    """Search for a placement by the best choices, a group after another, till the work is done.

    It is done where less than half of the work is left that a group takes by what those before it have taken.
    """
    islands, allotted = request.params.islands, 0
    meter = Meter(PARAMS.searched * request.params.effort * islands, incumbent.stop)
    attempts = incumbent.attempts.values()
    waiting = sorted(attempts, key=lambda each: (each.simulated_s, each.lacking_bytes, each.choice))
    done = placed = 0
    while done < len(waiting) and not (meter.spent and incumbent.stop()):
        group, left = list[Attempt](), meter.left
        while done < len(waiting) and len(group) < islands:
            attempt, best_s = waiting[done], incumbent.value
            better = attempt.candidate.bound_s < best_s * (1 - MET) or attempt.iteration_s <= best_s
            least = PARAMS.searches * _work(attempt.choice)
            if better and least <= left:
                incumbent.report_step("placement", done / len(waiting), str(attempt.choice))
                left -= least
                group.append(attempt)
            done += 1
        least = sum(PARAMS.searches * _work(attempt.choice) for attempt in group)
        if placed and least * meter.spent > 2 * meter.left * allotted:
            break
        allotted += least
        layers = [request.layers(attempt.choice) for attempt in group]
        before = range(placed, placed + len(group))
        placed += len(group)
        judge = partial(_place, request.params, incumbent.stop, incumbent.answers)
        for attempt, spent in request.run(judge, layers, group, before):
            meter.spent += spent
            incumbent.keep(attempt)


def _place(
    params: PlanParams,
    stop: Callable[[], bool],
    answers: Answers,
    cluster: Cluster,
    layers: Layers,
    attempt: Attempt,
    before: int,
) -> tuple[Attempt, int]:
    """Return an attempt with what a search for a placement by its choice finds, if that is no worse, and its work.

    With others `before` it, it is returned as it is if time is up.
    """
    if before and stop():
        return attempt, 0
    meter = Meter(0, stop)
    choice = attempt.choice
    stop_here = meter.stop_for(choice)
    placed = solve.place_layers(layers, cluster, choice.params(params), stop_here, answers=answers, near=attempt.near)
    # A search from a plan of another batch counts as that one did, so that as many choices are searched as without it.
    polls = meter.spent // _work(choice) if attempt.near is None else attempt.polls
    value = np.inf if placed.iteration_s is None else placed.iteration_s
    if placed.plan is None or value > attempt.iteration_s:
        return replace(attempt, violations=placed.violations, warnings=placed.warnings, polls=polls), polls * _work(
            choice
        )
    found = replace(
        attempt,
        plan=placed.plan,
        iteration_s=value,
        lacking_bytes=0.0,
        placed=placed,
        roomy=False,
        warnings=placed.warnings,
        polls=polls,
    )
    return found, polls * _work(choice)


def _make_result(incumbent: PlanIncumbent, solver: str) -> PlanResult:
    """Return what is known at the end."""
    attempts = sorted(incumbent.attempts.values(), key=lambda each: (each.iteration_s, each.placed is None))
    pruned = incumbent.pruned.rows()
    bounds = [candidate.bound_s for candidate in incumbent.candidates]
    # Choices that a bound rules out are no better than the best, up to rounding.
    bounds += [each.least for each in pruned if each.reason in ("budget", "work", "cuts", "lighter")]
    return PlanResult(
        attempts=tuple(attempts),
        usual=incumbent.usual,
        given=None,
        pruned=pruned,
        choices=incumbent.choices,
        lower_bound_s=min([incumbent.value, *bounds]) * (1 - SUMS),
        stages=tuple(incumbent.stages),
        sampling=incumbent.answers.report(solver),
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
    # With one stage a position, zero-bubble schedules need as much as 1F1B.
    schedule: Schedule = "1f1b" if choice.schedule == "zero-bubble" else choice.schedule
    return schedule, min(choice.virtual, 2), choice.pipeline


def _work(choice: Choice) -> int:
    """Return the work of simulating a plan once."""
    return ASIDE + choice.passes * (GREEDY if choice.schedule == "zero-bubble" else 1)
