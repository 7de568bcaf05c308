"""The result of a search for a plan of a chain: the best plan and its figures, or why there is none."""

from dataclasses import replace

import numpy as np

from tiger.model.units import bytes_text
from tiger.model.violation import Violation
from tiger.model.wording import describe
from tiger.placement.params import PlaceParams
from tiger.placement.result import HostedExperts, PlaceResult
from tiger.placement.search.evaluator import Evaluator
from tiger.placement.search.hosting import HostedPlan
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.memory_split import count_sequences, plan_by_memory
from tiger.placement.search.problem import ChainProblem, virtual_stages
from tiger.placement.search.reasons import Closest, find_violation
from tiger.training.costs.plan import Plan
from tiger.training.costs.stages import workloads
from tiger.training.costs.sums import state_bytes
from tiger.training.models.layers import Layers
from tiger.training.schedules.pass_orders import wanted_microbatches


def report_plan(incumbent: ChainIncumbent, start: Plan | None = None, given: Plan | None = None) -> PlaceResult:
    """Return the best plan, or why none is known, with figures of the uniform one, the `start` and the one given."""
    problem, plan = incumbent.problem, incumbent.solution
    evaluator, uniform = problem.evaluator, problem.uniform_plan
    timed, quick = problem.params.schedule is not None, problem.params.objective == "latency"
    result = PlaceResult(
        plan=plan,
        microbatches=problem.microbatches if timed else None,
        lower_bound_s=None if quick else incumbent.bottleneck_bound_s,
        latency_bound_s=incumbent.latency_bound_s if quick and plan is not None else None,
        iteration_bound_s=incumbent.iteration_bound_s if timed and plan is not None else None,
        uniform_bottleneck_s=_finite_or_none(evaluator.bottleneck_s(uniform)),
        uniform_iteration_s=_finite_or_none(evaluator.seconds(uniform)) if timed else None,
        uniform_feasible=evaluator.value(uniform) < np.inf,
        start_bottleneck_s=None if start is None else evaluator.bottleneck_s(start),
        start_iteration_s=evaluator.seconds(start) if timed and start is not None else None,
        start_latency_s=evaluator.latency_s(start) if quick and start is not None else None,
        split=_measure_split(problem) if quick or problem.layers.served is not None else None,
        stages=tuple(incumbent.stages),
        warnings=incumbent.answers.warnings,
        sampling=incumbent.answers.report(problem.params.solver),
        given=None if given is None else simulate_plan(evaluator, given),
    )
    if plan is None:
        return replace(result, lower_bound_s=None, violations=(_find_reason(incumbent),))
    return replace(
        result,
        bottleneck_s=evaluator.bottleneck_s(plan),
        latency_s=evaluator.latency_s(plan),
        sequences=count_sequences(evaluator.layers, problem.cluster, plan),
        iteration_s=incumbent.value if timed else None,
        bubble=evaluator.bubble(plan) if timed else None,
        memory_bytes=tuple(evaluator.memory_bytes(plan).tolist()),
    )


def report_host_plan(incumbent: ChainIncumbent, found: HostedPlan | Violation) -> PlaceResult:
    """Return a plan with experts on a CPU and its figures beside those of simpler ones, or why none is known."""
    problem = incumbent.problem
    evaluator, cluster, layers = problem.evaluator, problem.cluster, problem.evaluator.layers
    uniform, split = problem.uniform_plan, _measure_split(problem)
    result = PlaceResult(
        plan=None,
        uniform_bottleneck_s=_finite_or_none(evaluator.bottleneck_s(uniform)),
        uniform_feasible=evaluator.value(uniform) < np.inf,
        stages=tuple(incumbent.stages),
        split=split,
    )
    if isinstance(found, Violation):
        return replace(result, violations=(found,))
    plan, settled, host_s = found.plan, found.settle(layers), found.host_seconds(layers, cluster)
    sent = workloads(layers, cluster, plan)[0].transfer_s
    crossing = np.concatenate([[0.0], sent, [0.0]])
    # A GPU waits for the host, so that its load has that time, too.
    loads = found.stage_seconds(layers, cluster) + 2 * (crossing[:-1] + crossing[1:])
    loads[plan.grid[:, 0, 0] == found.host] += host_s
    return replace(
        result,
        plan=plan,
        bottleneck_s=max(float(loads.max()), host_s),
        latency_s=found.latency_s(layers, cluster),
        latency_bound_s=found.bound_s,
        sequences=count_sequences(settled, cluster, plan),
        memory_bytes=tuple(state_bytes(settled, plan.cuts).tolist()),
        hosted=HostedExperts(
            layers=found.hosted, host=found.host, memory_bytes=found.host_bytes(layers), seconds=host_s
        ),
    )


def simulate_plan(evaluator: Evaluator, plan: Plan) -> PlaceResult:
    """Return the figures of a plan, and why it cannot run where it cannot."""
    timed = evaluator.schedule is not None
    return PlaceResult(
        plan=plan,
        microbatches=evaluator.microbatches if timed else None,
        bottleneck_s=_finite_or_none(evaluator.bottleneck_s(plan)),
        latency_s=_finite_or_none(evaluator.latency_s(plan)),
        sequences=count_sequences(evaluator.layers, evaluator.cluster, plan),
        iteration_s=_finite_or_none(evaluator.seconds(plan)) if timed else None,
        bubble=evaluator.bubble(plan),
        memory_bytes=tuple(evaluator.memory_bytes(plan).tolist()),
        violations=find_faults(evaluator, plan),
    )


def _measure_split(problem: ChainProblem) -> PlaceResult:
    """Return the figures of layers cut in proportion to memory."""
    return simulate_plan(problem.evaluator.for_single_stages(), plan_by_memory(problem))


def find_faults(evaluator: Evaluator, plan: Plan) -> tuple[Violation, ...]:
    """Return what keeps a plan from running: a pin, the number of microbatches, memory, or a link."""
    if np.isfinite(evaluator.value(plan)):
        return ()
    faults, count = dict[str, str](), evaluator.microbatches
    if not evaluator.keeps_pins(plan):
        faults["pinned"] = "breaks a pin"
    if wanted_microbatches(evaluator.schedule, plan.positions, count) is not None:
        faults["stages"] = f"has {plan.positions} devices for {count} microbatches"
    lacking = np.maximum(evaluator.memory_bytes(plan) - evaluator.room(plan), 0.0)
    if lacking.any():
        ranks = plan.grid[int(lacking.argmax())].ravel()
        device = evaluator.cluster.names[ranks[evaluator.cluster.memory_bytes[ranks].argmin()]]
        many = f"{np.count_nonzero(lacking)} of {plan.positions} devices in a row"
        faults["memory"] = f"lacks memory on {many}, most on {describe(device)}: {bytes_text(lacking.max())}"
    if "stages" not in faults and not np.isfinite(evaluator.seconds(plan)):
        faults["links"] = "sends over a link that is not there"
    return tuple(Violation(kind=kind, message=message) for kind, message in faults.items())


def report_too_few_layers(layers: Layers, params: PlaceParams) -> PlaceResult:
    """Return that the stages asked for are more than there are layers."""
    stages = virtual_stages(params) * (params.pipeline or 1)
    message = f"{stages} stages need a layer each, and the model has {layers.size}"
    if stages <= layers.size:
        message = f"the schedule {params.schedule} runs on no number of devices in a row that there may be"
    return PlaceResult(plan=None, violations=(Violation(kind="stages", message=message),))


def _find_reason(incumbent: ChainIncumbent) -> Violation:
    """Return the limit that cannot be met, as far as that is known."""
    problem = incumbent.problem
    lacking = None if incumbent.closest is None else problem.evaluator.excess_bytes(incumbent.closest)
    each = 1 if problem.is_line else max(problem.virtual, 2)
    closest = Closest(virtual=each, positions=problem.positions, lacking_bytes=lacking)
    return find_violation(problem.least, problem.cluster, problem.params, problem.line, closest)


def _finite_or_none(seconds: float) -> float | None:
    """Return seconds, None for an infinite number."""
    return seconds if np.isfinite(seconds) else None
