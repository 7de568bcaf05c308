"""What jobs a server runs, and when: it claims those that wait in the table, by their turn."""

import asyncio
from contextlib import suppress
from functools import partial

import structlog

from tiger.api.jobs.claims import Claim, Lease
from tiger.api.jobs.error_log import ErrorLog
from tiger.api.jobs.run import Run
from tiger.api.jobs.worker_context import WorkerContext

# Seconds until a claim or runs that do not stop are left.
STOP_S = 5.0
LOG = structlog.get_logger()


class Dispatcher:
    """Run the jobs that wait, at most as many at a time as there are workers."""

    def __init__(self, context: WorkerContext) -> None:
        self.context = context
        self._woken, self._stopping = asyncio.Event(), False
        self._runs: dict[Lease, asyncio.Task[None]] = {}
        self._errors = ErrorLog("no job could be taken up")

    def start(self) -> None:
        """Begin."""
        self._dispatching = asyncio.create_task(self._repeat())

    async def stop(self) -> None:
        """Take nothing more up, and cancel the runs under way; their rows are left as they are."""
        self._stopping = True
        self.wake()
        # A claim under way goes on in its thread, and is to be over before jobs are put back.
        await asyncio.wait((self._dispatching,), timeout=STOP_S)
        tasks = (self._dispatching, *self._runs.values())
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=STOP_S)

    def wake(self) -> None:
        """Look at once, as a job has come or a run has ended."""
        self._woken.set()

    async def _repeat(self) -> None:
        """Claim and run until the server stops, whatever goes wrong."""
        while not self._stopping:
            self._woken.clear()
            with self._errors.attempt():
                while self._is_free() and (claim := await self.context.call(self._claim)) is not None:
                    self._run(claim)
            # Jobs of other servers, and those that were put back, are found by looking.
            with suppress(TimeoutError):
                async with asyncio.timeout(self.context.settings.poll_s if self._is_free() else None):
                    await self._woken.wait()

    def _is_free(self) -> bool:
        """Return whether one more job is to be run."""
        return not self._stopping and len(self.context.running) < self.context.workers.count

    def _claim(self) -> Claim | None:
        """Claim a job; its lease is in `running` before its row says so, or it would seem to be lost."""
        noted: list[Lease] = []

        def note(lease: Lease) -> None:
            if lease not in self.context.running:
                noted.append(lease)
                self.context.running[lease] = asyncio.Event()

        try:
            return self.context.claims.claim_next(note)
        except Exception:
            for lease in noted:
                del self.context.running[lease]
            raise

    def _run(self, claim: Claim) -> None:
        """Begin to run a job, unless it runs: a database that was killed may have forgotten that it was claimed."""
        if claim.lease not in self._runs:
            self._runs[claim.lease] = task = asyncio.create_task(Run(self.context, claim)())
            task.add_done_callback(partial(self._end, claim.lease))

    def _end(self, lease: Lease, task: "asyncio.Task[None]") -> None:
        """Let the next job have the place of a run that has ended."""
        del self._runs[lease], self.context.running[lease]
        self.context.changed(lease.job_id)
        self.wake()
        if not task.cancelled() and (error := task.exception()) is not None:
            # The row still says that the job runs, until it is found to be lost.
            LOG.error("run failed", job_id=lease.job_id, exc_info=error)
