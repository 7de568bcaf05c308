"""The tables, as versions of TIGER make and change them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.api.jobs.older import insert_as_before
from tiger.api.jobs import migrations
from tiger.api.jobs.claims import Claims
from tiger.api.jobs.database import Database
from tiger.api.jobs.store import Store
from tiger.api.jobs.upload_store import UploadStore
from tiger.api.seams.job import USUAL_TERMS, JobFilter, JobOrder
from tiger.api.seams.upload import NewUpload
from tiger.errors import InputError

MORE = ("ALTER TABLE tiger_jobs ADD COLUMN more TEXT", "CREATE INDEX tiger_more ON tiger_jobs (more)")
NEXT = (*migrations.MIGRATIONS, MORE)


@pytest.fixture
def empty(tmp_path: Path, url: str | None, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Return a database without tables."""
    database = Database(request.getfixturevalue("database") if url else f"sqlite:///{tmp_path}/jobs")
    yield database
    database.close()


def test_an_older_database_is_brought_up_to_date(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its jobs are still there."""
    empty.prepare()
    job, _ = Store(empty, 9).insert(JobOrder(kind="assign", body=b"{}"))
    monkeypatch.setattr(migrations, "MIGRATIONS", NEXT)
    empty.prepare()
    assert Store(empty, 9).get(job.id, "") == job
    assert columns(empty) >= {"request_id", "more"}


def test_the_first_version_is_brought_up_to_date(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step since is applied, and a job that waits can be done."""
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
        empty.prepare()
    assert "request_id" not in columns(empty)
    job = ("1", "", "place", b"{}", "", 1, "queued", 1.0, 0, 0, 0)
    names = "id, owner, kind, body, hash, priority, status, created_s, token, attempts, cancelled"
    with empty.begin() as connection:
        values = {f"v{k}": value for k, value in enumerate(job)}
        connection.execute(sa.text(f"INSERT INTO tiger_jobs ({names}) VALUES (:{', :'.join(values)})"), values)
    empty.prepare()
    assert "request_id" in columns(empty)
    claim = Claims(empty, "here").claim_next()
    assert claim is not None
    assert claim.body == b"{}"


def test_the_pages_of_an_older_version_are_read_by_their_new_index(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has what lists are filtered by, and the jobs of before are in it."""
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:7])
        empty.prepare()
    job_id = insert_as_before(empty, JobOrder(kind="plan", body=b"{}"))
    empty.prepare()
    (index,) = (
        each for each in sa.inspect(empty.engine).get_indexes("tiger_jobs") if each["name"] == "tiger_jobs_page"
    )
    assert index["column_names"] == ["owner", "created_s", "id", "status", "kind"]
    found, _ = Store(empty, 9).page("", None, 5, JobFilter(statuses=("queued",), kinds=("plan",)))
    assert [job.id for job in found] == [job_id]
    assert found[0].terms == USUAL_TERMS


def test_a_database_without_uploads_is_brought_up_to_date(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of before use none, and later ones may."""
    before = next(k for k, step in enumerate(migrations.MIGRATIONS) if "tiger_uploads" in step[0])
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:before])
        empty.prepare()
    job_id = insert_as_before(empty, JobOrder(kind="plan", body=b"{}"))
    empty.prepare()
    uploads = UploadStore(empty, 60.0)
    new = NewUpload(id="a" * 64, owner="", name="a.csv", size=1, packed=b"x")
    assert uploads.insert(new)[0].jobs == 0
    job, _ = Store(empty, 9).insert(JobOrder(kind="assign", body=b"{}", uploads=(new.id,)))
    assert [list(uploads.read_of_job(each)) for each in (job.id, job_id)] == [[new.id], []]


def test_a_newer_database_is_refused(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what its columns mean, and nothing is changed."""
    with monkeypatch.context() as newer:
        newer.setattr(migrations, "MIGRATIONS", NEXT)
        empty.prepare()
    with pytest.raises(
        InputError, match=f"database: expected tables of version {len(NEXT) - 1} or older, got version {len(NEXT)}"
    ):
        empty.prepare()


def columns(empty: Database) -> set[str]:
    """Return the columns of a job."""
    return {str(column["name"]) for column in sa.inspect(empty.engine).get_columns("tiger_jobs")}
