"""Durable jobs: kept in a database, solved by worker processes, taken over when a server dies.

    jobs = DurableJobs(JobSettings(data_dir=...), workers, Solve(limits))
    await jobs.start() ... await jobs.stop()

The workers are the caller's: started before the jobs are, and stopped after.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import structlog

from tiger.api.jobs.claims import Claims
from tiger.api.jobs.comparison_store import ComparisonStore
from tiger.api.jobs.comparisons import DurableComparisons
from tiger.api.jobs.database import Database
from tiger.api.jobs.dispatcher import Dispatcher
from tiger.api.jobs.ipc import IpcServer, Solve
from tiger.api.jobs.maintenance import Maintenance
from tiger.api.jobs.rebalancer_store import RebalancerStore
from tiger.api.jobs.rebalancers import DurableRebalancers
from tiger.api.jobs.server import claim_name
from tiger.api.jobs.settings import DAY_S, JobSettings
from tiger.api.jobs.store import Store
from tiger.api.jobs.usage import UnwrittenCharges, UsageStore
from tiger.api.jobs.watchers import Watchers
from tiger.api.jobs.webhook_store import WebhookStore
from tiger.api.jobs.webhooks import DurableWebhooks, WebhookSender
from tiger.api.jobs.worker_context import Answer, Parts, WorkerContext
from tiger.api.pool.processes import Workers
from tiger.api.seams.comparison import Comparisons
from tiger.api.seams.files import FileInfo, JobFile
from tiger.api.seams.job import ALL_JOBS, DatabaseDownError, Job, JobFilter, JobOrder
from tiger.api.seams.quota import Charge, OwnerUsage
from tiger.api.seams.rebalancer import Rebalancers
from tiger.api.seams.webhook import WebhookOutcome, Webhooks

# Statements that wait for the database at the same time: those of requests, and those of runs and maintenance, which
# must not stand in line behind a burst of requests: beside 300 clients ten jobs a second end instead of two.
REQUEST_THREADS, RUN_THREADS = 8, 4
# Seconds until the number of jobs is unknown, and until a database that does not answer counts as down: no statement
# takes as long there (`database.SESSION`).
COUNT_S, HUNG_S = 2.0, 20.0
LOG = structlog.get_logger()


class DurableJobs:
    """Keep jobs in a database and have them done by workers, and beside them what else is kept: a Jobs."""

    rebalancers: Rebalancers
    webhooks: Webhooks
    comparisons: Comparisons

    def __init__(self, settings: JobSettings, workers: Workers, solve: Solve) -> None:
        self.settings, self.workers, self.solve = settings, workers, solve
        self._watchers = Watchers(self._states)
        self._probe: asyncio.Future[bool] | None = None
        self.on_webhook: Callable[[WebhookOutcome], None] = lambda _: None

    async def start(self) -> None:
        """Open the store, requeue what was left, and begin to work; raise DatabaseDownError or OSError."""
        self._server = claim_name(self.settings.data_dir)
        self._database = Database(self.settings.url, self.settings.reserve_bytes)
        keep_s, quotas_of = self.settings.keep_days * DAY_S, self.settings.quotas_of
        self._store = Store(self._database, self.settings.max_queued, quotas_of, keep_s)
        self._usage = UsageStore(self._database, quotas_of)
        rebalancers = RebalancerStore(self._database, self.settings.max_rebalancers, keep_s, quotas_of)
        self.rebalancers = DurableRebalancers(rebalancers, self._query)
        self._events = WebhookStore(self._database, keep_s)
        self.webhooks = DurableWebhooks(self._events, self._query)
        comparisons = ComparisonStore(self._database, self._store.add, keep_s, quotas_of)
        self.comparisons = DurableComparisons(comparisons, self._query, lambda: self._dispatcher.wake())
        self._threads = ThreadPoolExecutor(REQUEST_THREADS, thread_name_prefix="tiger-requests")
        claims = Claims(self._database, self._server.name, quotas_of)
        self._context = WorkerContext(
            settings=self.settings,
            claims=claims,
            workers=self.workers,
            ipc_server=IpcServer(),
            solve=self.solve,
            changed=self._watchers.wake,
            threads=ThreadPoolExecutor(RUN_THREADS, thread_name_prefix="tiger-runs"),
            charges=UnwrittenCharges(),
        )
        await self._context.ipc_server.start()
        await self._context.call(self._open)
        self._dispatcher = Dispatcher(self._context)
        self._dispatcher.start()
        expiring = (rebalancers, comparisons, self._events)
        self._maintenance = Maintenance(self._context, self._store, self._usage, expiring)
        self._maintenance.start()
        self._sender = WebhookSender(self._context, self._events, self.on_webhook)
        self._sender.start()
        self._watchers.start()

    async def stop(self) -> None:
        """Put what runs back into the queue; nothing of it is lost where the database is not there to take it."""
        parts = (self._dispatcher, self._maintenance, self._watchers, self._sender)
        await asyncio.gather(*(part.stop() for part in parts))
        await self._context.ipc_server.stop()
        with suppress(DatabaseDownError):
            await self._query(self._context.charges.write, self._usage)
            await self._query(self._context.claims.release_mine, ())
            await self._query(self._context.claims.leave)
        self._context.threads.shutdown(wait=False)
        self._threads.shutdown(wait=False)
        self._database.close()
        self._server.close()

    async def submit(self, work: JobOrder) -> Job:
        """Store a job and return it; raise KeyReusedError, QuotaExceededError, DiskFullError or DatabaseDownError."""
        job, new = await self._query(self._store.insert, work)
        if new:
            self._dispatcher.wake()
        return job

    async def get(self, job_id: str, owner: str) -> Job | None:
        """Return a job with its report; raise DatabaseDownError."""
        return await self._query(self._store.get, job_id, owner)

    async def get_body(self, job_id: str, owner: str) -> bytes | None:
        """Return the request of a job that has not ended; raise DatabaseDownError."""
        return await self._query(self._store.get_body, job_id, owner)

    async def list_files(self, job_id: str, owner: str) -> tuple[FileInfo, ...]:
        """Return what files a job has left beside its report, by name; raise DatabaseDownError."""
        return await self._query(self._store.list_files, job_id, owner)

    async def get_file(self, job_id: str, owner: str, name: str) -> JobFile | None:
        """Return a file that a job has left; raise DatabaseDownError."""
        return await self._query(self._store.get_file, job_id, owner, name)

    async def page(
        self, owner: str, after: str | None, limit: int, wanted: JobFilter = ALL_JOBS
    ) -> tuple[tuple[Job, ...], str | None]:
        """Return jobs without reports, the newest first, those after a cursor, and the cursor of the next page.

        Raises InputError for what is no cursor.
        """
        return await self._query(self._store.page, owner, after, limit, wanted)

    async def cancel(self, job_id: str, owner: str) -> Job | None:
        """Cancel a job that has not ended, and return it once its worker has been freed; what it found is kept."""
        job = await self._query(self._store.cancel, job_id, owner)
        if job is not None and job.status in ("running", "cancelled"):
            LOG.info("job cancelled", job_id=job_id, kind=job.kind, status=job.status)
        if job is None or job.ended:
            self._watchers.wake(job_id)
            return job
        # A thread may add to them meanwhile.
        for lease, cancelled in list(self._context.running.items()):
            if lease.job_id == job_id:
                cancelled.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.stop_grace_s + 2 * self.settings.tick_s + 1):
                async for seen in self.watch(job_id, owner):
                    job = seen
        return job

    async def purge(self, job_id: str, owner: str) -> bool:
        """Delete a job that has ended, with its files and its key, and return whether there was one."""
        gone = await self._query(self._store.purge, job_id, owner)
        if gone:
            LOG.info("job purged", job_id=job_id)
            self._watchers.wake(job_id)
            self._maintenance.tidy_soon()
        return gone

    async def watch(self, job_id: str, owner: str) -> AsyncIterator[Job]:
        """Yield the job now, whenever it changes, and at last when it has ended; nothing for an unknown one."""
        before = None
        with self._watchers.of(job_id) as changed:
            while True:
                changed.clear()
                job = await self.get(job_id, owner)
                if job is not None and job != before:
                    yield job
                if job is None or job.ended:
                    return
                before = job
                await changed.wait()

    async def ready(self) -> bool:
        """Return whether the database can be used, as soon as that is known."""
        # One probe for all who ask, as this needs no key and is not limited.
        if self._probe is None or self._probe.done():
            self._probe = asyncio.ensure_future(self._is_reachable())
        return await asyncio.shield(self._probe)

    async def admit(self, owner: str) -> None:
        """Raise QuotaExceededError where an owner has used the processor seconds of the day up."""
        if self.settings.quotas_of(owner).processor_s_per_day is None:
            return
        # Without the database small work goes on, and what it uses counts once that is back.
        with suppress(DatabaseDownError):
            await self._query(self._usage.check_processor, owner, self._context.charges.of(owner))

    def charge(self, spent: Charge) -> None:
        """Count processor seconds of work that was no job's towards the day of its owner, soon."""
        self._context.charges.add(spent)

    async def usage(self, owner: str, days: int) -> OwnerUsage:
        """Return what an owner uses, and used in so many days up to today; raise DatabaseDownError."""
        return await self._query(self._usage.read, owner, days)

    def waiting(self) -> int:
        """Count the jobs of all owners that wait, in a thread of the caller's; raise DatabaseDownError."""
        return self._count(self._store.waiting)

    def count_webhooks(self) -> int:
        """Count the events of all owners that are to be sent, as `waiting` does."""
        return self._count(self._events.count_pending)

    def _count(self, count: Callable[[], int]) -> int:
        """Return what a statement counts; raise DatabaseDownError, also where no answer comes."""
        counting = self._threads.submit(count)
        try:
            return counting.result(COUNT_S)
        except TimeoutError:
            counting.cancel()
            raise DatabaseDownError("no answer") from None

    def _open(self) -> None:
        """Prepare the database, and requeue what this server ran when it was killed."""
        self._database.prepare()
        self._context.claims.beat()
        self._context.claims.release_mine(())

    async def _states(self, ids: list[str]) -> Mapping[str, object]:
        """Return how jobs are; raise DatabaseDownError."""
        return await self._query(self._store.states, ids)

    async def _is_reachable(self) -> bool:
        """Return whether the database can be written to."""
        try:
            await self._query(self._context.claims.beat)
        except DatabaseDownError:
            return False
        return True

    async def _query(self, function: Callable[[*Parts], Answer], *args: *Parts) -> Answer:
        """Call a function of the store; raise DatabaseDownError, also for a database that does not answer at all."""
        try:
            async with asyncio.timeout(HUNG_S):
                return await asyncio.get_running_loop().run_in_executor(self._threads, function, *args)
        except TimeoutError:
            raise DatabaseDownError("no answer") from None
