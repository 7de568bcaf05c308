"""A job, and the interface of what stores and runs jobs."""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from tiger.api.seams.files import FileInfo, JobFile
from tiger.api.seams.quota import Charge, OwnerUsage
from tiger.api.seams.rebalancer import Rebalancers
from tiger.api.seams.upload import Uploads
from tiger.api.seams.webhook import WebhookOutcome, Webhooks

Kind = Literal["assign", "place", "plan", "experts"]
Status = Literal["queued", "running", "done", "failed", "cancelled"]
# Where a page of jobs or uploads ends: the time and the id of its last one.
CURSOR = re.compile(r"^([0-9]{1,12}(?:\.[0-9]{1,12})?)-([0-9a-f]{32}|[0-9a-f]{64})$")
# A tag of a job.
TAG = re.compile(r"[A-Za-z0-9._:/-]{1,64}")
ENDED: tuple[Status, ...] = ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTerms:
    """Hold what its owner says of a job: its priority, 0 to 9, of which 9 goes first, tags, and whom to tell."""

    priority: int = 0
    tags: tuple[str, ...] = ()
    webhook_url: str | None = None


USUAL_TERMS = JobTerms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Hold what is known of a job.

    `owner` is the name of the key that submitted it, "" without keys. Times are seconds since the epoch. `progress` has
    the stage, the best cost so far, the bound and the fraction done, each None where unknown. `report` is strict JSON:
    of a done job, and of one that was cancelled or ran out of time the best found so far, if anything was. `problem` is
    the problem document of a failed job. `terms` are what its owner says of it.
    """

    id: str
    owner: str
    kind: Kind
    status: Status
    created_s: float
    started_s: float | None = None
    ended_s: float | None = None
    progress: Mapping[str, object] | None = None
    report: bytes | None = None
    problem: Mapping[str, object] | None = None
    terms: JobTerms = USUAL_TERMS

    @property
    def ended(self) -> bool:
        """Return whether nothing more will happen to it."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOrder:
    """Hold what is to be done: the checked body of a request, of which kind, for whom, and what that says of the job.

    Among jobs of one priority of an owner the least `rank` goes first (`jobs.turns`).

    `key` is the Idempotency-Key: the same key of the same owner with the same body is the same job. `sent` is what the
    client sent where the body was made of it, and counts as the body then. `request_id` is the number of the request,
    by which the log can be searched. `uploads` are the ids of those that the body refers to.
    """

    kind: Kind
    body: bytes
    owner: str = ""
    key: str | None = None
    sent: bytes | None = None
    rank: int = 10
    request_id: str | None = None
    terms: JobTerms = USUAL_TERMS
    uploads: tuple[str, ...] = ()

    @property
    def signature(self) -> bytes:
        """Return by what a key tells this order from others."""
        return f"{self.kind}\n".encode() + (self.body if self.sent is None else self.sent)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Choose jobs by their status and their kind, all where none is stated, by their tags, and by their creation.

    A job has to have all of the `tags`. Creation is from `since_s` on and before `until_s`, in seconds since 1970,
    without a bound where one is None.
    """

    statuses: tuple[Status, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    since_s: float | None = None
    until_s: float | None = None


ALL_JOBS = JobFilter()


class KeyReusedError(Exception):
    """Say that an Idempotency-Key came with another body than before (422)."""


class DatabaseDownError(Exception):
    """Say that the database cannot be reached or written, so that nothing was acknowledged (503)."""


class DiskFullError(DatabaseDownError):
    """Say that the disk of the database has too little room for more (503)."""


class Jobs(Protocol):
    """Store jobs and have workers run them. A job of another owner is as unknown as one that never was.

    `on_webhook` is called with what comes of every attempt to tell an owner of the end of a job.
    """

    on_webhook: Callable[[WebhookOutcome], None]

    @property
    def rebalancers(self) -> Rebalancers:
        """Return what stores rebalancers beside the jobs, once it has started."""

    @property
    def webhooks(self) -> Webhooks:
        """Return what lists the events that owners are told of, once it has started."""

    @property
    def uploads(self) -> Uploads:
        """Return what stores uploads beside the jobs, once it has started."""

    async def start(self) -> None:
        """Open the store, take up what was left, and begin to work."""

    async def stop(self) -> None:
        """Put what runs back into the queue and end all processes."""

    async def submit(self, work: JobOrder) -> Job:
        """Store a job and return it; raise KeyReusedError, QuotaExceededError, DiskFullError or DatabaseDownError."""

    async def find(self, work: JobOrder) -> Job | None:
        """Return the job that an order has made before by its key; raise KeyReusedError or DatabaseDownError."""

    async def get(self, job_id: str, owner: str) -> Job | None:
        """Return a job with its report; raise DatabaseDownError."""

    async def get_body(self, job_id: str, owner: str) -> bytes | None:
        """Return the request of a job that has not ended; raise DatabaseDownError."""

    async def list_files(self, job_id: str, owner: str) -> tuple[FileInfo, ...]:
        """Return what files a job has left beside its report, by name; raise DatabaseDownError."""

    async def get_file(self, job_id: str, owner: str, name: str) -> JobFile | None:
        """Return a file that a job has left; raise DatabaseDownError."""

    async def page(
        self, owner: str, after: str | None, limit: int, wanted: JobFilter = ALL_JOBS
    ) -> tuple[tuple[Job, ...], str | None]:
        """Return jobs without reports, the newest first, those after a cursor, and the cursor of the next page."""

    async def cancel(self, job_id: str, owner: str) -> Job | None:
        """Cancel a job that has not ended, and return it; what it found is kept."""

    async def purge(self, job_id: str, owner: str) -> bool:
        """Delete a job that has ended, with its files and its key, and return whether there was one."""

    def watch(self, job_id: str, owner: str) -> AsyncIterator[Job]:
        """Yield the job now, whenever it changes, and at last when it has ended; nothing for an unknown one."""

    async def ready(self) -> bool:
        """Return whether the database can be used, as soon as that is known."""

    async def admit(self, owner: str) -> None:
        """Raise QuotaExceededError where an owner has used the processor seconds of the day up."""

    def charge(self, spent: Charge) -> None:
        """Count processor seconds of work that was no job's towards the day of its owner, soon."""

    async def usage(self, owner: str, days: int) -> OwnerUsage:
        """Return what an owner uses, and used in so many days up to today; raise DatabaseDownError."""

    def waiting(self) -> int:
        """Count the jobs of all owners that wait, in a thread of the caller's; raise DatabaseDownError."""

    def count_webhooks(self) -> int:
        """Count the events of all owners that are to be sent, in a thread of the caller's; raise DatabaseDownError."""
