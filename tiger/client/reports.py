"""Reports as a service sends them, made into those that a local run returns.

What JSON does not carry is missing: a CircuitReport has its `qasm` and no `circuit`, and a PlacementReport has a
`deployment`, which it emits plans from, only where model and cluster are at hand.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict, TypeVar, cast

from tiger.circuits.entry.report import SCHEMA as CIRCUIT
from tiger.circuits.entry.report import CircuitReport
from tiger.circuits.ising.movement import DataMovement
from tiger.circuits.params import CircuitObjective
from tiger.client.errors import Document, ServiceError
from tiger.model.violation import Violation
from tiger.pipeline.entry.report import SCHEMA as PLACEMENT
from tiger.pipeline.entry.report import Link, PlacementReport
from tiger.pipeline.entry.stage import PlacedStage
from tiger.pipeline.operators.params import Objective as OperatorObjective
from tiger.pipeline.params import Mode
from tiger.pipeline.schedules.orders import Schedule
from tiger.run.report import SCHEMA as ASSIGNMENT
from tiger.run.report import Baselines, Objective, Report
from tiger.run.stage import Detail, Stage

AnyReport = Report | CircuitReport | PlacementReport
Made = TypeVar("Made")
_FAULTS = (KeyError, TypeError, ValueError, AttributeError)


class Said(TypedDict):
    """Type what a violation says."""

    kind: str
    message: str


class Measured(TypedDict):
    """Type an objective other than the cost."""

    name: str
    value: float
    baseline: float
    bound: float | None


class Orders(TypedDict):
    """Type what simple orders cost."""

    block: float | None
    cyclic: float | None
    random: float | None


class Assigned(TypedDict):
    """Type a document of `tiger.report/1`."""

    mapping: dict[str, str]
    cost: float | None
    compute_cost: float | None
    communication_cost: float | None
    baseline_cost: float | None
    baselines: Orders
    lower_bound: float | None
    optimal: bool
    objective: Measured | None
    feasible: bool
    violations: list[Said]
    solver: str
    rule: str
    seed: int
    metrics: dict[str, float]
    stages: list[dict[str, object]]
    warnings: list[str]
    seconds: float


class Moved(TypedDict):
    """Type the four ways to place gates."""

    trivial: int | None
    static_qubo: int | None
    levels: int | None
    routed: int | None


class Routed(TypedDict):
    """Type a document of `tiger.circuit/1`."""

    initial_layout: dict[str, int]
    final_layout: dict[str, int]
    qasm: str | None
    swaps: int | None
    bridges: int | None
    extra_cx: int | None
    depth: int | None
    data_movement: Moved | None
    baseline_extra_cx: int | None
    success_probability: float | None
    baseline_depth: int | None
    baseline_success_probability: float | None
    placement_extra_cx: dict[str, int | None] | None
    feasible: bool
    violations: list[Said]
    solver: str
    level: int
    objective: CircuitObjective
    seed: int
    stages: list[dict[str, object]]
    warnings: list[str]
    seconds: float


class Held(TypedDict):
    """Type a stage of a pipeline."""

    device: str
    ops: list[str]
    compute_s: float | None
    communication_s: float | None
    memory_bytes: float | None
    capacity_bytes: float | None
    devices: list[list[str]]


class Sent(TypedDict):
    """Type what two devices send each other."""

    a: str
    b: str
    bytes: float | None


class Placed(TypedDict):
    """Type a document of `tiger.placement/1`."""

    mode: Mode
    objective: OperatorObjective | None
    stages: list[Held]
    bottleneck_s: float | None
    iteration_s: float | None
    bubble: float | None
    uniform_bottleneck_s: float | None
    uniform_iteration_s: float | None
    uniform_feasible: bool | None
    lower_bound_s: float | None
    iteration_bound_s: float | None
    latency_s: float | None
    latency_bound_s: float | None
    feasible: bool
    violations: list[Said]
    schedule: Schedule | None
    microbatches: int | None
    virtual: int
    solver: str
    seed: int
    links: list[Sent]
    progress: list[dict[str, object]]
    warnings: list[str]
    seconds: float


def read_report(document: Document) -> AnyReport:
    """Return the report of a document by its schema; raise ServiceError for one that is not known here."""
    readers: dict[str, Callable[[Document], AnyReport]] = {
        ASSIGNMENT: read_assignment,
        CIRCUIT: read_circuit,
        PLACEMENT: read_placement,
    }
    reader = readers.get(str(document.get("schema")))
    if reader is None:
        raise ServiceError(None, "expected a report in a schema that this version of TIGER knows, got another")
    return reader(document)


def read_assignment(document: Document) -> Report:
    """Return a report of tasks; raise ServiceError for a document that is none."""
    return _validate(ASSIGNMENT, document, _assignment)


def read_circuit(document: Document) -> CircuitReport:
    """Return a report of a circuit, without the circuit object; raise ServiceError for a document that is none."""
    return _validate(CIRCUIT, document, _circuit)


def read_placement(document: Document) -> PlacementReport:
    """Return a report of a pipeline, without its deployment; raise ServiceError for a document that is none."""
    return _validate(PLACEMENT, document, _placement)


def _validate(schema: str, document: Document, make: Callable[[Document], Made]) -> Made:
    """Return what is made of a document in a schema."""
    try:
        if document["schema"] == schema:
            return make(document)
    except _FAULTS:
        pass
    raise ServiceError(None, f"expected a report in the schema {schema}, got something else")


def _assignment(document: Document) -> Report:
    """Return a report of tasks."""
    said = cast(Assigned, document)
    return Report(
        feasible=said["feasible"],
        solver=said["solver"],
        rule=said["rule"],
        seed=said["seed"],
        seconds=said["seconds"],
        mapping=dict(said["mapping"]),
        cost=said["cost"],
        compute_cost=said["compute_cost"],
        communication_cost=said["communication_cost"],
        baseline_cost=said["baseline_cost"],
        baselines=Baselines(**said["baselines"]),
        lower_bound=said["lower_bound"],
        optimal=said["optimal"],
        violations=_violations(said["violations"]),
        stages=_stages(said["stages"]),
        metrics=dict(said["metrics"]),
        warnings=tuple(said["warnings"]),
        objective=None if said["objective"] is None else Objective(**said["objective"]),
    )


def _circuit(document: Document) -> CircuitReport:
    """Return a report of a circuit."""
    said = cast(Routed, document)
    moved, added = said["data_movement"], said["placement_extra_cx"]
    return CircuitReport(
        feasible=said["feasible"],
        solver=said["solver"],
        level=said["level"],
        objective=said["objective"],
        seed=said["seed"],
        seconds=said["seconds"],
        initial_layout={int(virtual): physical for virtual, physical in said["initial_layout"].items()},
        final_layout={int(virtual): physical for virtual, physical in said["final_layout"].items()},
        qasm=said["qasm"],
        swaps=said["swaps"],
        bridges=said["bridges"],
        extra_cx=said["extra_cx"],
        depth=said["depth"],
        data_movement=None if moved is None else DataMovement(**moved),
        baseline_extra_cx=said["baseline_extra_cx"],
        success_probability=said["success_probability"],
        baseline_depth=said["baseline_depth"],
        baseline_success_probability=said["baseline_success_probability"],
        placement_extra_cx=None if added is None else dict(added),
        violations=_violations(said["violations"]),
        stages=_stages(said["stages"]),
        warnings=tuple(said["warnings"]),
    )


def _placement(document: Document) -> PlacementReport:
    """Return a report of a pipeline."""
    said = cast(Placed, document)
    return PlacementReport(
        feasible=said["feasible"],
        solver=said["solver"],
        seed=said["seed"],
        seconds=said["seconds"],
        schedule=said["schedule"],
        microbatches=said["microbatches"],
        virtual=said["virtual"],
        stages=tuple(map(_pipeline_stage, said["stages"])),
        bottleneck_s=said["bottleneck_s"],
        iteration_s=said["iteration_s"],
        bubble=said["bubble"],
        uniform_bottleneck_s=said["uniform_bottleneck_s"],
        uniform_iteration_s=said["uniform_iteration_s"],
        uniform_feasible=said["uniform_feasible"],
        lower_bound_s=said["lower_bound_s"],
        iteration_bound_s=said["iteration_bound_s"],
        mode=said["mode"],
        objective=said["objective"],
        latency_s=said["latency_s"],
        latency_bound_s=said["latency_bound_s"],
        violations=_violations(said["violations"]),
        progress=_stages(said["progress"]),
        links=tuple(Link(a=link["a"], b=link["b"], sent_bytes=_size(link["bytes"])) for link in said["links"]),
        warnings=tuple(said["warnings"]),
    )


def _pipeline_stage(stage: Held) -> PlacedStage:
    """Return a stage of a pipeline."""
    return PlacedStage(
        device=stage["device"],
        devices=tuple(map(tuple, stage["devices"])),
        ops=tuple(stage["ops"]),
        compute_s=_size(stage["compute_s"]),
        communication_s=_size(stage["communication_s"]),
        memory_bytes=_size(stage["memory_bytes"]),
        capacity_bytes=stage["capacity_bytes"],
    )


def _violations(said: Sequence[Said]) -> tuple[Violation, ...]:
    """Return what cannot be met."""
    return tuple(Violation(kind=each["kind"], message=each["message"]) for each in said)


def _stages(said: Sequence[Mapping[str, object]]) -> tuple[Stage, ...]:
    """Return the stages of a search."""
    return tuple(map(_stage, said))


def _stage(said: Mapping[str, object]) -> Stage:
    """Return a stage, with the figures of its own."""
    own = {name: _detail(value) for name, value in said.items() if name not in ("name", "cost", "seconds")}
    cost, seconds = cast("float | None", said["cost"]), cast(float, said["seconds"])
    return Stage(name=str(said["name"]), cost=_size(cost), seconds=seconds, detail=own)


def _detail(value: object) -> Detail:
    """Return a figure of a stage as a local run has it."""
    if isinstance(value, Mapping):
        return {str(name): _detail(item) for name, item in value.items()}
    return tuple(map(_detail, value)) if isinstance(value, list) else cast(Detail, value)


def _size(value: float | None) -> float:
    """Return a figure that JSON has as null where it is infinite."""
    return math.inf if value is None else value
