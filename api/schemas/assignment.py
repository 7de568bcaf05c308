"""The requests and the answers of `POST /assign`, and what every body shares."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, WithJsonSchema, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from tiger.circuits.params import CircuitObjective
from tiger.model.problem import Rule
from tiger.objectives.selection import ObjectiveName
from tiger.qubo.encode import CapacityEncoding
from tiger.run.limits import EFFORT_LIMIT, SEED_LIMIT


def _check_graph(value: object) -> object:
    """Refuse a string where only a graph may stand, and say why."""
    if isinstance(value, str):
        raise PydanticCustomError("graph", "expected a node-link graph as an object, never a path or a name")
    return value


def _check_hardware(value: object) -> object:
    """Refuse what is neither a specification nor a graph."""
    if not isinstance(value, str | dict):
        raise PydanticCustomError("hardware", "expected a specification such as 'torus:4x4' or a node-link graph")
    return value


def _check_text(value: object) -> object:
    """Refuse what is not the text of a circuit, and say what is wanted."""
    if not isinstance(value, str):
        raise PydanticCustomError("circuit", "expected the text of a circuit in OpenQASM 2 or 3")
    return value


def _check_device(value: object) -> object:
    """Refuse what is neither a specification nor a document."""
    if not isinstance(value, str | list | dict):
        raise PydanticCustomError(
            "device", "expected a specification such as 'heavy-hex:7', pairs of qubits or an object"
        )
    return value


def _keep_first_wrong(value: object) -> object:
    """Keep the first pin alone that is not to a name, if there is one, so that a flood of them is one error."""
    if not isinstance(value, dict):
        return value
    wrong = next((task for task, node in value.items() if not isinstance(node, str)), None)
    return value if wrong is None else {wrong: value[wrong]}


def _node_link(node: dict[str, str], edge: dict[str, str]) -> WithJsonSchema:
    """Document a node-link graph by the types of the numbers, all optional and >= 0, on its nodes and its edges."""
    lists = {"nodes": _records(("id",), node), "edges": _records(("source", "target"), edge)}
    flags = {"directed": {"type": "boolean"}, "multigraph": {"type": "boolean"}}
    return WithJsonSchema({"type": "object", "required": list(lists), "properties": {**flags, **lists}})


def _records(ids: tuple[str, ...], numbers: dict[str, str]) -> JsonDict:
    """Document a list of objects with ids, which they must have, and numbers, which they may have."""
    names: JsonDict = {name: {"type": ["string", "number", "array"]} for name in ids}
    amounts: JsonDict = {name: {"type": kind, "minimum": 0} for name, kind in numbers.items()}
    return {
        "type": "array",
        "items": {"type": "object", "required": list(ids), "properties": {**names, **amounts}},
    }


def _measurements(names: JsonDict, *numbers: str) -> JsonDict:
    """Document a list of objects with fields, which they must have, and numbers, which they may have."""
    amounts: JsonDict = {name: {"type": "number", "minimum": 0} for name in numbers}
    return {
        "type": "array",
        "items": {"type": "object", "required": list(names), "properties": {**names, **amounts}},
    }


def _node_graph() -> JsonDict:
    """Document a node-link graph by the ids of its nodes and edges alone."""
    lists: JsonDict = {"nodes": _records(("id",), {}), "edges": _records(("source", "target"), {})}
    return {"type": "object", "required": list(lists), "properties": lists}


Tasks = Annotated[
    dict[str, object],
    _node_link({"work": "number", "memory": "integer"}, {"weight": "number"}),
]
Hardware = Annotated[
    dict[str, object],
    _node_link(
        {"slots": "integer", "cost": "number", "memory": "integer"}, {"weight": "number", "bandwidth": "number"}
    ),
]
QUBITS: JsonDict = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
TARGET: JsonDict = {
    "type": "object",
    "required": ["num_qubits", "gates"],
    "properties": {
        "num_qubits": {"type": "integer", "minimum": 1},
        "gates": _measurements({"name": {"type": "string"}, "qubits": QUBITS | {"minItems": 1}}, "error", "duration"),
        "measure": _measurements({"qubit": {"type": "integer"}}, "error", "duration"),
        "qubits": _measurements({"qubit": {"type": "integer"}}, "t1", "t2"),
    },
}
COUPLING: JsonDict = {
    "type": "object",
    "required": ["coupling_map"],
    "properties": {"coupling_map": {"type": "array", "items": QUBITS}, "num_qubits": {"type": "integer"}},
}
Device = Annotated[
    str | list[object] | dict[str, object],
    WithJsonSchema(
        {"oneOf": [{"type": "string"}, {"type": "array", "items": QUBITS}, COUPLING, _node_graph(), TARGET]}
    ),
]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Pins = Annotated[dict[str, str], BeforeValidator(_keep_first_wrong)]
Beta = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Closed(BaseModel):
    """Refuse fields that are not known."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _first_unknown(cls, data: object) -> object:
        """Keep the first unknown field alone, if there is one, so that a flood of them is one error."""
        if not isinstance(data, dict):
            return data
        unknown = next((name for name in data if name not in cls.model_fields), None)
        return {name: value for name, value in data.items() if name in cls.model_fields or name == unknown}


class IsingBody(Closed):
    """Set the QUBOs that are sampled; what is not given is chosen by the solver."""

    penalty_scale: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Penalties as a multiple of their safe bound, not tuned."
    )
    beta_range: Annotated[list[Beta], Field(min_length=2, max_length=2, fail_fast=True)] | None = Field(
        default=None, description="Inverse temperatures, hot then cold, in 1 / cost."
    )
    capacity: CapacityEncoding = Field(default="slack", description="Whether slack bits encode what a node may hold.")


class AssignRequest(Closed):
    """Ask where the tasks of a graph go on a topology."""

    tasks: Annotated[Tasks, BeforeValidator(_check_graph)] = Field(
        description="Task graph as networkx node-link JSON: nodes with `id` and optionally `work` and `memory`, "
        "edges (or `links`) with `source`, `target` and optionally `weight`, the traffic."
    )
    topology: Annotated[str | Hardware, BeforeValidator(_check_hardware)] = Field(
        description="Specification such as `torus:4x4x4` (see `GET /topologies`), or a node-link graph: nodes with "
        "`id` and optionally `slots`, `cost` and `memory`, edges with optional `weight` (length) and `bandwidth`. A "
        "string is never opened as a file."
    )
    rule: Rule | None = Field(default=None, description="How tasks share a node; one-to-one where that fits.")
    slots: int | None = Field(default=None, ge=1, description="Tasks that fit on a node, under the capacity rule.")
    imbalance: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="Scales the slots by 1 + this, rounded down."
    )
    allocation: Annotated[list[str], Field(fail_fast=True)] | None = Field(
        default=None,
        description="Names of the nodes that may hold tasks, in any order; the others only forward traffic, and no "
        "default counts them. All nodes without it.",
    )
    pinned: Pins = Field(default={}, description="Node of every task that must go there.")
    forbidden: Annotated[list[Pair], FailFast()] = Field(
        default=[], description="Pairs [task, node] that must not meet."
    )
    solver: str = Field(default="auto", description="Name of a solver, see `GET /solvers`.")
    objective: ObjectiveName = Field(
        default="cost",
        description="What to make small: the cost, the largest load of a link, or the time until the last task ends.",
    )
    seed: int = Field(
        default=0, ge=0, lt=SEED_LIMIT, description="The same request with the same seed has the same answer."
    )
    effort: int | None = Field(
        default=None, ge=1, lt=EFFORT_LIMIT, description="Search effort; 1 unless a time limit is given."
    )
    time_limit_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Seconds to search, at most the server's own limit."
    )
    # The schema stands in an OpenAPI document, whose references would not find a definition of its own.
    ising: Annotated[IsingBody, WithJsonSchema(IsingBody.model_json_schema())] = Field(
        default=IsingBody(), description="Penalties, temperatures and encoding of the QUBOs."
    )


class CircuitRequest(Closed):
    """Ask where the qubits of a circuit go on a device, and for the routed circuit."""

    circuit: Annotated[str, BeforeValidator(_check_text)] = Field(
        description="OpenQASM 2 or 3, which may include nothing but its standard library. Gates that the text defines "
        "on more than two qubits are written out; others on three qubits or more are refused."
    )
    topology: Annotated[Device, BeforeValidator(_check_device)] = Field(
        description="Specification such as `heavy-hex:7` (see `GET /topologies`), pairs of qubits, an object with a "
        "`coupling_map` of pairs and optionally `num_qubits`, a node-link graph, or a Target: `num_qubits`, `gates` "
        "with `name`, `qubits`, `error` and `duration`, `measure` with `qubit`, `error` and `duration`, and `qubits` "
        "with `qubit`, `t1` and `t2`; errors from 0 to 1 (faulty), times in seconds. No string is opened as a file."
    )
    level: int = Field(default=3, ge=0, le=3, description="How hard to search, as Qiskit's optimization levels.")
    effort: int = Field(default=1, ge=1, lt=EFFORT_LIMIT, description="Multiplies the iterations of the level.")
    objective: CircuitObjective = Field(
        default="cx", description="What to make good: extra CX gates, depth, or the probability of success."
    )
    solver: str = Field(default="auto", description="Samples the Ising proposals, see `GET /solvers`.")
    seed: int = Field(
        default=0, ge=0, lt=SEED_LIMIT, description="The same request with the same seed has the same answer."
    )
    initial_layout: Annotated[list[int], Field(fail_fast=True)] | None = Field(
        default=None, description="Device qubit of every circuit qubit, in order; chosen without it."
    )
    time_limit_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Seconds after which the search ends early."
    )
    commute: bool = Field(default=True, description="Whether gates may change places where that is the same circuit.")


class Violation(BaseModel):
    """Name a constraint that cannot be met."""

    kind: str
    message: str


class Stage(BaseModel):
    """Record what a stage of the solve reached; further figures depend on the stage."""

    model_config = ConfigDict(extra="allow")

    name: str
    cost: float
    seconds: float


class Objective(BaseModel):
    """Hold an objective other than the cost."""

    name: str
    value: float
    baseline: float
    bound: float | None


class Baselines(BaseModel):
    """Hold what simple orders cost: in blocks, in turns, and the mean of ten random mappings; null where infeasible."""

    block: float | None
    cyclic: float | None
    random: float | None


class ReportBody(BaseModel):
    """Answer with the mapping, its cost and how good it is; `cost` is null where nothing feasible exists."""

    model_config = ConfigDict(extra="forbid", title="Report")

    schema_name: Literal["tiger.report/1"] = Field(alias="schema")
    mapping: dict[str, str]
    cost: float | None
    compute_cost: float | None
    communication_cost: float | None
    baseline_cost: float | None
    baselines: Baselines
    lower_bound: float | None
    gap: float | None
    optimal: bool
    objective: Objective | None
    feasible: bool
    violations: list[Violation]
    solver: str
    rule: str
    seed: int
    metrics: dict[str, float]
    stages: list[Stage]
    warnings: list[str]
    seconds: float


class Movement(BaseModel):
    """Compare four placements of the gates, by how far data travels in hops or by extra CX gates."""

    trivial: int | None
    static_qubo: int | None
    levels: int | None
    routed: int | None


class RoutingStage(BaseModel):
    """Record the fewest extra CX gates after a stage, null before any route is known; further figures depend on it."""

    model_config = ConfigDict(extra="allow")

    name: str
    cost: float | None
    seconds: float


class CircuitBody(BaseModel):
    """Answer with the routed circuit and what routing added; most is null where the device cannot hold the circuit."""

    model_config = ConfigDict(extra="forbid", title="CircuitReport")

    schema_name: Literal["tiger.circuit/1"] = Field(alias="schema")
    initial_layout: dict[str, int]
    final_layout: dict[str, int]
    qasm: str | None
    swaps: int | None
    bridges: int | None
    extra_cx: int | None
    depth: int | None
    data_movement: Movement | None
    baseline_extra_cx: int | None
    success_probability: float | None
    baseline_depth: int | None
    baseline_success_probability: float | None
    placement_extra_cx: Movement | None
    feasible: bool
    violations: list[Violation]
    solver: str
    level: int
    objective: str
    seed: int
    stages: list[RoutingStage]
    warnings: list[str]
    seconds: float


Answer = Annotated[ReportBody | CircuitBody, Field(discriminator="schema_name")]


class SolverBody(BaseModel):
    """Describe a solver."""

    name: str
    kind: Literal["portfolio", "search", "sampler"]
    description: str


class SolversBody(BaseModel):
    """List the solvers."""

    solvers: list[SolverBody]


class TopologyBody(BaseModel):
    """Describe a kind of topology and the syntax of its specification."""

    name: str
    syntax: str
    description: str
    example: str


class TopologiesBody(BaseModel):
    """List the kinds of topology."""

    topologies: list[TopologyBody]


class HealthBody(BaseModel):
    """Say that the server answers."""

    status: Literal["ok"] = "ok"
