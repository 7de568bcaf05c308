"""The routes of comparisons: make one, look at it as a table, list them, and forget one."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import FastAPI, Path, Request, Response

from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes import answers, idempotency, requests
from tiger.api.routes.checks import CHECK_S, LARGE_BYTES
from tiger.api.routes.expansion import ExpandedEntry, digest_request, expand, problem_in
from tiger.api.routes.files import REQUEST
from tiger.api.routes.jobs import PAGE, Limit, Wait
from tiger.api.routes.listing import After, link_to_next
from tiger.api.routes.owner import owner_of
from tiger.api.routes.solving import RETRY_AFTER, Solving
from tiger.api.routes.tables import tabulate, write_table
from tiger.api.routes.terms import Terms, check_webhook
from tiger.api.routes.uploads import name_uploads
from tiger.api.routes.waiting import run_while_connected, wait_until_ended
from tiger.api.schemas.comparisons import ComparisonBody, ComparisonsBody, location, summarize
from tiger.api.schemas.jobs import MEDIA_TYPE
from tiger.api.schemas.limits import Limits
from tiger.api.seams.comparison import ComparableJobs, Comparisons, NewComparison, NewEntry, StoredComparison
from tiger.api.seams.job import Job, JobOrder, JobTerms, Kind
from tiger.errors import InputError

Found = TypeVar("Found")
ComparisonId = Annotated[
    str, Path(description="The id of a comparison, as its `Location` ends.", examples=["a4c6f1de"])
]


class ComparisonRoutes:
    """Answer requests about comparisons of their owner; those of others are as unknown as ones that never were."""

    def __init__(self, solving: Solving, jobs: ComparableJobs) -> None:
        self.bodies, self.inline, self.jobs = solving.bodies, solving.inline, jobs
        self.bounds, self.starts = solving.bounds, solving.starts

    @property
    def comparisons(self) -> Comparisons:
        """Return what keeps them, which is there once the service has started."""
        return self.jobs.comparisons

    async def compare(self, request: Request, terms: Terms) -> Response:
        """Compare two to ten jobs of one kind, those that there are and requests that become jobs.

        All requests are checked before any becomes a job, and all become jobs, with the priority and the tags of the
        comparison, or none does. The same Idempotency-Key with the same body is the same comparison of the same jobs.
        It is kept for as long as jobs are, and a job that is purged before shows as gone.
        """
        check_webhook(self.bounds.webhooks, terms, owner_of(request))
        async with self.bodies.read(request) as body:
            key = idempotency.key_of(request.headers.getlist(idempotency.NAME))
            owner = owner_of(request)
            read = partial(expand, uploads=await name_uploads(self.jobs, body, owner))
            entries = await run_while_connected(request, self._read(read, body, "requests that can be read"))
            known = None if key is None else await self.comparisons.find(owner, key, body)
            if known is None:
                number = getattr(request.state, "request_id", None)
                compared, kind = await self._resolve(entries, owner, terms, number)
                new = NewComparison(body=body, kind=kind, entries=compared, owner=owner, key=key)
                known = await self.comparisons.insert(new)
        # For the audit.
        request.state.made = known.id
        return _answer(await self._tabulate(known), HTTPStatus.CREATED, {"Location": location(known)})

    async def show(self, request: Request, comparison_id: ComparisonId, wait: Wait = 0.0) -> Response:
        """Return a comparison as a table, as soon as all its jobs have ended or the wait is over."""
        found = await self._find(request, comparison_id)
        return _answer(await run_while_connected(request, self._tabulate(found, wait)))

    async def table(self, request: Request, comparison_id: ComparisonId) -> Response:
        """Return the rows of a comparison as a table, to be saved."""
        table = await self._tabulate(await self._find(request, comparison_id))
        headers = {"Content-Disposition": 'attachment; filename="comparison.csv"'}
        return Response(write_table(table), headers=headers, media_type="text/csv")

    async def page(self, request: Request, after: After = None, limit: Limit = PAGE) -> Response:
        """List comparisons without their tables, the newest first."""
        found, cursor = await self.comparisons.page(owner_of(request), after, limit)
        listed = {"comparisons": [summarize(each) for each in found], "next": link_to_next(request, cursor, limit)}
        return Response(json.dumps(listed, allow_nan=False), media_type=MEDIA_TYPE)

    async def forget(self, request: Request, comparison_id: ComparisonId) -> Response:
        """Forget a comparison; its jobs stay, and go on."""
        if not await self.comparisons.delete(comparison_id, owner_of(request)):
            raise _refuse_unknown()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    async def _resolve(
        self, entries: Sequence[ExpandedEntry], owner: str, terms: JobTerms, request_id: str | None
    ) -> tuple[tuple[NewEntry, ...], Kind]:
        """Return what is to be compared and of which kind; raise InputError for an entry that cannot be."""
        found: list[NewEntry] = []
        kinds: list[Kind] = []
        for k, each in enumerate(entries, 1):
            if isinstance(each.job, JobOrder):
                body = await self._put_start(each.job.body, each.start, owner)
                order = replace(each.job, body=body, owner=owner, request_id=request_id, terms=terms)
                kinds.append(order.kind)
                found.append(NewEntry(label=each.label or f"{k}", job=order, request=each.request))
                continue
            job = await self.jobs.get(each.job, owner)
            if job is None:
                raise InputError(f"{each.where}/job", "expected the id of a job of yours, got an unknown one")
            kinds.append(job.kind)
            digest = await self._digest(job)
            found.append(NewEntry(label=each.label or job.id[:8], job=job.id, request=digest))
        _check_alike(entries, found, kinds)
        return tuple(found), kinds[0]

    async def _put_start(self, body: bytes, field: str, owner: str) -> bytes:
        """Return a request with what a job has found that it starts from, if it names one in a field; or raise."""
        name = await self.starts.find_name(body)
        return body if name is None else await self.starts.resolve(body, name, owner, field)

    async def _digest(self, job: Job) -> dict[str, object] | None:
        """Return the fields of the request of a job, None where they are not known any more."""
        body = await self.jobs.get_body(job.id, job.owner)
        if body is None:
            file = await self.jobs.get_file(job.id, job.owner, REQUEST)
            body = None if file is None else await asyncio.to_thread(file.unpack)
        return None if body is None else await self._read(digest_request, body, "jobs whose requests can be read")

    async def _read(self, read: Callable[[bytes, Limits], Found], body: bytes, expected: str) -> Found:
        """Return what a function reads in a body: in a thread, or in a worker where that would hold up others."""
        if len(body) <= LARGE_BYTES:
            return await asyncio.to_thread(read, body, self.inline.limits)
        return await self.inline.answer_in_time(read, body, CHECK_S, expected)

    async def _tabulate(self, comparison: StoredComparison, wait_s: float = 0.0) -> ComparisonBody:
        """Return the table of a comparison, once its jobs have ended or the wait is over."""
        end_s = asyncio.get_running_loop().time() + min(wait_s, self.bounds.max_wait_s)
        jobs = []
        for each in comparison.entries:
            job = await self.jobs.get(each.job, comparison.owner)
            left_s = end_s - asyncio.get_running_loop().time()
            jobs.append(None if job is None else await wait_until_ended(self.jobs, job, left_s))
        return await asyncio.to_thread(tabulate, comparison, jobs)

    async def _find(self, request: Request, comparison_id: str) -> StoredComparison:
        """Return the comparison, or raise RefusedError (404)."""
        found = await self.comparisons.get(comparison_id, owner_of(request))
        if found is None:
            raise _refuse_unknown()
        return found


def add_comparisons(app: FastAPI, comparisons: ComparisonRoutes) -> None:
    """Add the routes of comparisons."""
    app.add_api_route(
        "/comparisons",
        comparisons.compare,
        operation_id="compare",
        methods=["POST"],
        summary="Compare jobs, or requests that become jobs",
        status_code=201,
        response_model=ComparisonBody,
        responses=answers.COMPARED,
        openapi_extra=requests.COMPARISON,
    )
    app.add_api_route(
        "/comparisons",
        comparisons.page,
        operation_id="list_comparisons",
        summary="List comparisons",
        response_model=ComparisonsBody,
        responses=answers.document_errors(),
    )
    app.add_api_route(
        "/comparisons/{comparison_id}",
        comparisons.show,
        operation_id="show_comparison",
        summary="Show a comparison as a table",
        response_model=ComparisonBody,
        responses=answers.TABULATED,
    )
    app.add_api_route(
        "/comparisons/{comparison_id}/table.csv",
        comparisons.table,
        operation_id="read_table",
        summary="Download the table of a comparison",
        response_class=Response,
        responses=answers.TABLE,
    )
    app.add_api_route(
        "/comparisons/{comparison_id}",
        comparisons.forget,
        operation_id="forget_comparison",
        methods=["DELETE"],
        summary="Forget a comparison",
        status_code=204,
        response_class=Response,
        responses=answers.LEFT,
    )


def _check_alike(entries: Sequence[ExpandedEntry], found: Sequence[NewEntry], kinds: Sequence[Kind]) -> None:
    """Raise InputError of the first entry of another kind than the first one, circuits being one of their own."""
    fields = [None if each.request is None else problem_in(each.request) for each in found]
    # The request of a job that ended without a report is not known any more.
    known = next((field for field in fields if field is not None), None)
    for entry, kind, field in zip(entries, kinds, fields, strict=True):
        if kind != kinds[0]:
            raise InputError(entry.where, f"expected {kinds[0]}, as the first entry is, got {kind}")
        if field not in (None, known):
            raise InputError(entry.where, f"expected {known}, as an entry before has, got {field}")


def _answer(table: ComparisonBody, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Answer with a comparison, and with when to ask again if a job of it goes on."""
    headers = (headers or {}) | ({} if table.ended else RETRY_AFTER)
    # Of problems, members that a job has none of stay out, as they do where it is shown alone.
    return Response(table.model_dump_json(exclude_unset=True), status, headers, MEDIA_TYPE)


def _refuse_unknown() -> RefusedError:
    """Return the refusal of an id that is of no comparison, or of another owner's."""
    return RefusedError(Problem(404, "There is no such comparison, or not any more."))
