"""The search over choices: bounds first, then a few simulated plans of each, then a search for the most promising."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tiger.placement import solve
from tiger.placement.chain.params import never_stop
from tiger.planning.attempt import (
    Attempt,
    Candidate,
    KnownCuts,
    make_evaluator,
    simulate_choice,
    simulate_even_plan,
)
from tiger.planning.choice_bounds import bound_choices
from tiger.planning.choices import batch_of, resize
from tiger.planning.heuristic import usual_plan
from tiger.planning.incumbent import PlanIncumbent
from tiger.planning.params import PlanParams
from tiger.planning.pruning import Pruned
from tiger.planning.search_inputs import SearchInputs
from tiger.planning.work import Meter, work_of
from tiger.run.answers import Answers
from tiger.run.progress import Progress
from tiger.run.samples import SamplingReport
from tiger.run.stage import Stage
from tiger.training.costs.tolerances import MET, SUMS
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


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
        bound_choices(request, incumbent)
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
        if request.covers(request.given) and attempt.iteration_s < np.inf:
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
        work = PARAMS.simulations * work_of(candidate.choice)
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
            least = PARAMS.searches * work_of(attempt.choice)
            if better and least <= left:
                incumbent.report_step("placement", done / len(waiting), str(attempt.choice))
                left -= least
                group.append(attempt)
            done += 1
        least = sum(PARAMS.searches * work_of(attempt.choice) for attempt in group)
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
    polls = meter.spent // work_of(choice) if attempt.near is None else attempt.polls
    value = np.inf if placed.iteration_s is None else placed.iteration_s
    if placed.plan is None or value > attempt.iteration_s:
        return replace(attempt, violations=placed.violations, warnings=placed.warnings, polls=polls), polls * work_of(
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
    return found, polls * work_of(choice)


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
