"""The entry of placements: a model and a cluster in any form of a caller in, a report out."""

import time
from collections.abc import Callable
from dataclasses import replace

from tiger.model.options import from_fields, narrow
from tiger.placement import solve
from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry import operators
from tiger.placement.entry.account import links_of, list_placed_stages
from tiger.placement.entry.arguments import PlaceCall
from tiger.placement.entry.given import GivenLayout
from tiger.placement.entry.remedies import Remedy, find_remedies
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.request import (
    ChainRequest,
    OperatorRequest,
    check_fit,
    check_no_costs,
    check_request,
    fit_layout,
)
from tiger.placement.entry.serving import figures_of
from tiger.placement.entry.start import count_moves, read_start
from tiger.placement.operators.params import OperatorParams
from tiger.placement.params import Aim, PlaceParams
from tiger.placement.result import PlaceResult
from tiger.placement.search.problem import virtual_stages
from tiger.run.clock import measure_time
from tiger.run.progress import Progress, ignore
from tiger.training.costs.tolerances import MET
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.models.serving import with_sequences
from tiger.training.models.setup import TrainingSetup
from tiger.training.models.sizes import Model
from tiger.training.pairing import pair_with_devices
from tiger.training.plausibility import warn_implausible, warn_missing_state
from tiger.training.sources import chain_model_of, cluster_of, require_cluster
from tiger.training.timings.costs import CostSource, read_source
from tiger.training.timings.timed import SourceShares
from tiger.training.verdict import weigh_plans


@from_fields(PlaceCall)
def place(call: PlaceCall) -> PlacementReport:
    """Place a model on the devices of a cluster, and report its costs.

    In the mode chain, the layers of a model become the stages of a pipeline. The model is Layers, a path, a SPEC or a
    document (`tiger.training.models.reading`), the cluster a Cluster, a path, a SPEC such as `dgx:2` or a document
    (`tiger.training.hardware.reading`). The cluster may also be a file of a network between hosts, as `assign` takes
    them: `node_topology` then says what is inside the hosts, as a file or a SPEC for all of them or by lists of hosts,
    `bandwidths` what its levels carry where it does not state that, and `labels` which levels nodes of Kubernetes
    have. Without a `schedule` the bottleneck of a steady pipeline is minimized and memory is parameters alone; gpipe,
    1f1b, interleaved, zero-bubble, zb-v, dualpipe-v and chimera make the simulated time of an iteration of
    `microbatches` (default: 4 for each stage there may be) small, with `virtual` stages a device. The `objective`
    latency makes one microbatch alone pass forward through all stages soon, cache has the most sequences at once of a
    model that serves. `pipeline` is the number of devices in a row (default: as many as pay), `tensor` among how many
    each layer is cut, `data` how many replicas there are.

    In the mode dag, a device holds any operators of a graph, or one run of them with `contiguous`. The model is
    Operators, a path or a document (`tiger.training.models.graphs`), and the cluster may be left out where the model
    states its devices. The `objective` is throughput, the largest load of a device, latency, the makespan of a
    microbatch, or both.

    `pinned` gives the device of layers or operators, by name. `start` is a placement that the answer is never worse
    than: a report, a file or document of one, or {name: device} as a mapping or a file (`tiger.placement.entry.start`).
    `costs` says where the times of a transformer come from (`tiger.training.timings.costs`).
    `layout` is the plan that runs now as a framework is told it (`tiger.training.layouts.reading`), on devices in
    order, which is reported beside the answer. Same seed and effort, same answer; `time_limit_s` only ends a search
    early.
    Raises InputError that names the field at fault and TypeError for an argument of another type; a model that the
    cluster cannot hold is a report that is not feasible.
    """
    begun = time.perf_counter()
    pinned = {} if call.pinned is None else call.pinned
    params = check_request(narrow(PlaceParams, call, pinned=pinned, start=read_start(call.start)), narrow(Aim, call))
    watch = call.progress or ignore
    watch(Progress("reading", None, None))
    if isinstance(params, OperatorParams):
        check_no_costs(call.costs)
        graph = operators.read(call.model)
        cluster = cluster_of(call.cluster, narrow(HostArguments, call))
        request = OperatorRequest(*operators.pair_with_cluster(*graph, cluster), params, watch)
        report = operators.report_placement(request)
    else:
        model = chain_model_of(call.model, params.serve)
        cluster = require_cluster(cluster_of(call.cluster, narrow(HostArguments, call)))
        report = report_placement(pair_chain(model, cluster, params, read_source(call.costs), watch))
    return replace(report, seconds=time.perf_counter() - begun)


def pair_chain(
    model: Model, cluster: Cluster, params: PlaceParams, source: CostSource, watch: Callable[[Progress], None]
) -> ChainRequest:
    """Return the request to place a model on the devices of a cluster; raise InputError as `Model.layers`."""
    # Options that do not go with the model are told before anything of devices.
    model.layers_for(narrow(TrainingSetup, params))
    paired, devices = pair_with_devices(model, cluster, source, params)
    return ChainRequest(paired.layers_for(narrow(TrainingSetup, params)), devices, params, watch, paired)


def report_placement(request: ChainRequest) -> PlacementReport:
    """Report the placement of a parsed model; raise InputError as `place` does, except for its arguments."""
    request = replace(request, params=fit_layout(request.params, request.layers, request.cluster))
    check_fit(request)
    with measure_time(request.params.time_limit_s) as clock:
        result = solve.place_layers(request.layers, request.cluster, request.params, clock.stop, request.watch)
        report = make_report(request, result)
    taken = () if request.model is None or request.params.sequence else request.model.remarks
    remarks = (*taken, *warn_implausible(request.cluster), *warn_missing_state(request.layers, request.cluster))
    remedies = () if report.feasible else _find_remedies(request)
    warned = (*remarks, *result.warnings, *clock.remarks)
    return replace(report, seconds=clock.seconds, warnings=warned, remedies=remedies)


def _find_remedies(request: ChainRequest) -> tuple[Remedy, ...]:
    """Return what would make a model fit."""
    model = request.model
    if model is None or model.shape is None:
        return ()
    return find_remedies(model, request.cluster, request.params, model.shape.batch)


def make_report(request: ChainRequest, result: PlaceResult) -> PlacementReport:
    """Return the report of a result; time is left open."""
    params, plan = request.params, result.plan
    report = PlacementReport(
        feasible=plan is not None and not result.violations,
        solver=params.solver,
        seed=params.seed,
        objective=None if params.objective == "throughput" else params.objective,
        seconds=0.0,
        schedule=params.schedule,
        microbatches=result.microbatches,
        virtual=virtual_stages(params),
        bottleneck_s=result.bottleneck_s,
        iteration_s=result.iteration_s,
        bubble=_clear_rounding(result.bubble),
        uniform_bottleneck_s=result.uniform_bottleneck_s,
        uniform_iteration_s=result.uniform_iteration_s,
        uniform_feasible=result.uniform_feasible,
        start_bottleneck_s=result.start_bottleneck_s,
        start_iteration_s=result.start_iteration_s,
        start_latency_s=result.start_latency_s,
        lower_bound_s=result.lower_bound_s,
        latency_s=result.latency_s if params.objective == "latency" else None,
        latency_bound_s=result.latency_bound_s,
        serving=figures_of(result, params.objective, request.layers, request.cluster),
        iteration_bound_s=result.iteration_bound_s,
        violations=result.violations,
        progress=result.stages,
        sampling=result.sampling,
        times=SourceShares.of(request.layers.source_s.tolist()),
    )
    if plan is None:
        return _add_given(report, request, result)
    many = result.sequences if params.objective == "cache" else None
    deployment = Deployment(
        layers=request.layers if many is None else with_sequences(request.layers, many),
        cluster=request.cluster,
        plan=plan,
        schedule=params.schedule,
        memory_bytes=result.memory_bytes,
        hosted=() if result.hosted is None else result.hosted.layers,
        host=None if result.hosted is None else result.hosted.host,
    )
    stages = list_placed_stages(deployment)
    report = replace(
        report,
        virtual=plan.virtual,
        stages=stages,
        moved=count_moves(params.start, stages),
        links=() if report.microbatches is None else links_of(deployment, report.microbatches),
        deployment=deployment,
    )
    return _add_given(report, request, result)


def _add_given(report: PlacementReport, request: ChainRequest, result: PlaceResult) -> PlacementReport:
    """Return a report with what the plan of a layout comes to beside it, if there is one."""
    if result.given is None:
        return report
    plan, fits = make_report(request, result.given), not result.given.violations
    own_s, given_s = (each.bottleneck_s if each.schedule is None else each.iteration_s for each in (report, plan))
    devices = {op: stage.devices for stage in plan.stages for op in stage.ops}
    moved = sum(stage.devices != devices[op] for stage in report.stages for op in stage.ops)
    change = f"; {moved:,} of {len(devices):,} layers move to other devices"
    advice = weigh_plans(given_s or 0.0, own_s if report.feasible else None, change, fits=fits)
    given = GivenLayout(
        stages=plan.stages,
        bottleneck_s=plan.bottleneck_s,
        iteration_s=plan.iteration_s,
        bubble=plan.bubble,
        links=plan.links,
        feasible=fits,
        violations=plan.violations,
        saved=advice.saved,
        moved=moved if report.feasible else None,
        keep=advice.keep,
        verdict=advice.verdict,
        deployment=plan.deployment,
    )
    return replace(report, given=given)


def _clear_rounding(share: float | None) -> float | None:
    """Return a share of time, 0 where it is no more than rounding."""
    return 0.0 if share is not None and share < MET else share
