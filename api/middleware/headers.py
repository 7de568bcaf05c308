"""The headers that every answer carries: its number, and what a browser may do with it."""

import re
import uuid

from starlette.datastructures import Headers as Read
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from tiger.api.middleware.keys import Mask

NO_KEYS = Mask()
NUMBER = re.compile(r"[A-Za-z0-9._-]{1,64}")
SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NO_CONTENT_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
# The pages of the documentation are the service's own, show nothing of a request in their markup, and begin with a
# script inside.
DOCUMENTATION_POLICY = (
    f"{NO_CONTENT_POLICY}; connect-src 'self'; font-src 'self' data:; img-src 'self' data:; "
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'"
)


class Headers:
    """Number every request, in the log and in its answer, and tell browsers to keep and run nothing."""

    def __init__(self, app: ASGIApp, mask: Mask = NO_KEYS) -> None:
        self.app, self.mask = app, mask

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its number in `state`: the one it came with where that is a plain word."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number = self._number(scope)
        scope.setdefault("state", {})["request_id"] = number

        async def send_tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                tag(MutableHeaders(scope=message), number)
            await send(message)

        with bound_contextvars(request_id=number):
            await self.app(scope, receive, send_tagged)

    def _number(self, scope: Scope) -> str:
        """Return the number that a request came with, or a new one, also in place of a key, which would be logged."""
        sent = Read(scope=scope).getlist("x-request-id")
        good = len(sent) == 1 and NUMBER.fullmatch(sent[0]) and self.mask.hide(scope, sent[0]) == sent[0]
        return sent[0] if good else uuid.uuid4().hex


def tag(headers: MutableHeaders, number: str) -> None:
    """Add the headers to those of an answer; what a route says of caching and of content stands."""
    headers.update(SECURITY | {"X-Request-Id": number})
    documentation = headers.get("content-type", "").startswith("text/html")
    headers.setdefault("Content-Security-Policy", DOCUMENTATION_POLICY if documentation else NO_CONTENT_POLICY)
    headers.setdefault("Cache-Control", "no-store")
