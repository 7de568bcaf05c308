"""The routes of what launchers, training systems and servers of experts read of an ended job, asked for or not."""

import asyncio
import json
import re
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, NamedTuple, cast

from fastapi import FastAPI, Path, Request, Response

from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes import answers
from tiger.api.routes.completion import complete
from tiger.api.routes.files import MEDIA_TYPES, REQUEST, TEXT
from tiger.api.routes.jobs import JobId, JobRoutes
from tiger.api.routes.owner import owner_of
from tiger.api.routes.solving import Solving
from tiger.api.routes.uploads import read_uploads
from tiger.api.routes.waiting import run_while_connected
from tiger.api.schemas.jobs import MEDIA_TYPE
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.views import EmissionBody
from tiger.api.seams.job import Job
from tiger.api.seams.upload import UploadText
from tiger.expert_maps.maps.formats import FILES as MAPS
from tiger.launchers.formats import LAUNCHERS
from tiger.model.wording import describe
from tiger.placement.emission.formats import FILES as PLANS
from tiger.uses import list_uses

if TYPE_CHECKING:
    from tiger.run.report import Report

# Seconds of processor time. The order of 65,536 ranks of a ring on a tree takes `write` half a second; a worker that
# has answered nothing yet loads for seconds more.
EMIT_S = 15.0
BINARY = {".npz": "application/octet-stream"}
RANKS: Mapping[str, str] = {name: launcher.file for name, launcher in LAUNCHERS.items()}
# What the files are called that a report is written as, by its schema and then by the name of what reads the file.
FORMATS: Mapping[str, Mapping[str, str]] = {
    "tiger.report/1": RANKS,
    "tiger.placement/1": PLANS,
    "tiger.plan/1": PLANS,
    "tiger.experts/1": MAPS,
}
# Reports begin with their schema.
SCHEMA = re.compile(rb'\{"schema": "([^"]{1,100})"')
SystemName = Annotated[
    str,
    Path(
        description="A launcher, a training system or a server of experts, as `GET /jobs/{id}/emit` lists them.",
        examples=["slurm"],
    ),
]


class Emitted(NamedTuple):
    """Hold the bytes of a file: bytes alone would be counted as a report among the figures of the service."""

    content: bytes


class EmissionRoutes:
    """Answer requests for files of ended jobs, by the workers and within the bounds that small work has."""

    def __init__(self, jobs: JobRoutes, solving: Solving) -> None:
        self.jobs, self.inline = jobs, solving.inline

    async def list_formats(self, request: Request, job_id: JobId) -> Response:
        """List what the answer of a job can be written for, whether its mapping is one that each of these takes."""
        formats = _formats_of(await self._find_ended(request, job_id))
        listed = [{"name": name, "file": file, "media_type": _type_of(file)} for name, file in formats.items()]
        return Response(json.dumps(listed), media_type=MEDIA_TYPE)

    async def emit(self, request: Request, job_id: JobId, name: SystemName) -> Response:
        """Write the answer of a job for a launcher, a training system or a server of experts; nothing is solved again.

        It is what `tiger ranks --emit NAME`, or the report's method `emit` in Python, writes for the same answer, also
        where the request did not ask for it, and for more ranks than files are kept for.
        """
        job = await self._find_ended(request, job_id)
        formats = _formats_of(job)
        if name not in formats:
            listed = f"one of {', '.join(formats)}" if formats else "none, as this job left nothing to be written"
            raise RefusedError(Problem(404, f"expected {listed}, got {describe(name)}"))
        asked = await self.jobs.jobs.get_file(job.id, owner_of(request), REQUEST)
        if asked is None or job.report is None:
            detail = "The request of this job is not kept, so that its answer cannot be written; send it again."
            raise RefusedError(Problem(HTTPStatus.GONE, detail))
        body = await asyncio.to_thread(asked.unpack)
        uploads = await read_uploads(self.jobs.jobs, body, job.owner)
        work = partial(write, name, job.report, uploads)
        answered = self.inline.answer_in_time(work, body, EMIT_S, "a text that can be written")
        found = await run_while_connected(request, answered)
        disposition = {"Content-Disposition": f'attachment; filename="{formats[name]}"'}
        return Response(found.content, headers=disposition, media_type=_type_of(formats[name]))

    async def _find_ended(self, request: Request, job_id: str) -> Job:
        """Return a job that has ended, or raise RefusedError: 404 where there is none, 409 where it goes on."""
        job = await self.jobs.find(request, job_id)
        if not job.ended:
            detail = "The job has not ended: wait until it has."
            raise RefusedError(Problem(HTTPStatus.CONFLICT, detail, headers={"Location": f"/jobs/{job.id}"}))
        return job


def write(name: str, report: bytes, uploads: Mapping[str, UploadText], body: bytes, limits: Limits) -> Emitted:
    """Return a report as a system of a name reads it, in a worker; raise InputError where it cannot be written for it.

    `body` is the request that it answers, and `uploads` are those that it refers to.
    """
    stated = json.loads(report)
    use = next(use for use in list_uses() if use.schema == stated["schema"])
    found = cast("type[Report]", use.report.load()).from_dict(stated)
    content: str | bytes = cast("Report", complete(found, body, limits, uploads)).emit(name)
    return Emitted(content.encode() if isinstance(content, str) else content)


def _formats_of(job: Job) -> Mapping[str, str]:
    """Return what the report of a job can be written for, by name."""
    schema = SCHEMA.match(job.report or b"")
    return FORMATS.get(schema[1].decode(), {}) if schema else {}


def _type_of(file: str) -> str:
    """Return the media type of a file by its name."""
    return (MEDIA_TYPES | BINARY).get(PurePath(file).suffix, TEXT)


def add_emission(app: FastAPI, jobs: JobRoutes, solving: Solving) -> None:
    """Add the routes of what launchers and other systems read."""
    routes = EmissionRoutes(jobs, solving)
    app.add_api_route(
        "/jobs/{job_id}/emit",
        routes.list_formats,
        operation_id="list_formats",
        summary="List what the answer of a job can be written for",
        response_model=list[EmissionBody],
        responses=answers.ENDED,
    )
    app.add_api_route(
        "/jobs/{job_id}/emit/{name}",
        routes.emit,
        operation_id="emit_job",
        summary="Write the answer of a job for a launcher or another system",
        response_class=Response,
        responses=answers.EMITTED,
    )
