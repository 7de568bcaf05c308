"""What a server repeats: its heartbeat, the recovery of lost jobs, sums of what is used, deletion of what is old."""

import asyncio
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol

from tiger.api.jobs.error_log import ErrorLog
from tiger.api.jobs.heartbeats import Heartbeats
from tiger.api.jobs.settings import DAY_S
from tiger.api.jobs.store import Store
from tiger.api.jobs.usage import UsageStore
from tiger.api.jobs.worker_context import WorkerContext
from tiger.api.middleware import audit

# Seconds between two deletions of old jobs, whose age is counted in days.
TIDY_S = 600.0
# Seconds from when there is something to be tidied up until that is done, for all of it at once.
SOON_S = 1.0
# Rows at a time, so that no transaction holds up the others for long.
BATCH = 200


class Expiring(Protocol):
    """Keep what is forgotten some time after it was used last."""

    def delete_expired(self) -> int:
        """Forget some of what has expired, and count it; raise DatabaseDownError."""


class Maintenance:
    """Repeat these tasks, each in its own interval."""

    def __init__(
        self, context: WorkerContext, store: Store, usage: UsageStore, expiring: Sequence[Expiring] = ()
    ) -> None:
        self.context, self.store, self.usage, self.expiring = context, store, usage, expiring
        self._untidy = asyncio.Event()
        self._heartbeats = Heartbeats(math.ceil(context.settings.dead_s / context.settings.beat_s))

    def start(self) -> None:
        """Begin."""
        settings = self.context.settings
        repeated = (
            (self.beat, settings.beat_s),
            (self.recover_jobs, settings.reap_s),
            (self.write_charges, settings.tick_s),
        )
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

    def write_charges(self) -> None:
        """Write the processor seconds that nothing has written yet."""
        self.context.charges.write(self.usage)

    def tidy(self) -> None:
        """Delete what is old, and give the room of all that is deleted back to the disk."""
        while old := self.store.list_expired(self.context.settings.keep_days * DAY_S, BATCH):
            # Another server may have been quicker.
            if count := self.store.delete(old):
                audit.record("delete_expired_jobs", audit.SERVICE, "done", count=count)
        for kept in self.expiring:
            while kept.delete_expired():
                pass
        self.usage.delete_old()
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
