"""What a server does again and again for the jobs: say that it lives, and find what was lost."""

import asyncio
import logging
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tiger.api.jobs.claims import Turn
from tiger.api.jobs.job import StoreGoneError
from tiger.api.jobs.pulses import Pulses
from tiger.api.jobs.queue import Queue
from tiger.api.jobs.store import Store
from tiger.api.jobs.worker_context import Bench

DAY_S = 86_400.0
SWEEP_S, TIDY_S = 2.0, 600.0
BATCH = 200
QUIET_S = 30.0
LOG = logging.getLogger(__name__)


class Rounds:
    """Make the rounds of a server."""

    def __init__(self, bench: Bench, store: Store, queue: Queue) -> None:
        self.bench, self.store, self.queue = bench, store, queue
        # One thread, so that turns come into the queue in the order in which they were submitted, and of its own, as
        # nobody else is to wait for the queue.
        self._putting = ThreadPoolExecutor(1, thread_name_prefix="tiger-put")
        self._pulses = Pulses(math.ceil(bench.settings.dead_s / bench.settings.beat_s))

    def start(self) -> None:
        """Begin."""
        settings = self.bench.settings
        rounds = ((self.beat, settings.beat_s), (self.reap, settings.reap_s), (self.tidy, TIDY_S))
        self._tasks = [asyncio.create_task(_repeat(seconds, call, self.bench.threads)) for call, seconds in rounds]
        self._tasks.append(asyncio.create_task(_repeat(SWEEP_S, self.sweep, self._putting)))

    async def stop(self) -> None:
        """End; what is being written is finished first."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.to_thread(self._putting.shutdown, cancel_futures=True)

    def put(self, turn: Turn) -> None:
        """Put a new turn into the queue, soon."""
        self._soon(self._put, turn)

    def withdraw(self, turn: Turn) -> None:
        """Take a turn out of the queue, soon; should it stay there, it will find nothing to do."""
        self._soon(self.queue.withdraw, turn)

    def beat(self) -> None:
        """Say that this server lives, and hear of the others."""
        self.bench.claims.beat()
        self._pulses.note(self.bench.claims.beats())

    def sweep(self) -> None:
        """Put turns into the queue that were kept, but never got there."""
        for turn in self.bench.claims.waiting(BATCH):
            self._put(turn)

    def reap(self) -> None:
        """Take back the jobs of dead servers, those lost here, and those that DBOS has lost."""
        claims = self.bench.claims
        claims.release_mine(self.bench.running)
        claims.release_silent(self._pulses.silent())
        for turn in self.queue.lost(claims.queued(BATCH), set(claims.beats()), set(self.bench.running)):
            claims.renew(turn)

    def tidy(self) -> None:
        """Delete jobs that ended long ago, and give their room back to the disk."""
        more = False
        while old := self.store.expired(self.bench.settings.keep_days * DAY_S, BATCH):
            self.queue.forget(old)
            self.store.delete([job for job, _ in old])
            more = True
        while more:
            more = self.store.database.shrink()

    def _soon(self, change: Callable[[Turn], None], turn: Turn) -> None:
        """Change the queue after what is to be done there already, unless all ends."""
        with suppress(RuntimeError):
            self._putting.submit(_change, change, turn)

    def _put(self, turn: Turn) -> None:
        """Put a turn into the queue; if that cannot be done, the next sweep does."""
        self.queue.put(turn)
        self.bench.claims.mark_queued(turn)


def _change(change: Callable[[Turn], None], turn: Turn) -> None:
    """Change the queue, if that can be done."""
    try:
        change(turn)
    except StoreGoneError:
        LOG.warning("the queue waits for the database: %s", turn.job_id)
    except Exception:
        LOG.exception("the queue could not be changed: %s", turn.job_id)


async def _repeat(seconds: float, call: Callable[[], None], threads: ThreadPoolExecutor) -> None:
    """Make a call every so many seconds, whatever becomes of it; do not say every time that the database has gone."""
    loop, said_s = asyncio.get_running_loop(), -math.inf
    while True:
        try:
            await loop.run_in_executor(threads, call)
        except StoreGoneError:
            if loop.time() - said_s >= QUIET_S:
                said_s = loop.time()
                LOG.warning("the database cannot be used at the moment")
        except Exception:
            LOG.exception("a round failed")
        await asyncio.sleep(seconds)
