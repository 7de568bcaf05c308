"""The answers of `POST /assign`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


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
