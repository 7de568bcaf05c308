"""The request of `POST /comparisons`, and comparisons as answers."""

import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.closed import Closed, Documented
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.api.schemas.problems import ProblemBody
from tiger.api.seams.comparison import StoredComparison
from tiger.api.seams.job import Kind, Status
from tiger.model.figure import Better
from tiger.model.options import about

# Entries of a comparison, and characters of a label.
FEWEST, MOST, LONGEST_LABEL = 2, 10, 100
Asked = Annotated[
    dict[str, object] | None,
    Documented(AssignRequest | CircuitRequest | PlaceRequest | PlanRequest | ExpertRequest),
]
# A label: one line, with something to be seen in it.
LABEL = rf"(?=.*\S)[^\x00-\x1f\x7f]{{1,{LONGEST_LABEL}}}"
KIND = "The route that takes the request."


def _check_label(label: str | None) -> str | None:
    """Return a label that can be one."""
    if label is not None and not re.fullmatch(LABEL, label):
        reason = f"expected 1 to {LONGEST_LABEL} characters, some of them visible, and no control characters"
        raise PydanticCustomError("label", reason)
    return label


Label = Annotated[str | None, AfterValidator(_check_label), Field(json_schema_extra={"pattern": f"^{LABEL}$"})]


@dataclass(frozen=True, kw_only=True)
class EntryRequest(Closed):
    """Name a job to be compared, or ask for one."""

    label: Label = field(
        default=None, metadata=about("What the entry is called; the start of the id of its job or its number else.")
    )
    job: str | None = field(default=None, metadata=about("The id of a job of yours, whether it has ended or not."))
    kind: Kind | None = field(default=None, metadata=about(KIND))
    request: Asked = field(default=None, metadata=about("A request, as that route takes it, which becomes a job."))


@dataclass(frozen=True, kw_only=True)
class VariantRequest(Closed):
    """Ask for a job by changes of a request."""

    label: Label = field(default=None, metadata=about("What the entry is called; its changes else."))
    changes: dict[str, object] = field(
        default_factory=dict,
        metadata=about(
            "A merge patch (RFC 7396) of the request: its fields take the place of those of the request, objects are "
            "merged with those there, and null takes a field out."
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonRequest(Closed):
    """Ask for a comparison of two to ten jobs of one kind: of `entries`, of `variants` of one request, or of both."""

    entries: list[EntryRequest] = field(
        default_factory=list, metadata=about("Jobs, and requests that become jobs, each stated in full.")
    )
    kind: Kind | None = field(default=None, metadata=about(KIND))
    request: Asked = field(default=None, metadata=about("The request that `variants` change."))
    variants: list[VariantRequest] = field(
        default_factory=list, metadata=about("Changes of `request`, each of which becomes a job.")
    )


class ComparisonSummary(BaseModel):
    """Describe a comparison without what its jobs have come to."""

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: Kind
    created_s: float = Field(description="Seconds since 1970.")
    labels: list[str]
    jobs: list[str] = Field(description="The ids of the jobs, as the labels are.")


class ComparisonsBody(BaseModel):
    """List comparisons, the newest first, and where the next page is."""

    model_config = ConfigDict(extra="forbid", title="Comparisons")

    comparisons: list[ComparisonSummary]
    next: str | None


class FigureBody(BaseModel):
    """Describe a figure by its name in the report."""

    model_config = ConfigDict(extra="forbid", title="Figure")

    name: str
    better: Better | None = Field(description="Whether less or more of it is; null where that depends, as of bounds.")
    unit: str = Field(description="Empty for that of the problem.")


class ComparedJobBody(BaseModel):
    """Describe a job of a comparison; a figure is null where its report has none, or is not there yet."""

    model_config = ConfigDict(extra="forbid", title="ComparedJob")

    label: str
    job: str
    status: Status | Literal["gone"] = Field(description="`gone` where the job has been purged.")
    problem: ProblemBody | None = Field(description="Why the job failed, if it did.")
    feasible: bool | None
    optimal: bool | None
    request: dict[str, object] = Field(
        description="Fields of its request that are not the same in all, null where it leaves one out, and an object "
        "with the digest `sha256` and `bytes` of one that is long."
    )
    figures: dict[str, float | None]
    ratios: dict[str, float | None] = Field(description="Figures divided by those of the first row.")
    best: list[str] = Field(description="Figures of which no other row has a better one.")


class ComparisonBody(ComparisonSummary):
    """Describe a comparison as a table: a row for each job, a column for each figure that some report has."""

    model_config = ConfigDict(extra="forbid", title="Comparison")

    ended: bool = Field(description="Whether all of its jobs have ended.")
    same_problem: bool | None = Field(
        description="Whether the `tasks`, the `circuit`, the `model` or the `trace` of all requests are equal, "
        "whatever else differs; null where a request is not known any more."
    )
    differs: list[str] = Field(description="Fields of requests that are not the same in all.")
    columns: list[FigureBody]
    rows: list[ComparedJobBody]


def location(comparison: StoredComparison) -> str:
    """Return where a comparison is found."""
    return f"/comparisons/{comparison.id}"


def summarize(comparison: StoredComparison) -> dict[str, object]:
    """Return a comparison without what its jobs have come to."""
    return {
        "id": comparison.id,
        "kind": comparison.kind,
        "created_s": comparison.created_s,
        "labels": [each.label for each in comparison.entries],
        "jobs": [each.job for each in comparison.entries],
    }
