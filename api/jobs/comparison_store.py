"""Comparisons as rows: what requests write and read that compare jobs."""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from tiger.api.jobs.database import Database, read_clock
from tiger.api.jobs.migrations import COMPARISONS
from tiger.api.jobs.rows import select_page, write_cursor
from tiger.api.jobs.store import ID
from tiger.api.jobs.usage import add_kept, delete_kept, require_kept
from tiger.api.seams.comparison import ComparedJob, NewComparison, StoredComparison
from tiger.api.seams.job import Job, JobOrder, KeyReusedError, Kind
from tiger.api.seams.quota import QueueFullError, QuotasOf, allow_all

# Comparisons that are deleted at a time; SQLite takes at least 999 parameters in a statement.
BATCH = 500
COLUMNS = tuple(COMPARISONS.c[name] for name in ("id", "owner", "kind", "created_s", "entries"))


@dataclass(frozen=True, slots=True)
class ComparisonStore:
    """Read and write comparisons, which are kept for `keep_s`; `add` adds a new job within the same transaction.

    Every call may raise DatabaseDownError.
    """

    database: Database
    add: Callable[[Connection, JobOrder], Job]
    keep_s: float
    quotas_of: QuotasOf = allow_all

    def insert(self, new: NewComparison) -> StoredComparison:
        """Keep a comparison with its new jobs and return it, or the one of the same key.

        Raises KeyReusedError, QuotaExceededError or DiskFullError, and keeps nothing then.
        """
        return self.database.insert_once(
            lambda connection: self._insert(connection, new),
            lambda: None if new.key is None else self.find(new.owner, new.key, new.body),
        )

    def find(self, owner: str, key: str, body: bytes) -> StoredComparison | None:
        """Return the comparison that a request with a key has made; raise KeyReusedError for another body."""
        mine = (COMPARISONS.c.owner == owner, COMPARISONS.c.key == key)
        with self.database.read() as connection:
            row = connection.execute(sa.select(COMPARISONS.c.id, COMPARISONS.c.hash).where(*mine)).one_or_none()
        if row is not None and row.hash != _digest(body):
            raise KeyReusedError(key)
        return None if row is None else self.get(row.id, owner)

    def get(self, comparison_id: str, owner: str) -> StoredComparison | None:
        """Return a comparison."""
        if not ID.match(comparison_id):
            return None
        with self.database.read() as connection:
            row = connection.execute(sa.select(*COLUMNS).where(*_of(comparison_id, owner))).one_or_none()
        return None if row is None else _comparison(row)

    def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[StoredComparison, ...], str | None]:
        """Return a page of comparisons and the cursor of the next; raise InputError for a bad cursor."""
        query = select_page(sa.select(*COLUMNS).where(COMPARISONS.c.owner == owner), COMPARISONS, after, limit)
        with self.database.read() as connection:
            rows = connection.execute(query).all()
        found = tuple(_comparison(row) for row in rows[:limit])
        return found, write_cursor(found[-1].created_s, found[-1].id) if len(rows) > limit else None

    def delete(self, comparison_id: str, owner: str) -> bool:
        """Forget a comparison, and return whether there was one."""
        if not ID.match(comparison_id):
            return False
        with self.database.begin() as connection:
            return _forget(connection, *_of(comparison_id, owner)) == 1

    def delete_expired(self) -> int:
        """Forget some of the comparisons that have expired, and count them."""
        with self.database.begin() as connection:
            since_s = read_clock(connection) - self.keep_s
            query = sa.select(COMPARISONS.c.id).where(COMPARISONS.c.created_s < since_s).limit(BATCH)
            old = [row.id for row in connection.execute(query)]
            return _forget(connection, COMPARISONS.c.id.in_(old)) if old else 0

    def _insert(self, connection: Connection, new: NewComparison) -> StoredComparison:
        """Add a row, and those of new jobs."""
        created_s, name = round(read_clock(connection), 6), uuid.uuid4().hex
        row = sa.insert(COMPARISONS).values(id=name, owner=new.owner, key=new.key, hash=_digest(new.body))
        # Before the jobs, so that another request with the same key waits here, and adds none.
        connection.execute(row.values(kind=new.kind, created_s=created_s, entries="[]"))
        require_kept(connection, new.owner, self.quotas_of(new.owner), self.keep_s)
        entries = tuple(
            ComparedJob(label=each.label, job=job_id, request=each.request)
            for each, job_id in zip(new.entries, self._add_jobs(connection, new), strict=True)
        )
        text = json.dumps([asdict(each) for each in entries], allow_nan=False)
        if self.database.disk is not None:
            self.database.disk.require(len(text))
        connection.execute(sa.update(COMPARISONS).where(COMPARISONS.c.id == name).values(entries=text))
        add_kept(connection, name, new.owner, len(text))
        return StoredComparison(id=name, owner=new.owner, kind=new.kind, created_s=created_s, entries=entries)

    def _add_jobs(self, connection: Connection, new: NewComparison) -> Iterator[str]:
        """Add the new jobs of a comparison, and yield the id of each of its jobs.

        Raises QueueFullError with what waits without them, as none of them is kept then.
        """
        added = 0
        for each in new.entries:
            if isinstance(each.job, str):
                yield each.job
                continue
            try:
                yield self.add(connection, each.job).id
            except QueueFullError as error:
                raise QueueFullError(error.quota, error.used - added, error.limit, error.resets_s) from None
            added += 1


def _forget(connection: Connection, *where: sa.ColumnElement[bool]) -> int:
    """Delete comparisons, and count them."""
    gone = connection.execute(sa.delete(COMPARISONS).where(*where).returning(COMPARISONS.c.id))
    ids = [row.id for row in gone]
    if ids:
        delete_kept(connection, ids)
    return len(ids)


def _comparison(row: Row[tuple[object, ...]]) -> StoredComparison:
    """Return the comparison that a row states."""
    entries = tuple(ComparedJob(**each) for each in json.loads(row.entries))
    kind = cast(Kind, row.kind)
    return StoredComparison(id=row.id, owner=row.owner, kind=kind, created_s=row.created_s, entries=entries)


def _of(comparison_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for a comparison of an owner."""
    return COMPARISONS.c.id == comparison_id, COMPARISONS.c.owner == owner


def _digest(body: bytes) -> str:
    """Return what tells bodies of one key apart."""
    return hashlib.sha256(body).hexdigest()
