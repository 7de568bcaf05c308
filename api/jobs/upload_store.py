"""Uploads as rows: what is known of each, its text beside it, and the jobs that use it.

Whoever submits a job with uploads writes the time into their rows first, and whoever deletes one locks its row before
looking for jobs: so neither of two at the same time misses the other on PostgreSQL, and SQLite has one writer anyway.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.api.jobs.database import Database, lock_owner, read_clock
from tiger.api.jobs.migrations import JOB_UPLOADS, JOBS, UPLOAD_TEXTS, UPLOADS
from tiger.api.jobs.rows import select_page, write_cursor
from tiger.api.jobs.usage import require_kept
from tiger.api.seams.job import ENDED, DatabaseDownError, DiskFullError
from tiger.api.seams.quota import QuotasOf, allow_all
from tiger.api.seams.upload import NewUpload, Upload, UploadInUseError, UploadText
from tiger.errors import InputError

COLUMNS = ("id", "owner", "name", "size", "kept", "created_s", "used_s")
# Attempts to keep an upload that others keep and delete at the same moment.
TRIES = 3
# Expired ones that are deleted at a time.
BATCH = 200


@dataclass(frozen=True, slots=True)
class UploadStore:
    """Read and write uploads, each until `keep_s` seconds after its last use; may raise DatabaseDownError."""

    database: Database
    keep_s: float
    quotas_of: QuotasOf = allow_all

    def insert(self, new: NewUpload) -> tuple[Upload, bool]:
        """Keep a text and return its upload, and whether it is new to its owner.

        Raises QuotaExceededError or DiskFullError.
        """
        try:
            return self._keep(new)
        except DiskFullError:
            # What was deleted may still take room.
            self.database.shrink()
        return self._keep(new)

    def get(self, upload_id: str, owner: str) -> Upload | None:
        """Return an upload."""
        with self.database.read() as connection:
            return _find(connection, upload_id, owner)

    def page(self, owner: str, after: str | None, limit: int) -> tuple[tuple[Upload, ...], str | None]:
        """Return a page of uploads and the cursor of the next; raise InputError for a bad cursor."""
        query = select_page(_select().where(UPLOADS.c.owner == owner), UPLOADS, after, limit)
        with self.database.read() as connection:
            rows = connection.execute(query).all()
        found = tuple(Upload(**row._mapping) for row in rows[:limit])
        return found, write_cursor(found[-1].created_s, found[-1].id) if len(rows) > limit else None

    def list_names(self, ids: Iterable[str], owner: str) -> Mapping[str, UploadText]:
        """Return the names of those of some uploads that there are, by id."""
        query = sa.select(UPLOADS.c.id, UPLOADS.c.name).where(UPLOADS.c.owner == owner, UPLOADS.c.id.in_(list(ids)))
        with self.database.read() as connection:
            return {row.id: UploadText(row.name) for row in connection.execute(query)}

    def read(self, ids: Iterable[str], owner: str) -> Mapping[str, UploadText]:
        """Return the texts of those of some uploads that there are, by id."""
        query = _select_texts().where(UPLOADS.c.owner == owner, UPLOADS.c.id.in_(list(ids)))
        with self.database.read() as connection:
            return {row.id: UploadText(row.name, bytes(row.packed)) for row in connection.execute(query)}

    def read_of_job(self, job_id: str) -> Mapping[str, UploadText]:
        """Return the texts that a job uses, by the ids of their uploads."""
        used = (JOB_UPLOADS.c.owner == UPLOADS.c.owner, JOB_UPLOADS.c.upload_id == UPLOADS.c.id)
        query = _select_texts().where(*used, JOB_UPLOADS.c.job_id == job_id)
        with self.database.read() as connection:
            return {row.id: UploadText(row.name, bytes(row.packed)) for row in connection.execute(query)}

    def delete(self, upload_id: str, owner: str) -> bool:
        """Delete an upload, and return whether there was one; raise UploadInUseError."""
        mine = _is(upload_id, owner)
        with self.database.begin() as connection:
            if connection.execute(sa.select(UPLOADS.c.id).where(*mine).with_for_update()).one_or_none() is None:
                return False
            # In a statement of its own, which sees the jobs of whoever had the row before.
            if connection.execute(sa.select(sa.literal(1)).where(*mine, _is_awaited())).first() is not None:
                raise UploadInUseError(upload_id)
            connection.execute(sa.delete(UPLOADS).where(*mine))
            connection.execute(
                sa.delete(UPLOAD_TEXTS).where(UPLOAD_TEXTS.c.owner == owner, UPLOAD_TEXTS.c.id == upload_id)
            )
        return True

    def delete_expired(self) -> int:
        """Delete some of the uploads that nobody has used for long and no job waits for, and count them."""
        with self.database.read() as connection:
            old = UPLOADS.c.used_s < read_clock(connection) - self.keep_s
            query = sa.select(UPLOADS.c.id, UPLOADS.c.owner).where(old, ~_is_awaited()).limit(BATCH)
            rows = connection.execute(query).all()
        return sum(self._delete_unused(row.id, row.owner) for row in rows)

    def _delete_unused(self, upload_id: str, owner: str) -> bool:
        """Delete an upload that has expired, unless it has been used meanwhile, and return whether it is gone."""
        with self.database.begin() as connection:
            old = UPLOADS.c.used_s < read_clock(connection) - self.keep_s
            gone = connection.execute(sa.delete(UPLOADS).where(*_is(upload_id, owner), old)).rowcount == 1
            if gone:
                texts = (UPLOAD_TEXTS.c.owner == owner, UPLOAD_TEXTS.c.id == upload_id)
                connection.execute(sa.delete(UPLOAD_TEXTS).where(*texts))
        return gone

    def _keep(self, new: NewUpload) -> tuple[Upload, bool]:
        """Keep a text, if there is room, or note that the owner has uploaded it again."""
        for _ in range(TRIES):
            try:
                with self.database.begin() as connection:
                    now_s = round(read_clock(connection), 6)
                    again = sa.update(UPLOADS).where(*_is(new.id, new.owner)).values(used_s=now_s)
                    known = connection.execute(again).rowcount == 1
                    if not known:
                        self._insert(connection, new, now_s)
                    found = _find(connection, new.id, new.owner)
                if found is not None:
                    return found, not known
            except sa.exc.IntegrityError:
                # The same text came at the same moment.
                continue
        raise DatabaseDownError("an upload that is deleted whenever it is kept")

    def _insert(self, connection: Connection, new: NewUpload, now_s: float) -> None:
        """Add the rows of an upload; raise QuotaExceededError, or DiskFullError without room that is not reserved."""
        quotas = self.quotas_of(new.owner)
        if quotas.kept_bytes is not None:
            lock_owner(connection, new.owner)
            require_kept(connection, new.owner, quotas, self.keep_s)
        if self.database.disk is not None:
            self.database.disk.require(len(new.packed))
        row = {"id": new.id, "owner": new.owner, "name": new.name, "size": new.size, "kept": len(new.packed)}
        connection.execute(sa.insert(UPLOADS).values(**row, created_s=now_s, used_s=now_s))
        connection.execute(sa.insert(UPLOAD_TEXTS).values(id=new.id, owner=new.owner, packed=new.packed))


def use_uploads(connection: Connection, job_id: str, owner: str, ids: Iterable[str]) -> None:
    """Note that a new job uses some uploads, which nobody can delete from now on.

    Raises InputError where one is gone.
    """
    now_s = read_clock(connection)
    # One after the other and in order, as jobs with the same two would else wait for each other.
    for upload_id in sorted(ids):
        used = sa.update(UPLOADS).where(*_is(upload_id, owner)).values(used_s=now_s)
        if connection.execute(used).rowcount != 1:
            raise InputError("upload", f"expected uploads that are kept, got {upload_id}, which was deleted meanwhile")
        connection.execute(sa.insert(JOB_UPLOADS).values(job_id=job_id, owner=owner, upload_id=upload_id))


def release_uploads(connection: Connection, job_ids: list[str]) -> None:
    """Note that jobs use no uploads any more, as they are deleted."""
    connection.execute(sa.delete(JOB_UPLOADS).where(JOB_UPLOADS.c.job_id.in_(job_ids)))


def _select() -> sa.Select[tuple[object, ...]]:
    """Select what is known of uploads."""
    jobs = sa.select(sa.func.count()).select_from(JOB_UPLOADS).where(*_uses()).scalar_subquery()
    return sa.select(*(UPLOADS.c[name] for name in COLUMNS), jobs.label("jobs"))


def _select_texts() -> sa.Select[tuple[object, ...]]:
    """Select ids, names and texts of uploads."""
    same = (UPLOAD_TEXTS.c.owner == UPLOADS.c.owner, UPLOAD_TEXTS.c.id == UPLOADS.c.id)
    return sa.select(UPLOADS.c.id, UPLOADS.c.name, UPLOAD_TEXTS.c.packed).where(*same)


def _find(connection: Connection, upload_id: str, owner: str) -> Upload | None:
    """Return an upload."""
    row = connection.execute(_select().where(*_is(upload_id, owner))).one_or_none()
    return None if row is None else Upload(**row._mapping)


def _is(upload_id: str, owner: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for an upload of an owner."""
    return UPLOADS.c.id == upload_id, UPLOADS.c.owner == owner


def _uses() -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    """Return the conditions for the row by which a job uses an upload."""
    return JOB_UPLOADS.c.owner == UPLOADS.c.owner, JOB_UPLOADS.c.upload_id == UPLOADS.c.id


def _is_awaited() -> sa.ColumnElement[bool]:
    """Return the condition for an upload that a job uses which has not ended."""
    return sa.exists().where(*_uses(), JOBS.c.id == JOB_UPLOADS.c.job_id, JOBS.c.status.not_in(ENDED))
