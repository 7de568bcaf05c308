"""How a request is answered: at once from a warm worker, or as a stored job that is waited for."""

import asyncio
import json
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import NamedTuple

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from tiger.api.middleware import problems
from tiger.api.middleware.body import Bodies
from tiger.api.routes import idempotency
from tiger.api.routes.admission import is_small
from tiger.api.routes.checks import Checks
from tiger.api.routes.entries import Entry, report_on
from tiger.api.routes.inline import Inline
from tiger.api.routes.owner import owner_of
from tiger.api.routes.prefer import Preference, applied_header, preference
from tiger.api.routes.starts import Starts
from tiger.api.routes.terms import check_webhook
from tiger.api.routes.uploads import name_uploads, read_uploads
from tiger.api.routes.validation import validate as describe_work
from tiger.api.routes.waiting import run_while_connected, wait_until_ended
from tiger.api.schemas.jobs import MEDIA_TYPE, encode_with_report, location
from tiger.api.seams.job import USUAL_TERMS, Job, JobOrder, Jobs, JobTerms, Kind
from tiger.api.webhooks.policy import WEBHOOKS_OFF, WebhookPolicy

RETRY_AFTER = {"Retry-After": "1"}
# Ranks of jobs of one priority, of which the least goes first: small work, work that a client waits for, any other.
SMALL, AWAITED, DEFERRED = 1, 5, 10
# Seconds after which work that seemed small becomes a job, so that it does not keep other small work waiting.
INLINE_S = 3.0
# Seconds of processor time to pose a problem, several times what the largest within the limits take.
VALIDATE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bound a body to `max_body_bytes`, a wait to `max_wait_s` seconds, and whom `webhooks` may tell."""

    max_body_bytes: int
    max_wait_s: float = 60.0
    webhooks: WebhookPolicy = WEBHOOKS_OFF


class Wait(NamedTuple):
    """Hold the Idempotency-Key of a request, what its client prefers, and when its wait is over by the loop's clock."""

    key: str | None
    prefer: Preference
    deadline_s: float


class Solving:
    """Answer requests for work."""

    def __init__(self, inline: Inline, jobs: Jobs, bounds: Bounds) -> None:
        self.inline, self.jobs, self.bounds = inline, jobs, bounds
        self.bodies, self.checks = Bodies(bounds.max_body_bytes), Checks(inline.workers, inline.limits)
        self.starts = Starts(inline, jobs)

    async def answer(
        self, request: Request, entry: Entry, terms: JobTerms = USUAL_TERMS, *, validate: bool = False
    ) -> Response:
        """Check a request, and answer it with its report or with its job, or with what would be solved."""
        check_webhook(self.bounds.webhooks, terms, owner_of(request))
        async with self.bodies.read(request) as body:
            if validate:
                return await self._validate(request, entry, body)
            return await self._answer_body(request, entry, body, terms)

    async def _validate(self, request: Request, entry: Entry, body: bytes) -> Response:
        """Answer with what a request would have solved, and keep nothing."""
        owner = owner_of(request)
        await self.jobs.admit(owner)
        check = partial(entry.check, uploads=await name_uploads(self.jobs, body, owner))
        work = await run_while_connected(request, self.checks.check(check, body))
        start = await self.starts.find_name(body)
        if start is not None:
            body = await self.starts.resolve(body, start, owner)
        uploads = await read_uploads(self.jobs, body, owner)
        small = work is not None and not uploads and is_small(work)
        pose = partial(describe_work, entry.kind, small, uploads)
        posed = self.inline.answer_in_time(pose, body, VALIDATE_S, "a problem that can be posed")
        return Response(await run_while_connected(request, posed), media_type=MEDIA_TYPE)

    def read_wait(self, request: Request) -> Wait:
        """Return how long the client of a request waits from now on, and its key; raise RefusedError."""
        key = idempotency.key_of(request.headers.getlist(idempotency.NAME))
        prefer = preference(request.headers.getlist("prefer"), self.bounds.max_wait_s)
        return Wait(key, prefer, asyncio.get_running_loop().time() + prefer.patience_s)

    async def find_known(self, kind: Kind, sent: bytes, owner: str, key: str | None) -> Job | None:
        """Return the job that a key has made before, which needs nothing of what it was made from any more."""
        return None if key is None else await self.jobs.find(JobOrder(kind=kind, body=sent, owner=owner, key=key))

    async def answer_with_known(self, request: Request, job: Job, wait: Wait) -> Response:
        """Answer with a job that is stored, or with its report if it has ended while the client waits."""
        request.state.job_id = job.id
        left = wait.deadline_s - asyncio.get_running_loop().time()
        return _answer(await run_while_connected(request, wait_until_ended(self.jobs, job, left)), wait.prefer)

    async def answer_with_job(self, request: Request, order: JobOrder, wait: Wait) -> Response:
        """Store a job, and answer with it, or with its report if it has ended while the client waits."""
        job = await self.jobs.submit(order)
        try:
            return await self.answer_with_known(request, job, wait)
        except ClientDisconnect:
            # Nobody knows the id of the job; with a key, the same request finds it again, and a webhook tells it.
            if order.key is None and order.terms.webhook_url is None:
                await self.jobs.cancel(job.id, job.owner)
            raise

    async def _answer_body(self, request: Request, entry: Entry, sent: bytes, terms: JobTerms) -> Response:
        """Answer a request whose body has been read."""
        wait = self.read_wait(request)
        prefer, key, owner = wait.prefer, wait.key, owner_of(request)
        # With a key it may be the repeat of a job that there is already.
        if key is None:
            await self.jobs.admit(owner)
        elif (known := await self.find_known(entry.kind, sent, owner, key)) is not None:
            return await self.answer_with_known(request, known, wait)
        uploads = await name_uploads(self.jobs, sent, owner)
        work = await run_while_connected(request, self.checks.check(partial(entry.check, uploads=uploads), sent))
        # The texts of uploads are with the database, and read when the job runs.
        small = work is not None and not uploads and is_small(work)
        body, start = sent, await self.starts.find_name(sent)
        if start is not None:
            body = await self.starts.resolve(sent, start, owner)
        as_job = prefer.at_once or key is not None or terms != USUAL_TERMS
        inline_s = 0.0 if as_job else min(prefer.patience_s, INLINE_S)
        if inline_s and small:
            report = partial(report_on, entry.kind)
            answer = await run_while_connected(request, self.inline.answer(report, body, inline_s))
            if answer is not None:
                return Response(answer, headers=applied_header(prefer.waited), media_type=MEDIA_TYPE)
        awaited = SMALL if small else AWAITED
        job = JobOrder(
            kind=entry.kind,
            body=body,
            owner=owner,
            key=key,
            sent=sent,
            rank=awaited if prefer.patience_s else DEFERRED,
            request_id=getattr(request.state, "request_id", None),
            terms=terms,
            uploads=tuple(uploads),
        )
        return await self.answer_with_job(request, job, wait)


def _answer(job: Job, prefer: Preference) -> Response:
    """Answer with the report or the problem of an ended job that was waited for, else with the job."""
    location_header = {"Location": location(job)}
    if not job.ended or not prefer.patience_s:
        headers = location_header | applied_header(prefer.put_off) | ({} if job.ended else RETRY_AFTER)
        return Response(encode_with_report(job), 202, headers, MEDIA_TYPE)
    headers = location_header | applied_header(prefer.waited)
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
