"""A job as a stream of server-sent events."""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

from fastapi import Response
from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from tiger.api.middleware.problems import RefusedError, refuse_for_quota
from tiger.api.schemas.jobs import encode_with_report, encode_without_report
from tiger.api.seams.job import DatabaseDownError, Job, Jobs
from tiger.api.seams.quota import QuotaExceededError

MEDIA_TYPE = "text/event-stream"
# Seconds between two comments, which keep proxies from closing an idle stream, between two events of one stream, and
# for a reader to take an event.
HEARTBEAT_S, PAUSE_S, STALLED_S = 15.0, 0.1, 60.0
# Streams at a time, each of which holds a connection.
MAX_STREAMS = 256
HEARTBEAT = b": still here\n\n"
# A proxy that collects an answer before it passes it on would show nothing until the job ends.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Streams:
    """Open streams, up to a number at a time, a quarter of it for one owner; those of one job watch it together."""

    def __init__(self, jobs: Jobs, most: int = MAX_STREAMS) -> None:
        self.jobs, self.most = jobs, most
        self.open: Counter[str] = Counter()
        self._watched: dict[str, _Feed] = {}

    def of(self, job: Job) -> Response:
        """Return a stream of a job's events, which has its place among the others once it begins."""
        return _Stream(self, job)

    @contextmanager
    def take_place(self, owner: str) -> Iterator[None]:
        """Hold a place for a stream; raise RefusedError (429) where too many are open."""
        most = math.ceil(self.most / 4) if owner else self.most
        for used, limit in ((self.open.total(), self.most), (self.open[owner], most)):
            if used >= limit:
                detail = "This service has as many event streams open as it may have; ask later, or for the job alone."
                raise RefusedError(refuse_for_quota(QuotaExceededError("streams", used, limit), detail))
        self.open[owner] += 1
        try:
            yield
        finally:
            self.open[owner] -= 1
            self.open += Counter()

    async def events(self, job: Job) -> AsyncIterator[bytes]:
        """Yield `progress` now and at most ten times a second, a comment when nothing happens for long, then `done`.

        A reader that is slower than the job misses states in between. Without the store the stream ends early.
        """
        feed, seen = self._join(job), 0
        try:
            while await feed.wait_for_more(seen, HEARTBEAT_S):
                new, seen = seen != feed.number, feed.number
                yield _event(b"progress", encode_without_report(feed.newest)) if new else HEARTBEAT
                await asyncio.sleep(PAUSE_S)
            with suppress(DatabaseDownError):
                last = await self.jobs.get(job.id, job.owner)
                if last is not None and last.ended:
                    yield _event(b"done", encode_with_report(last))
        finally:
            self._leave(job, feed)

    def _join(self, job: Job) -> "_Feed":
        """Return the feed of a job, which somebody may be reading already."""
        feed = self._watched.get(job.id)
        if feed is None or feed.over:
            feed = self._watched[job.id] = _Feed(self.jobs, job)
        feed.readers += 1
        return feed

    def _leave(self, job: Job, feed: "_Feed") -> None:
        """Watch a job no longer than somebody reads of it."""
        feed.readers -= 1
        if not feed.readers:
            feed.following.cancel()
            if self._watched.get(job.id) is feed:
                del self._watched[job.id]


class _Stream(StreamingResponse):
    """Stream a job's events while there is a place, and end when the reader has stopped reading."""

    def __init__(self, streams: Streams, job: Job) -> None:
        super().__init__(streams.events(job), headers=HEADERS, media_type=MEDIA_TYPE)
        self._streams, self._owner = streams, job.owner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, each within a minute; raise RefusedError, before anything is sent, where too many are open.

        The place is taken and given back here, as a stream that has been made may begin later than others that are
        made after it, or never.
        """

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(STALLED_S):
                await send(message)

        with self._streams.take_place(self._owner), suppress(TimeoutError):
            await super().__call__(scope, receive, send_in_time)


class _Feed:
    """Keep the newest state of a job for any number of readers, and the number of states so far."""

    def __init__(self, jobs: Jobs, job: Job) -> None:
        self.newest, self.number, self.readers, self.over = job, 0, 0, False
        self._changed = asyncio.Event()
        self.following = asyncio.ensure_future(self._follow(jobs, job))

    async def wait_for_more(self, seen: int, limit_s: float) -> bool:
        """Wait for a state after one that was seen, at most so many seconds; return whether the job goes on."""
        if self.number == seen and not self.over:
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self._changed.wait()
        return not self.over

    async def _follow(self, jobs: Jobs, job: Job) -> None:
        """Take in what happens to a job until it has ended, or the store has."""
        try:
            with suppress(DatabaseDownError):
                async for seen in jobs.watch(job.id, job.owner):
                    if seen.ended:
                        break
                    self.newest, self.number = seen, self.number + 1
                    self._wake()
        finally:
            self.over = True
            self._wake()

    def _wake(self) -> None:
        """Wake every reader."""
        self._changed.set()
        self._changed = asyncio.Event()


def _event(name: bytes, data: bytes) -> bytes:
    """Return an event of one line of data."""
    return b"event: " + name + b"\ndata: " + data.replace(b"\n", b" ") + b"\n\n"
