"""One turn of a job: claimed, solved in a worker, watched, and its outcome written."""

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import structlog
from structlog.contextvars import bound_contextvars

from tiger.api.jobs.claims import Claim, Outcome, Turn
from tiger.api.jobs.ipc import Call, solve_on_line
from tiger.api.jobs.job import Status, StoreGoneError
from tiger.api.jobs.worker_context import Answer, Bench, Parts
from tiger.api.middleware.problems import problem_of
from tiger.api.workers.processes import SolverLostError
from tiger.errors import InputError

ATTEMPTS, CRASHES = 3, 10
AGAIN_S, ROPE_S = 0.5, 10.0
LIMIT = re.compile(rb'"time_limit_s"\s*:\s*([0-9.eE+-]{1,40})')
LOG = structlog.get_logger()


class Run:
    """Work off one turn of a job, and tell when it has been claimed."""

    def __init__(self, bench: Bench, turn: Turn, claimed: Callable[[Turn], None] = lambda _: None) -> None:
        self.bench, self.turn, self.claimed = bench, turn, claimed
        self.cancelled, self.lost, self.begun_s = asyncio.Event(), False, time.monotonic()

    async def __call__(self) -> bool:
        """Claim the job, solve it and write what comes of it; False where the turn is under way or not the last."""
        if self.turn in self.bench.running:
            return False
        self.bench.running[self.turn] = self.cancelled
        try:
            claim = await self._insist(self.bench.claims.claim, self.turn)
            self.bench.changed(self.turn.job_id)
            if claim is not None:
                self.claimed(self.turn)
                with bound_contextvars(job_id=self.turn.job_id, kind=claim.kind, request_id=claim.request_id):
                    await self._begin(claim)
            return claim is not None
        finally:
            self.bench.running.pop(self.turn, None)
            self.bench.changed(self.turn.job_id)

    async def _begin(self, claim: Claim) -> None:
        """Solve a claimed job, but for one that must not bring down every server again and again."""
        LOG.info("job begun", attempt=claim.attempts, age_s=round(claim.age_s, 3))
        if claim.attempts > CRASHES:
            await self._finish(_give_up())
        else:
            await self._work(claim)

    async def _work(self, claim: Claim) -> None:
        """Solve a claimed job."""
        limit_s = _limit_s(claim.body, self.bench.settings.max_time_s)
        call = self.bench.exchange.open()
        solving = asyncio.ensure_future(self._start_solve(call, claim, limit_s))
        try:
            await self._attend(solving, call, limit_s)
            await asyncio.wait((solving,))
        finally:
            solving.cancel()
            self.bench.exchange.close(call)
        if not self.lost:
            await self._settle(claim, _outcome(solving, "cancelled" if self.cancelled.is_set() else "done"))

    async def _start_solve(self, call: Call, claim: Claim, limit_s: float) -> bytes:
        """Have a worker solve a job; this is cancelled long before the worker's own timeout, the second rope."""
        bench = self.bench
        work = (bench.exchange.address, call.ticket, bench.solve, claim.kind, claim.body)
        return await bench.workers.run(limit_s + ROPE_S, solve_on_line, *work)

    async def _attend(self, solving: "asyncio.Future[bytes]", call: Call, limit_s: float) -> None:
        """Wait for a solve, told to end when it is cancelled or over its limit, and killed when it does not."""
        settings = self.bench.settings
        asked: asyncio.Future[object] = asyncio.ensure_future(self.cancelled.wait())
        over: asyncio.Future[object] = asyncio.ensure_future(_wait_over_limit(call, limit_s))
        ticking = asyncio.ensure_future(self._tick(solving, call, limit_s))
        try:
            await asyncio.wait((solving, asked, over), return_when=asyncio.FIRST_COMPLETED)
            if not solving.done():
                call.end()
                grace_s = settings.stop_grace_s if self.cancelled.is_set() else settings.kill_grace_s
                await asyncio.wait((solving,), timeout=grace_s)
                if solving.cancel():
                    self.bench.workers.told(SolverLostError("The solve did not end when it was told to."))
        finally:
            for task in (asked, over, ticking):
                task.cancel()

    async def _tick(self, solving: "asyncio.Future[bytes]", call: Call, limit_s: float) -> None:
        """Write how far the solve has come, and hear what is to become of it, for as long as it goes on."""
        begun_s, last = time.monotonic(), None
        while True:
            # Most jobs are done before there is anything to write.
            await asyncio.sleep(self.bench.settings.tick_s)
            progress = _progress(call, min(1.0, (time.monotonic() - begun_s) / limit_s))
            order = None
            try:
                fresh = progress if progress != last else None
                order, last = await self.bench.call(self.bench.claims.touch, self.turn, fresh), progress
                self.bench.changed(self.turn.job_id)
            except StoreGoneError:
                pass
            except Exception:
                # Whatever it is, the next one is to be heard.
                LOG.exception("job not looked at")
            if order == "lost":
                # Another server has it now, and answers for it.
                LOG.warning("job is with another server now")
                self.lost = True
                solving.cancel()
            elif order == "end":
                self.cancelled.set()

    async def _settle(self, claim: Claim, outcome: Outcome | None) -> None:
        """Write the outcome of a solve, or have the job done again where there is none as its worker was lost."""
        if outcome is None and claim.attempts < ATTEMPTS:
            await self._insist(self.bench.claims.release, self.turn)
            return
        await self._finish(outcome or _give_up())

    async def _finish(self, outcome: Outcome) -> None:
        """Write the outcome of a job."""
        if await self._insist(self.bench.claims.finish, self.turn, outcome):
            LOG.info("job ended", status=outcome.status, seconds=round(time.monotonic() - self.begun_s, 6))
        else:
            LOG.warning("job was taken over before its result came")

    async def _insist(self, function: Callable[[*Parts], Answer], *args: *Parts) -> Answer:
        """Call a function of the store until the store is there."""
        while True:
            try:
                return await self.bench.call(function, *args)
            except StoreGoneError:
                await asyncio.sleep(AGAIN_S)


async def _wait_over_limit(call: Call, limit_s: float) -> None:
    """Wait until a solve is over its limit, counted from when a worker took it up."""
    await call.begun.wait()
    await asyncio.sleep(limit_s + AGAIN_S)


def _limit_s(body: bytes, most_s: float) -> float:
    """Return the seconds that a body asks for, within the server's maximum.

    Bodies are not parsed in the server, so that another field of that name can make it longer, at most that maximum.
    """
    with suppress(ValueError):
        return min(most_s, max(map(float, LIMIT.findall(body)))) or most_s
    return most_s


def _progress(call: Call, time_share: float) -> Mapping[str, object]:
    """Return what is known of a solve, the fraction by the clock where the solve does not say."""
    said = call.progress
    if said is None:
        return {"stage": None, "cost": None, "bound": None, "fraction": round(time_share, 2)}
    fraction = time_share if said.fraction is None else said.fraction
    cost, bound = (value if value is not None and math.isfinite(value) else None for value in (said.cost, said.bound))
    known = {"stage": said.stage, "cost": cost, "bound": bound, "fraction": round(fraction, 2)}
    return known | ({"message": said.message} if said.message else {})


def _outcome(solving: "asyncio.Future[bytes]", status: Status) -> Outcome | None:
    """Return how a solve has ended, with `status` unless it failed; None where its worker was lost."""
    if not solving.cancelled() and solving.exception() is None:
        return Outcome(status=status, report=solving.result())
    if status == "cancelled":
        return Outcome(status=status)
    error = TimeoutError() if solving.cancelled() else solving.exception()
    match error:
        case TimeoutError():
            late = InputError("", "expected work that has an answer within its time limit, got none in that time")
            return Outcome(status="failed", problem=_problem(late))
        case SolverLostError():
            return None
        case InputError():
            return Outcome(status="failed", problem=_problem(error))
    LOG.error("job failed", exc_info=error)
    return Outcome(status="failed", problem=_problem(RuntimeError()))


def _give_up() -> Outcome:
    """Return the outcome of a job whose worker or server was lost every time."""
    return Outcome(status="failed", problem=_problem(RuntimeError()))


def _problem(error: Exception) -> Mapping[str, object]:
    """Return the problem document of an error."""
    document: dict[str, object] = json.loads(bytes(problem_of(error).response().body))
    return document
