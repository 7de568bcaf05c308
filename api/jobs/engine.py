"""Durable jobs: kept in a database, queued by DBOS, solved by worker processes, taken over when a server dies.

    jobs = DurableJobs(JobSettings(data_dir=...), workers, Answers({"assign": assignment.answer, ...}, limits))
    await jobs.start() ... await jobs.stop()

The workers are the caller's: started before the jobs are, and stopped after.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import structlog

from tiger.api.jobs.claims import Claims, Turn
from tiger.api.jobs.database import Database
from tiger.api.jobs.ipc import Exchange, Solve
from tiger.api.jobs.job import Job, StoreGoneError, Work
from tiger.api.jobs.maintenance import Rounds
from tiger.api.jobs.queue import Queue
from tiger.api.jobs.run import Run
from tiger.api.jobs.server import claim_name
from tiger.api.jobs.settings import JobSettings
from tiger.api.jobs.store import Store
from tiger.api.jobs.watchers import Watchers
from tiger.api.jobs.worker_context import Answer, Bench, Parts
from tiger.api.workers.processes import Workers

THREADS = 8
COUNT_S, STOP_S, HUNG_S = 2.0, 5.0, 20.0
LOG = structlog.get_logger()


class DurableJobs:
    """Keep jobs in a database and have them done by workers: a Jobs."""

    def __init__(self, settings: JobSettings, workers: Workers, solve: Solve) -> None:
        self.settings, self.workers, self.solve = settings, workers, solve
        self._watchers = Watchers(self._states)
        self._beating: asyncio.Future[bool] | None = None

    async def start(self) -> None:
        """Open the store, take up what was left, and begin to work; raise StoreGoneError or OSError."""
        self._server = claim_name(self.settings.data_dir)
        self._database = Database(self.settings.url, self.settings.reserve_bytes)
        self._store = Store(self._database, self.settings.max_queued)
        claims = Claims(self._database, self._server.name)
        self._bench = Bench(
            settings=self.settings,
            claims=claims,
            workers=self.workers,
            exchange=Exchange(),
            solve=self.solve,
            changed=self._watchers.wake,
            threads=ThreadPoolExecutor(THREADS, thread_name_prefix="tiger-jobs"),
        )
        await self._bench.exchange.start()
        self._queue = Queue(self._database, self._server.name, self.workers.count, self.settings.poll_s)
        await self._bench.call(self._open, asyncio.get_running_loop())
        self._rounds = Rounds(self._bench, self._store, self._queue)
        self._rounds.start()
        self._watchers.start()

    async def stop(self) -> None:
        """Put what runs back into the queue; nothing of it is lost where the database is not there to take it."""
        await asyncio.gather(self._rounds.stop(), self._watchers.stop())
        await self._bench.call(self._queue.stop)
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_S):
                while self._bench.running:
                    await asyncio.sleep(0.01)
        await self._bench.exchange.stop()
        with suppress(StoreGoneError):
            await self._ask(self._bench.claims.release_mine, ())
            await self._ask(self._bench.claims.leave)
        self._bench.threads.shutdown(wait=False)
        self._database.close()
        self._server.close()

    async def submit(self, work: Work) -> Job:
        """Keep a job durably and return it; raise KeyReusedError, FullError, NoRoomError or StoreGoneError."""
        job, new = await self._ask(self._store.insert, work)
        if new:
            # The job is kept; should this be lost, a round finds it.
            self._rounds.put(Turn(job.id, 0, work.priority))
        return job

    async def get(self, job_id: str, owner: str) -> Job | None:
        """Return a job with its report; raise StoreGoneError."""
        return await self._ask(self._store.get, job_id, owner)

    async def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[Job, ...], str | None]:
        """Return jobs without reports, the newest first, those after a cursor, and the cursor of the next page.

        Raises InputError for what is no cursor.
        """
        return await self._ask(self._store.page, owner, after, limit)

    async def cancel(self, job_id: str, owner: str) -> Job | None:
        """Cancel a job that has not ended, and return it once its worker has been freed; what it found is kept."""
        job = await self._ask(self._store.cancel, job_id, owner)
        if job is not None and job.status in ("running", "cancelled"):
            LOG.info("job cancelled", job_id=job_id, kind=job.kind, status=job.status)
        if job is None or job.ended:
            self._watchers.wake(job_id)
            if job is not None and job.status == "cancelled":
                self._rounds.withdraw(await self._ask(self._store.turn, job_id))
            return job
        for turn, cancelled in self._bench.running.items():
            if turn.job_id == job_id:
                cancelled.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.stop_grace_s + 2 * self.settings.tick_s + 1):
                async for seen in self.watch(job_id, owner):
                    job = seen
        return job

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

    async def ready(self) -> Mapping[str, bool]:
        """Say of the database and the workers whether they can be used."""
        # Together, as whoever may not ask for more can ask this as often as they like.
        if self._beating is None or self._beating.done():
            self._beating = asyncio.ensure_future(self._is_reachable())
        return {"database": await asyncio.shield(self._beating), "workers": self.workers.active}

    def waiting(self) -> int:
        """Count the jobs of all owners that wait, in a thread of the caller's; raise StoreGoneError."""
        counting = self._bench.threads.submit(self._store.waiting)
        try:
            return counting.result(COUNT_S)
        except TimeoutError:
            counting.cancel()
            raise StoreGoneError("no answer") from None

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Prepare the database, take back what this server had when it was killed, and open the queue."""
        self._database.prepare()
        self._bench.claims.beat()
        self._bench.claims.release_mine(())
        self._queue.start(self._run, loop)

    async def _run(self, turn: Turn) -> None:
        """Work off one turn of a job, then of whatever waits, without waiting for the queue to come up with it."""
        if await Run(self._bench, turn)():
            while following := await self._next():
                await Run(self._bench, following, self._rounds.withdraw)()

    async def _next(self) -> Turn | None:
        """Return a turn that waits in the queue, if one does and the database says so."""
        try:
            due = await self._bench.call(self._bench.claims.next, self.workers.count + 1)
        except StoreGoneError:
            return None
        return next((turn for turn in due if turn not in self._bench.running), None)

    async def _states(self, ids: list[str]) -> Mapping[str, object]:
        """Return how jobs are; raise StoreGoneError."""
        return await self._ask(self._store.states, ids)

    async def _is_reachable(self) -> bool:
        """Return whether the database can be written to."""
        try:
            await self._ask(self._bench.claims.beat)
        except StoreGoneError:
            return False
        return True

    async def _ask(self, function: Callable[[*Parts], Answer], *args: *Parts) -> Answer:
        """Call a function of the store; raise StoreGoneError, also for a database that does not answer at all."""
        try:
            async with asyncio.timeout(HUNG_S):
                return await self._bench.call(function, *args)
        except TimeoutError:
            raise StoreGoneError("no answer") from None
