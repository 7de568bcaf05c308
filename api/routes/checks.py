"""Checks of bodies that do not hold up the event loop."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pydantic import ValidationError

from tiger.api.middleware import problems
from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.pool.processes import TooMuchWorkError, Workers, spend_at_most
from tiger.api.schemas.limits import Limits
from tiger.api.seams.quota import QuotaExceededError
from tiger.errors import InputError

# To read a larger one may keep every other thread from running for a second, and take fifty times its size.
LARGE_BYTES = 65_536
# Seconds of processor time to read a body, which takes about 1 s for 4 MiB, how much longer that may take on a busy
# machine, and large bodies that may wait for the one worker.
CHECK_S, LATE_S, MAX_WAITING = 15.0, 10.0, 16

Checked = TypeVar("Checked")
# Returns what a body states; raises InputError, or ValidationError for a type or a bound.
Check = Callable[[bytes, Limits], Checked]


class Checks:
    """Check bodies: short ones in a thread, others in a worker, which are so never more than one at a time."""

    def __init__(self, workers: Workers, limits: Limits) -> None:
        self.workers, self.limits = workers, limits
        self._large, self._waiting = asyncio.Lock(), 0

    async def check(self, check: Check[Checked], body: bytes) -> Checked | None:
        """Return what a body asks for, None for one that is long and in order.

        Raises InputError or RefusedError for a fault of the body, which may be that it takes too long to read, and
        SolverLostError for one of the server.
        """
        if len(body) <= LARGE_BYTES:
            try:
                return await asyncio.to_thread(check, body, self.limits)
            except ValidationError as error:
                raise RefusedError(problems.of_fields(error)) from None
        found = await self._check_in_worker(check, body)
        if found is not None:
            raise RefusedError(found)
        return None

    async def _check_in_worker(self, check: Check[Checked], body: bytes) -> Problem | None:
        """Have a worker check a body, after those that came before; raise SolverLostError where the worker is lost."""
        if self._waiting >= MAX_WAITING:
            detail = "expected room for another large body, but too many wait already; ask again later"
            over = QuotaExceededError("large_bodies", self._waiting, MAX_WAITING)
            raise RefusedError(problems.refuse_for_quota(over, detail))
        self._waiting += 1
        try:
            async with self._large:
                work = partial(find_fault, check, body, self.limits)
                return await self.workers.run(CHECK_S + LATE_S, spend_at_most, CHECK_S, work)
        except TooMuchWorkError:
            raise InputError("", f"expected a body that can be read in {CHECK_S:g} s, got another one") from None
        finally:
            self._waiting -= 1


def find_fault(check: Check[Checked], body: bytes, limits: Limits) -> Problem | None:
    """Return what is wrong with a body, None where nothing is."""
    try:
        check(body, limits)
    except ValidationError as error:
        return problems.of_fields(error)
    except InputError as error:
        return problems.problem_of(error)
    return None
