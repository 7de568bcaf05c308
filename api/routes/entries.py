"""The kinds of work: how a body of each is checked in the server and answered in a worker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain

from tiger.api.routes import assignment, experts, placement, planning
from tiger.api.routes.admission import WorkRequest, admit
from tiger.api.routes.document import parse
from tiger.api.routes.files import request_file
from tiger.api.schemas.experts import ExpertRequest
from tiger.api.schemas.limits import Limits
from tiger.api.schemas.placement import PlaceRequest, PlanRequest
from tiger.api.schemas.uploads import put_texts
from tiger.api.seams.files import Solution
from tiger.api.seams.job import Kind
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.run.progress import Progress, ignore


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Hold how a kind of work is done: how its request is read from parsed JSON, and how that is answered.

    `solve` is given the request, the limits, what is called with its progress, and the address of a Dask cluster that
    shares in what takes long.
    """

    kind: Kind
    read: Callable[[object], WorkRequest]
    solve: Callable[..., Solution]

    def check(self, body: bytes, limits: Limits, uploads: Mapping[str, UploadText] = NO_UPLOADS) -> WorkRequest:
        """Return the request that a body states, what is inside it only measured, with `uploads` that it may refer to.

        Raises InputError, or pydantic's ValidationError for a type or a bound.
        """
        request = self.read(put_texts(body, parse(body), uploads))
        admit(request, limits)
        return request

    def answer(
        self,
        body: bytes,
        limits: Limits,
        watch: Callable[[Progress], None] = ignore,
        executor: str | None = None,
        uploads: Mapping[str, UploadText] = NO_UPLOADS,
    ) -> Solution:
        """Answer a checked body with its report and drafts of files; raise InputError that names the field.

        It is read again, because bytes cross to a worker at no cost while a large graph would hold the event loop up.
        """
        return self.solve(self.check(body, limits, uploads), limits, watch, executor)


ASSIGN = Entry(kind="assign", read=assignment.read_request, solve=assignment.answer)
PLACE = Entry(kind="place", read=PlaceRequest.read, solve=placement.answer)
PLAN = Entry(kind="plan", read=PlanRequest.read, solve=planning.answer)
EXPERTS = Entry(kind="experts", read=ExpertRequest.read, solve=experts.answer)
ENTRIES: Mapping[str, Entry] = {entry.kind: entry for entry in (ASSIGN, PLACE, PLAN, EXPERTS)}


@dataclass(frozen=True, slots=True)
class Solve:
    """Answer the bodies of jobs, in a worker, and have a Dask cluster share in what takes long."""

    limits: Limits
    executor: str | None = None

    def __call__(
        self,
        kind: str,
        body: bytes,
        watch: Callable[[Progress], None],
        uploads: Mapping[str, UploadText] = NO_UPLOADS,
    ) -> Solution:
        """Answer a body with its report, and call `watch` with the progress of the solve.

        The request comes first of the files beside it: what is asked of an ended job is answered from both.
        """
        report, drafts = ENTRIES[kind].answer(body, self.limits, watch, self.executor, uploads)
        return Solution(report, chain((request_file(body),), drafts))


def report_on(kind: str, body: bytes, limits: Limits) -> bytes:
    """Answer a body, in a worker, with its report alone."""
    return ENTRIES[kind].answer(body, limits).report
