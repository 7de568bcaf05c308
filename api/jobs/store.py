"""Jobs as rows: what requests write and read that submit, list and cancel them."""

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from tiger.api.jobs.claims import delete_bodies
from tiger.api.jobs.database import Database, read_clock
from tiger.api.jobs.migrations import BODIES, FILES, JOBS
from tiger.api.seams.files import FileInfo, JobFile
from tiger.api.seams.job import (
    ALL_JOBS,
    CURSOR,
    ENDED,
    DiskFullError,
    Job,
    JobFilter,
    JobOrder,
    JobTerms,
    KeyReusedError,
    QueueFullError,
)
from tiger.errors import InputError

# Ids in one statement; SQLite takes at least 999 parameters.
BATCH = 500
ID = re.compile(r"[0-9a-f]{32}\Z")
FILE_COLUMNS = ("name", "description", "media_type", "size")
COLUMNS = ("id", "owner", "kind", "status", "created_s", "started_s", "ended_s", "progress", "problem")
TERMS = ("urgency", "tags", "webhook_url")
JobRow = Row[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Store:
    """Read and write jobs, of which `max_queued` may wait, half of one owner's; may raise DatabaseDownError."""

    database: Database
    max_queued: int

    def insert(self, work: JobOrder) -> tuple[Job, bool]:
        """Keep a job and return it, and whether it is new; raise KeyReusedError, QueueFullError or DiskFullError."""
        try:
            return self._keep(work)
        except DiskFullError:
            # What was deleted may still take room.
            self.database.shrink()
        return self._keep(work)

    def _keep(self, work: JobOrder) -> tuple[Job, bool]:
        """Keep a job, if there is room."""
        digest = hashlib.sha256(work.signature).hexdigest()
        try:
            with self.database.begin() as connection:
                known = _find_by_key(connection, work, digest)
                return (known, False) if known else (self._insert(connection, work, digest), True)
        except sa.exc.IntegrityError:
            # Another request with the same key came first.
            with self.database.read() as connection:
                known = _find_by_key(connection, work, digest)
            if known is not None:
                return known, False
            # It has been purged by now.
            with self.database.begin() as connection:
                return self._insert(connection, work, digest), True

    def find(self, work: JobOrder) -> Job | None:
        """Return the job that an order has made before by its key; raise KeyReusedError."""
        with self.database.read() as connection:
            return _find_by_key(connection, work, hashlib.sha256(work.signature).hexdigest())

    def get(self, job_id: str, owner: str) -> Job | None:
        """Return a job with its report."""
        if not ID.match(job_id):
            return None
        with self.database.read() as connection:
            return _find(connection, *_of(job_id, owner))

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
        query = (
            _select().where(JOBS.c.owner == owner, *_meets(wanted)).order_by(JOBS.c.created_s.desc(), JOBS.c.id.desc())
        )
        if after is not None:
            query = query.where(sa.tuple_(JOBS.c.created_s, JOBS.c.id) < _read_cursor(after))
        with self.database.read() as connection:
            rows = connection.execute(query.limit(limit + 1)).all()
        jobs = tuple(_job(row) for row in rows[:limit])
        return jobs, f"{jobs[-1].created_s:.6f}-{jobs[-1].id}" if len(rows) > limit else None

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
            connection.execute(sa.update(JOBS).where(*mine, JOBS.c.status.not_in(ENDED)).values(ended))
            job = _find(connection, *mine)
            if job is not None and job.ended:
                delete_bodies(connection, [job_id])
            return job

    def purge(self, job_id: str, owner: str) -> bool:
        """Delete a job that has ended, with its files and its key, and return whether there was one."""
        if not ID.match(job_id):
            return False
        with self.database.begin() as connection:
            ended = sa.delete(JOBS).where(*_of(job_id, owner), JOBS.c.status.in_(ENDED))
            gone = connection.execute(ended).rowcount == 1
            if gone:
                connection.execute(sa.delete(FILES).where(FILES.c.id == job_id))
                delete_bodies(connection, [job_id])
        return gone

    def waiting(self) -> int:
        """Count the jobs of all owners that wait."""
        with self.database.read() as connection:
            return _count_queued(connection)

    def list_expired(self, keep_s: float, limit: int) -> list[str]:
        """Return the ids of jobs that ended so long ago."""
        with self.database.read() as connection:
            query = sa.select(JOBS.c.id).where(JOBS.c.ended_s < read_clock(connection) - keep_s)
            return [row.id for row in connection.execute(query.limit(limit))]

    def delete(self, ids: list[str]) -> None:
        """Forget ended jobs, with their files, which no other job has."""
        with self.database.begin() as connection:
            connection.execute(sa.delete(FILES).where(FILES.c.id.in_(ids)))
            connection.execute(sa.delete(JOBS).where(JOBS.c.id.in_(ids), JOBS.c.status.in_(ENDED)))

    def _insert(self, connection: Connection, work: JobOrder, digest: str) -> Job:
        """Add a row, unless too many wait."""
        # One key must not keep out all others.
        own = math.ceil(self.max_queued / 2) if work.owner else self.max_queued
        if _count_queued(connection) >= self.max_queued or _count_queued(connection, JOBS.c.owner == work.owner) >= own:
            raise QueueFullError(f"{self.max_queued} jobs wait already, or {own} of this owner's")
        if self.database.disk is not None:
            self.database.disk.require(len(work.body))
        # Rounded, so that a page's cursor states it exactly.
        created_s, job_id = round(read_clock(connection), 6), uuid.uuid4().hex
        row = sa.insert(JOBS).values(id=job_id, owner=work.owner, kind=work.kind, hash=digest)
        row = row.values(key=work.key, request_id=work.request_id, priority=work.rank)
        terms = work.terms
        row = row.values(urgency=terms.priority, tags=" ".join(terms.tags), webhook_url=terms.webhook_url)
        row = row.values(status="queued", created_s=created_s)
        connection.execute(row.values(token=0, attempts=0, cancelled=0))
        connection.execute(sa.insert(BODIES).values(id=job_id, body=work.body))
        return Job(id=job_id, owner=work.owner, kind=work.kind, status="queued", created_s=created_s, terms=work.terms)


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
    return None if known is None else _find(connection, *same)


def _count_queued(connection: Connection, *where: sa.ColumnElement[bool]) -> int:
    """Count the jobs that wait."""
    query = sa.select(sa.func.count()).select_from(JOBS).where(JOBS.c.status == "queued", *where)
    return int(connection.execute(query).scalar_one())


def _of(job_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for a job of an owner."""
    return JOBS.c.id == job_id, JOBS.c.owner == owner


def _meets(wanted: JobFilter) -> Iterator[sa.ColumnElement[bool]]:
    """Yield the conditions for the jobs of a filter, all of which the index of pages answers."""
    if wanted.statuses:
        yield JOBS.c.status.in_(wanted.statuses)
    if wanted.kinds:
        yield JOBS.c.kind.in_(wanted.kinds)
    if wanted.since_s is not None:
        yield JOBS.c.created_s >= wanted.since_s
    if wanted.until_s is not None:
        yield JOBS.c.created_s < wanted.until_s


def _files_of(job_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for the files of a job of an owner."""
    return FILES.c.id == job_id, sa.exists().where(*_of(job_id, owner))


def _select(*more: str) -> sa.Select[tuple[object, ...]]:
    """Select the columns of a job."""
    return sa.select(*(JOBS.c[name] for name in (*COLUMNS, *TERMS, *more)))


def _find(connection: Connection, *where: sa.ColumnElement[bool]) -> Job | None:
    """Return the one job that meets conditions, with its report."""
    row = connection.execute(_select("report").where(*where)).one_or_none()
    return None if row is None else _job(row)


def _job(row: JobRow) -> Job:
    """Return the job that a row states."""
    fields = dict(row._mapping)
    urgency, tags, webhook_url = (fields.pop(name) for name in TERMS)
    terms = JobTerms(priority=cast(int, urgency), tags=tuple(str(tags).split()), webhook_url=cast(str, webhook_url))
    for name in ("progress", "problem"):
        fields[name] = json.loads(cast(str, fields[name])) if fields[name] is not None else None
    if fields.get("report") is not None:
        fields["report"] = bytes(cast(bytes, fields["report"]))
    return Job(**fields, terms=terms)


def _read_cursor(cursor: str) -> sa.Tuple:
    """Return the place in the list that a cursor states."""
    match = CURSOR.fullmatch(cursor)
    if match is None:
        raise InputError("after", "expected the cursor of a page")
    return sa.tuple_(sa.literal(float(match[1]), sa.Double), sa.literal(match[2]))
