"""The databases of jobs."""

import psycopg
import pytest

from tests.api.jobs.pgserver import Postgres
from tiger.api.jobs.database import Database
from tiger.api.jobs.job import Work
from tiger.api.jobs.store import Store


@pytest.mark.slow
def test_a_database_without_an_encoding_holds_text(postgres: Postgres) -> None:
    """PostgreSQL makes one so where no language is set."""
    with psycopg.connect(f"{postgres.url}postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE plain ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    database = Database(f"{postgres.url}plain")
    database.prepare()
    job, _ = Store(database, 10).insert(Work(kind="assign", body=b"{}", owner="\u00e9"))
    assert Store(database, 10).get(job.id, "\u00e9") == job
    database.close()
