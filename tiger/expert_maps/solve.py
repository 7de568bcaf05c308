"""The answer to what is asked of a placement of experts, by the search for transitions alone or that for all parts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tiger.expert_maps.costs import ExpertProblem
from tiger.expert_maps.params import ExpertOptions
from tiger.expert_maps.request import ExpertInputs, pad_batches
from tiger.expert_maps.search import ExpertParams, place_flat, search_experts
from tiger.expert_maps.slots.advice import Advice, advise
from tiger.expert_maps.slots.objective import ExpertCost, SlotProblem
from tiger.expert_maps.slots.search import SlotAnswer, SlotParams, search_slots
from tiger.expert_maps.slots.shared_search import PARAMS, ReshareParams, search_with_shares
from tiger.expert_maps.slots.starts import order_slots
from tiger.model.arrays import IntArray
from tiger.model.options import narrow
from tiger.run.clock import measure_time
from tiger.run.progress import Progress


@dataclass(frozen=True, slots=True, eq=False)
class ExpertAnswer:
    """Hold the map to use from now on, `slots` [L, S], the bound and the stages of the search, and what is beside it.

    `flat` is the placement of a search that takes all links for equal, where they differ and nothing but transitions
    counts.
    """

    slots: IntArray
    found: SlotAnswer
    verdict: Advice | None
    flat: IntArray | None
    remarks: tuple[str, ...]


def solve_request(request: ExpertInputs, watch: Callable[[Progress], None]) -> ExpertAnswer:
    """Return the map that is found for a request, or the one in use where that is the advice or nothing fits."""
    options, problem = request.options, request.slots
    if request.violations:
        return _leave(problem)
    flat, alone = None, request.transitions_alone
    with measure_time(options.time_limit_s) as clock:
        if problem.batches is not None:
            given = pad_batches(request.demand.batches, problem.loads)
            shared = narrow(ReshareParams, PARAMS[problem.sharing], seed=options.seed, effort=options.effort)
            found = search_with_shares(problem, given, shared, clock.stop, watch)
        elif alone is None:
            params = narrow(SlotParams, SlotParams(), seed=options.seed, effort=options.effort)
            found = search_slots(problem, params, clock.stop, watch)
        else:
            found = _search_transitions(alone, options, clock.stop, watch)
            if np.unique(alone.hops[alone.hops > 0]).size > 1:
                flat = order_by_place(place_flat(alone, clock.stop))
    verdict, slots = None, found.maps[0]
    if problem.in_use is not None:
        after, verdict = advise(problem, found.maps, options.steps, options.threshold)
        slots = after if verdict.advice == "move" else problem.in_use
        if request.unit != "s":
            verdict = replace(verdict, gain_s=None, move_s=None)
    return ExpertAnswer(slots, found, verdict, flat, clock.remarks)


def _leave(problem: SlotProblem) -> ExpertAnswer:
    """Return the map in use, or that by numbers, where no map fits."""
    slots = order_slots(problem.loads) if problem.in_use is None else problem.in_use
    bound = ExpertCost(load=0.0, links=0.0, moves=0.0)
    return ExpertAnswer(slots, SlotAnswer([slots], bound, None, []), None, None, ())


def order_by_place(place: IntArray) -> IntArray:
    """Return the map [L, S] of a placement [L, E], with the experts of a device in order."""
    return np.argsort(place, axis=1, kind="stable")


def _search_transitions(
    problem: ExpertProblem, options: ExpertOptions, stop: Callable[[], bool], watch: Callable[[Progress], None]
) -> SlotAnswer:
    """Return the map whose transitions cost least, with hops as means over transitions."""
    params, every = narrow(ExpertParams, ExpertParams(), seed=options.seed, effort=options.effort), problem.counts.sum()
    found = search_experts(problem, params, stop, watch)
    bound = ExpertCost(load=0.0, links=(found.bound or 0.0) / float(every), moves=0.0)
    stages = [replace(stage, cost=stage.cost / float(every)) for stage in found.stages]
    return SlotAnswer([order_by_place(found.solution)], bound, None, stages)
