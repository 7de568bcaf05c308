"""Small requests, answered at once by warm workers."""

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import TypeVar

from tiger.api.middleware import problems
from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.pool.processes import TooMuchWorkError, Workers, spend_at_most
from tiger.api.schemas.limits import Limits
from tiger.errors import InputError

# Seconds to wait for a worker, and requests a worker that may wait; more go to the queue of jobs.
WAIT_S, MAX_WAITING = 2.0, 100
# Seconds for a solve to end by itself once its client has left, and beyond the limit until its worker is killed.
CANCEL_S, GRACE_S = 1.0, 5.0
# Seconds that work may take beyond its processor time, on a busy machine.
LATE_S = 10.0

Found = TypeVar("Found")


class Inline:
    """Have workers answer small requests, as many at a time as there are workers.

    No request waits for one for more than two seconds, and no more than a hundred a worker wait at the same time.
    """

    def __init__(self, workers: Workers, limits: Limits) -> None:
        self.workers, self.limits = workers, limits
        self._waiting = 0
        self._free = asyncio.Semaphore(workers.count)

    async def answer(self, answer: Callable[[bytes, Limits], Found], body: bytes, limit_s: float) -> Found | None:
        """Return the answer, None where no worker was free or the work took longer than so many seconds.

        Raises as Workers.run. What is cancelled, as its client has left, has a second to end by itself.
        """
        end_s = asyncio.get_running_loop().time() + limit_s
        if not await self._acquire_worker(min(WAIT_S, limit_s)):
            return None
        running = asyncio.ensure_future(self.workers.run(limit_s + GRACE_S, answer, body, self.limits))
        running.add_done_callback(self._release_worker)
        try:
            async with asyncio.timeout_at(end_s):
                return await asyncio.shield(running)
        except TimeoutError:
            running.cancel()
            return None
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(CANCEL_S, running.cancel)
            raise

    async def answer_in_time(
        self, answer: Callable[[bytes, Limits], Found], body: bytes, limit_s: float, expected: str
    ) -> Found:
        """Return the answer, or raise InputError where it takes more than so many seconds of processor time.

        The latter says what was `expected` within the time. Raises RefusedError (503) where no worker is free or the
        machine is too busy; workers that still start are not free.
        """
        try:
            found = await self.answer(partial(_answer_within, limit_s, answer), body, limit_s + LATE_S)
        except TooMuchWorkError:
            raise InputError("", f"expected {expected} within {limit_s:g} s, got more") from None
        if found is None:
            detail = "expected a worker that is free, but all of them are busy; ask again later"
            raise RefusedError(Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers=problems.RETRY))
        return found

    async def _acquire_worker(self, limit_s: float) -> bool:
        """Wait for a worker to be free, and return whether one is."""
        if self._waiting >= MAX_WAITING * self.workers.count:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(limit_s):
                return await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    def _release_worker(self, running: "asyncio.Future[Found]") -> None:
        """Let the next request have the worker."""
        self._free.release()
        if not running.cancelled():
            # An error that nobody waits for any more would be logged as never retrieved.
            running.exception()


def _answer_within(limit_s: float, answer: Callable[[bytes, Limits], Found], body: bytes, limits: Limits) -> Found:
    """Answer, in a worker, within so many seconds of processor time."""
    return spend_at_most(limit_s, partial(answer, body, limits))
