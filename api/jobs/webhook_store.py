"""Events as rows: what servers claim and send, and what requests list and queue again.

An event is claimed until a moment that its row says, by when it is sent or another server may claim it. A write names
that moment, so that a server that was halted does not write over what another one has found since.
"""

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from http import HTTPStatus

import sqlalchemy as sa

from tiger.api.jobs.database import Database, read_clock
from tiger.api.jobs.migrations import WEBHOOKS
from tiger.api.jobs.rows import select_page, write_cursor
from tiger.api.jobs.settings import DAY_S
from tiger.api.seams.webhook import Webhook, WebhookOutcome, WebhookStatus
from tiger.api.webhooks.post import WebhookAnswer

ID = re.compile(r"[0-9a-f]{32}\Z")
# Seconds of a claim, three times what an attempt takes at most.
LEASE_S = 30.0
# Seconds after each attempt that failed until the next one, a day together; after one more the event is given up.
DELAYS_S = (5.0, 30.0, 120.0, 600.0, 3600.0, 7200.0, 14_400.0, 21_600.0, 36_000.0)
# What may be added to a delay, so that events that failed together do not come again together.
JITTER = 0.25
# Rows that are deleted at a time.
BATCH = 500
COLUMNS = tuple(field.name for field in fields(Webhook))


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookClaim:
    """Hold an event that is to be sent, and until when it is this server's; `attempt` is 1 for the first one."""

    id: str
    owner: str
    job_id: str
    event: str
    url: str
    host: str
    body: bytes
    attempt: int
    until_s: float


@dataclass(frozen=True, slots=True)
class WebhookStore:
    """Read and write events, which are deleted `keep_s` after they were delivered or given up.

    Every call may raise DatabaseDownError.
    """

    database: Database
    keep_s: float

    def claim_next(self, but_hosts: Collection[str] = ()) -> WebhookClaim | None:
        """Claim the event that is due for the longest, but for those to some hosts; None where none is."""
        wanted = (WEBHOOKS.c.status == "pending", WEBHOOKS.c.host.not_in(but_hosts))
        with self.database.read() as connection:
            due = sa.select(WEBHOOKS.c.id).where(*wanted, WEBHOOKS.c.next_s <= read_clock(connection)).limit(1)
            if connection.execute(due).one_or_none() is None:
                return None
        with self.database.begin_relaxed() as connection:
            now_s = read_clock(connection)
            first = due.where(WEBHOOKS.c.next_s <= now_s).order_by(WEBHOOKS.c.next_s)
            first_id = first.with_for_update(skip_locked=True).correlate(None).scalar_subquery()
            update = sa.update(WEBHOOKS).where(WEBHOOKS.c.id == first_id)
            update = update.values(next_s=now_s + LEASE_S, claimed=1, attempts=WEBHOOKS.c.attempts + 1)
            names = ("id", "owner", "job_id", "event", "url", "host", "body", "attempts", "next_s")
            row = connection.execute(update.returning(*(WEBHOOKS.c[name] for name in names))).one_or_none()
        if row is None:
            return None
        fields = dict(row._mapping)
        body, attempt, until_s = fields.pop("body").encode(), fields.pop("attempts"), fields.pop("next_s")
        return WebhookClaim(**fields, body=body, attempt=attempt, until_s=until_s)

    def settle(self, claim: WebhookClaim, answer: WebhookAnswer) -> WebhookOutcome:
        """Write what came of an attempt, and return it; what the power takes of that is sent again."""
        outcome, delay_s = judge(claim, answer)
        with self.database.begin_relaxed() as connection:
            now_s = read_clock(connection)
            found: dict[str, object] = {"last_status": answer.status, "last_error": answer.error, "claimed": 0}
            if outcome == "failed":
                found["next_s"] = now_s + delay_s
            else:
                found |= {"status": outcome, "settled_s": now_s}
            connection.execute(sa.update(WEBHOOKS).where(*_matches(claim)).values(found))
        return outcome

    def release(self, claim: WebhookClaim) -> None:
        """Let an event that was claimed be sent at once by another server, or by this one when it starts again."""
        with self.database.begin_relaxed() as connection:
            again = {"next_s": read_clock(connection), "claimed": 0, "attempts": WEBHOOKS.c.attempts - 1}
            connection.execute(sa.update(WEBHOOKS).where(*_matches(claim)).values(again))

    def page(
        self, owner: str, after: str | None, limit: int, statuses: tuple[WebhookStatus, ...] = ()
    ) -> tuple[tuple[Webhook, ...], str | None]:
        """Return a page of events and the cursor of the next; raise InputError for a bad cursor."""
        query = _select().where(WEBHOOKS.c.owner == owner)
        if statuses:
            query = query.where(WEBHOOKS.c.status.in_(statuses))
        with self.database.read() as connection:
            rows = connection.execute(select_page(query, WEBHOOKS, after, limit)).all()
        found = tuple(Webhook(**row._mapping) for row in rows[:limit])
        return found, write_cursor(found[-1].created_s, found[-1].id) if len(rows) > limit else None

    def redeliver(self, webhook_id: str, owner: str) -> Webhook | None:
        """Queue an event again, to be sent at once, and return it; one that is being sent just now goes on."""
        if not ID.match(webhook_id):
            return None
        mine = (WEBHOOKS.c.id == webhook_id, WEBHOOKS.c.owner == owner)
        with self.database.begin() as connection:
            again = {"status": "pending", "attempts": 0, "next_s": read_clock(connection), "settled_s": None}
            connection.execute(sa.update(WEBHOOKS).where(*mine, WEBHOOKS.c.claimed == 0).values(again))
            row = connection.execute(_select().where(*mine)).one_or_none()
        return None if row is None else Webhook(**row._mapping)

    def count_pending(self) -> int:
        """Count the events of all owners that are to be sent."""
        query = sa.select(sa.func.count()).select_from(WEBHOOKS).where(WEBHOOKS.c.status == "pending")
        with self.database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def delete_expired(self) -> int:
        """Delete some of the events that were delivered or given up long ago, and count them."""
        with self.database.begin() as connection:
            old = WEBHOOKS.c.settled_s < read_clock(connection) - self.keep_s
            ids = [row.id for row in connection.execute(sa.select(WEBHOOKS.c.id).where(old).limit(BATCH))]
            # Not one that was queued again meanwhile.
            return connection.execute(sa.delete(WEBHOOKS).where(WEBHOOKS.c.id.in_(ids), old)).rowcount if ids else 0


def judge(claim: WebhookClaim, answer: WebhookAnswer) -> tuple[WebhookOutcome, float]:
    """Return what an answer comes to, and the seconds until the next attempt of one that failed."""
    if answer.status is not None and 200 <= answer.status < 300:
        return "delivered", 0.0
    if answer.status == HTTPStatus.GONE or claim.attempt > len(DELAYS_S):
        return "dead", 0.0
    digest = hashlib.sha256(f"{claim.id}.{claim.attempt}".encode()).digest()
    share = int.from_bytes(digest[:4]) / 2**32
    delay_s = DELAYS_S[claim.attempt - 1] * (1 + JITTER * share)
    return "failed", max(delay_s, min(answer.retry_after_s or 0.0, DAY_S))


def _matches(claim: WebhookClaim) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions for an event that is still claimed as it was."""
    return WEBHOOKS.c.id == claim.id, WEBHOOKS.c.claimed == 1, WEBHOOKS.c.next_s == claim.until_s


def _select() -> sa.Select[tuple[object, ...]]:
    """Select the columns of an event that are shown."""
    return sa.select(*(WEBHOOKS.c[name] for name in COLUMNS))
