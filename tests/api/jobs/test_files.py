"""The files that jobs leave beside their reports."""

import json
import os
import zlib
from asyncio import Runner
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tiger.api.jobs import run
from tiger.api.jobs.claims import Claims, Lease, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.store import Store
from tiger.api.seams import files
from tiger.api.seams.files import Draft, FileInfo, JobFile, write_files
from tiger.api.seams.job import DiskFullError, Job, JobOrder
from tiger.errors import InputError

ONE = JobFile(name="one.txt", description="The first.", media_type="text/plain", size=3, packed=zlib.compress(b"abc"))


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of database."""
    return str(request.param)


@pytest.fixture
def database(tmp_path: Path, url: str | None, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Return a database with empty tables."""
    database = Database(request.getfixturevalue("postgres").create() if url else f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    yield database
    database.close()


def end_job(database: Database, outcome: Outcome) -> str:
    """Run a job of the owner "ann" to its end, and return its id."""
    job, _ = Store(database, 9).insert(JobOrder(kind="assign", body=b"{}", owner="ann"))
    claims = Claims(database, "here")
    claims.claim_next()
    assert claims.finish(Lease(job.id, 0), outcome)
    return job.id


def draft(name: str, text: str = "x") -> Draft:
    """Return the draft of a file."""
    return Draft(name, "", "text/plain", partial(str, text))


def fail(error: type[BaseException]) -> str:
    """Raise an error."""
    raise error("stop", "here")


def test_files_are_compressed_and_come_back() -> None:
    """With their sizes as texts."""
    (file,) = write_files([draft("a.txt", "abé" * 1000)])
    assert file.size == len(file.unpack()) == 4000
    assert file.unpack().decode() == "abé" * 1000
    assert len(file.packed) < 100


def test_a_file_that_cannot_be_written_keeps_no_other_back() -> None:
    """Whether a launcher refuses it or the code is at fault; without memory the worker ends."""
    broken = [Draft("b", "", "text/plain", partial(fail, error)) for error in (InputError, ValueError)]
    assert [file.name for file in write_files([*broken, draft("c")])] == ["c"]
    with pytest.raises(MemoryError):
        write_files([Draft("b", "", "text/plain", partial(fail, MemoryError))])


def test_files_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each as a text, and those of a job together as they are kept."""
    monkeypatch.setattr(files, "TEXT_BYTES", 100)
    monkeypatch.setattr(files, "JOB_BYTES", 60)
    noise = [draft(name, os.urandom(20).hex()) for name in "abc"]
    assert [file.name for file in write_files([draft("long", "x" * 101), *noise])] == ["a"]


def test_files_are_their_owners_alone(database: Database) -> None:
    """As the job is."""
    store, job_id = Store(database, 9), end_job(database, Outcome(status="done", report=b"{}", files=(ONE,)))
    assert store.list_files(job_id, "ann") == (
        FileInfo(name="one.txt", description="The first.", media_type="text/plain", size=3),
    )
    assert store.get_file(job_id, "ann", "one.txt") == ONE
    assert store.get_file(job_id, "ann", "two.txt") is store.get_file(job_id, "bob", "one.txt") is None
    assert store.list_files(job_id, "bob") == store.list_files("0" * 32, "ann") == ()


def test_files_are_deleted_with_their_job(database: Database) -> None:
    """Those of other jobs stay."""
    store, outcome = Store(database, 9), Outcome(status="cancelled", report=b"{}", files=(ONE,))
    first, second = end_job(database, outcome), end_job(database, outcome)
    store.delete([first])
    assert (store.get_file(first, "ann", "one.txt"), store.get_file(second, "ann", "one.txt")) == (None, ONE)


def test_a_disk_that_is_short_of_room_keeps_reports_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is reserved is for them."""
    database = Database(f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    job, _ = Store(database, 9).insert(JobOrder(kind="assign", body=b"{}"))
    claims = Claims(database, "here")
    claims.claim_next()
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((4096, 4096, 100, 9, 9, 9, 9, 9, 0, 255)))
    assert claims.finish(Lease(job.id, 0), Outcome(status="done", report=b"{}", files=(ONE,)))
    found = Store(database, 9).get(job.id, "")
    assert found is not None
    assert (found.report, Store(database, 9).list_files(job.id, "")) == (b"{}", ())
    database.close()


def test_a_report_that_finds_no_room_waits(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left to leave out."""
    monkeypatch.setattr(Claims, "_finish", lambda *_: fail(DiskFullError))
    with pytest.raises(DiskFullError):
        Claims(database, "here").finish(Lease("0" * 32, 0), Outcome(status="done", report=b"{}"))


async def run_job(jobs: DurableJobs, **asked: object) -> tuple[Job, dict[str, bytes]]:
    """Have the toy do a job, and return it with its files."""
    made = await jobs.submit(JobOrder(kind="assign", body=json.dumps(asked).encode()))
    job = [seen async for seen in jobs.watch(made.id, "")][-1]
    listed = [await jobs.get_file(job.id, "", file.name) for file in await jobs.list_files(job.id, "")]
    return job, {file.name: file.unpack() for file in listed if file is not None}


def test_a_job_leaves_its_files(loop: Runner, jobs: DurableJobs) -> None:
    """But those that could not be written."""
    job, found = loop.run(run_job(jobs, n=1, files={"a": "text", "b": "bug"}))
    assert (job.status, found) == ("done", {"a": b"text"})


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["die", "hang"])
def test_a_worker_that_is_lost_over_a_file_loses_no_report(
    loop: Runner, jobs: DurableJobs, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    """The server has it already, and nothing is done again."""
    monkeypatch.setattr(run, "FILES_S", 0.5)
    job, found = loop.run(run_job(jobs, n=1, files={"a": "text", "b": trouble}))
    assert (job.status, job.report, found) == ("done", b'{"n": 1, "ended": false}', {})


@pytest.mark.slow
def test_files_have_time_beyond_the_limit_of_the_solve(loop: Runner, jobs: DurableJobs) -> None:
    """A best-so-far report is worth a picture, too."""
    job, found = loop.run(run_job(jobs, sleep=30, polite=1, time_limit_s=0.1, files={"a": "slow"}))
    assert (job.report, found) == (b'{"n": null, "ended": true}', {"a": b"slow"})
