"""The route that maps the tasks of a job anew after a change, with few moves."""

import asyncio
from functools import partial

from fastapi import FastAPI, Request, Response

from tiger.api.routes import answers, changes, requests
from tiger.api.routes.entries import ASSIGN
from tiger.api.routes.files import REQUEST
from tiger.api.routes.jobs import ID, JobId, refuse_unknown
from tiger.api.routes.owner import owner_of
from tiger.api.routes.solving import AWAITED, DEFERRED, Solving
from tiger.api.routes.starts import report_of
from tiger.api.routes.terms import Terms, check_webhook
from tiger.api.routes.uploads import read_uploads
from tiger.api.routes.waiting import run_while_connected
from tiger.api.schemas.reports import ReportBody
from tiger.api.schemas.uploads import list_references
from tiger.api.seams.job import JobOrder
from tiger.errors import InputError

# Seconds of processor time to make the request of a change: 4,096 tasks with 60,000 edges take 1 s.
CHANGE_S = 15.0


class ReplanRoute:
    """Answer requests for another mapping, by jobs of their own that need nothing of the one before any more."""

    def __init__(self, solving: Solving) -> None:
        self.solving = solving

    async def replan(self, request: Request, job_id: JobId, terms: Terms) -> Response:
        """Map the tasks of a job anew after nodes or tasks were lost or added, with few moves.

        Tasks stay on nodes that are still there, as few as possible move, and more only by `max_moves` or where that
        gains more than `move_cost`. The answer is that of `POST /assign`, always of a job, whose `moves` say which
        tasks go elsewhere, and why; `request.json` of it is the changed problem. The same Idempotency-Key with the
        same body is the same job.
        """
        check_webhook(self.solving.bounds.webhooks, terms, owner_of(request))
        async with self.solving.bodies.read(request) as body:
            return await self._replan_body(request, job_id, body, terms)

    async def _replan_body(self, request: Request, job_id: str, body: bytes, terms: Terms) -> Response:
        """Answer a request whose body has been read."""
        solving, owner = self.solving, owner_of(request)
        wait = solving.read_wait(request)
        await run_while_connected(request, solving.checks.check(changes.check, body))
        sent = f"{job_id}\n".encode() + body
        if (known := await solving.find_known(ASSIGN.kind, sent, owner, wait.key)) is not None:
            return await solving.answer_with_known(request, known, wait)
        changed, uploads = await self._change(request, job_id, owner, body)
        order = JobOrder(
            kind=ASSIGN.kind,
            body=changed,
            uploads=uploads,
            owner=owner,
            key=wait.key,
            sent=sent,
            rank=AWAITED if wait.prefer.patience_s else DEFERRED,
            request_id=getattr(request.state, "request_id", None),
            terms=terms,
        )
        return await solving.answer_with_job(request, order, wait)

    async def _change(self, request: Request, job_id: str, owner: str, body: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Return the body of the changed problem, made in a worker, and the ids of the uploads that it refers to.

        Raises InputError or RefusedError.
        """
        jobs = self.solving.jobs
        job = await jobs.get(job_id, owner) if ID.fullmatch(job_id) else None
        if job is None:
            raise refuse_unknown()
        report, former = report_of(job, changes.JOB), await jobs.get_file(job_id, owner, REQUEST)
        if former is None:
            raise InputError(changes.JOB, "expected a job that has kept its request, got one that ended before")
        texts = await asyncio.to_thread(former.unpack), body
        uploads = {name: text for each in texts for name, text in (await read_uploads(jobs, each, owner)).items()}
        make = partial(changes.change_former, former.packed, report, uploads)
        work = self.solving.inline.answer_in_time(make, body, CHANGE_S, "a change that can be applied")
        changed = await run_while_connected(request, work)
        return changed, tuple(each for each in list_references(changed) if each in uploads)


def add_replanning(app: FastAPI, solving: Solving) -> None:
    """Add the route of changes."""
    app.add_api_route(
        "/jobs/{job_id}/replan",
        ReplanRoute(solving).replan,
        methods=["POST"],
        operation_id="replan_job",
        summary="Map the tasks of a job anew after a change, with few moves",
        response_model=ReportBody,
        response_description="The report; `moves` say which tasks have another node, and why.",
        responses=answers.REPLANNED,
        openapi_extra=requests.REPLAN,
    )
