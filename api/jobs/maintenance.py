"""What a server repeats for the jobs: its heartbeat, the queue, the recovery of lost jobs, the deletion of old ones."""

import asyncio
import logging
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tiger.api.jobs.claims import Lease
from tiger.api.jobs.heartbeats import Heartbeats
from tiger.api.jobs.job import DatabaseDownError
from tiger.api.jobs.queue import Queue
from tiger.api.jobs.store import Store
from tiger.api.jobs.worker_context import WorkerContext

DAY_S = 86_400.0
# Seconds between two sweeps, which only find what a submission could not put into the queue at once, and between two
# deletions of old jobs, whose age is counted in days.
SWEEP_S, TIDY_S = 2.0, 600.0
# Rows at a time, so that no transaction holds up the others for long.
BATCH = 200
# Seconds between two warnings of the same trouble.
QUIET_S = 30.0
LOG = logging.getLogger(__name__)


class Maintenance:
    """Repeat these tasks, each in its own interval."""

    def __init__(self, context: WorkerContext, store: Store, queue: Queue) -> None:
        self.context, self.store, self.queue = context, store, queue
        # One thread, so that leases come into the queue in the order in which they were submitted, and of its own, as
        # no other work is to wait for the queue.
        self._putting = ThreadPoolExecutor(1, thread_name_prefix="tiger-put")
        self._heartbeats = Heartbeats(math.ceil(context.settings.dead_s / context.settings.beat_s))

    def start(self) -> None:
        """Begin."""
        settings = self.context.settings
        repeated = ((self.beat, settings.beat_s), (self.recover_jobs, settings.reap_s), (self.tidy, TIDY_S))
        self._tasks = [asyncio.create_task(_repeat(seconds, call, self.context.threads)) for call, seconds in repeated]
        self._tasks.append(asyncio.create_task(_repeat(SWEEP_S, self.sweep, self._putting)))

    async def stop(self) -> None:
        """End; what is being written is finished first."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._putting.shutdown, cancel_futures=True)

    def put(self, lease: Lease) -> None:
        """Put a new lease into the queue, soon."""
        self._schedule(self._put, lease)

    def withdraw(self, lease: Lease) -> None:
        """Take a lease out of the queue, soon; should it stay there, it will find nothing to do."""
        self._schedule(self.queue.withdraw, lease)

    def beat(self) -> None:
        """Write the heartbeat of this server, and read those of the others."""
        self.context.claims.beat()
        self._heartbeats.note(self.context.claims.beats())

    def sweep(self) -> None:
        """Put leases into the queue that were kept, but never got there."""
        for lease in self.context.claims.waiting(BATCH):
            self._put(lease)

    def recover_jobs(self) -> None:
        """Take back the jobs of dead servers, those lost here, and those that DBOS has lost."""
        claims = self.context.claims
        claims.release_mine(self.context.running)
        claims.release_silent(self._heartbeats.silent())
        for lease in self.queue.find_lost(claims.queued(BATCH), set(claims.beats()), set(self.context.running)):
            claims.renew(lease)

    def tidy(self) -> None:
        """Delete jobs that ended long ago, and give their room back to the disk."""
        more = False
        while old := self.store.expired(self.context.settings.keep_days * DAY_S, BATCH):
            self.queue.forget(old)
            self.store.delete([job for job, _ in old])
            more = True
        while more:
            more = self.store.database.shrink()

    def _schedule(self, change: Callable[[Lease], None], lease: Lease) -> None:
        """Change the queue after the changes that wait already, unless the server stops."""
        with suppress(RuntimeError):
            self._putting.submit(_change, change, lease)

    def _put(self, lease: Lease) -> None:
        """Put a lease into the queue; if that fails, the next sweep does it."""
        self.queue.put(lease)
        self.context.claims.mark_queued(lease)


def _change(change: Callable[[Lease], None], lease: Lease) -> None:
    """Change the queue; log where that fails."""
    try:
        change(lease)
    except DatabaseDownError:
        LOG.warning("the queue waits for the database: %s", lease.job_id)
    except Exception:
        LOG.exception("the queue could not be changed: %s", lease.job_id)


async def _repeat(seconds: float, call: Callable[[], None], threads: ThreadPoolExecutor) -> None:
    """Make a call every so many seconds, whatever becomes of it; do not log every time that the database is down."""
    loop, logged_s = asyncio.get_running_loop(), -math.inf
    while True:
        try:
            await loop.run_in_executor(threads, call)
        except DatabaseDownError:
            if loop.time() - logged_s >= QUIET_S:
                logged_s = loop.time()
                LOG.warning("the database cannot be used at the moment")
        except Exception:
            LOG.exception("maintenance failed")
        await asyncio.sleep(seconds)
