"""The request and the answer of `POST /assign`."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, WithJsonSchema, model_validator
from pydantic.config import JsonDict
from pydantic_core import PydanticCustomError

from tiger.encode import CapacityEncoding
from tiger.model.problem import Rule
from tiger.objectives import ObjectiveName


def _graph(value: object) -> object:
    """Refuse a string where only a graph may stand, and say why."""
    if isinstance(value, str):
        raise PydanticCustomError("graph", "expected a node-link graph as an object, never a path or a name")
    return value


def _hardware(value: object) -> object:
    """Refuse what is neither a specification nor a graph."""
    if not isinstance(value, str | dict):
        raise PydanticCustomError("hardware", "expected a specification such as 'torus:4x4' or a node-link graph")
    return value


def _first_wrong(value: object) -> object:
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
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
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

    tasks: Annotated[Tasks, BeforeValidator(_graph)] = Field(
        description="Task graph as networkx node-link JSON: nodes with `id` and optionally `work` and `memory`, "
        "edges (or `links`) with `source`, `target` and optionally `weight`, the traffic."
    )
    topology: Annotated[str | Hardware, BeforeValidator(_hardware)] = Field(
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
    pinned: Annotated[dict[str, str], BeforeValidator(_first_wrong)] = Field(
        default={}, description="Node of every task that must go there."
    )
    forbidden: Annotated[list[Pair], FailFast()] = Field(
        default=[], description="Pairs [task, node] that must not meet."
    )
    solver: str = Field(default="auto", description="Name of a solver, see `GET /solvers`.")
    objective: ObjectiveName = Field(
        default="cost",
        description="What to make small: the cost, the largest load of a link, or the time until the last task ends.",
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="The same request with the same seed has the same answer.")
    effort: int | None = Field(default=None, ge=1, description="Search effort; 1 unless a time limit is given.")
    time_limit_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Seconds to search, at most the server's own limit."
    )
    # The schema stands in an OpenAPI document, whose references would not find a definition of its own.
    ising: Annotated[IsingBody, WithJsonSchema(IsingBody.model_json_schema())] = Field(
        default=IsingBody(), description="Penalties, temperatures and encoding of the QUBOs."
    )


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


class ReportBody(BaseModel):
    """Answer with the mapping, its cost and how good it is; `cost` is null where nothing feasible exists."""

    model_config = ConfigDict(extra="forbid", title="Report")

    schema_name: Literal["tiger.report/1"] = Field(alias="schema")
    mapping: dict[str, str]
    cost: float | None
    compute_cost: float | None
    communication_cost: float | None
    baseline_cost: float | None
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
