"""The placement of a model on a cluster as a chain of stages: the story from the uniform plan to the result."""

from collections.abc import Callable
from dataclasses import replace

from tiger.placement.chain.params import never_stop
from tiger.placement.params import PlaceParams
from tiger.placement.result import PlaceResult
from tiger.placement.search.capacity import fit_most_sequences
from tiger.placement.search.groups import bound_rank_places, search_groups
from tiger.placement.search.hosting import HostedPlan, search_hosting
from tiger.placement.search.incumbent import ChainIncumbent
from tiger.placement.search.latency import search_latency
from tiger.placement.search.orders import search_orders
from tiger.placement.search.outcome import report_host_plan, report_plan, report_too_few_layers, simulate_plan
from tiger.placement.search.problem import ChainProblem, most_positions
from tiger.placement.search.refinement import refine_plans
from tiger.placement.search.start import plan_layout, plan_start
from tiger.run.answers import Answers
from tiger.run.progress import Progress, ignore
from tiger.training.costs.plan import Plan
from tiger.training.hardware.cluster import Cluster
from tiger.training.models.layers import Layers


def place_layers(
    layers: Layers,
    cluster: Cluster,
    params: PlaceParams,
    stop: Callable[[], bool] = never_stop,
    watch: Callable[[Progress], None] = ignore,
    answers: Answers | None = None,
    near: Plan | None = None,
) -> PlaceResult:
    """Place layers on devices; the names in `params` are those of layers and devices.

    The uniform plan comes first, as a baseline and a plan to fall back on, then those of a caller: one to start from,
    and one of a layout. Then the order of devices and the cuts between them, exact where all orders can be compared in
    time; or, with tensor- or data-parallel groups, the places of their ranks. Under a schedule the cuts of the best
    plans move on by simulation. At last a bound on other places of the same ranks, and the result. Cuts are found by
    the dynamic program of `chain.cut_dp`, those of the least latency by that of `chain.latency_dp`. Same arguments,
    same plan. What cannot be met is in `violations`. `answers` are those of a sampler to what was asked before. A plan
    `near` the best, of a problem much like this one, is where ranks are moved from, without a search for other places
    to start from.
    """
    if not most_positions(layers, cluster, params):
        return report_too_few_layers(layers, params)
    if params.objective == "cache":
        return _place_most_sequences(layers, cluster, params, stop, watch)
    problem = ChainProblem.of(layers, cluster, params)
    answers = Answers.of(params.solver) if answers is None else answers
    incumbent = ChainIncumbent(problem=problem, near=near, stop=stop, watch=watch, answers=answers)
    start, given = plan_start(problem), plan_layout(problem)
    for name, plan in (("uniform", problem.uniform_plan), ("start", start), ("layout", given), ("near", near)):
        if plan is not None:
            with incumbent.stage(name):
                incumbent.offer(plan)
    if params.experts_on_cpu:
        return _host_experts(incumbent)
    if params.objective == "latency":
        search_latency(incumbent)
    elif problem.has_groups:
        search_groups(incumbent)
    else:
        search_orders(incumbent)
    if params.schedule is not None:
        refine_plans(incumbent)
    if params.objective != "latency":
        bound_rank_places(incumbent)
    return report_plan(incumbent, start, given)


def _host_experts(incumbent: ChainIncumbent) -> PlaceResult:
    """Place layers and experts for the least latency, whatever simpler plans there are."""
    with incumbent.stage("experts on cpu") as detail:
        problem = incumbent.problem
        found = search_hosting(problem)
        if isinstance(found, HostedPlan):
            detail["layers"] = len(found.hosted)
            incumbent.take(found.plan, found.latency_s(problem.layers, problem.cluster))
    return report_host_plan(incumbent, found)


def _place_most_sequences(
    layers: Layers,
    cluster: Cluster,
    params: PlaceParams,
    stop: Callable[[], bool],
    watch: Callable[[Progress], None],
) -> PlaceResult:
    """Place layers with the cache of as many sequences as fit, of plans that hold these by the least bottleneck."""
    capacity = fit_most_sequences(layers, cluster, params, stop)
    result = place_layers(capacity.layers, cluster, replace(params, objective="throughput"), stop, watch)
    plan = capacity.plan
    if result.plan is None and plan is not None and params.pipeline in (None, plan.positions):
        # The search for the bottleneck may miss what the one for room has found.
        found = simulate_plan(ChainProblem.of(capacity.layers, cluster, params).evaluator, plan)
        result = replace(found, split=result.split, uniform_feasible=result.uniform_feasible, stages=result.stages)
    if result.plan is None:
        return result
    # A plan was found for one sequence at least, whatever was proved in time.
    return replace(result, sequences=max(capacity.sequences, 1), most_sequences=capacity.most)
