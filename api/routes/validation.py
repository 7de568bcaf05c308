"""The work behind `?validate=true`: a request is posed as its solve poses it, and measured in place of solved."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tiger.api.routes import assignment, circuits, experts, placement, planning
from tiger.api.routes.admission import WorkRequest
from tiger.api.routes.document import encode
from tiger.api.routes.entries import ENTRIES
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.api.schemas.validation import FigureEstimate, Validation
from tiger.api.seams.job import Kind
from tiger.api.seams.upload import UploadText
from tiger.model.options import narrow

# Levels of circuits that seconds were measured of.
LEVELS = (1, 2, 3)


class PowerLaw(NamedTuple):
    """Say how a figure grows: `scale` times each size to a power; measured ones are mostly within a `factor`."""

    scale: float
    powers: Mapping[str, float]
    factor: float
    least: float

    def estimate(self, sizes: Mapping[str, int], times: float = 1.0) -> FigureEstimate | None:
        """Return the figure for some sizes, None where one is not known."""
        if not self.powers.keys() <= sizes.keys():
            return None
        grown = math.prod(max(sizes[name], 1) ** power for name, power in self.powers.items())
        return FigureEstimate(value=float(f"{max(self.least, self.scale * grown) * times:.2g}"), factor=self.factor)


# Seconds and bytes at effort 1, each with the factor that nine tenths of other instances are within, and the least that
# was measured, by `python -m benchmarks.estimates`. A search that proves the optimum soon takes less, at any effort.
SECONDS = {
    "tasks": PowerLaw(0.0023, {"tasks": 0.73}, 5.1, 0.014),
    "circuit 1": PowerLaw(0.0031, {"two_qubit_gates": 0.66, "qubits": 0.11}, 1.4, 0.029),
    "circuit 2": PowerLaw(0.008, {"two_qubit_gates": 0.6, "qubits": 0.52}, 2.0, 0.083),
    "circuit 3": PowerLaw(0.004, {"two_qubit_gates": 0.96, "qubits": 0.41}, 2.1, 0.083),
    "layers": PowerLaw(0.0009, {"layers": 0.33, "devices": 0.78}, 1.5, 0.014),
}
BYTES = {
    "tasks": PowerLaw(3.7e6, {"tasks": 0.1, "nodes": 0.28}, 1.5, 1.4e7),
    "layers": PowerLaw(2.3e6, {"layers": 0.17, "devices": 0.44}, 1.6, 1.1e7),
}


def validate(kind: Kind, small: bool, uploads: Mapping[str, UploadText], body: bytes, limits: Limits) -> bytes:  # noqa: FBT001 (of a partial)
    """Return what a checked body would have solved, with `uploads` that it refers to, as strict JSON.

    Raises InputError as its solve does.
    """
    found = describe(ENTRIES[kind].check(body, limits, uploads), limits)
    return encode(replace(found, kind=kind, at_once=small))


def describe(request: WorkRequest, limits: Limits) -> Validation:
    """Return what a request would have solved; raise InputError as its solve does."""
    match request:
        case AssignRequest():
            return _describe_tasks(request, limits)
        case CircuitRequest():
            return _describe_circuit(request, limits)
        case PlaceRequest():
            return _describe_placement(request, limits)
        case PlanRequest():
            return _describe_plan(request, limits)
    inputs = experts.pose(request, limits)
    layers, slots = inputs.demand.weight.shape
    return Validation(
        kind="experts",
        sizes={
            "layers": layers,
            "experts": slots,
            "devices": len(inputs.devices),
            "batches": len(inputs.demand.batches.weights),
        },
        feasible=not inputs.violations,
        violations=inputs.violations,
    )


def _describe_tasks(request: AssignRequest, limits: Limits) -> Validation:
    """Return the problem of tasks, and whether a launcher's order is feasible, as a solve finds out first."""
    from tiger.mapping.mapper import check_request
    from tiger.mapping.prospect import check_terms, decide_feasibility, list_stages

    problem, arguments = assignment.pose(request, limits)
    asked = check_request(problem, arguments)
    check_terms(problem, asked)
    decided, hosts = decide_feasibility(problem), problem.topology.hosts
    sizes = {
        "tasks": problem.tasks.size,
        "edges": int(problem.tasks.traffic.nnz),
        "nodes": problem.topology.size,
        "hosts": hosts.size,
        "slots": int(problem.topology.slots.sum()) if problem.rule == "capacity" else hosts.size,
    }
    usual = request.solver in ("auto", "search") and asked.objective == "cost" and asked.max_moves is None
    times = request.work_factor
    warnings = [*problem.tasks.remarks, *problem.topology.remarks]
    if asked.samples:
        warnings.append("what a sampler is asked for follows from its answers: `tiger assign --dry-run` estimates it")
    measured = usual and times is not None and asked.homes is None
    return Validation(
        kind="assign",
        sizes=sizes,
        rule=problem.rule,
        objective=asked.objective,
        solver=asked.name,
        stages=list_stages(problem, asked),
        feasible=decided.feasible,
        violations=decided.violations,
        processor_s=SECONDS["tasks"].estimate(sizes, times or 1) if measured else None,
        memory_bytes=BYTES["tasks"].estimate(sizes) if measured else None,
        warnings=tuple(warnings),
    )


def _describe_circuit(request: CircuitRequest, limits: Limits) -> Validation:
    """Return a circuit and its device, and whether that can hold it."""
    from tiger.circuits.entry.layout import check_mapping
    from tiger.circuits.entry.request import LayoutRequest, check_params
    from tiger.circuits.params import LayoutParams
    from tiger.circuits.transpiler.target import coupling_of

    device, call = circuits.pose(request, limits)
    params = check_params(narrow(LayoutParams, call, executor=None))
    circuit = circuits.read_circuit(request.circuit, limits)
    _, obstacle = check_mapping(LayoutRequest(circuit, device, params), call.initial_layout)
    sizes = {
        "qubits": circuit.num_qubits,
        "gates": circuit.size(),
        "two_qubit_gates": circuit.num_nonlocal_gates(),
        "depth": circuit.depth(),
        "device_qubits": coupling_of(device).size,
    }
    measured = request.solver == "auto" and request.level in LEVELS
    name = f"circuit {request.level}"
    return Validation(
        kind="assign",
        sizes=sizes,
        objective=request.objective,
        solver=request.solver,
        feasible=obstacle is None,
        violations=() if obstacle is None else (obstacle,),
        processor_s=SECONDS[name].estimate(sizes, request.effort * request.islands) if measured else None,
    )


def _describe_placement(request: PlaceRequest, limits: Limits) -> Validation:
    """Return layers or operators and devices; whether these hold them is what the search finds."""
    from tiger.placement.entry.request import OperatorRequest, check_fit, fit_layout

    posed = placement.pose(request, limits)
    if isinstance(posed, OperatorRequest):
        names, what = posed.operators.names, "operators"
    else:
        fitted = replace(posed, params=fit_layout(posed.params, posed.layers, posed.cluster))
        check_fit(fitted)
        names, what = posed.layers.names, "layers"
    sizes = {what: len(names), "devices": posed.cluster.size}
    measured = what == "layers" and request.solver == "auto" and request.objective == "throughput"
    return Validation(
        kind="place",
        sizes=sizes,
        rule=request.mode,
        objective=request.objective,
        solver=request.solver,
        processor_s=SECONDS["layers"].estimate(sizes, request.effort) if measured else None,
        memory_bytes=BYTES["layers"].estimate(sizes) if measured else None,
    )


def _describe_plan(request: PlanRequest, limits: Limits) -> Validation:
    """Return layers and devices of the plans."""
    from tiger.planning.request import check_model

    model, cluster, options = planning.pose(request, limits)
    check_model(model, cluster, options)
    return Validation(kind="plan", sizes={"layers": len(model.given.names), "devices": cluster.size})
