"""What a server repeats for the jobs: its heartbeat, the recovery of lost jobs, the deletion of what is old."""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tiger.api.jobs.error_log import ErrorLog
from tiger.api.jobs.heartbeats import Heartbeats
from tiger.api.jobs.rebalancer_store import RebalancerStore
from tiger.api.jobs.store import Store
from tiger.api.jobs.worker_context import WorkerContext

DAY_S = 86_400.0
# Seconds between two deletions of old jobs, whose age is counted in days.
TIDY_S = 600.0
# Seconds from when there is something to be tidied up until that is done, for all of it at once.
SOON_S = 1.0
# Rows at a time, so that no transaction holds up the others for long.
BATCH = 200


class Maintenance:
    """Repeat these tasks, each in its own interval."""

    def __init__(self, context: WorkerContext, store: Store, rebalancers: RebalancerStore) -> None:
        self.context, self.store, self.rebalancers = context, store, rebalancers
        self._untidy = asyncio.Event()
        self._heartbeats = Heartbeats(math.ceil(context.settings.dead_s / context.settings.beat_s))

    def start(self) -> None:
        """Begin."""
        settings = self.context.settings
        repeated = ((self.beat, settings.beat_s), (self.recover_jobs, settings.reap_s))
        self._tasks = [asyncio.create_task(_repeat(seconds, call, self.context.threads)) for call, seconds in repeated]
        self._tasks.append(asyncio.create_task(_repeat(TIDY_S, self.tidy, self.context.threads, self._untidy)))

    async def stop(self) -> None:
        """End."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def tidy_soon(self) -> None:
        """Give the room of what somebody has deleted back to the disk before long."""
        self._untidy.set()

    def beat(self) -> None:
        """Write the heartbeat of this server, and read those of the others."""
        self.context.claims.beat()
        self._heartbeats.note(self.context.claims.beats())

    def recover_jobs(self) -> None:
        """Put the jobs of dead servers back into the queue, and those lost here."""
        self.context.claims.release_mine(self.context.running)
        self.context.claims.release_silent(self._heartbeats.list_silent())

    def tidy(self) -> None:
        """Delete old jobs, rebalancers and uploads, and give the room of all that is deleted back to the disk."""
        while old := self.store.list_expired(self.context.settings.keep_days * DAY_S, BATCH):
            self.store.delete(old)
        for delete_expired in (self.rebalancers.delete_expired, self.context.uploads.delete_expired):
            while delete_expired():
                pass
        while self.store.database.shrink():
            pass


async def _repeat(
    seconds: float, call: Callable[[], None], threads: ThreadPoolExecutor, woken: asyncio.Event | None = None
) -> None:
    """Make a call every so many seconds, whatever becomes of it, and soon where it is woken."""
    errors, woken = ErrorLog("maintenance failed"), woken or asyncio.Event()
    while True:
        woken.clear()
        with errors.attempt():
            await asyncio.get_running_loop().run_in_executor(threads, call)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await woken.wait()
                await asyncio.sleep(SOON_S)
