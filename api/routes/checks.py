"""Whether a body asks for something that can be worked on, found out without holding up the event loop."""

import asyncio
from http import HTTPStatus

from pydantic import ValidationError

from tiger.api.middleware import problems
from tiger.api.middleware.problems import Problem, RefusedError
from tiger.api.routes.entries import DOORS, Door, Wanted
from tiger.api.schemas.limits import Limits
from tiger.api.workers.processes import SolverLostError, Workers
from tiger.errors import InputError

# To read a larger one may keep every other thread from running for a second, and take fifty times its size.
LARGE_BYTES = 65_536
CHECK_S, WAITING = 15.0, 16


class Checks:
    """Check bodies: short ones in a thread, others in a worker, which are so never more than one at a time."""

    def __init__(self, workers: Workers, limits: Limits) -> None:
        self.workers, self.limits = workers, limits
        self._turn, self._waiting = asyncio.Lock(), 0

    async def check(self, door: Door, asked: bytes) -> Wanted | None:
        """Return what a body asks for, None for one that is long and in order; raise InputError or RefusedError."""
        if len(asked) <= LARGE_BYTES:
            try:
                return await asyncio.to_thread(door.check, asked, self.limits)
            except ValidationError as error:
                raise RefusedError(problems.of_fields(error)) from None
        found = await self._check_in_worker(door, asked)
        if found is not None:
            raise RefusedError(found)
        return None

    async def _check_in_worker(self, door: Door, asked: bytes) -> Problem | None:
        """Have a worker check a body, in turn."""
        if self._waiting >= WAITING:
            detail = "expected room for another large body, but too many wait already; ask again later"
            raise RefusedError(Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, headers=problems.RETRY))
        self._waiting += 1
        try:
            async with self._turn:
                return await self.workers.run(CHECK_S, find_fault, door.kind, asked, self.limits)
        except SolverLostError:
            raise InputError("", f"expected a body that can be read in {CHECK_S:g} s, got another one") from None
        finally:
            self._waiting -= 1


def find_fault(kind: str, asked: bytes, limits: Limits) -> Problem | None:
    """Return what is wrong with a body, None where nothing is."""
    try:
        DOORS[kind].check(asked, limits)
    except ValidationError as error:
        return problems.of_fields(error)
    except InputError as error:
        return problems.problem_of(error)
    return None
