"""The durable queue of turns: the one place that knows DBOS."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tiger.api.jobs.claims import Turn
from tiger.api.jobs.database import Database, guard

if TYPE_CHECKING:
    from dbos import DBOS, WorkflowStatus

NAME, VERSION = "tiger", "1"
LIVE = ("ENQUEUED", "PENDING", "DELAYED")
QUIET_S, LAST_S = 30.0, 5.0
# What the library has taken up runs within a moment; later it never will.
BEGIN_S = 10.0

Run = Callable[[Turn], Coroutine[object, object, None]]


class Queue:
    """Run turns of jobs here as they come up, at most `workers` at a time; each is a workflow of its own.

    All calls block, and may raise StoreGoneError. Start it away from the event loop that runs are to be made on.
    """

    def __init__(self, database: Database, server: str, workers: int, poll_s: float) -> None:
        self.database, self.server, self.workers, self.poll_s = database, server, workers, poll_s
        # Since when turns have been taken up here without being run yet.
        self._beginning: dict[str, float] = {}

    def start(self, run: Run, loop: asyncio.AbstractEventLoop) -> None:
        """Open the queue and begin to run what is in it by a coroutine on a loop."""
        _hush()
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

    def put(self, turn: Turn) -> None:
        """Put a turn in, once, however often it is asked."""
        with guard():
            self._client.enqueue(
                {
                    "workflow_name": "solve",
                    "queue_name": NAME,
                    "workflow_id": _name(turn),
                    "app_version": VERSION,
                    "priority": max(1, turn.priority),
                },
                turn.job_id,
                turn.token,
            )

    def withdraw(self, turn: Turn) -> None:
        """Take a turn out that need not be run any more."""
        with guard():
            self._client.cancel_workflows([_name(turn)])

    def lost(self, turns: list[Turn], alive: set[str], running: set[Turn]) -> list[Turn]:
        """Return those turns that nobody will run: unknown, ended, or taken up by a server that has gone."""
        if not turns:
            return []
        names = [_name(turn) for turn in turns]
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
        fine = {row.workflow_id for row in known if self._is_cared_for(row, alive, now_s)}
        return [turn for turn in turns if _name(turn) not in fine]

    def forget(self, jobs: Iterable[tuple[str, int]]) -> None:
        """Delete all turns of jobs, given by their last token."""
        with guard():
            self._client.delete_workflows([_name(Turn(job, token)) for job, last in jobs for token in range(last + 1)])

    def _is_cared_for(self, row: "WorkflowStatus", alive: set[str], now_s: float) -> bool:
        """Return whether a turn will be run."""
        if row.status != "PENDING":
            return row.status in LIVE
        if row.executor_id != self.server:
            return row.executor_id in alive
        return now_s - self._beginning.get(row.workflow_id, now_s) < BEGIN_S


def _define(dbos: "type[DBOS]", run: Run, loop: asyncio.AbstractEventLoop) -> None:
    """Define the workflow: one step, the run of a turn."""

    @dbos.step(name="run")
    async def step(job_id: str, token: int) -> None:
        running: Future[None] = asyncio.run_coroutine_threadsafe(run(Turn(job_id, token)), loop)
        await asyncio.wrap_future(running)

    @dbos.workflow(name="solve")
    async def solve(job_id: str, token: int) -> None:
        await step(job_id, token)


def _name(turn: Turn) -> str:
    """Return the name of a turn's workflow."""
    return f"{turn.job_id}-{turn.token}"


class _Quiet(logging.Filter):
    """Let the same place say something only now and then, since it is asked ten times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._said_s: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is to be kept."""
        place = (record.filename, record.lineno)
        if record.created - self._said_s.get(place, 0.0) < QUIET_S:
            return False
        self._said_s[place] = record.created
        return True


def _hush() -> None:
    """Have the library's log go the way of ours, warnings alone, before it sets up a way of its own."""
    log = logging.getLogger("dbos")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
        log.addFilter(_Quiet())
