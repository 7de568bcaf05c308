"""The sender of events: it claims those that are due, a few at a time and fewer to one host, and tells of each."""

import asyncio
import ssl
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import structlog

from tiger.api.jobs.error_log import ErrorLog
from tiger.api.jobs.rebalancers import Query
from tiger.api.jobs.webhook_store import LEASE_S, WebhookClaim, WebhookStore
from tiger.api.jobs.worker_context import WorkerContext
from tiger.api.seams.job import DatabaseDownError
from tiger.api.seams.webhook import Webhook, WebhookOutcome, WebhookStatus
from tiger.api.webhooks.policy import WebhookPolicy, read_target
from tiger.api.webhooks.post import WebhookAnswer, make_tls_context, post
from tiger.model.http import read_secret, sign_webhook

# Requests under way on a server, and those to one host.
MOST_SENDS, MOST_TO_HOST = 16, 4
# Seconds between two looks for what is due, for each step of the end, and between two attempts to write.
LOOK_S, STOP_S, RETRY_S = 0.5, 3.0, 0.5
LOG = structlog.get_logger()
EVENTS: Mapping[WebhookOutcome, str] = {
    "delivered": "webhook sent",
    "failed": "webhook failed",
    "dead": "webhook dead",
}


class DurableWebhooks:
    """List events that are kept in a database, and queue them again: Webhooks."""

    def __init__(self, store: WebhookStore, query: Query) -> None:
        self._store, self._query = store, query

    async def page(
        self, owner: str, after: str | None, limit: int, statuses: tuple[WebhookStatus, ...] = ()
    ) -> tuple[tuple[Webhook, ...], str | None]:
        """Return events, the newest first, and the cursor of the next page."""
        return await self._query(self._store.page, owner, after, limit, statuses)

    async def redeliver(self, webhook_id: str, owner: str) -> Webhook | None:
        """Queue an event again."""
        return await self._query(self._store.redeliver, webhook_id, owner)


class WebhookSender:
    """Send what is due; `on_outcome` is called with what came of each attempt."""

    def __init__(
        self, context: WorkerContext, store: WebhookStore, on_outcome: Callable[[WebhookOutcome], None]
    ) -> None:
        self.context, self.store, self.on_outcome = context, store, on_outcome
        self.policy: WebhookPolicy = context.settings.webhooks
        self._woken, self._stopping = asyncio.Event(), False
        self._sends: dict[WebhookClaim, asyncio.Task[None]] = {}
        self._errors = ErrorLog("no event could be taken up")

    def start(self) -> None:
        """Begin, if there are hosts that may be told."""
        self._looking = asyncio.create_task(self._repeat()) if self.policy.hosts else None

    async def stop(self) -> None:
        """Take nothing more up, break off what is being sent, and let it be sent again."""
        self._stopping = True
        self._woken.set()
        if self._looking is None:
            return
        # A claim under way goes on in its thread, and is released with the others.
        await asyncio.wait((self._looking,), timeout=STOP_S)
        self._looking.cancel()
        sends = dict(self._sends)
        for task in sends.values():
            task.cancel()
        await asyncio.gather(self._looking, *sends.values(), return_exceptions=True)
        with suppress(DatabaseDownError, TimeoutError):
            async with asyncio.timeout(STOP_S):
                for claim in sends:
                    await self.context.call(self.store.release, claim)

    async def _repeat(self) -> None:
        """Claim and send until the server stops, whatever goes wrong."""
        tls = await asyncio.to_thread(make_tls_context)
        while not self._stopping:
            self._woken.clear()
            with self._errors.attempt():
                while self._is_free() and (claim := await self._claim()) is not None:
                    self._sends[claim] = task = asyncio.create_task(self._send(claim, tls))
                    task.add_done_callback(partial(self._end, claim))
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._woken.wait()

    def _is_free(self) -> bool:
        """Return whether one more event is to be sent."""
        return not self._stopping and len(self._sends) < MOST_SENDS

    async def _claim(self) -> WebhookClaim | None:
        """Claim an event for a host that is sent few at the moment."""
        hosts = Counter(claim.host for claim in self._sends)
        return await self.context.call(
            self.store.claim_next, [host for host, count in hosts.items() if count >= MOST_TO_HOST]
        )

    def _end(self, claim: WebhookClaim, _: "asyncio.Task[None]") -> None:
        """Let the next event have the place of one that has been sent."""
        del self._sends[claim]
        self._woken.set()

    async def _send(self, claim: WebhookClaim, tls: ssl.SSLContext) -> None:
        """Send an event, and write what came of it while it is this server's."""
        begun_s = time.monotonic()
        answer = await self._attempt(claim, tls)
        seconds = round(time.monotonic() - begun_s, 6)
        try:
            outcome = await self._settle(claim, answer)
        except TimeoutError:
            # It is sent again, to be on the safe side.
            return
        self.on_outcome(outcome)
        about = {"webhook_id": claim.id, "job_id": claim.job_id, "webhook_event": claim.event, "host": claim.host}
        log = LOG.info if outcome == "delivered" else LOG.warning
        log(EVENTS[outcome], **about, attempt=claim.attempt, status=answer.status, error=answer.error, seconds=seconds)

    async def _attempt(self, claim: WebhookClaim, tls: ssl.SSLContext) -> WebhookAnswer:
        """Return the answer to an event, if it may still be sent."""
        fault, target = self.policy.find_fault(claim.url, claim.owner), read_target(claim.url)
        if fault is not None or target is None:
            return WebhookAnswer(error=fault)
        try:
            headers = _sign(claim, self.policy.secrets_of(claim.owner))
            return await post(target, headers, claim.body, self.policy.networks, tls)
        except Exception:
            # It counts as an attempt, so that it ends some day.
            LOG.exception("webhook not sent", webhook_id=claim.id)
            return WebhookAnswer(error="the server failed; its log says why")

    async def _settle(self, claim: WebhookClaim, answer: WebhookAnswer) -> WebhookOutcome:
        """Write what came of an attempt; raise TimeoutError where the claim is over before the database is there."""
        async with asyncio.timeout(LEASE_S):
            while True:
                try:
                    return await self.context.call(self.store.settle, claim, answer)
                except DatabaseDownError:
                    await asyncio.sleep(RETRY_S)


def _sign(claim: WebhookClaim, secrets: tuple[str, ...]) -> dict[str, str]:
    """Return the headers of an event by Standard Webhooks, with a signature by each secret."""
    timestamp = str(int(time.time()))
    signatures = (sign_webhook(read_secret(secret), claim.id, timestamp, claim.body) for secret in secrets)
    return {"webhook-id": claim.id, "webhook-timestamp": timestamp, "webhook-signature": " ".join(signatures)}
