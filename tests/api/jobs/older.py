"""Rows as older versions wrote them."""

import uuid

import sqlalchemy as sa

from tiger.api.jobs.database import Database
from tiger.api.seams.job import JobOrder


def insert_as_before(database: Database, work: JobOrder) -> str:
    """Insert a job as version 0.3.0 did, before jobs had terms, and return its id."""
    row = {"id": uuid.uuid4().hex, "kind": work.kind, "body": work.body}
    names = "id, owner, kind, hash, priority, status, created_s, token, attempts, cancelled"
    with database.begin() as connection:
        values = ":id, '', :kind, '', 10, 'queued', 1.0, 0, 0, 0"
        connection.execute(sa.text(f"INSERT INTO tiger_jobs ({names}) VALUES ({values})"), row)
        connection.execute(sa.text("INSERT INTO tiger_bodies (id, body) VALUES (:id, :body)"), row)
    return str(row["id"])
