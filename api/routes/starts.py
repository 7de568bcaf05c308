"""Requests that name a job to start from: what it has found is put in its place before they are kept."""

import asyncio
import json
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from tiger.api.middleware.problems import FieldError, Problem, RefusedError
from tiger.api.routes.checks import LARGE_BYTES
from tiger.api.routes.document import parse
from tiger.api.routes.inline import Inline
from tiger.api.schemas.jobs import location
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.starts import FIELD
from tiger.api.seams.job import Job, Jobs
from tiger.errors import InputError

# Seconds of processor time to read a long body and a report beside it, ten times what 4 MiB of both take.
READ_S = 15.0
Found = TypeVar("Found")


class Starts:
    """Replace the job that a request names as `start_job` by what its report says, read in a thread or a worker."""

    def __init__(self, inline: Inline, jobs: Jobs) -> None:
        self.inline, self.jobs = inline, jobs

    async def find_name(self, body: bytes) -> str | None:
        """Return the id of the job that a checked body names, None for most."""
        # Its name stands there as it is, or with an escape.
        if FIELD.encode() not in body and b"\\u" not in body:
            return None
        return await self._read(name_job, body, len(body))

    async def resolve(self, body: bytes, name: str, owner: str, field: str = FIELD) -> bytes:
        """Return a body with what a job of its owner has found in place of the job.

        Raises InputError of `field`, where the job is named, for one that is unknown or has found nothing of use, and
        RefusedError (409) for one that has not ended.
        """
        report = report_of(await self.jobs.get(name, owner), field)
        try:
            return await self._read(partial(put_start, report), body, len(body) + len(report))
        except InputError as error:
            raise InputError(field, error.reason) from None

    async def _read(self, read: Callable[[bytes, Limits], Found], body: bytes, size: int) -> Found:
        """Return what is read of a body, in a thread where that and what comes with it is short."""
        if size <= LARGE_BYTES:
            return await asyncio.to_thread(read, body, self.inline.limits)
        return await self.inline.answer_in_time(read, body, READ_S, "a start that can be read")


def report_of(job: Job | None, field: str) -> bytes:
    """Return the report of a job that has ended; raise InputError of a field, and RefusedError (409) for another."""
    if job is None:
        raise InputError(field, "expected a job of yours, got one that is unknown")
    if not job.ended:
        reason = f"expected a job that has ended, got one that is {job.status}"
        problem = Problem(
            HTTPStatus.CONFLICT,
            f"#/{field}: {reason}",
            (FieldError(f"#/{field}", reason),),
            headers={"Location": location(job)},
        )
        raise RefusedError(problem)
    if job.report is None:
        raise InputError(field, f"expected a job with a report, got one that is {job.status} without")
    return job.report


def name_job(body: bytes, _: Limits) -> str | None:
    """Return the id of the job that a checked body names, None without one."""
    request = parse(body)
    found = request.get(FIELD) if isinstance(request, dict) else None
    return found if isinstance(found, str) else None


def put_start(report: bytes, body: bytes, _: Limits) -> bytes:
    """Return a checked body with what a report says in place of the job; raise InputError of `start_job`."""
    request, found = parse(body), json.loads(report)
    if not isinstance(request, dict):
        raise InputError(FIELD, "expected a request as an object, got another")
    field, value = _read_start(request, found)
    if request.get(field) is not None:
        raise InputError(FIELD, f"expected no {field} beside it, got both")
    stated = {name: given for name, given in request.items() if name != FIELD}
    return json.dumps({**stated, field: value}, allow_nan=False).encode()


def _read_start(request: Mapping[str, object], report: Mapping[str, object]) -> tuple[str, object]:
    """Return the field of a request that states where it starts, and what that is by a report."""
    if "circuit" in request:
        return "initial_layout", _read_layout(report)
    return "start", read_mapping(report, FIELD) if "tasks" in request else _read_stages(report)


def read_mapping(report: Mapping[str, object], field: str) -> object:
    """Return the mapping of tasks that a report has; raise InputError of a field for another report."""
    return _read_feasible(report, field, "mapping", "a mapping of tasks")


def _read_layout(report: Mapping[str, object]) -> list[object]:
    """Return the device qubit of every circuit qubit, in order."""
    layout = _read_feasible(report, FIELD, "initial_layout", "the layout of a circuit")
    return [layout[qubit] for qubit in sorted(layout, key=int)] if isinstance(layout, dict) else []


def _read_stages(report: Mapping[str, object]) -> dict[str, object]:
    """Return the stages of a placement, with no more than what says where they are."""
    stages = _read_feasible(report, FIELD, "stages", "the placement of a network")
    kept = [{name: stage[name] for name in ("ops", "devices")} for stage in stages] if isinstance(stages, list) else []
    return {"stages": kept}


def _read_feasible(report: Mapping[str, object], field: str, member: str, what: str) -> object:
    """Return a member of a report that is feasible; raise InputError of a field."""
    schemas = {"mapping": "tiger.report/1", "initial_layout": "tiger.circuit/1", "stages": "tiger.placement/1"}
    if report.get("schema") != schemas[member]:
        raise InputError(field, f"expected a job that has found {what}, got one of another kind")
    if not report.get("feasible"):
        raise InputError(field, f"expected a job that has found {what}, got one without anything feasible")
    return report.get(member)
