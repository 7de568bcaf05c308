"""The audit: a line of the log for every request that changes something or is denied, and for what follows from it.

Its fields are a schema of their own (`docs/operations.md`): SCHEMA grows where one of them goes or means another thing.
"""

import asyncio
import re
from http import HTTPStatus

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiger.api.middleware.problems import CLIENT_GONE

SCHEMA = 1
# Requests that change nothing.
READING = frozenset(("GET", "HEAD", "OPTIONS"))
# What a request without a key, beyond a rate or a quota, or to another host is answered with.
DENIED = frozenset((401, 403, 421, 429))
# Statuses of requests whose client has left: of one that was not answered, and of an answer that nobody reads.
LEFT = frozenset((0, CLIENT_GONE))
# Names of what there is: ids of jobs and of what else is kept, which nobody can choose to be a key.
RESOURCE = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}")
# Who did what nobody has asked for.
SERVICE = "tiger"
LOG = structlog.get_logger()


def record(action: str, who: str | None, outcome: str, **about: object) -> None:
    """Write a line of the audit: what was done, by whom (an account, "tiger" for the service), and what came of it."""
    LOG.info("audit", schema=SCHEMA, action=action, who=who, outcome=outcome, **about)


class AuditLog:
    """Write a line of the audit for every request with an effect, every denied one, and with `reads` for all others.

    Of a path the route alone is named, and ids of what was found there: a client may send a secret as anything else.
    """

    def __init__(self, app: ASGIApp, *, reads: bool = False) -> None:
        self.app, self.reads = app, reads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and write its line once it is over."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            # The server ends, and the log answers for it.
            status = status or HTTPStatus.SERVICE_UNAVAILABLE
            raise
        except Exception:
            status = status or HTTPStatus.INTERNAL_SERVER_ERROR
            raise
        finally:
            if self.reads or status in DENIED or scope["method"] not in READING:
                self._record(scope, status)

    def _record(self, scope: Scope, status: int) -> None:
        """Write the line of a request."""
        state, route = scope.get("state", {}), scope.get("route")
        action = getattr(route, "operation_id", None) or getattr(route, "name", None)
        record(
            action or "unknown",
            state.get("owner") or None,
            _outcome(status),
            key=state.get("key"),
            address=(scope.get("client") or (None,))[0],
            resource=_find_resource(scope, status),
            status=status,
        )


def _outcome(status: int) -> str:
    """Return what came of a request with a status, 0 where it was never answered."""
    if status in DENIED:
        return "denied"
    if status in LEFT:
        return "abandoned"
    return "failed" if status >= 500 else "refused" if status >= 400 else "done"


def _find_resource(scope: Scope, status: int) -> str | None:
    """Return the id of what a request was about: what it made, a job or else, or what was found by its path."""
    state = scope.get("state", {})
    named = [state.get("job_id"), state.get("made")]
    if status < 400 or status == 409:
        named += scope.get("path_params", {}).values()
    return next((text for text in named if isinstance(text, str) and RESOURCE.fullmatch(text)), None)
