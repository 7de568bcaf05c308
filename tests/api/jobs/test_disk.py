"""The room that is kept on the disk of an SQLite database."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest import mock

import pytest
import sqlalchemy as sa

from tiger.api.jobs.claims import Claims, Lease, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.disk import DiskSpace
from tiger.api.jobs.store import Store
from tiger.api.seams.job import DatabaseDownError, DiskFullError, JobOrder

BIG = 2_000_000


def work(size: int, key: str | None = None) -> JobOrder:
    """Return work whose body has so many bytes."""
    return JobOrder(kind="assign", body=b"x" * size, key=key)


def open_database(path: Path, reserve_bytes: int) -> Database:
    """Return a database on a disk where so many bytes are kept, however small it is."""
    database = Database(f"sqlite:///{path}/jobs", reserve_bytes)
    database.prepare()
    return database


def test_bug_a_disk_is_never_filled_by_new_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known already is found again, and what there is can be cancelled, ended and deleted."""
    database = open_database(tmp_path, 10_000)
    store, claims = Store(database, 9), Claims(database, "here")
    ids = [store.insert(work(10, str(k)))[0].id for k in range(2)]
    disk = os.statvfs_result((4096, 4096, 100, 100, 2, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: disk)
    with pytest.raises(DiskFullError):
        store.insert(work(10))
    assert store.insert(work(10, "0"))[0].id == ids[0]
    cancelled = store.cancel(ids[0], "")
    assert cancelled is not None
    assert cancelled.status == "cancelled"
    claims.claim_next()
    assert claims.finish(Lease(ids[1], 0), Outcome(status="done", report=b"{}"))
    store.delete(ids)
    assert store.get(ids[0], "") is None
    database.close()


def test_half_of_a_small_disk_is_for_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is to be kept of a large one."""
    disk = os.statvfs_result((4096, 4096, 100, 60, 60, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: disk)
    DiskSpace(Path("/a/b")).require(5 * 4096)
    with pytest.raises(DiskFullError):
        DiskSpace(Path("/a/b")).require(5 * 4096 + 1)


def test_bug_what_is_deleted_gives_its_room_back(tmp_path: Path) -> None:
    """The file shrinks and the journal is empty, and a job finds room that had none before."""
    database = open_database(tmp_path, 0)
    store, path = Store(database, 9), tmp_path / "jobs"
    ids = [store.insert(work(BIG))[0].id for _ in range(4)]
    for name in ids:
        store.cancel(name, "")
    while database.shrink():
        pass
    assert (path.stat().st_size < BIG, path.with_name("jobs-wal").stat().st_size) == (True, 0)
    database.close()


def test_a_file_of_an_older_version_is_made_to_shrink(tmp_path: Path) -> None:
    """Its jobs stay; where the disk has no room for a copy, it is left as it is."""
    with closing(sqlite3.connect(tmp_path / "jobs")) as old:
        old.execute("CREATE TABLE kept AS SELECT 7 AS a")
        old.execute("PRAGMA journal_mode=WAL")
    found = []
    for fits in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DiskSpace, "holds", mock.Mock(return_value=fits))
            database = open_database(tmp_path, 0)
        with database.read() as connection:
            kept = connection.exec_driver_sql("SELECT a FROM kept").scalar_one()
            found.append((kept, connection.exec_driver_sql("PRAGMA auto_vacuum").scalar_one()))
        database.close()
    assert found == [(7, 0), (7, 2)]


def test_bug_a_full_disk_is_told_apart(tmp_path: Path) -> None:
    """By what SQLite says of it."""
    database = open_database(tmp_path, 0)
    sa.event.listen(database.engine, "checkout", lambda found, *_: found.execute("PRAGMA max_page_count=1"))
    with pytest.raises(DiskFullError):
        Store(database, 9).insert(work(BIG))
    database.close()


def test_bug_nobody_else_may_read_what_is_kept(tmp_path: Path) -> None:
    """Whatever the mask of the process says, and whichever file it is."""
    before = os.umask(0)
    try:
        database = open_database(tmp_path, 0)
        with database.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE t (a)")
            modes = {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    database.close()
    assert len(modes) >= 3
    assert set(modes.values()) == {0}


def test_bug_a_disk_without_a_size_takes_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk in memory that has no bound says that it has no blocks, and none free."""
    disk = os.statvfs_result((4096, 4096, 0, 0, 0, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: disk)
    DiskSpace(Path("/a/b")).require(10)


def test_bug_a_file_that_somebody_else_writes_to_does_not_shrink(tmp_path: Path) -> None:
    """Whoever asks for room meanwhile is told that the database cannot be used."""
    database = open_database(tmp_path, 0)
    store = Store(database, 9)
    store.cancel(store.insert(work(BIG))[0].id, "")
    # In milliseconds; a server waits for seconds.
    sa.event.listen(database.engine, "checkout", lambda found, *_: found.execute("PRAGMA busy_timeout=50"))
    with closing(sqlite3.connect(tmp_path / "jobs", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseDownError):
            database.shrink()
    database.close()


def test_bug_a_folder_that_has_gone_is_told(tmp_path: Path) -> None:
    """Its disk cannot be measured, so that nothing is kept."""
    (tmp_path / "data").mkdir()
    database = open_database(tmp_path / "data", 0)
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(DatabaseDownError):
        Store(database, 9).insert(work(10))
    database.close()
