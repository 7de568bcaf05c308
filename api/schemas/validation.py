"""The answer of `?validate=true`: what a request would have solved, how long that takes, and what stands against it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from tiger.api.schemas.reports import AsDocument, CircuitBody, ExpertBody, PlacementBody, PlanBody, ReportBody
from tiger.api.seams.job import Kind
from tiger.model.document import Document
from tiger.model.violation import Violation

SCHEMA: Final = "tiger.validation/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureEstimate(Document):
    """Estimate a figure: most measured ones of its kind are within a `factor` of `value`, both ways."""

    value: float
    factor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation(Document):
    """Say what a request would have solved, which is of `kind` and in order, and nothing of which is kept.

    `sizes` are counts of what there is, such as `tasks`, `edges`, `nodes` and `slots`, or `qubits`, `gates` and
    `layers`. `rule`, `objective` and `solver` are those in effect, None where a kind has none, and `stages` those of
    the first round where they are known before. `at_once` says that it is little work, which is answered without a job
    unless one is asked for. `feasible` is None where that is not decided without a search, and `violations` say what
    cannot be met. `processor_s` and `memory_bytes` are estimates for the whole solve and for what it adds to a worker,
    None where none were measured; a time limit bounds the former.
    """

    schema: Literal["tiger.validation/1"] = field(default=SCHEMA, init=False, repr=False)
    kind: Kind
    sizes: Mapping[str, int]
    rule: str | None = None
    objective: str | None = None
    solver: str | None = None
    stages: tuple[str, ...] = ()
    at_once: bool = False
    feasible: bool | None = None
    violations: tuple[Violation, ...] = ()
    processor_s: FigureEstimate | None = None
    memory_bytes: FigureEstimate | None = None
    warnings: tuple[str, ...] = ()


ValidationBody = Annotated[Validation, AsDocument()]
BY_SCHEMA = Field(discriminator="schema_")
AssignAnswer = Annotated[ReportBody | CircuitBody | ValidationBody, BY_SCHEMA]
PlaceAnswer = Annotated[PlacementBody | ValidationBody, BY_SCHEMA]
PlanAnswer = Annotated[PlanBody | ValidationBody, BY_SCHEMA]
ExpertAnswer = Annotated[ExpertBody | ValidationBody, BY_SCHEMA]
