"""Jobs as rows: what servers write that run them.

A lease is the right to run a job once. A job carries a token, which is raised whenever the job is taken from a server.
Every write of a run names the token it was claimed with, so that a server that was only halted cannot write over the
result of the one that took its place.
"""

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

import sqlalchemy as sa
import structlog
from sqlalchemy.engine import Connection

from tiger.api.jobs.database import Database, lock_owner, read_clock
from tiger.api.jobs.ends import settle_ends
from tiger.api.jobs.migrations import BODIES, FILES, JOBS, SERVERS
from tiger.api.jobs.turns import choose_owner, list_heads
from tiger.api.jobs.usage import charge, count_jobs, set_kept
from tiger.api.seams.files import JobFile
from tiger.api.seams.job import DiskFullError, Kind, Status
from tiger.api.seams.quota import Charge, QuotasOf, allow_all

Instruction = Literal["continue", "stop", "lost"]
LOG = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Lease:
    """Name a lease by the job's id and its token."""

    job_id: str
    token: int


@dataclass(frozen=True, slots=True)
class Claim:
    """Hold the lease of a job, what it asks, how often it was begun, how old it is, its request's number and owner."""

    lease: Lease
    kind: Kind
    body: bytes
    attempts: int
    age_s: float
    request_id: str | None
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Say how a run ended, and what it leaves."""

    status: Status
    report: bytes | None = None
    files: tuple[JobFile, ...] = ()
    problem: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Claims:
    """Claim jobs for the server of a name, and release them. Every call may raise DatabaseDownError."""

    database: Database
    server: str
    quotas_of: QuotasOf = allow_all

    def claim_next(self, note: Callable[[Lease], None] = lambda _: None) -> Claim | None:
        """Claim the next job of the owner whose turn it is (`turns`); None where no job may be begun.

        `note` is told of the lease before anybody can read that the job is claimed.
        """
        passed: set[str] = set()
        # A server without work asks ten times a second, and is not to hold up those that write.
        while (owner := self._choose_owner(passed)) is not None:
            claim = self._claim_of(owner, note)
            if claim is not None:
                return claim
            # Other servers were quicker.
            passed.add(owner)
        return None

    def _choose_owner(self, passed: Container[str]) -> str | None:
        """Return whose turn it is, of those who are not passed over and may have one more job running."""
        with self.database.read() as connection:
            heads = [head for head in list_heads(connection) if head.owner not in passed]
        return choose_owner([head for head in heads if self._may_begin(head.owner, head.running)])

    def _may_begin(self, owner: str, running: int) -> bool:
        """Return whether an owner of whom some jobs run may have another one begun."""
        limit = self.quotas_of(owner).running_jobs
        return limit is None or running < limit

    def _claim_of(self, owner: str, note: Callable[[Lease], None]) -> Claim | None:
        """Claim the next job of an owner; None where it has none any more, or as many run as may."""
        due = sa.select(JOBS.c.id).where(JOBS.c.status == "queued", JOBS.c.owner == owner)
        # Servers that claim at the same time get a row each; SQLite has one writer at a time in any case.
        due = due.order_by(JOBS.c.turn_s).limit(1).with_for_update(skip_locked=True)
        first = due.correlate(None).scalar_subquery()
        with self.database.begin_relaxed() as connection:
            if self.quotas_of(owner).running_jobs is not None:
                lock_owner(connection, owner)
                if not self._may_begin(owner, count_jobs(connection, "running", owner)):
                    return None
            now_s = read_clock(connection)
            update = sa.update(JOBS).where(JOBS.c.id == first)
            update = update.values(status="running", server=self.server, attempts=JOBS.c.attempts + 1)
            update = update.values(started_s=sa.func.coalesce(JOBS.c.started_s, now_s))
            names = ("id", "token", "kind", "attempts", "created_s", "request_id")
            row = connection.execute(update.returning(*(JOBS.c[name] for name in names))).one_or_none()
            if row is None:
                return None
            lease = Lease(row.id, row.token)
            body = connection.execute(sa.select(BODIES.c.body).where(BODIES.c.id == row.id)).scalar_one_or_none()
            note(lease)
        # A row without a body fails as bad input, and must not keep those behind it waiting.
        age_s = max(0.0, now_s - row.created_s)
        return Claim(lease, row.kind, bytes(body or b""), row.attempts, age_s, row.request_id, owner)

    def touch(self, lease: Lease, progress: Mapping[str, object] | None) -> Instruction:
        """Write how far a run has come, if that is new, and return its instruction."""
        mine = (*_matches(lease), JOBS.c.status == "running", JOBS.c.server == self.server)
        with self.database.begin_relaxed() as connection:
            if progress is not None:
                connection.execute(sa.update(JOBS).where(*mine).values(progress=json.dumps(progress)))
            cancelled = connection.execute(sa.select(JOBS.c.cancelled).where(*mine)).scalar_one_or_none()
        return "lost" if cancelled is None else "stop" if cancelled else "continue"

    def finish(self, lease: Lease, outcome: Outcome, spent: Charge | None = None) -> bool:
        """Write the result of a run, and what it has used, and return whether the lease was still valid.

        What was used counts in either case. Files are left out where the disk has no room for them, which is reserved
        for reports.
        """
        try:
            return self._finish(lease, outcome, spent)
        except DiskFullError:
            if not outcome.files:
                raise
            LOG.warning("files not kept", job_id=lease.job_id)
            return self._finish(lease, replace(outcome, files=()), spent)

    def _finish(self, lease: Lease, outcome: Outcome, spent: Charge | None) -> bool:
        """Write the result of a run with its files, if there is room."""
        problem = None if outcome.problem is None else json.dumps(outcome.problem)
        with self.database.begin() as connection:
            now_s = read_clock(connection)
            ended = {"status": outcome.status, "report": outcome.report, "problem": problem, "ended_s": now_s}
            update = sa.update(JOBS).where(*_matches(lease), JOBS.c.status == "running")
            mine = connection.execute(update.values(ended)).rowcount == 1
            if mine:
                settle_ends(connection, [lease.job_id])
                self._keep_files(connection, lease.job_id, outcome.files)
                size = len(outcome.report or b"") + sum(len(file.packed) for file in outcome.files)
                set_kept(connection, [lease.job_id], size)
            if spent is not None:
                charge(connection, spent, now_s)
        return mine

    def _keep_files(self, connection: Connection, job_id: str, files: Sequence[JobFile]) -> None:
        """Add the files of a job; raise DiskFullError where they would take what is reserved."""
        if not files:
            return
        if self.database.disk is not None:
            self.database.disk.require(sum(len(file.packed) for file in files))
        connection.execute(sa.insert(FILES), [{"id": job_id, **asdict(file)} for file in files])

    def release(self, lease: Lease, spent: Charge | None = None) -> None:
        """Put a job that was claimed back into the queue, and write what its run has used."""
        with self.database.begin_relaxed() as connection:
            found = _requeue(connection, *_matches(lease), JOBS.c.status == "running")
            if spent is not None:
                charge(connection, spent, read_clock(connection))
        _log_outcomes("job put back", found)

    def release_mine(self, but: Container[Lease]) -> None:
        """Requeue all jobs of this server but those of some leases, looked up after the rows have been read."""
        query = sa.select(JOBS.c.id, JOBS.c.token).where(JOBS.c.status == "running", JOBS.c.server == self.server)
        with self.database.read() as connection:
            leases = [Lease(row.id, row.token) for row in connection.execute(query)]
        for lease in leases:
            if lease not in but:
                self.release(lease)

    def release_silent(self, silent: Mapping[str, float]) -> int:
        """Requeue the jobs of servers that have left, or whose last heartbeat is still the one stated; count them."""
        with self.database.begin_relaxed() as connection:
            for name, beat in silent.items():
                # Not one with a newer heartbeat.
                connection.execute(sa.delete(SERVERS).where(SERVERS.c.id == name, SERVERS.c.beat_s == beat))
            others = (JOBS.c.server != self.server, JOBS.c.server.not_in(sa.select(SERVERS.c.id)))
            found = _requeue(connection, JOBS.c.status == "running", *others)
        _log_outcomes("job taken over", found)
        return len(found)

    def beat(self) -> None:
        """Write the heartbeat of this server."""
        with self.database.begin_relaxed() as connection:
            beat_s = read_clock(connection)
            mine = sa.update(SERVERS).where(SERVERS.c.id == self.server).values(beat_s=beat_s)
            if connection.execute(mine).rowcount == 0:
                # Another thread of this server may insert it at the same time.
                new = sa.text("INSERT INTO tiger_servers (id, beat_s) VALUES (:id, :beat_s) ON CONFLICT DO NOTHING")
                connection.execute(new, {"id": self.server, "beat_s": beat_s})

    def leave(self) -> None:
        """Delete the heartbeat of this server."""
        with self.database.begin_relaxed() as connection:
            connection.execute(sa.delete(SERVERS).where(SERVERS.c.id == self.server))

    def beats(self) -> dict[str, float]:
        """Return the last heartbeats of all servers that have not left."""
        with self.database.read() as connection:
            rows = connection.execute(sa.select(SERVERS.c.id, SERVERS.c.beat_s)).all()
        return {row.id: row.beat_s for row in rows}


def _matches(lease: Lease) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for a lease that is the job's last."""
    return JOBS.c.id == lease.job_id, JOBS.c.token == lease.token


def _requeue(connection: Connection, *where: sa.ColumnElement[bool]) -> list[Mapping[str, object]]:
    """Put running jobs back into the queue for another lease, or end those that were cancelled; say which.

    In one statement, as a request may cancel one at the same moment.
    """
    ended = JOBS.c.cancelled == 1
    again: dict[str, object] = {
        "status": sa.case((ended, "cancelled"), else_="queued"),
        "ended_s": sa.case((ended, read_clock(connection))),
        "progress": sa.case((ended, JOBS.c.progress)),
        "server": None,
        "token": JOBS.c.token + 1,
    }
    about = (JOBS.c.id.label("job_id"), JOBS.c.kind, JOBS.c.status, JOBS.c.request_id)
    rows = connection.execute(sa.update(JOBS).where(*where).values(again).returning(*about))
    found: list[Mapping[str, object]] = [dict(row._mapping) for row in rows]
    settle_ends(connection, [job["job_id"] for job in found if job["status"] == "cancelled"])
    return found


def _log_outcomes(event: str, jobs: list[Mapping[str, object]]) -> None:
    """Log what has become of jobs."""
    for job in jobs:
        LOG.warning(event, **job)
