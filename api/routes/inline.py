"""Small requests, answered at once by warm workers."""

import asyncio

from tiger.api.routes.entries import Door
from tiger.api.schemas.limits import Limits
from tiger.api.workers.processes import Workers

QUEUE_S, CROWD = 2.0, 100
LEFT_S, GRACE_S = 1.0, 5.0


class Inline:
    """Have workers answer small requests in turn; not more at a time than there are workers.

    Who has to wait for one for more than two seconds, and who would be one of more than a hundred a worker to wait, is
    turned away instead.
    """

    def __init__(self, workers: Workers, limits: Limits) -> None:
        self.workers, self.limits = workers, limits
        self._waiting = 0
        self._free = asyncio.Semaphore(workers.count)

    async def answer(self, door: Door, asked: bytes, limit_s: float) -> bytes | None:
        """Return the report, None where there was no turn or the work took longer than so many seconds.

        Raises as Workers.run. What is cancelled, as its client has left, may end by itself within a second.
        """
        end_s = asyncio.get_running_loop().time() + limit_s
        if not await self._wait_for_turn(min(QUEUE_S, limit_s)):
            return None
        running = asyncio.ensure_future(self.workers.run(limit_s + GRACE_S, door.answer, asked, self.limits))
        running.add_done_callback(self._end_turn)
        try:
            async with asyncio.timeout_at(end_s):
                return await asyncio.shield(running)
        except TimeoutError:
            running.cancel()
            return None
        except asyncio.CancelledError:
            asyncio.get_running_loop().call_later(LEFT_S, running.cancel)
            raise

    async def _wait_for_turn(self, limit_s: float) -> bool:
        """Wait for a worker to be free, and return whether one is."""
        if self._waiting >= CROWD * self.workers.count:
            return False
        self._waiting += 1
        try:
            async with asyncio.timeout(limit_s):
                return await self._free.acquire()
        except TimeoutError:
            return False
        finally:
            self._waiting -= 1

    def _end_turn(self, running: "asyncio.Future[bytes]") -> None:
        """Let the next one have the worker."""
        self._free.release()
        if not running.cancelled():
            # Nobody may be there any more who would look at an error.
            running.exception()
