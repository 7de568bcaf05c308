"""Jobs as rows: what requests write and read that submit, list and cancel them."""

import hashlib
import math
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.api.jobs.database import Database, read_clock
from tiger.api.jobs.ends import delete_bodies, settle_ends
from tiger.api.jobs.migrations import BODIES, FILES, JOBS
from tiger.api.jobs.rows import find_job, read_job, select_jobs, select_page, write_cursor
from tiger.api.jobs.turns import find_turn
from tiger.api.jobs.upload_store import release_uploads, use_uploads
from tiger.api.jobs.usage import add_kept, count_jobs, delete_kept, require_quotas
from tiger.api.seams.files import FileInfo, JobFile
from tiger.api.seams.job import (
    ALL_JOBS,
    ENDED,
    Job,
    JobFilter,
    JobOrder,
    KeyReusedError,
)
from tiger.api.seams.quota import QueueFullError, QuotasOf, allow_all

# Ids in one statement; SQLite takes at least 999 parameters.
BATCH = 500
ID = re.compile(r"[0-9a-f]{32}\Z")
FILE_COLUMNS = ("name", "description", "media_type", "size")


@dataclass(frozen=True, slots=True)
class Store:
    """Read and write jobs, of which `max_queued` may wait, half of an owner's without a quota of its own.

    Ended ones are kept for `keep_s`. Every call may raise DatabaseDownError.
    """

    database: Database
    max_queued: int
    quotas_of: QuotasOf = allow_all
    keep_s: float = 0.0

    def insert(self, work: JobOrder) -> tuple[Job, bool]:
        """Keep a job and return it, and whether it is new.

        Raises KeyReusedError, QuotaExceededError or DiskFullError.
        """
        digest = _digest(work)
        return self.database.insert_once(
            lambda connection: self._find_or_insert(connection, work, digest), lambda: self._find_known(work, digest)
        )

    def _find_or_insert(self, connection: Connection, work: JobOrder, digest: str) -> tuple[Job, bool]:
        """Return the job of the key of an order, or a new one, and whether it is new."""
        known = _find_by_key(connection, work, digest)
        return (self._insert(connection, work, digest), True) if known is None else (known, False)

    def _find_known(self, work: JobOrder, digest: str) -> tuple[Job, bool] | None:
        """Return the job that another request has made with the key meanwhile, None where it is purged by now."""
        with self.database.read() as connection:
            known = _find_by_key(connection, work, digest)
        return None if known is None else (known, False)

    def find(self, work: JobOrder) -> Job | None:
        """Return the job that an order has made before by its key; raise KeyReusedError."""
        with self.database.read() as connection:
            return _find_by_key(connection, work, _digest(work))

    def add(self, connection: Connection, work: JobOrder) -> Job:
        """Add a job without a key to a transaction; raise QuotaExceededError or DiskFullError."""
        return self._insert(connection, work, _digest(work))

    def get(self, job_id: str, owner: str) -> Job | None:
        """Return a job with its report."""
        if not ID.match(job_id):
            return None
        with self.database.read() as connection:
            return find_job(connection, *_of(job_id, owner))

    def get_body(self, job_id: str, owner: str) -> bytes | None:
        """Return the request of a job that has not ended."""
        if not ID.match(job_id):
            return None
        query = sa.select(BODIES.c.body).where(BODIES.c.id == job_id, sa.exists().where(*_of(job_id, owner)))
        with self.database.read() as connection:
            body = connection.execute(query).scalar_one_or_none()
        return None if body is None else bytes(body)

    def list_files(self, job_id: str, owner: str) -> tuple[FileInfo, ...]:
        """Return what files a job has left, by name."""
        if not ID.match(job_id):
            return ()
        query = sa.select(*(FILES.c[name] for name in FILE_COLUMNS)).where(*_files_of(job_id, owner))
        with self.database.read() as connection:
            return tuple(FileInfo(**row._mapping) for row in connection.execute(query.order_by(FILES.c.name)))

    def get_file(self, job_id: str, owner: str, name: str) -> JobFile | None:
        """Return a file that a job has left."""
        if not ID.match(job_id):
            return None
        columns = (FILES.c[column] for column in (*FILE_COLUMNS, "packed"))
        query = sa.select(*columns).where(*_files_of(job_id, owner), FILES.c.name == name)
        with self.database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else JobFile(**{**row._mapping, "packed": bytes(row.packed)})

    def states(self, ids: list[str]) -> Mapping[str, object]:
        """Return by id how jobs are: what differs when something about one has changed."""
        columns = [JOBS.c[name] for name in ("id", "status", "started_s", "progress")]
        with self.database.read() as connection:
            parts = (connection.execute(sa.select(*columns).where(JOBS.c.id.in_(part))) for part in _batches(ids))
            return {row.id: tuple(row) for part in parts for row in part}

    def page(
        self, owner: str, after: str | None, limit: int, wanted: JobFilter = ALL_JOBS
    ) -> tuple[tuple[Job, ...], str | None]:
        """Return a page of jobs without reports and the cursor of the next; raise InputError for a bad cursor."""
        query = select_page(select_jobs().where(JOBS.c.owner == owner, *_meets(wanted)), JOBS, after, limit)
        with self.database.read() as connection:
            rows = connection.execute(query).all()
        jobs = tuple(read_job(row) for row in rows[:limit])
        return jobs, write_cursor(jobs[-1].created_s, jobs[-1].id) if len(rows) > limit else None

    def cancel(self, job_id: str, owner: str) -> Job | None:
        """Cancel a job that waits, mark one that runs, and return it."""
        if not ID.match(job_id):
            return None
        with self.database.begin() as connection:
            mine, waits = _of(job_id, owner), JOBS.c.status == "queued"
            # In one statement, as the job may be begun or put back at the same moment.
            ended = {
                "status": sa.case((waits, "cancelled"), else_=JOBS.c.status),
                "ended_s": sa.case((waits, read_clock(connection))),
                "cancelled": 1,
            }
            changed = sa.update(JOBS).where(*mine, JOBS.c.status.not_in(ENDED)).values(ended)
            # By the row that was changed, as one that had ended before is not to end twice.
            rows = connection.execute(changed.returning(JOBS.c.status)).all()
            settle_ends(connection, [job_id for row in rows if row.status in ENDED])
            return find_job(connection, *mine)

    def purge(self, job_id: str, owner: str) -> bool:
        """Delete a job that has ended, with its files and its key, and return whether there was one."""
        if not ID.match(job_id):
            return False
        with self.database.begin() as connection:
            ended = sa.delete(JOBS).where(*_of(job_id, owner), JOBS.c.status.in_(ENDED))
            gone = connection.execute(ended).rowcount == 1
            if gone:
                connection.execute(sa.delete(FILES).where(FILES.c.id == job_id))
                release_uploads(connection, [job_id])
                delete_bodies(connection, [job_id])
                delete_kept(connection, [job_id])
        return gone

    def waiting(self) -> int:
        """Count the jobs of all owners that wait."""
        with self.database.read() as connection:
            return count_jobs(connection, "queued")

    def list_expired(self, keep_s: float, limit: int) -> list[str]:
        """Return the ids of jobs that ended so long ago."""
        with self.database.read() as connection:
            query = sa.select(JOBS.c.id).where(JOBS.c.ended_s < read_clock(connection) - keep_s)
            return [row.id for row in connection.execute(query.limit(limit))]

    def delete(self, ids: list[str]) -> int:
        """Forget ended jobs, with their files, which no other job has, and count those that were still there."""
        with self.database.begin() as connection:
            # The jobs first, as `purge` does, and in one order, so that no two servers wait for each other.
            ended = sa.select(JOBS.c.id).where(JOBS.c.id.in_(ids), JOBS.c.status.in_(ENDED))
            found = [row.id for row in connection.execute(ended.order_by(JOBS.c.id).with_for_update())]
            connection.execute(sa.delete(JOBS).where(JOBS.c.id.in_(found)))
            connection.execute(sa.delete(FILES).where(FILES.c.id.in_(found)))
            delete_kept(connection, found)
            release_uploads(connection, found)
        return len(found)

    def _insert(self, connection: Connection, work: JobOrder, digest: str) -> Job:
        """Add a row, unless too many wait."""
        self._require_room(connection, work.owner)
        if self.database.disk is not None:
            self.database.disk.require(len(work.body))
        # Rounded, so that a page's cursor states it exactly.
        created_s, job_id = round(read_clock(connection), 6), uuid.uuid4().hex
        row = sa.insert(JOBS).values(id=job_id, owner=work.owner, kind=work.kind, hash=digest)
        row = row.values(key=work.key, request_id=work.request_id, priority=work.rank)
        terms = work.terms
        row = row.values(urgency=terms.priority, tags=" ".join(terms.tags), webhook_url=terms.webhook_url)
        turn_s = find_turn(created_s, terms.priority, work.rank)
        row = row.values(status="queued", created_s=created_s, turn_s=turn_s)
        connection.execute(row.values(token=0, attempts=0, cancelled=0))
        connection.execute(sa.insert(BODIES).values(id=job_id, body=work.body))
        add_kept(connection, job_id, work.owner, len(work.body))
        use_uploads(connection, job_id, work.owner, work.uploads)
        return Job(id=job_id, owner=work.owner, kind=work.kind, status="queued", created_s=created_s, terms=work.terms)

    def _require_room(self, connection: Connection, owner: str) -> None:
        """Raise QuotaExceededError where too many jobs wait, or the owner may have no more done or kept."""
        quotas = self.quotas_of(owner)
        require_quotas(connection, owner, quotas, self.keep_s)
        if (waiting := count_jobs(connection, "queued")) >= self.max_queued:
            raise QueueFullError("jobs", waiting, self.max_queued)
        # One key must not keep out all others.
        own = quotas.queued_jobs or (math.ceil(self.max_queued / 2) if owner else self.max_queued)
        if (waiting := count_jobs(connection, "queued", owner)) >= own:
            raise QueueFullError("queued_jobs", waiting, own)


def _digest(work: JobOrder) -> str:
    """Return what tells the orders of one key apart."""
    return hashlib.sha256(work.signature).hexdigest()


def _batches(ids: list[str]) -> Iterator[list[str]]:
    """Yield ids, no more at a time than a statement takes."""
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def _find_by_key(connection: Connection, work: JobOrder, digest: str) -> Job | None:
    """Return the job that has the key already."""
    if work.key is None:
        return None
    same = (JOBS.c.owner == work.owner, JOBS.c.key == work.key)
    known = connection.execute(sa.select(JOBS.c.hash).where(*same)).scalar_one_or_none()
    if known not in (None, digest):
        raise KeyReusedError(work.key)
    return None if known is None else find_job(connection, *same)


def _of(job_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for a job of an owner."""
    return JOBS.c.id == job_id, JOBS.c.owner == owner


def _meets(wanted: JobFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Yield the conditions for the jobs of a filter, all of which the index of pages answers."""
    if wanted.statuses:
        yield JOBS.c.status.in_(wanted.statuses)
    if wanted.kinds:
        yield JOBS.c.kind.in_(wanted.kinds)
    # No LIKE, which on SQLite is deaf to capitals and knows `_` as a wildcard.
    tags = sa.literal(" ") + JOBS.c.tags + sa.literal(" ")
    for tag in wanted.tags:
        yield sa.func.replace(tags, f" {tag} ", "") != tags
    if wanted.since_s is not None:
        yield JOBS.c.created_s >= wanted.since_s
    if wanted.until_s is not None:
        yield JOBS.c.created_s < wanted.until_s


def _files_of(job_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for the files of a job of an owner."""
    return FILES.c.id == job_id, sa.exists().where(*_of(job_id, owner))
