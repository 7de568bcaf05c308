"""The run of a claimed job: solve it in a worker, supervise that, and write the outcome."""

import asyncio
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import structlog
from structlog.contextvars import bound_contextvars

from tiger.api.jobs.claims import Claim, Outcome
from tiger.api.jobs.ipc import RunningSolve, solve_over_ipc
from tiger.api.jobs.worker_context import Answer, Parts, WorkerContext
from tiger.api.middleware import audit
from tiger.api.middleware.problems import problem_of
from tiger.api.pool.meter import SPENT
from tiger.api.pool.processes import SolverLostError
from tiger.api.schemas.uploads import list_references
from tiger.api.seams.files import JobDelivery
from tiger.api.seams.job import DatabaseDownError, Status
from tiger.api.seams.quota import Charge
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.errors import InputError

# Runs of a job whose worker is lost each time, and runs at all, as servers may be lost for other reasons.
ATTEMPTS, CRASHES = 3, 10
# Seconds between two attempts to reach the database, and beyond its limit until a solve's worker is killed at last.
RETRY_S, KILL_MARGIN_S = 0.5, 10.0
# Seconds between the loss of a worker and the next attempt.
LOST_S = 1.0
# Seconds for a worker to write the files beside a report, ten times what those of 20,000 tasks take.
FILES_S = 5.0
LIMIT = re.compile(rb'"time_limit_s"\s*:\s*([0-9.eE+-]{1,40})')
LOG = structlog.get_logger()


class Run:
    """Run a job that is claimed, and whose lease is among those that run here."""

    def __init__(self, context: WorkerContext, claim: Claim) -> None:
        self.context, self.claim, self.lease = context, claim, claim.lease
        self.cancelled, self.lost, self.begun_s = context.running[claim.lease], False, time.monotonic()
        self.spent_s = 0.0

    async def __call__(self) -> None:
        """Solve the job and write what comes of it."""
        self.context.changed(self.lease.job_id)
        claim = self.claim
        with bound_contextvars(job_id=self.lease.job_id, kind=claim.kind, request_id=claim.request_id):
            LOG.info("job begun", attempt=claim.attempts, age_s=round(claim.age_s, 3))
            try:
                # One that was begun too often must not bring down every server again and again.
                await (self._finish(_give_up()) if claim.attempts > CRASHES else self._work())
            finally:
                # What was used without an end that could be written, as the job is another server's or this one stops.
                self.context.charges.add(self._charge)

    async def _work(self) -> None:
        """Solve the job."""
        limit_s = _limit_s(self.claim.body, self.context.settings.max_time_s)
        self.uploads = await self._read_uploads()
        call = self.context.ipc_server.open()
        SPENT.set(partial(self._count, call))
        solving = asyncio.ensure_future(self._start_solve(call, limit_s))
        try:
            await self._supervise(solving, call, limit_s)
            await asyncio.wait((solving,))
        finally:
            solving.cancel()
            await asyncio.wait((solving,))
            self.context.ipc_server.close(call)
        if not self.lost:
            await self._settle(_outcome(solving, call, "cancelled" if self.cancelled.is_set() else "done"))

    @property
    def _charge(self) -> Charge:
        """Return what this run has used and nothing has been written of."""
        return Charge(self.claim.owner, self.spent_s)

    def _count(self, call: RunningSolve, processor_s: float | None, _: float) -> None:
        """Count what a worker has used; of one that is killed or lost, what was last measured."""
        if processor_s is None:
            call.measure()
        self.spent_s += call.processor_s if processor_s is None else processor_s

    async def _start_solve(self, call: RunningSolve, limit_s: float) -> JobDelivery:
        """Have a worker solve a job; this is cancelled long before the worker's own timeout, the second guard."""
        context = self.context
        work = (context.ipc_server.address, call.ticket, context.solve, self.claim.kind, self.claim.body, self.uploads)
        return await context.workers.run(limit_s + KILL_MARGIN_S, solve_over_ipc, *work)

    async def _read_uploads(self) -> Mapping[str, UploadText]:
        """Return the uploads that the job uses, compressed as they are kept."""
        if not list_references(self.claim.body):
            return NO_UPLOADS
        return await self._retry(self.context.uploads.read_of_job, self.lease.job_id)

    async def _supervise(self, solving: "asyncio.Future[JobDelivery]", call: RunningSolve, limit_s: float) -> None:
        """Wait for a solve, ask it to end when it is cancelled or over its limit, and kill it when it does not.

        Once the report is there, its files have a time of their own.
        """
        cancelling: asyncio.Future[object] = asyncio.ensure_future(self.cancelled.wait())
        over: asyncio.Future[object] = asyncio.ensure_future(_wait_over_limit(call, limit_s))
        solved: asyncio.Future[object] = asyncio.ensure_future(call.solved.wait())
        ticking = asyncio.ensure_future(self._report_progress(solving, call, limit_s))
        try:
            await asyncio.wait((solving, solved, cancelling, over), return_when=asyncio.FIRST_COMPLETED)
            if not (solving.done() or solved.done()):
                call.end()
                await asyncio.wait((solving, solved), timeout=self._grace_s, return_when=asyncio.FIRST_COMPLETED)
            if solved.done():
                await asyncio.wait((solving,), timeout=FILES_S)
            if solving.cancel():
                self.context.workers.on_result(SolverLostError("The solve did not end when it was asked to."))
        finally:
            for task in (cancelling, over, solved, ticking):
                task.cancel()

    @property
    def _grace_s(self) -> float:
        """Return the seconds that a solve has which is asked to end."""
        settings = self.context.settings
        return settings.stop_grace_s if self.cancelled.is_set() else settings.kill_grace_s

    async def _report_progress(
        self, solving: "asyncio.Future[JobDelivery]", call: RunningSolve, limit_s: float
    ) -> None:
        """Write how far the solve has come, and follow the row's instruction, for as long as it goes on."""
        begun_s, last = time.monotonic(), None
        while True:
            # Most jobs are done before there is anything to write.
            await asyncio.sleep(self.context.settings.tick_s)
            call.measure()
            progress = _describe_progress(call, min(1.0, (time.monotonic() - begun_s) / limit_s))
            instruction = None
            try:
                fresh = progress if progress != last else None
                instruction, last = await self.context.call(self.context.claims.touch, self.lease, fresh), progress
                self.context.changed(self.lease.job_id)
            except DatabaseDownError:
                pass
            except Exception:
                # Whatever it is, the next instruction has to be read.
                LOG.exception("job not looked at")
            if instruction == "lost":
                # Another server has it now, and answers for it.
                LOG.warning("job is with another server now")
                self.lost = True
                solving.cancel()
            elif instruction == "stop":
                self.cancelled.set()

    async def _settle(self, outcome: Outcome | None) -> None:
        """Write the outcome of a solve, or have the job done again where there is none as its worker was lost."""
        if outcome is None and self.claim.attempts < ATTEMPTS:
            # Its place stays taken meanwhile: a server that has no workers would use up the attempts of all that wait.
            await asyncio.sleep(LOST_S)
            await self._retry(self.context.claims.release, self.lease, self._charge)
            self.spent_s = 0.0
            return
        await self._finish(outcome or _give_up())

    async def _finish(self, outcome: Outcome) -> None:
        """Write the outcome of a job."""
        written = await self._retry(self.context.claims.finish, self.lease, outcome, self._charge)
        self.spent_s = 0.0
        if written:
            LOG.info("job ended", status=outcome.status, seconds=round(time.monotonic() - self.begun_s, 6))
            audit.record("end_job", self.claim.owner or None, outcome.status, resource=self.lease.job_id)
        else:
            LOG.warning("job was taken over before its result came")

    async def _retry(self, function: Callable[[*Parts], Answer], *args: *Parts) -> Answer:
        """Call a function of the store until the store is there."""
        while True:
            try:
                return await self.context.call(function, *args)
            except DatabaseDownError:
                await asyncio.sleep(RETRY_S)


async def _wait_over_limit(call: RunningSolve, limit_s: float) -> None:
    """Wait until a solve is over its limit, counted from when a worker took it up."""
    await call.begun.wait()
    await asyncio.sleep(limit_s + RETRY_S)


def _limit_s(body: bytes, most_s: float) -> float:
    """Return the seconds that a body asks for, within the server's maximum.

    Bodies are not parsed in the server, so that another field of that name can make it longer, at most that maximum.
    """
    with suppress(ValueError):
        return min(most_s, max(map(float, LIMIT.findall(body)))) or most_s
    return most_s


def _describe_progress(call: RunningSolve, time_share: float) -> Mapping[str, object]:
    """Return what is known of a solve, the fraction by the clock where the solve does not say."""
    known = call.progress
    if known is None:
        return {"stage": None, "cost": None, "bound": None, "fraction": round(time_share, 2)}
    fraction = time_share if known.fraction is None else known.fraction
    cost, bound = (value if value is not None and math.isfinite(value) else None for value in (known.cost, known.bound))
    document = {"stage": known.stage, "cost": cost, "bound": bound, "fraction": round(fraction, 2)}
    return document | ({"message": known.message} if known.message else {})


def _outcome(solving: "asyncio.Future[JobDelivery]", call: RunningSolve, status: Status) -> Outcome | None:
    """Return how a solve has ended, with `status` unless it failed; None where its worker was lost without a report."""
    if not solving.cancelled() and solving.exception() is None:
        report, files = solving.result()
        return Outcome(status=status, report=report, files=files)
    if call.report is not None:
        LOG.warning("files not written")
        return Outcome(status=status, report=call.report)
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
    """Return the outcome of a job whose worker or server was lost every time, which is no fault of the request."""
    lost = SolverLostError("The process that was solving this job ended unexpectedly every time that it was begun.")
    return Outcome(status="failed", problem=_problem(lost))


def _problem(error: Exception) -> Mapping[str, object]:
    """Return the problem document of an error."""
    document: dict[str, object] = json.loads(bytes(problem_of(error).response().body))
    return document
