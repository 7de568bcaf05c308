"""The database of the jobs: SQLite or PostgreSQL, by the same statements."""

import hashlib
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from tiger.api.jobs.disk import RESERVE_BYTES, DiskSpace, make_shrinkable, shrink
from tiger.api.jobs.migrations import migrate
from tiger.api.seams.job import DatabaseDownError, DiskFullError
from tiger.errors import InputError

# What one request inserts.
Row = TypeVar("Row")
POSTGRES = ("postgres", "postgresql")
# A server that is halted inside a transaction must not block the others.
SESSION = "-c lock_timeout=5s -c statement_timeout=20s -c idle_in_transaction_session_timeout=10s"
# Text is text also where a database was made without an encoding, as it is where no language is set. A connection to a
# machine that has gone silent is given up within seconds.
CONNECTION = {
    "client_encoding": "utf8",
    "connect_timeout": "3",
    "tcp_user_timeout": "5000",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
}
# A connection's own cache; its default, 2 MiB, would be held by each of dozens of connections.
CACHE_KIB = 128
# Errors of a full disk, and of tables that somebody has dropped, or whose rights were taken away.
FULL, LOST = ("SQLITE_FULL", "53100"), ("42P01", "42501")


class Database:
    """Open transactions on a database; it can be lost and come back.

    `disk` is that of an SQLite file, of which `reserve_bytes` are kept; PostgreSQL looks after its own.
    """

    def __init__(self, url: str, reserve_bytes: int = RESERVE_BYTES) -> None:
        parts = sa.make_url(url)
        self.disk: DiskSpace | None = None
        if parts.get_backend_name() in POSTGRES:
            parts = parts.update_query_dict(CONNECTION).update_query_dict(parts.query)
            self.engine = self._relaxed_engine = _postgres(parts)
            self._write_lock: AbstractContextManager[object] = nullcontext()
        else:
            self.disk = DiskSpace(Path(str(parts.database)), reserve_bytes)
            self.engine, self._relaxed_engine = _sqlite(parts, "FULL"), _sqlite(parts, "NORMAL")
            # SQLite has one writer at a time in any case, and those who wait here hold no transaction.
            self._write_lock = Lock()

    def prepare(self) -> None:
        """Bring the tables up to date; raise DatabaseDownError."""
        if self.disk is not None:
            with guard():
                make_shrinkable(self.engine, self.disk)
        with self.begin() as connection:
            migrate(connection)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """Open a transaction that is committed at the end; raise DatabaseDownError where the database is not usable."""
        with guard(), self._write_lock, self.engine.begin() as connection:
            yield connection

    @contextmanager
    def begin_relaxed(self) -> Iterator[Connection]:
        """Open a transaction that may be lost when the power is; raise DatabaseDownError as `begin` does.

        For what is found out again: who works on what, and how far that has come. It does not wait for the disk.
        """
        with guard(), self._write_lock, self._relaxed_engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text("SET LOCAL synchronous_commit = off"))
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a connection to read by, which waits for no writer; raise DatabaseDownError as `begin` does."""
        with guard(), self._relaxed_engine.connect() as connection:
            yield connection

    def insert_once(self, insert: Callable[[Connection], Row], find: Callable[[], Row | None]) -> Row:
        """Return what `insert` adds, or what `find` returns where another request with the same key came first.

        Raises as they do, DiskFullError where there is too little room even without what was deleted.
        """
        try:
            return self._insert_once(insert, find)
        except DiskFullError:
            # What was deleted may still take room.
            self.shrink()
        return self._insert_once(insert, find)

    def _insert_once(self, insert: Callable[[Connection], Row], find: Callable[[], Row | None]) -> Row:
        """Insert, if there is room."""
        try:
            with self.begin() as connection:
                return insert(connection)
        except sa.exc.IntegrityError:
            known = find()
        if known is not None:
            return known
        # It has been deleted by now.
        with self.begin() as connection:
            return insert(connection)

    def shrink(self) -> bool:
        """Give back to the disk what nothing is kept in, and return whether there is more; raise DatabaseDownError."""
        if self.disk is None:
            return False
        with guard(), self._write_lock:
            return shrink(self.engine)

    def close(self) -> None:
        """Close all connections."""
        self._relaxed_engine.dispose()
        self.engine.dispose()


@contextmanager
def guard() -> Iterator[None]:
    """Raise DatabaseDownError for any error that says that the database, or the folder of its file, is not usable.

    What is run by SQLite's own driver raises that one's errors.
    """
    try:
        yield
    except (sa.exc.IntegrityError, sa.exc.DataError):
        raise
    except (sa.exc.DBAPIError, sa.exc.TimeoutError, sqlite3.Error, OSError) as error:
        if isinstance(error, sa.exc.ProgrammingError) and _number(error) not in LOST:
            raise
        gone = DiskFullError if _number(error) in FULL else DatabaseDownError
        raise gone(type(error).__name__) from error


def _number(error: Exception) -> str | None:
    """Return the number of an error by PostgreSQL, or its name by SQLite."""
    cause = getattr(error, "orig", error)
    found: str | None = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None)
    return found


def read_clock(connection: Connection) -> float:
    """Return the seconds since the epoch by the one clock that all servers of a database share."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


def lock_owner(connection: Connection, owner: str) -> None:
    """Have others who lock the owner wait for the end of this transaction; SQLite has one that writes in any case."""
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(owner.encode()).digest()[:8], signed=True)
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:number)"), {"number": number})


def _sqlite(url: sa.URL, synchronous: str) -> Engine:
    """Return an engine on an SQLite file."""
    engine = sa.create_engine(url, connect_args={"timeout": 5}, pool_timeout=5)
    # What is kept is nobody else's to read, and SQLite makes the files beside one with the rights of that one. Where it
    # cannot be made, connecting fails with the reason.
    with suppress(OSError):
        os.close(os.open(str(url.database), os.O_CREAT | os.O_RDWR, 0o600))

    @event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: object) -> None:
        # Transactions begin as writers, so that none has to give way half-way; readers need not wait for them.
        connection.isolation_level = "IMMEDIATE"
        # Of use before there is anything in the file.
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        # Every connection has a cache of its own; what is not in it, the kernel has.
        connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
        # Not every build has the functions of mathematics.
        connection.create_function("exp", 1, math.exp, deterministic=True)

    return engine


def _postgres(url: sa.URL) -> Engine:
    """Return an engine on PostgreSQL; raise InputError where its driver is not installed."""
    try:
        return sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            pool_size=8,
            pool_timeout=5,
            connect_args={"options": SESSION},
        )
    except ModuleNotFoundError:
        raise InputError("TIGER_DATABASE_URL", "expected psycopg: pip install 'tiger-mapper[postgres]'") from None
