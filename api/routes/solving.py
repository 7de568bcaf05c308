"""How a request is answered: at once from a warm worker, or as a stored job that is waited for."""

import asyncio
import json
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from tiger.api.jobs.job import Job, Jobs, Work
from tiger.api.middleware import problems
from tiger.api.middleware.body import Bodies
from tiger.api.routes import idempotency
from tiger.api.routes.admission import is_small
from tiger.api.routes.checks import Checks
from tiger.api.routes.entries import Door
from tiger.api.routes.inline import Inline
from tiger.api.routes.owner import owner_of
from tiger.api.routes.prefer import Preference, applied_header, preference
from tiger.api.routes.waiting import wait_until_ended, while_connected
from tiger.api.schemas.jobs import MEDIA_TYPE, full, location

RETRY_AFTER = {"Retry-After": "1"}
# In the queue of jobs the least goes first.
LITTLE, WAITED_FOR, PUT_OFF = 1, 5, 10
# What takes longer is not the little work it seemed, and is not to keep other little work waiting.
AT_ONCE_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bound a body to `max_body_bytes` and a wait to `max_wait_s` seconds."""

    max_body_bytes: int
    max_wait_s: float = 60.0


class Solving:
    """Answer requests for work."""

    def __init__(self, inline: Inline, jobs: Jobs, bounds: Bounds) -> None:
        self.inline, self.jobs, self.bounds = inline, jobs, bounds
        self.bodies, self.checks = Bodies(bounds.max_body_bytes), Checks(inline.workers, inline.limits)

    async def answer(self, request: Request, door: Door) -> Response:
        """Check a request, and answer it with its report, or with the job that it has become."""
        async with self.bodies.read(request) as asked:
            return await self._answer_body(request, door, asked)

    async def _answer_body(self, request: Request, door: Door, asked: bytes) -> Response:
        """Answer a request whose body has been read."""
        key = idempotency.key_of(request.headers.getlist(idempotency.NAME))
        prefer = preference(request.headers.getlist("prefer"), self.bounds.max_wait_s)
        deadline = asyncio.get_running_loop().time() + prefer.patience_s
        wanted = await while_connected(request, self.checks.check(door, asked))
        little = wanted is not None and is_small(wanted)
        at_once_s = 0.0 if key is not None or prefer.at_once else min(prefer.patience_s, AT_ONCE_S)
        if at_once_s and little:
            found = await while_connected(request, self.inline.answer(door, asked, at_once_s))
            if found is not None:
                return Response(found, headers=applied_header(prefer.waited), media_type=MEDIA_TYPE)
        awaited = LITTLE if little else WAITED_FOR
        priority = awaited if prefer.patience_s else PUT_OFF
        work = Work(
            kind=door.kind,
            body=asked,
            owner=owner_of(request),
            key=key,
            priority=priority,
            request_id=getattr(request.state, "request_id", None),
        )
        return _answer(await self._store(request, work, deadline), prefer)

    async def _store(self, request: Request, work: Work, deadline: float) -> Job:
        """Keep a request as a job, and return it once it has ended or the deadline is over."""
        job = await self.jobs.submit(work)
        # For the log.
        request.state.job_id = job.id
        left = deadline - asyncio.get_running_loop().time()
        try:
            return await while_connected(request, wait_until_ended(self.jobs, job, left))
        except ClientDisconnect:
            # Nobody was told of the job, so that nobody can ask for it; with a key, the same request finds it again.
            if work.key is None:
                await self.jobs.cancel(job.id, job.owner)
            raise


def _answer(job: Job, prefer: Preference) -> Response:
    """Answer with the report or the problem of an ended job that was waited for, else with the job."""
    there = {"Location": location(job)}
    if not job.ended or not prefer.patience_s:
        headers = there | applied_header(prefer.put_off) | ({} if job.ended else RETRY_AFTER)
        return Response(full(job), 202, headers, MEDIA_TYPE)
    headers = there | applied_header(prefer.waited)
    if job.status == "done":
        return Response(job.report, 200, headers, MEDIA_TYPE)
    if job.status == "cancelled":
        detail = "The job was cancelled; what it found until then, if anything, is in the job."
        return problems.Problem(409, detail, headers=headers).response()
    problem = job.problem or {"status": 500}
    status = _status(problem)
    again = problems.RETRY if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Response(json.dumps(problem), status, headers | again, problems.MEDIA_TYPE)


def _status(problem: object) -> int:
    """Return the status of a problem document."""
    status = problem.get("status") if isinstance(problem, dict) else None
    return status if isinstance(status, int) else 500
