"""The entry of placements of operators: a graph and a cluster in any form of a caller in, a report out."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tiger.errors import InputError
from tiger.placement.entry.arrangement import Arrangement
from tiger.placement.entry.report import PlacementReport
from tiger.placement.entry.request import OperatorRequest, check_pins
from tiger.placement.entry.start import check_start, count_moves
from tiger.placement.operators.result import OperatorPlacement
from tiger.run.clock import measure_time
from tiger.training.hardware.cluster import DEVICE_LIMIT, Cluster
from tiger.training.models.dnnpartitioning import Devices
from tiger.training.models.graphs import operators_of_document, read_operators
from tiger.training.models.operators import Operators
from tiger.training.plausibility import warn_implausible


def read(source: object) -> tuple[Operators, Devices | None]:
    """Return the operators of a model in any form, and the devices that it states, if it does."""
    if isinstance(source, Operators):
        return source, None
    if isinstance(source, str | Path):
        return read_operators(source)
    if isinstance(source, Mapping | list):
        return operators_of_document(source)
    raise TypeError(f"expected model as Operators, a path or a document, got {type(source).__name__}")


def pair_with_cluster(
    operators: Operators, devices: Devices | None, cluster: Cluster | None, max_devices: int = DEVICE_LIMIT
) -> tuple[Operators, Cluster]:
    """Return operators and the cluster, that of the devices they state where none is given; raise InputError."""
    if cluster is not None:
        return operators, cluster
    if devices is None:
        raise InputError("cluster", "expected a cluster, as the model states no devices, got none")
    return operators, devices.cluster(max_devices)


def report_placement(request: OperatorRequest) -> PlacementReport:
    """Report the placement of operators that have been read; raise InputError for pins that they do not know."""
    from tiger.placement.operators import solve

    check_pins(request.params.pinned, request.operators.names, request.cluster, "an operator")
    check_start(request.params.start, request.operators.names, request.cluster, "an operator")
    with measure_time(request.params.time_limit_s) as clock:
        result = solve.place_operators(request.operators, request.cluster, request.params, clock.stop, request.watch)
        report = _make_report(request, result)
    return replace(
        report, seconds=clock.seconds, warnings=(*warn_implausible(request.cluster), *result.warnings, *clock.remarks)
    )


def _make_report(request: OperatorRequest, result: OperatorPlacement) -> PlacementReport:
    """Return the report of a result; time is left open."""
    params = request.params
    report = PlacementReport(
        feasible=result.place is not None and not result.violations,
        solver=params.solver,
        seed=params.seed,
        seconds=0.0,
        mode="dag",
        objective=params.objective,
        bottleneck_s=result.bottleneck_s,
        lower_bound_s=result.lower_bound_s,
        latency_s=result.latency_s,
        latency_bound_s=result.latency_bound_s,
        uniform_bottleneck_s=result.uniform_bottleneck_s,
        uniform_feasible=result.uniform_feasible,
        start_bottleneck_s=result.start_bottleneck_s,
        start_latency_s=result.start_latency_s,
        violations=result.violations,
        progress=result.stages,
        sampling=result.sampling,
    )
    if result.place is None:
        return report
    arrangement = Arrangement(
        operators=request.operators, cluster=request.cluster, place=result.place, line=result.line
    )
    stages = arrangement.stages()
    return replace(report, stages=stages, moved=count_moves(params.start, stages), arrangement=arrangement)
