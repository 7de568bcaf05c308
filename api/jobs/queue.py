"""The durable queue of leases: the one place that knows DBOS."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tiger.api.jobs.claims import Lease
from tiger.api.jobs.database import Database, guard

if TYPE_CHECKING:
    from dbos import DBOS, WorkflowStatus

NAME, VERSION = "tiger", "1"
LIVE = ("ENQUEUED", "PENDING", "DELAYED")
# Seconds between two warnings from the same line, and to wait for the thread that takes from the queue to end.
QUIET_S, LAST_S = 30.0, 5.0
# Seconds within which what the library has taken up begins to run; later it never will.
BEGIN_S = 10.0

Run = Callable[[Lease], Coroutine[object, object, None]]


class Queue:
    """Run leases of jobs here as they come up, at most `workers` at a time; each is a DBOS workflow.

    All calls block, and may raise DatabaseDownError. Start it away from the event loop that runs are to be made on.
    """

    def __init__(self, database: Database, server: str, workers: int, poll_s: float) -> None:
        self.database, self.server, self.workers, self.poll_s = database, server, workers, poll_s
        # Since when leases have been taken up here without being run yet.
        self._beginning: dict[str, float] = {}

    def start(self, run: Run, loop: asyncio.AbstractEventLoop) -> None:
        """Open the queue and begin to run what is in it by a coroutine on a loop."""
        _quiet_log()
        own = self.database.queue_engine
        from dbos import DBOS, DBOSClient

        self._dbos: type[DBOS] = DBOS
        _define(DBOS, run, loop)
        self._library = DBOS(
            config={
                "name": NAME,
                "system_database_url": self.database.queue_url,
                "system_database_engine": own if own.dialect.name == "sqlite" else None,
                "application_version": VERSION,
                "executor_id": self.server,
                "log_level": "WARNING",
                "sys_db_pool_size": 5,
            }
        )
        DBOS.launch()
        # Not before the launch; the thread that serves queues looks for new ones every second.
        DBOS.register_queue(
            NAME, worker_concurrency=self.workers, polling_interval_sec=self.poll_s, on_conflict="always_update"
        )
        # The client gives up where the library's own calls wait for the database, for a minute at a time.
        self._client: DBOSClient = DBOSClient(
            system_database_engine=own, application_name=NAME, lazy=True, retry_connection_errors=False
        )

    def stop(self) -> None:
        """Take nothing more up, and cancel the runs under way."""
        # What the library took up while it goes down, it would leave lying.
        for stopping in self._library.background_thread_stop_events:
            stopping.set()
        for thread in threading.enumerate():
            if thread.name == f"queue-worker-{NAME}":
                thread.join(LAST_S)
        # It would warn of every run that this cancels.
        logging.getLogger("dbos").setLevel(logging.ERROR)
        self._dbos.destroy(destroy_registry=True)

    def put(self, lease: Lease) -> None:
        """Put a lease in, once, however often it is asked."""
        with guard():
            self._client.enqueue(
                {
                    "workflow_name": "solve",
                    "queue_name": NAME,
                    "workflow_id": _name(lease),
                    "app_version": VERSION,
                    "priority": max(1, lease.priority),
                },
                lease.job_id,
                lease.token,
            )

    def withdraw(self, lease: Lease) -> None:
        """Take a lease out that need not be run any more."""
        with guard():
            self._client.cancel_workflows([_name(lease)])

    def find_lost(self, leases: list[Lease], alive: set[str], running: set[Lease]) -> list[Lease]:
        """Return those leases that nobody will run: unknown, ended, or taken up by a server that is gone."""
        if not leases:
            return []
        names = [_name(lease) for lease in leases]
        with guard():
            known = self._client.list_workflows(workflow_ids=names, load_input=False, load_output=False)
        here = set(map(_name, running))
        # By a clock that nobody sets, which the times of the library are not.
        now_s = time.monotonic()
        self._beginning = {
            row.workflow_id: self._beginning.get(row.workflow_id, now_s)
            for row in known
            if row.status == "PENDING" and row.executor_id == self.server and row.workflow_id not in here
        }
        fine = {row.workflow_id for row in known if self._will_run(row, alive, now_s)}
        return [lease for lease in leases if _name(lease) not in fine]

    def forget(self, jobs: Iterable[tuple[str, int]]) -> None:
        """Delete all leases of jobs, given by their last token."""
        with guard():
            self._client.delete_workflows([_name(Lease(job, token)) for job, last in jobs for token in range(last + 1)])

    def _will_run(self, row: "WorkflowStatus", alive: set[str], now_s: float) -> bool:
        """Return whether a lease will be run."""
        if row.status != "PENDING":
            return row.status in LIVE
        if row.executor_id != self.server:
            return row.executor_id in alive
        return now_s - self._beginning.get(row.workflow_id, now_s) < BEGIN_S


def _define(dbos: "type[DBOS]", run: Run, loop: asyncio.AbstractEventLoop) -> None:
    """Define the workflow: one step, the run of a lease."""

    @dbos.step(name="run")
    async def step(job_id: str, token: int) -> None:
        running: Future[None] = asyncio.run_coroutine_threadsafe(run(Lease(job_id, token)), loop)
        await asyncio.wrap_future(running)

    @dbos.workflow(name="solve")
    async def solve(job_id: str, token: int) -> None:
        await step(job_id, token)


def _name(lease: Lease) -> str:
    """Return the name of a lease's workflow."""
    return f"{lease.job_id}-{lease.token}"


class _RateLimit(logging.Filter):
    """Let the same line log only now and then, since it is reached ten times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._logged_s: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be kept."""
        place = (record.filename, record.lineno)
        if record.created - self._logged_s.get(place, 0.0) < QUIET_S:
            return False
        self._logged_s[place] = record.created
        return True


def _quiet_log() -> None:
    """Have the library's log go the way of ours, warnings alone, before it sets up a way of its own."""
    log = logging.getLogger("dbos")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
        log.addFilter(_RateLimit())
