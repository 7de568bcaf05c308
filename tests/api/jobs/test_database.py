"""The databases of jobs."""

from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from tests.api.jobs.pgserver import Postgres
from tiger.api.jobs.claims import Claims, Lease, Outcome
from tiger.api.jobs.database import Database
from tiger.api.jobs.store import Store
from tiger.api.seams.job import DatabaseDownError, JobFilter, JobOrder


@pytest.mark.slow
def test_a_database_without_an_encoding_holds_text(postgres: Postgres) -> None:
    """PostgreSQL makes one so where no language is set."""
    with psycopg.connect(f"{postgres.url}postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE plain ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    database = Database(f"{postgres.url}plain")
    database.prepare()
    job, _ = Store(database, 10).insert(JobOrder(kind="assign", body=b"{}", owner="\u00e9"))
    assert Store(database, 10).get(job.id, "\u00e9") == job
    database.close()


def test_bug_no_statement_reads_all_jobs(tmp_path: Path) -> None:
    """Every one of them finds its rows by an index, or jobs that ended long ago would hold up those of today."""
    database = Database(f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    asked: list[tuple[str, tuple[object, ...]]] = []
    for engine in (database.engine, database._relaxed_engine):
        sa.event.listen(engine, "before_cursor_execute", lambda *about: asked.append(about[2:4]))
    store, claims = Store(database, 9), Claims(database, "here")
    job, _ = store.insert(JobOrder(kind="assign", body=b"{}", owner="me", key="one"))
    lease = Lease(job.id, 0)
    claims.beat()
    claims.claim_next()
    claims.touch(lease, {"fraction": 0.5})
    claims.release_mine({lease})
    claims.release_silent(claims.beats())
    claims.finish(lease, Outcome(status="done", report=b"{}"))
    store.waiting()
    store.states([job.id])
    store.page("me", None, 5)
    some = JobFilter(statuses=("done", "failed"), kinds=("assign",), tags=("a",), since_s=1.0, until_s=2.0)
    for wanted in (some, JobFilter(statuses=("failed",)), JobFilter(kinds=("plan",)), JobFilter(tags=("b",))):
        store.page("me", f"1.0-{job.id}", 5, wanted)
    store.purge(job.id, "me")
    store.cancel(job.id, "me")
    store.delete(store.list_expired(0.0, 5))
    with database.read() as connection:
        plans = [
            (statement, row[3])
            for statement, values in tuple(asked)
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        ]
    database.close()
    assert len(asked) > 20
    assert not [
        (statement, step) for statement, step in plans if step.startswith(("SCAN tiger_jobs", "USE TEMP B-TREE"))
    ]


def test_bug_tables_that_are_gone_are_a_lost_database(
    tmp_path: Path, url: str | None, request: pytest.FixtureRequest
) -> None:
    """Of PostgreSQL it was an error of the service."""
    database = Database(request.getfixturevalue("database") if url else f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    with database.begin() as connection:
        connection.execute(sa.text("DROP TABLE tiger_jobs"))
    with pytest.raises(DatabaseDownError):
        Store(database, 9).get("0" * 32, "")
    database.close()
