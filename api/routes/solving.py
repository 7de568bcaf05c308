"""How a request is answered: at once from a warm worker, or as a stored job that is waited for."""

import asyncio
import json
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus

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
from tiger.api.routes.terms import check_webhook
from tiger.api.routes.uploads import name_uploads
from tiger.api.routes.waiting import run_while_connected, wait_until_ended
from tiger.api.schemas.jobs import MEDIA_TYPE, encode_with_report, location
from tiger.api.schemas.uploads import list_references
from tiger.api.seams.job import USUAL_TERMS, Job, JobOrder, Jobs, JobTerms
from tiger.api.webhooks.policy import WEBHOOKS_OFF, WebhookPolicy

RETRY_AFTER = {"Retry-After": "1"}
# Ranks of jobs of one priority, of which the least goes first: small work, work that a client waits for, any other.
SMALL, AWAITED, DEFERRED = 1, 5, 10
# Seconds after which work that seemed small becomes a job, so that it does not keep other small work waiting.
INLINE_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bound a body to `max_body_bytes`, a wait to `max_wait_s` seconds, and whom `webhooks` may tell."""

    max_body_bytes: int
    max_wait_s: float = 60.0
    webhooks: WebhookPolicy = WEBHOOKS_OFF


class Solving:
    """Answer requests for work."""

    def __init__(self, inline: Inline, jobs: Jobs, bounds: Bounds) -> None:
        self.inline, self.jobs, self.bounds = inline, jobs, bounds
        self.bodies, self.checks = Bodies(bounds.max_body_bytes), Checks(inline.workers, inline.limits)

    async def answer(self, request: Request, entry: Entry, terms: JobTerms = USUAL_TERMS) -> Response:
        """Check a request, and answer it with its report or with its job."""
        check_webhook(self.bounds.webhooks, terms, owner_of(request))
        async with self.bodies.read(request) as body:
            return await self._answer_body(request, entry, body, terms)

    async def _answer_body(self, request: Request, entry: Entry, body: bytes, terms: JobTerms) -> Response:
        """Answer a request whose body has been read."""
        key = idempotency.key_of(request.headers.getlist(idempotency.NAME))
        prefer = preference(request.headers.getlist("prefer"), self.bounds.max_wait_s)
        deadline = asyncio.get_running_loop().time() + prefer.patience_s
        # With a key it may be the repeat of a job that there is already.
        if key is None:
            await self.jobs.admit(owner_of(request))
        uploads = await name_uploads(self.jobs, body, owner_of(request))
        order = JobOrder(
            kind=entry.kind,
            body=body,
            owner=owner_of(request),
            key=key,
            request_id=getattr(request.state, "request_id", None),
            terms=terms,
            uploads=tuple(uploads),
        )
        work = None
        # A request that is sent again is the same job also where an upload of it is gone by now.
        if not (key is not None and list_references(body) and await self.jobs.is_known(order)):
            work = await run_while_connected(request, self.checks.check(partial(entry.check, uploads=uploads), body))
        # The texts of uploads are with the database, and read when the job runs.
        small = work is not None and not uploads and is_small(work)
        as_job = prefer.at_once or key is not None or terms != USUAL_TERMS
        inline_s = 0.0 if as_job else min(prefer.patience_s, INLINE_S)
        if inline_s and small:
            report = partial(report_on, entry.kind)
            answer = await run_while_connected(request, self.inline.answer(report, body, inline_s))
            if answer is not None:
                return Response(answer, headers=applied_header(prefer.waited), media_type=MEDIA_TYPE)
        awaited = SMALL if small else AWAITED
        job = replace(order, rank=awaited if prefer.patience_s else DEFERRED)
        return _answer(await self._store(request, job, deadline), prefer)

    async def _store(self, request: Request, work: JobOrder, deadline: float) -> Job:
        """Store a job, and return it once it has ended or the deadline is over."""
        job = await self.jobs.submit(work)
        # For the log.
        request.state.job_id = job.id
        left = deadline - asyncio.get_running_loop().time()
        try:
            return await run_while_connected(request, wait_until_ended(self.jobs, job, left))
        except ClientDisconnect:
            # Nobody knows the id of the job; with a key, the same request finds it again, and a webhook tells it.
            if work.key is None and work.terms.webhook_url is None:
                await self.jobs.cancel(job.id, job.owner)
            raise


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
