"""Place operators on a cluster: check what cannot be met, then improve on the uniform split, and bound the result."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tiger.model.arrays import IntArray
from tiger.model.violation import Violation
from tiger.placement.chain.params import never_stop
from tiger.placement.operators.bounds.bound import BoundParams
from tiger.placement.operators.bounds.exact import place_exactly
from tiger.placement.operators.incumbent import PlacementIncumbent, fits
from tiger.placement.operators.latency.list_scheduling import makespan_s
from tiger.placement.operators.linear_orders import draw_linear_order
from tiger.placement.operators.operator_search import MANY, bound_load, minimize_latency, minimize_load, offer_uniform
from tiger.placement.operators.params import OperatorParams
from tiger.placement.operators.result import OperatorPlacement
from tiger.placement.operators.start import line_of_start, place_start
from tiger.placement.operators.terms import Terms
from tiger.placement.operators.throughput.coarsening import coarsen
from tiger.placement.operators.uniform import uniform_split
from tiger.placement.operators.violations import find_stage_violations, find_violations, overall_violation
from tiger.run.answers import Answers
from tiger.run.progress import Progress, ignore
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.operators import Operators

UNDECIDED = "no placement was found that fits, nor a proof that there is none"
APART = "no placement fits into memory and sends over links that are there alone"
HEURISTIC = "contiguous stages are searched for by their largest load alone"


def place_operators(
    operators: Operators,
    cluster: Cluster,
    params: OperatorParams,
    stop: Callable[[], bool] = never_stop,
    watch: Callable[[Progress], None] = ignore,
) -> OperatorPlacement:
    """Place operators on devices; the names in `params` are those of both.

    Same arguments, same placement. What cannot be met is in `violations`.
    """
    pinned = _pinned_devices(operators, cluster, params)
    terms = Terms.from_operators(operators, cluster, pinned)
    violations = find_violations(operators, cluster, pinned, terms)
    if params.contiguous and not violations:
        violations = find_stage_violations(operators, terms)
    if violations:
        return OperatorPlacement(place=None, violations=violations)
    start = place_start(operators, cluster, terms, params)
    line = () if start is None or not params.contiguous else line_of_start(terms, start)
    if params.objective == "throughput" and terms.operators > MANY >= terms.groups:
        # Loads do not change if operators of a group that send to the same groups become one; makespans would.
        terms = coarsen(terms, np.arange(terms.groups))

    uniform = uniform_split(terms, draw_linear_order(terms, params.seed))
    incumbent = PlacementIncumbent(
        solution=None, terms=terms, stop=stop, watch=watch, answers=Answers.of(params.solver)
    )
    offer_uniform(incumbent, uniform, params)
    if start is not None:
        with incumbent.stage("start"):
            incumbent.offer(start, line)
    if params.objective != "latency" or params.contiguous or terms.groups > MANY:
        minimize_load(incumbent, params, start)
    if params.objective != "latency":
        bound_load(incumbent, params)
    if params.objective != "throughput":
        minimize_latency(incumbent, params, None if start is None else (start, line))
    if incumbent.solution is None and params.objective == "latency":
        bound_load(incumbent, params)
    result = _make_result(incumbent, uniform, params)
    if start is None:
        return result
    latency_s = None if params.objective == "throughput" else makespan_s(incumbent.terms, start)
    return replace(result, start_bottleneck_s=incumbent.load_s(start), start_latency_s=latency_s)


def _pinned_devices(operators: Operators, cluster: Cluster, params: OperatorParams) -> dict[int, int]:
    """Return the devices of pinned operators, both by number."""
    at = {name: k for k, name in enumerate(operators.names)} if params.pinned else {}
    index = {name: k for k, name in enumerate(cluster.names)}
    return {at[operator]: index[device] for operator, device in params.pinned.items()}


def _make_result(incumbent: PlacementIncumbent, uniform: IntArray, params: OperatorParams) -> OperatorPlacement:
    """Return the best placement with its figures, or why there is none."""
    terms, place, stages = incumbent.terms, incumbent.solution, tuple(incumbent.stages)
    uniform_s = incumbent.load_s(uniform)
    result = OperatorPlacement(
        place=place,
        uniform_bottleneck_s=uniform_s if np.isfinite(uniform_s) else None,
        stages=stages,
        sampling=incumbent.answers.report(params.solver),
    )
    if place is None:
        return replace(result, violations=(_explain_misfit(incumbent),))
    timed = params.objective != "throughput"
    return replace(
        result,
        line=incumbent.line,
        bottleneck_s=incumbent.load_s(place),
        lower_bound_s=incumbent.load_bound_s,
        latency_s=makespan_s(terms, place) if timed else None,
        latency_bound_s=incumbent.latency_bound_s,
        uniform_feasible=fits(terms, uniform),
        warnings=(*incumbent.answers.warnings, *([HEURISTIC] if timed and params.contiguous else ())),
    )


def _explain_misfit(incumbent: PlacementIncumbent) -> Violation:
    """Return why there is no placement: links, if one fits where all devices are linked, else memory; or undecided."""
    terms, bound_s = incumbent.terms, incumbent.load_bound_s
    if bound_s is None or not np.isinf(bound_s):
        return Violation(kind="undecided", message=UNDECIDED)
    if (terms.link < 0).sum() > terms.devices:
        linked = replace(
            terms,
            link=np.zeros((terms.devices, terms.devices), np.int64) - np.eye(terms.devices, dtype=np.int64),
            send=np.zeros((1, terms.operators)),
        )
        if np.isfinite(place_exactly(linked, BoundParams(), incumbent.stop, None).bound_s):
            return Violation(kind="links", message=APART)
    return overall_violation(terms)
