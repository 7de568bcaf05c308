"""What the end of a job leads to, in the transaction that writes it: its request goes, and its owner is to be told."""

import json
import uuid
from collections.abc import Sequence
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tiger.api.jobs.database import read_clock
from tiger.api.jobs.migrations import BODIES, JOBS, WEBHOOKS
from tiger.api.jobs.rows import read_job, select_jobs
from tiger.api.jobs.usage import set_kept
from tiger.api.schemas.jobs import location, summary
from tiger.api.seams.job import Job


def settle_ends(connection: Connection, ids: Sequence[object]) -> None:
    """Follow up the end of jobs, whichever way it came: every statement that ends jobs is followed by this."""
    if not ids:
        return
    delete_bodies(connection, ids)
    set_kept(connection, ids, 0)
    told = select_jobs().where(JOBS.c.id.in_(ids), JOBS.c.webhook_url.is_not(None))
    # Rounded, so that a page's cursor states it exactly.
    now_s = round(read_clock(connection), 6)
    events = [_describe_event(read_job(row), now_s) for row in connection.execute(told)]
    if events:
        connection.execute(sa.insert(WEBHOOKS), events)


def delete_bodies(connection: Connection, ids: Sequence[object]) -> None:
    """Delete the requests of jobs that have ended."""
    if ids:
        connection.execute(sa.delete(BODIES).where(BODIES.c.id.in_(ids)))


def _describe_event(job: Job, now_s: float) -> dict[str, object]:
    """Return the row of the event that a job has ended; what is sent is in there, as the job may be purged before."""
    name, event = uuid.uuid4().hex, f"job.{job.status}"
    body = {"id": name, "event": event, "created_s": now_s, "job": summary(job) | {"location": location(job)}}
    return {
        "id": name,
        "owner": job.owner,
        "job_id": job.id,
        "event": event,
        "url": job.terms.webhook_url,
        "host": urlsplit(job.terms.webhook_url or "").hostname or "",
        "body": json.dumps(body, allow_nan=False),
        "created_s": now_s,
        "status": "pending",
        "attempts": 0,
        "next_s": now_s,
        "claimed": 0,
    }
