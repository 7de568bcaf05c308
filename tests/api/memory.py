"""Jobs that last as long as the process: the dumb sibling of the durable ones."""

import asyncio
import itertools
import json
import math
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from typing import Any

from tiger.api.factory import limits_of
from tiger.api.jobs.comparison_store import ComparisonStore
from tiger.api.jobs.comparisons import DurableComparisons
from tiger.api.jobs.database import Database
from tiger.api.jobs.rebalancer_store import RebalancerStore
from tiger.api.jobs.rebalancers import DurableRebalancers
from tiger.api.jobs.settings import DAY_S
from tiger.api.jobs.upload_store import UploadStore
from tiger.api.jobs.uploads import DurableUploads
from tiger.api.jobs.webhook_store import WebhookStore
from tiger.api.jobs.webhooks import DurableWebhooks
from tiger.api.middleware.problems import problem_of
from tiger.api.pool.processes import Workers
from tiger.api.routes.entries import Solve
from tiger.api.schemas.limits import Limits
from tiger.api.seams.comparison import ComparableJobs, Comparisons
from tiger.api.seams.files import FileInfo, JobDelivery, JobFile, write_files
from tiger.api.seams.job import ALL_JOBS, Job, JobFilter, JobOrder, KeyReusedError
from tiger.api.seams.quota import NO_QUOTAS, Charge, OwnerUsage, QueueFullError
from tiger.api.seams.rebalancer import Rebalancers
from tiger.api.seams.upload import NO_UPLOADS, Uploads, UploadText
from tiger.api.seams.webhook import WebhookOutcome, Webhooks
from tiger.api.settings import Settings
from tiger.run.progress import ignore

GRACE_S = 3600.0
MAX_OPEN = 1000


def in_memory(settings: Settings, workers: Workers) -> ComparableJobs:
    """Keep the jobs of a service until it ends."""
    return MemoryJobs(workers, limits_of(settings), settings.max_jobs)


class MemoryJobs:
    """Keep jobs in a dictionary and have them done by workers that somebody else starts and stops."""

    def __init__(self, workers: Workers, limits: Limits, most: int = MAX_OPEN) -> None:
        self.workers, self.limits, self.most = workers, limits, most
        self._jobs: dict[str, Job] = {}
        self._bodies: dict[str, bytes] = {}
        self._files: dict[str, tuple[JobFile, ...]] = {}
        self._keys: dict[tuple[str, str], tuple[JobOrder, str]] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._number = itertools.count()
        self._files_of_rows = ExitStack()
        self.charges: list[Charge] = []
        self.on_webhook: Callable[[WebhookOutcome], None] = lambda _: None

    @cached_property
    def _rows(self) -> Database:
        """Open a file of rows that goes with this."""
        folder = self._files_of_rows.enter_context(tempfile.TemporaryDirectory())
        database = Database(f"sqlite:///{folder}/rows", 0)
        self._files_of_rows.callback(database.close)
        database.prepare()
        return database

    @cached_property
    def rebalancers(self) -> Rebalancers:
        """Keep rebalancers in the file, as their steps are statements of a database."""
        return DurableRebalancers(RebalancerStore(self._rows, self.most, DAY_S), asyncio.to_thread)

    @cached_property
    def uploads(self) -> Uploads:
        """Keep uploads in it, too; what jobs use them is not noted."""
        return DurableUploads(UploadStore(self._rows, DAY_S), asyncio.to_thread)

    @cached_property
    def webhooks(self) -> Webhooks:
        """Keep events in a file as well, of which there are none but those that a test writes."""
        return DurableWebhooks(WebhookStore(self._rows, DAY_S), asyncio.to_thread)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Keep comparisons in such a file, too; their new jobs are added here, where the loop runs."""

        async def call(function: Callable[..., Any], *args: object) -> Any:
            return function(*args)

        store = ComparisonStore(self._rows, lambda _, work: self._submit(work), DAY_S)
        return DurableComparisons(store, call, lambda: None)

    async def start(self) -> None:
        """Begin to work."""
        self._changed = asyncio.Condition()
        self._queue: asyncio.PriorityQueue[tuple[int, int, str, JobOrder]] = asyncio.PriorityQueue()
        self._doers = [asyncio.create_task(self._do()) for _ in range(self.workers.count)]

    async def stop(self) -> None:
        """End what runs, and forget it."""
        for task in (*self._doers, *self._running.values()):
            task.cancel()
        await asyncio.gather(*self._doers, *self._running.values(), return_exceptions=True)
        self._files_of_rows.close()

    async def submit(self, work: JobOrder) -> Job:
        """Keep a job and return it, the earlier one for the same key; raise KeyReusedError or QueueFullError."""
        return self._submit(work)

    async def get_body(self, job_id: str, owner: str) -> bytes | None:
        """Return the request of a job that has not ended."""
        job = await self.get(job_id, owner)
        return None if job is None or job.ended else self._bodies[job_id]

    def _submit(self, work: JobOrder) -> Job:
        """Keep a job."""
        if (before := self._find(work)) is not None:
            return before
        if (going_on := sum(not job.ended for job in self._jobs.values())) >= self.most:
            raise QueueFullError("jobs", going_on, self.most)
        job = Job(id=uuid.uuid4().hex, owner=work.owner, kind=work.kind, status="queued", created_s=time.time())
        job = replace(job, terms=work.terms)
        self._jobs[job.id], self._bodies[job.id] = job, work.body
        if work.key is not None:
            self._keys[work.owner, work.key] = work, job.id
        self._queue.put_nowait((work.rank, next(self._number), job.id, work))
        return job

    async def find(self, work: JobOrder) -> Job | None:
        """Return the job of the key of an order; raise KeyReusedError."""
        return self._find(work)

    def _find(self, work: JobOrder) -> Job | None:
        """Return the job of the key of an order."""
        before = None if work.key is None else self._keys.get((work.owner, work.key))
        if before is not None and before[0].signature != work.signature:
            raise KeyReusedError
        return None if before is None else self._jobs[before[1]]

    async def get(self, job_id: str, owner: str) -> Job | None:
        """Return a job."""
        job = self._jobs.get(job_id)
        return job if job is not None and job.owner == owner else None

    async def list_files(self, job_id: str, owner: str) -> tuple[FileInfo, ...]:
        """Return the files of a job."""
        return self._files.get(job_id, ()) if await self.get(job_id, owner) else ()

    async def get_file(self, job_id: str, owner: str, name: str) -> JobFile | None:
        """Return a file of a job."""
        files = self._files.get(job_id, ()) if await self.get(job_id, owner) else ()
        return next((file for file in files if file.name == name), None)

    async def page(
        self, owner: str, after: str | None, limit: int, wanted: JobFilter = ALL_JOBS
    ) -> tuple[tuple[Job, ...], str | None]:
        """Return jobs, the newest first; the cursor of the next page ends with the id of its predecessor."""
        found = (job for job in reversed(self._jobs.values()) if job.owner == owner and _meets(job, wanted))
        own = [replace(job, report=None) for job in found]
        at = next((k + 1 for k, job in enumerate(own) if after and after.endswith(job.id)), len(own) if after else 0)
        page = tuple(own[at : at + limit])
        return page, f"{page[-1].created_s:.6f}-{page[-1].id}" if at + limit < len(own) else None

    async def cancel(self, job_id: str, owner: str) -> Job | None:
        """Cancel a job that has not ended, and return it."""
        job = await self.get(job_id, owner)
        if job is None or job.ended:
            return job
        if job_id in self._running:
            self._running[job_id].cancel()
        await self._set(replace(job, status="cancelled", ended_s=time.time()))
        return self._jobs[job_id]

    async def purge(self, job_id: str, owner: str) -> bool:
        """Forget a job that has ended, and its key."""
        job = await self.get(job_id, owner)
        if job is None or not job.ended:
            return False
        del self._jobs[job_id]
        self._keys = {key: kept for key, kept in self._keys.items() if kept[1] != job_id}
        return True

    async def watch(self, job_id: str, owner: str) -> AsyncIterator[Job]:
        """Yield the job now, whenever it changes, and at last when it has ended."""
        job = await self.get(job_id, owner)
        while job is not None:
            yield job
            if job.ended:
                return
            seen = job
            async with self._changed:
                await self._changed.wait_for(lambda: self._jobs[job_id] is not seen)  # noqa: B023 (called before the loop goes on)
            job = self._jobs[job_id]

    async def admit(self, owner: str) -> None:
        """Admit everybody."""

    def charge(self, spent: Charge) -> None:
        """Keep what was used."""
        self.charges.append(spent)

    async def usage(self, owner: str, days: int) -> OwnerUsage:
        """Return what an owner uses, all of it today."""
        own = [job.status for job in self._jobs.values() if job.owner == owner]
        used_s = sum(spent.processor_s for spent in self.charges if spent.owner == owner)
        return OwnerUsage(
            running_jobs=own.count("running"),
            queued_jobs=own.count("queued"),
            kept_bytes=0,
            processor_s_per_day=used_s,
            quotas=NO_QUOTAS,
            days=tuple((20_000 - k, 0.0 if k else used_s) for k in range(days)),
            resets_s=DAY_S,
        )

    def waiting(self) -> int:
        """Count the jobs of all owners that wait."""
        return sum(job.status == "queued" for job in self._jobs.values())

    def count_webhooks(self) -> int:
        """Count the events that are to be sent, of which there are none."""
        return 0

    async def ready(self) -> bool:
        """Say that there is nothing that could be missing."""
        return True

    async def _do(self) -> None:
        """Do one job after another, the most urgent first."""
        while True:
            *_, job_id, work = await self._queue.get()
            if self._jobs[job_id].ended:
                continue
            self._running[job_id] = asyncio.create_task(self._solve(self._jobs[job_id], work))
            await asyncio.wait((self._running[job_id],))
            del self._running[job_id]

    async def _solve(self, job: Job, work: JobOrder) -> None:
        """Have a worker do a job, and keep what comes of it."""
        job = replace(job, status="running", started_s=time.time(), progress={"stage": "solve", "fraction": None})
        await self._set(job)
        try:
            timeout_s = self.limits.max_time_s + GRACE_S
            uploads = await self.uploads.read(work.uploads, work.owner) if work.uploads else NO_UPLOADS
            found = await self.workers.run(timeout_s, deliver, work.kind, work.body, self.limits, uploads)
        except Exception as error:  # noqa: BLE001 (whatever it is, the job fails of it)
            problem = json.loads(bytes(problem_of(error).response().body))
            await self._set(replace(job, status="failed", ended_s=time.time(), problem=problem))
        else:
            # A stand-in for workers has a report to say alone.
            report, files = (found, ()) if isinstance(found, bytes) else found
            self._files[job.id] = files
            await self._set(replace(job, status="done", ended_s=time.time(), report=report))

    async def _set(self, job: Job) -> None:
        """Keep a state of a job and wake those who watch."""
        if self._jobs[job.id].ended:
            return
        self._jobs[job.id] = job
        async with self._changed:
            self._changed.notify_all()


def _meets(job: Job, wanted: JobFilter) -> bool:
    """Return whether a job is among those that a filter chooses."""
    status = not wanted.statuses or job.status in wanted.statuses
    kind = not wanted.kinds or job.kind in wanted.kinds
    tagged = set(wanted.tags) <= set(job.terms.tags)
    since_s, until_s = wanted.since_s or 0.0, wanted.until_s or math.inf
    return status and kind and tagged and since_s <= job.created_s < until_s


def deliver(kind: str, body: bytes, limits: Limits, uploads: Mapping[str, UploadText]) -> JobDelivery:
    """Answer a body as a job, in a worker."""
    report, drafts = Solve(limits)(kind, body, ignore, uploads)
    return JobDelivery(report, write_files(drafts))
