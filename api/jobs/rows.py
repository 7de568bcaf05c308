"""How jobs are read from rows, and pages of rows that are listed by their age."""

import json
from typing import cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from tiger.api.jobs.migrations import JOBS
from tiger.api.seams.job import CURSOR, Job, JobTerms
from tiger.errors import InputError

COLUMNS = ("id", "owner", "kind", "status", "created_s", "started_s", "ended_s", "progress", "problem")
TERMS = ("urgency", "tags", "webhook_url")
JobRow = Row[tuple[object, ...]]
Query = sa.Select[tuple[object, ...]]


def select_jobs(*more: str) -> Query:
    """Select the columns of a job."""
    return sa.select(*(JOBS.c[name] for name in (*COLUMNS, *TERMS, *more)))


def find_job(connection: Connection, *where: sa.ColumnElement[bool]) -> Job | None:
    """Return the one job that meets conditions, with its report."""
    row = connection.execute(select_jobs("report").where(*where)).one_or_none()
    return None if row is None else read_job(row)


def read_job(row: JobRow) -> Job:
    """Return the job that a row states."""
    fields = dict(row._mapping)
    urgency, tags, webhook_url = (fields.pop(name) for name in TERMS)
    terms = JobTerms(priority=cast(int, urgency), tags=tuple(str(tags).split()), webhook_url=cast(str, webhook_url))
    for name in ("progress", "problem"):
        fields[name] = json.loads(cast(str, fields[name])) if fields[name] is not None else None
    if fields.get("report") is not None:
        fields["report"] = bytes(cast(bytes, fields["report"]))
    return Job(**fields, terms=terms)


def select_page(query: Query, table: sa.TableClause, after: str | None, limit: int) -> Query:
    """Select a page of rows, the newest first, from a cursor on, and one row more where there is another page.

    Raises InputError for what is no cursor.
    """
    if after is not None:
        match = CURSOR.fullmatch(after)
        if match is None:
            raise InputError("after", "expected the cursor of a page")
        last = sa.tuple_(sa.literal(float(match[1]), sa.Double), sa.literal(match[2]))
        query = query.where(sa.tuple_(table.c.created_s, table.c.id) < last)
    return query.order_by(table.c.created_s.desc(), table.c.id.desc()).limit(limit + 1)


def write_cursor(created_s: float, name: str) -> str:
    """Return the cursor of the page after a row; times of rows that are listed have six digits after the point."""
    return f"{created_s:.6f}-{name}"
