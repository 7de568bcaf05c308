"""A job as JSON."""

import json

from pydantic import BaseModel, ConfigDict, Field

from tiger.api.schemas.problems import ProblemBody
from tiger.api.schemas.reports import CircuitBody, ExpertBody, PlacementBody, PlanBody, ReportBody
from tiger.api.seams.job import Job, Kind, Status

MEDIA_TYPE = "application/json"


class ProgressBody(BaseModel):
    """Say how far a job is; a figure is null where it is not known, and others may follow."""

    model_config = ConfigDict(extra="allow")

    stage: str | None = None
    cost: float | None = Field(default=None, description="The best so far; once a job has ended, its report counts.")
    bound: float | None = Field(default=None, description="No answer can cost less.")
    fraction: float | None = Field(default=None, description="How much of the work is done, from 0 to 1.")


class JobSummary(BaseModel):
    """Describe a job without its report; times are seconds since 1970."""

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: Kind
    status: Status
    priority: int = Field(description="How urgent it is, from 0 to 9, which goes first.")
    tags: list[str]
    created_s: float
    started_s: float | None
    ended_s: float | None
    progress: ProgressBody | None
    problem: ProblemBody | None


class JobBody(JobSummary):
    """Describe a job; the report of one that was cancelled is the best found so far, if anything was."""

    model_config = ConfigDict(extra="forbid", title="Job")

    report: ReportBody | CircuitBody | PlacementBody | PlanBody | ExpertBody | None


class JobsBody(BaseModel):
    """List jobs, the newest first, and where the next page is."""

    model_config = ConfigDict(extra="forbid", title="Jobs")

    jobs: list[JobSummary]
    next: str | None


def location(job: Job) -> str:
    """Return where a job is found."""
    return f"/jobs/{job.id}"


def summary(job: Job) -> dict[str, object]:
    """Return a job without its report; the last that was heard of one that is done came before its end."""
    done = job.status == "done"
    return {
        "id": job.id,
        "kind": job.kind,
        "status": job.status,
        "priority": job.terms.priority,
        "tags": list(job.terms.tags),
        "created_s": job.created_s,
        "started_s": job.started_s,
        "ended_s": job.ended_s,
        "progress": None if job.progress is None else dict(job.progress) | ({"fraction": 1.0} if done else {}),
        "problem": None if job.problem is None else dict(job.problem),
    }


def encode_with_report(job: Job) -> bytes:
    """Return a job with its report as strict JSON; the report's own bytes are not read again."""
    head = json.dumps(summary(job), allow_nan=False).encode()
    return head[:-1] + b', "report": ' + (job.report or b"null") + b"}"


def encode_without_report(job: Job) -> bytes:
    """Return a job without its report as strict JSON."""
    return json.dumps(summary(job), allow_nan=False).encode()
