"""The tables, as versions of TIGER make and change them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.api.jobs.older import insert_as_before
from tiger.api.jobs import migrations
from tiger.api.jobs.claims import Claims, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.store import Store
from tiger.api.jobs.usage import UsageStore
from tiger.api.seams.job import USUAL_TERMS, JobFilter, JobOrder
from tiger.api.seams.quota import Charge, Quotas
from tiger.errors import InputError

MORE = ("ALTER TABLE tiger_jobs ADD COLUMN more TEXT", "CREATE INDEX tiger_more ON tiger_jobs (more)")
NO_FILE = {"description": "", "media_type": "", "size": 0}
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
    assert index["column_names"] == ["owner", "created_s", "id", "status", "kind", "tags"]
    found, _ = Store(empty, 9).page("", None, 5, JobFilter(statuses=("queued",), kinds=("plan",)))
    assert [job.id for job in found] == [job_id]
    assert found[0].terms == USUAL_TERMS


def test_jobs_of_version_0_2_0_have_their_turn_and_are_counted(
    empty: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That had the first four steps; small work goes first, and what has ended is kept as it was."""
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:4])
        empty.prepare()
    names = "id, owner, kind, hash, priority, status, created_s, token, attempts, cancelled, report"
    rows: list[tuple[str, str, int, bytes | None]] = [
        ("done", "done", 10, b"123"),
        ("other", "queued", 10, None),
        ("small", "queued", 1, None),
        ("run", "running", 10, None),
    ]
    with empty.begin() as connection:
        for number, (name, status, rank, report) in enumerate(rows):
            insert = (
                f"INSERT INTO tiger_jobs ({names}) VALUES (:id, 'me', 'place', '', :rank, :status, :at, 0, 0, 0, :r)"
            )
            row = {"id": name, "rank": rank, "status": status, "at": 1e9 + number, "r": report}
            connection.execute(sa.text(insert), row)
            if report is None:
                connection.execute(sa.text("INSERT INTO tiger_bodies VALUES (:id, :body)"), {"id": name, "body": b"{}"})
    empty.prepare()
    claims = Claims(empty, "here", lambda _: Quotas(running_jobs=2))
    claim = claims.claim_next()
    assert claim is not None
    assert (claim.lease.job_id, claim.body, claims.claim_next()) == ("small", b"{}", None)
    claims.finish(claim.lease, Outcome(status="done", report=b"12345"), Charge("me", 1.0))
    assert claims.claim_next() is not None
    found = UsageStore(empty, lambda _: Quotas()).read("me", 1)
    assert (found.running_jobs, found.queued_jobs, found.kept_bytes, found.processor_s_per_day) == (2, 0, 12, 1.0)


def test_what_was_kept_before_is_counted(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and rebalancers with their answers, as they were before there were quotas."""
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:9])
        empty.prepare()
    job_id = insert_as_before(empty, JobOrder(kind="plan", body=b"{}"))
    with empty.begin() as connection:
        connection.execute(sa.insert(migrations.FILES).values(id=job_id, name="a", packed=b"123", **NO_FILE))
        names = dict.fromkeys(("id", "owner", "hash"), "r") | {"owner": ""}
        row = sa.insert(migrations.REBALANCERS).values(**names, state=b"1234", steps=1, created_s=1, used_s=1)
        connection.execute(row)
        connection.execute(sa.insert(migrations.BODIES).values(id="r", body=b"12345"))
        connection.execute(sa.insert(migrations.ANSWERS).values(id="r", key="k", hash="", number=1, answer=b"123456"))
    empty.prepare()
    assert UsageStore(empty, lambda _: Quotas()).read("", 1).kept_bytes == 2 + 3 + 4 + 5 + 6


def test_comparisons_made_before_are_counted(empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they were for a while without being among what is kept."""
    with monkeypatch.context() as older:
        older.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:12])
        empty.prepare()
    names = dict.fromkeys(("id", "owner", "hash", "kind"), "c")
    with empty.begin() as connection:
        connection.execute(sa.insert(migrations.COMPARISONS).values(**names, created_s=1.0, entries="[{}]"))
    empty.prepare()
    assert UsageStore(empty, lambda _: Quotas()).read("c", 1).kept_bytes == 4


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
