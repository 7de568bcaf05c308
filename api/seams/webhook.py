"""An event that its owner is told of, as far as that has come, and the interface of what stores them."""

from dataclasses import dataclass
from typing import Literal, Protocol

WebhookStatus = Literal["pending", "delivered", "dead"]
# What comes of one attempt to send an event.
WebhookOutcome = Literal["delivered", "failed", "dead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Hold an event of a job, where it goes, and how far that has come.

    Times are seconds since the epoch: `next_s` is when it is sent again at the earliest, `settled_s` when it was
    delivered or given up. `attempts` counts those since it was queued last; `last_status` is the status of the last
    answer, `last_error` says why there was none.
    """

    id: str
    job_id: str
    event: str
    url: str
    status: WebhookStatus
    attempts: int
    created_s: float
    next_s: float
    settled_s: float | None
    last_status: int | None
    last_error: str | None


class Webhooks(Protocol):
    """List events that were sent or wait to be. One of another owner is as unknown as one that never was.

    Every call may raise DatabaseDownError.
    """

    async def page(
        self, owner: str, after: str | None, limit: int, statuses: tuple[WebhookStatus, ...] = ()
    ) -> tuple[tuple[Webhook, ...], str | None]:
        """Return events, the newest first, those after a cursor, and the cursor of the next page.

        Raises InputError for what is no cursor.
        """

    async def redeliver(self, webhook_id: str, owner: str) -> Webhook | None:
        """Queue an event again, to be sent at once, and return it."""
