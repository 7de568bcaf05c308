"""Lower bounds on all plans by each choice, which rule choices out before anything is simulated."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby

import numpy as np

from tiger.model.arrays import FloatArray
from tiger.planning.attempt import Bound, Candidate
from tiger.planning.choices import Choice, Family, families, positions, schedules_of
from tiger.planning.family_bounds import FamilyBounds
from tiger.planning.incumbent import PlanIncumbent
from tiger.planning.links import LinkCurves
from tiger.planning.search_inputs import SearchInputs
from tiger.training.costs.tolerances import TOO_LARGE
from tiger.training.schedules.pass_orders import Schedule, pipelines_of


def bound_choices(request: SearchInputs, incumbent: PlanIncumbent) -> None:
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


def _list_choices(request: SearchInputs) -> Iterator[list[tuple[Family, list[Choice]]]]:
    """Yield all choices by families, those of the same degrees together; last the plan given if it is no such."""
    model, cluster, params, given = request.model, request.cluster, request.params, request.given
    other = given if given is not None and request.covers(given) else None
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
    work = {
        (count, ways): bounds.work_s(count, ways)
        for count, ways in {(each.pipeline, pipelines_of(each.schedule)) for each in listed}
    }
    need_bytes = cache(bounds.need_bytes)
    for choice in listed:
        work_s = work[choice.pipeline, pipelines_of(choice.schedule)]
        if incumbent.is_too_slow(work_s):
            incumbent.rule_out("work", choice, work_s)
        elif (need := need_bytes(*_flight(choice))) > most_bytes * (1 + TOO_LARGE):
            incumbent.rule_out("memory", choice, need)
        elif choice.virtual == 1 and pipelines_of(choice.schedule) == 1:
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
                incumbent.add(_make_candidate(choice, work[choice.pipeline, 1], float(cuts[at])))


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


def _flight(choice: Choice) -> tuple[Schedule, int, int]:
    """Return what the microbatches that a choice holds at once depend on."""
    # With one stage a position, zero-bubble schedules need as much as 1F1B.
    schedule: Schedule = "1f1b" if choice.schedule == "zero-bubble" else choice.schedule
    return schedule, min(choice.virtual, 2), choice.pipeline
