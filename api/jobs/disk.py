"""The space on the disk of an SQLite database, of which some is reserved for the end and the deletion of jobs."""

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from typing import cast

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import OperationalError

from tiger.api.seams.job import DiskFullError

# A journal of 4 MiB, at which SQLite begins it again, a body and a report of as much are together a fifth of this.
RESERVE_BYTES = 64 << 20
# A small disk is half for jobs and half for getting rid of them.
SHARE = 2
# Pages that move at a time while a file shrinks: a megabyte of journal, so that a full disk has room for it.
PAGES, STEPS = 256, 16
# A file is rewritten by way of a temporary one and of its journal.
COPIES = 3


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Measure the disk of a file, and keep `reserve_bytes` of it, at most half, from new work."""

    path: Path
    reserve_bytes: int = RESERVE_BYTES

    def require(self, size: int) -> None:
        """Raise DiskFullError unless a row of so many bytes fits, once in the journal and once in the file.

        Without it a full disk would take neither the end of a job nor its deletion, and so never have room again. A
        disk without a size, as one in memory may be, has room for everything.
        """
        disk = os.statvfs(self.path.parent)
        reserve = min(self.reserve_bytes, disk.f_blocks * disk.f_frsize // SHARE)
        if disk.f_blocks and disk.f_bavail * disk.f_frsize < reserve + 2 * size:
            raise DiskFullError(f"fewer than {reserve} bytes would be left on the disk")

    def holds(self, copies: int) -> bool:
        """Return whether there is room for so many copies of the file."""
        disk = os.statvfs(self.path.parent)
        return disk.f_bavail * disk.f_frsize > copies * self.path.stat().st_size


def shrink(engine: Engine) -> bool:
    """Give back to the disk what deleted rows and the journal of an SQLite file take, and return whether there is more.

    A file that could not be made shrinkable gives back its journal alone.
    """
    with engine.connect() as connection:
        script = cast(SQLiteConnection, connection.connection.driver_connection).executescript
        left, before = _free_pages(connection), math.inf
        for _ in range(STEPS):
            if not 0 < left < before:
                break
            # As a script, since one step of this statement frees one page.
            script(f"PRAGMA incremental_vacuum({PAGES})")
            left, before = _free_pages(connection), left
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return 0 < left < before


def make_shrinkable(engine: Engine, disk: DiskSpace) -> None:
    """Rewrite an SQLite file of an older version, unless there is no space for that or another process uses it.

    It could not shrink otherwise, and deleted rows would take their space for ever.
    """
    with engine.connect() as connection, suppress(OperationalError):
        old = connection.exec_driver_sql("PRAGMA auto_vacuum").scalar_one() == 0
        if old and disk.holds(COPIES):
            connection.exec_driver_sql("VACUUM")


def _free_pages(connection: Connection) -> int:
    """Return how many pages of a file hold nothing."""
    return int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
