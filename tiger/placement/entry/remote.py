"""What a service is asked for a placement: model and cluster as documents; plans of its reports are emitted here."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from tiger.model.jsontext import read_json
from tiger.model.options import narrow
from tiger.model.text import read_text
from tiger.placement.emission.deployment import Deployment
from tiger.placement.entry import operators
from tiger.placement.entry.arguments import PlaceArguments
from tiger.placement.entry.arrangement import Arrangement
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.request import check_no_costs, check_request, fit_layout
from tiger.placement.entry.start import read_start, state_start
from tiger.placement.operators.params import OperatorParams
from tiger.placement.params import Aim, PlaceOptions, PlaceParams
from tiger.run.use import RemoteCall, solver_name
from tiger.training.arguments import Model
from tiger.training.costs.plan import Plan
from tiger.training.documents import cluster_document, state_model
from tiger.training.hardware.cluster import Cluster
from tiger.training.hardware.options import HostArguments
from tiger.training.models.dnnpartitioning import Devices
from tiger.training.models.graphs import operators_of_document
from tiger.training.models.layers import Layers
from tiger.training.models.operators import Operators
from tiger.training.models.operatortable import table_of_operators
from tiger.training.models.serving import with_sequences
from tiger.training.models.setup import TrainingSetup
from tiger.training.pairing import pair_with_devices
from tiger.training.schedules.pass_orders import style_of
from tiger.training.sources import chain_model_of, require_cluster
from tiger.training.timings.costs import read_source, state_costs


def state_placement(arguments: PlaceArguments) -> RemoteCall[PlacementReport]:
    """State what `tiger.place` answers for some arguments; files are read here.

    The report emits and draws plans as a local one does. Raises InputError and TypeError as `tiger.place` does for what
    cannot be read.
    """
    pinned = {} if arguments.pinned is None else arguments.pinned
    start = read_start(arguments.start)
    # Which solvers there are is for the service to say.
    params = check_request(
        narrow(PlaceParams, arguments, pinned=pinned, start=start, solver="auto"), narrow(Aim, arguments)
    )
    if isinstance(params, OperatorParams):
        check_no_costs(arguments.costs)
    hosts = narrow(HostArguments, arguments)
    if arguments.cluster is None:
        hosts.check_absent("none")
        hardware, devices = None, None
    else:
        hardware, devices = cluster_document(arguments.cluster, hosts)
    document = {
        **asdict(narrow(PlaceOptions, arguments)),
        "solver": solver_name(arguments.solver),
        "pinned": pinned,
        "start": state_start(start),
        "cluster": hardware,
        "costs": state_costs(arguments.costs),
    }
    if isinstance(params, OperatorParams):
        model, graph = operators_document(arguments.model)
        on, line = operators.pair_with_cluster(*graph, devices), params.contiguous
        return RemoteCall({**document, "model": model}, lambda report: _add_arrangement(report, *on, contiguous=line))
    model = state_model(arguments.model)
    chain, known = pair_with_devices(
        chain_model_of(arguments.model, params.serve),
        require_cluster(devices),
        read_source(arguments.costs),
        params,
    )
    layers = chain.layers_for(narrow(TrainingSetup, params))
    fit_layout(params, layers, known)
    return RemoteCall({**document, "model": model}, lambda report: add_deployments(report, layers, known))


def add_deployments(report: PlacementReport, layers: Layers, cluster: Cluster) -> PlacementReport:
    """Return a report that came as JSON with its plan, and that of a layout; without one of other layers or devices."""
    if report.objective == "cache" and report.serving is not None and report.serving.sequences:
        layers = with_sequences(layers, report.serving.sequences)
    plan, own = report.given_report, deployment_of(report, layers, cluster)
    if report.given is None or plan is None:
        return replace(report, deployment=own)
    given = replace(report.given, deployment=deployment_of(plan, layers, cluster))
    return replace(report, deployment=own, given=given)


def operators_document(source: Model) -> tuple[object, tuple[Operators, Devices | None]]:
    """Return a graph of operators as a document, and what it states; raise InputError of `model`, and TypeError."""
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".json":
        document = read_json(read_text(Path(source), "model"), "model")
        return document, operators_of_document(document)
    read = operators.read(source)
    return source if isinstance(source, Mapping | list) else table_of_operators(read[0]), read


def deployment_of(report: PlacementReport, layers: Layers, cluster: Cluster) -> Deployment | None:
    """Return the plan that a report states, for its model and its cluster; None where it states none of theirs."""
    index = {name: k for k, name in enumerate(cluster.names)}
    cuts = np.cumsum([0, *(len(stage.ops) for stage in report.stages)]).tolist()
    if not report.stages or tuple(op for stage in report.stages for op in stage.ops) != layers.names:
        return None
    positions = report.stages[: len(report.stages) // report.virtual]
    try:
        grid = np.array([[[index[name] for name in row] for row in stage.devices] for stage in positions])
        plan = Plan(cuts=tuple(cuts), grid=grid, style=style_of(report.schedule))
    except (KeyError, ValueError):
        return None
    held = tuple(stage.memory_bytes for stage in positions)
    made = Deployment(layers=layers, cluster=cluster, plan=plan, schedule=report.schedule, memory_bytes=held)
    hosted = None if report.serving is None else report.serving.experts_on_cpu
    if hosted is None or hosted.device not in index:
        return made
    return replace(made, hosted=tuple(map(layers.names.index, hosted.layers)), host=index[hosted.device])


def _add_arrangement(
    report: PlacementReport, graph: Operators, cluster: Cluster, *, contiguous: bool
) -> PlacementReport:
    """Return a report with where it has the operators, unless those are others."""
    device = {name: k for k, name in enumerate(cluster.names)}
    at = {name: device.get(stage.device, -1) for stage in report.stages for name in stage.ops}
    places = [at.get(name, -1) for name in graph.names]
    if -1 in places:
        return report
    place = np.zeros(graph.groups, np.int64)
    place[graph.colour] = places
    line = tuple(device[stage.device] for stage in report.stages) if contiguous else ()
    return replace(report, arrangement=Arrangement(operators=graph, cluster=cluster, place=place, line=line))
