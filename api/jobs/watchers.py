"""Watching jobs: those who watch are woken at once by changes of this server, soon by those of others."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager

import structlog

from tiger.api.seams.job import DatabaseDownError

# Seconds between two looks at the database.
LOOK_S = 0.5
LOG = structlog.get_logger()

# How jobs of some ids are: whatever differs when something about one of them has changed.
Look = Callable[[list[str]], Awaitable[Mapping[str, object]]]


class Watchers:
    """Wake those who watch a job when it changes; all together look at the database as often as one would."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._events: dict[str, set[asyncio.Event]] = {}
        self._seen: dict[str, object] = {}

    def start(self) -> None:
        """Begin to look at the jobs that are watched."""
        self._looking = asyncio.create_task(self._repeat())

    async def stop(self) -> None:
        """Look no more."""
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)

    @contextmanager
    def of(self, job_id: str) -> Iterator[asyncio.Event]:
        """Return what is set whenever a job has changed, or cannot be looked at."""
        event = asyncio.Event()
        self._events.setdefault(job_id, set()).add(event)
        # What has changed since this one read it is not known.
        self._seen.pop(job_id, None)
        try:
            yield event
        finally:
            self._events[job_id].discard(event)
            if not self._events[job_id]:
                del self._events[job_id]
                self._seen.pop(job_id, None)

    def wake(self, job_id: str) -> None:
        """Wake those who watch a job."""
        for event in self._events.get(job_id, ()):
            event.set()

    async def _repeat(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(LOOK_S)
            watched = list(self._events)
            try:
                found = await self._look(watched) if watched else {}
            except Exception as error:
                # Those who watch look themselves, and raise it.
                found, self._seen = {}, {}
                if not isinstance(error, DatabaseDownError):
                    LOG.exception("jobs not looked at")
            for job_id in watched:
                state = found.get(job_id)
                if state is None or state != self._seen.get(job_id):
                    self.wake(job_id)
                if job_id in self._events:
                    self._seen[job_id] = state
