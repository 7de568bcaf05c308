"""Reading on after a refusal, so that a client which is still sending gets to read it."""

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Sixteen times the default bound on a body, read in about a tenth of a second where a client is on this machine.
DRAINED_BYTES = 64 << 20
# Half of what a connection has to state its request.
DRAINED_S = 10.0


class Drain:
    """Discard what is left of a body, within bounds, before a connection ends with the answer.

    A connection that is closed with bytes unread is reset, and the answer may be lost on its way (RFC 9112, 9.6).
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer as soon as it is there; only the end of that waits for the body."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        unread, closing, ended = _has_body(scope), _closes(scope), False

        async def note() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def pass_on(message: Message) -> None:
            nonlocal closing, ended
            if message["type"] == "http.response.start":
                if unread and _waits(scope):
                    # Whether the body still comes is for the client to say, and so where its next request begins.
                    MutableHeaders(scope=message)["Connection"] = "close"
                closing = closing or _closes(message)
            elif closing and unread and not message.get("more_body", False):
                ended, message = True, {**message, "more_body": True}
            await send(message)

        await self.app(scope, note, pass_on)
        if ended:
            await _discard(receive)
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _has_body(scope: Scope) -> bool:
    """Return whether a request has a body."""
    headers = Headers(scope=scope)
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _closes(message: Scope | Message) -> bool:
    """Return whether the connection ends with this request, or with this answer to it."""
    listed = ",".join(Headers(raw=list(message.get("headers", ()))).getlist("connection")).lower()
    return message.get("http_version") == "1.0" or "close" in (part.strip() for part in listed.split(","))


def _waits(scope: Scope) -> bool:
    """Return whether a client sends the body of its request only once the server asks for it."""
    return Headers(scope=scope).get("expect", "").lower() == "100-continue"


async def _discard(receive: Receive) -> None:
    """Read a body to its end, but no more than so many bytes, for no more than so many seconds."""
    left = DRAINED_BYTES
    try:
        async with asyncio.timeout(DRAINED_S):
            while left > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                left -= len(message["body"])
    except (TimeoutError, asyncio.CancelledError):
        # A server that ends has answered this request: its end is all that is left to send.
        return
