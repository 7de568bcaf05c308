"""The routes of jobs: list, show, follow, cancel, purge, and take home what they leave."""

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response

from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes.downloads import answer_with_download, answer_with_view
from tiger.api.routes.events import Streams
from tiger.api.routes.files import VIEW
from tiger.api.routes.listing import After, link_to_next, read_filter
from tiger.api.routes.owner import owner_of
from tiger.api.routes.solving import RETRY_AFTER
from tiger.api.routes.waiting import run_while_connected, wait_until_ended
from tiger.api.schemas.jobs import MEDIA_TYPE, encode_with_report, location, summary
from tiger.api.schemas.views import describe_file
from tiger.api.seams.files import JobFile
from tiger.api.seams.job import Job, JobFilter, Jobs

# Jobs on a page, at most.
PAGE = 100
# What names no job for sure is not looked for.
ID = re.compile(r"[\w.:-]{1,128}", re.ASCII)
JobId = Annotated[str, Path(description="The id of a job, as its `Location` ends.", examples=["a4c6f1de"])]
# What names no file for sure is not looked for.
FILE = re.compile(r"[\w.-]{1,100}", re.ASCII)
FileName = Annotated[str, Path(description="The name of a file, as the list of them has it.", examples=["mapping.csv"])]
Wait = Annotated[
    float,
    Query(ge=0, allow_inf_nan=False, description="Seconds to wait for the end of the job before answering, bounded."),
]
Limit = Annotated[int, Query(ge=1, le=PAGE, description="How many jobs a page shows.")]
Wanted = Annotated[JobFilter, Depends(read_filter)]
Purge = Annotated[bool, Query(description="Delete the job, which has to have ended, instead.")]


class JobRoutes:
    """Answer requests about the jobs of their owner; those of other owners are as unknown as jobs that never were.

    `cancelled` is called for every job that a request has cancelled.
    """

    def __init__(self, jobs: Jobs, max_wait_s: float, cancelled: Callable[[], None]) -> None:
        self.jobs, self.max_wait_s, self.cancelled = jobs, max_wait_s, cancelled
        self.streams = Streams(jobs)

    async def page(self, request: Request, wanted: Wanted, after: After = None, limit: Limit = PAGE) -> Response:
        """List jobs without their reports, the newest first: all, or those of some states, kinds and times.

        A job that is submitted meanwhile moves no other to another page, nor does one that is deleted.
        """
        jobs, cursor = await self.jobs.page(owner_of(request), after, limit, wanted)
        page = {"jobs": [summary(job) for job in jobs], "next": link_to_next(request, cursor, limit)}
        return Response(json.dumps(page, allow_nan=False), media_type=MEDIA_TYPE)

    async def show(self, request: Request, job_id: JobId, wait: Wait = 0.0) -> Response:
        """Return a job with its report, as soon as it has ended or the wait is over."""
        job = await self.find(request, job_id)
        return _show(await run_while_connected(request, wait_until_ended(self.jobs, job, min(wait, self.max_wait_s))))

    async def events(self, request: Request, job_id: JobId) -> Response:
        """Stream `progress` events while the job goes on, then one `done`; every event has the whole job as data."""
        return self.streams.of(await self.find(request, job_id))

    async def files(self, request: Request, job_id: JobId) -> Response:
        """List what a job has left beside its report, none before its end: tables, rank files, circuits, plans."""
        await self.find(request, job_id)
        found = await self.jobs.list_files(job_id, owner_of(request))
        return Response(json.dumps([describe_file(file) for file in found]), media_type=MEDIA_TYPE)

    async def file(self, request: Request, job_id: JobId, name: FileName) -> Response:
        """Return a file that a job has left, to be saved."""
        return await answer_with_download(request, await self._find_file(request, job_id, name))

    async def view(self, request: Request, job_id: JobId) -> Response:
        """Return what the pictures of an answer show, as a document that they are drawn from."""
        return await answer_with_view(request, await self._find_file(request, job_id, VIEW))

    async def cancel(self, request: Request, job_id: JobId, purge: Purge = False) -> Response:
        """Cancel a job, and return it; one that has ended stays as it is, or goes where it is to be purged.

        202 where its work is still being stopped. The job and what it found stay until the service forgets old jobs,
        so that a cancel that comes too late loses nothing and repeating it does no harm. With `purge=true` a job that
        has ended is deleted with its report, its files and its Idempotency-Key, and answered with 204; one that has
        not is left as it is, and answered with 409.
        """
        if purge:
            return await self._purge(request, job_id)
        before = await self.find(request, job_id)
        job = before if before.ended else await self.jobs.cancel(job_id, owner_of(request))
        if job is None:
            raise refuse_unknown()
        if not before.ended and job.status != "done":
            self.cancelled()
        return _show(job, 200 if job.ended else 202)

    async def _purge(self, request: Request, job_id: str) -> Response:
        """Delete a job, or raise RefusedError: 404 where there is none, 409 where it has not ended."""
        if not (ID.fullmatch(job_id) and await self.jobs.purge(job_id, owner_of(request))):
            job = await self.find(request, job_id)
            detail = "The job has not ended: cancel it without `purge`, and purge it once it is cancelled."
            raise RefusedError(Problem(HTTPStatus.CONFLICT, detail, headers={"Location": location(job)}))
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def find(self, request: Request, job_id: str) -> Job:
        """Return the job of the owner, or raise RefusedError (404)."""
        job = await self.jobs.get(job_id, owner_of(request)) if ID.fullmatch(job_id) else None
        if job is None:
            raise refuse_unknown()
        return job

    async def _find_file(self, request: Request, job_id: str, name: str) -> JobFile:
        """Return a file of a job, or raise RefusedError (404)."""
        known = ID.fullmatch(job_id) and FILE.fullmatch(name)
        file = await self.jobs.get_file(job_id, owner_of(request), name) if known else None
        if file is None:
            await self.find(request, job_id)
            detail = "The job has left no such file: it goes on, found nothing, or ended before files were kept."
            raise RefusedError(Problem(404, detail))
        return file


def _show(job: Job, status: int = 200) -> Response:
    """Answer with a job, and with when to ask again if it goes on."""
    return Response(encode_with_report(job), status, {} if job.ended else RETRY_AFTER, MEDIA_TYPE)


def refuse_unknown() -> RefusedError:
    """Return the refusal of an id that is of no job, or of another owner's."""
    return RefusedError(Problem(404, "There is no such job, or not any more."))
