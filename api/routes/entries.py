"""The kinds of work: how a body of each is checked in the server and answered in a worker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tiger.api.routes import assignment, experts, placement, planning
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.schemas.circuits import CircuitRequest
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.api.seams.files import Solution
from tiger.api.seams.job import Kind
from tiger.run.progress import Progress

WorkRequest = AssignRequest | CircuitRequest | PlaceRequest | PlanRequest | ExpertRequest


class Answer(Protocol):
    """Answer a checked body with a report as strict JSON, and drafts of files beside it; raise InputError."""

    def __call__(
        self, body: bytes, limits: Limits, watch: Callable[[Progress], None] = ..., executor: str | None = ..., /
    ) -> Solution:
        """Answer, call `watch` with the progress of the solve, and share what takes long with a Dask cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Hold how a kind of work is done; `check` raises InputError, or ValidationError for a type or a bound."""

    kind: Kind
    check: Callable[[bytes, Limits], WorkRequest]
    answer: Answer


ASSIGN = Entry(kind="assign", check=assignment.check, answer=assignment.answer)
PLACE = Entry(kind="place", check=placement.check, answer=placement.answer)
PLAN = Entry(kind="plan", check=planning.check, answer=planning.answer)
EXPERTS = Entry(kind="experts", check=experts.check, answer=experts.answer)
ENTRIES: Mapping[str, Entry] = {entry.kind: entry for entry in (ASSIGN, PLACE, PLAN, EXPERTS)}


@dataclass(frozen=True, slots=True)
class Solve:
    """Answer the bodies of jobs, in a worker, and have a Dask cluster share in what takes long."""

    limits: Limits
    executor: str | None = None

    def __call__(self, kind: str, body: bytes, watch: Callable[[Progress], None]) -> Solution:
        """Answer a body with its report, and call `watch` with the progress of the solve."""
        return ENTRIES[kind].answer(body, self.limits, watch, self.executor)


def report_on(kind: str, body: bytes, limits: Limits) -> bytes:
    """Answer a body, in a worker, with its report alone."""
    return ENTRIES[kind].answer(body, limits).report
