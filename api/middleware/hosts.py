"""The host names that a server without keys answers to."""

import ipaddress
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tiger.api.middleware.problems import Problem, refuse


class Local:
    """Refuse requests for any other name than this machine's own (421).

    Where there are no keys, a page whose name its owner has come to mean this machine could otherwise ask like a user
    of it (DNS rebinding): to the browser it is one origin with the service.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it is for a loopback address or `localhost`."""
        if scope["type"] == "lifespan" or _is_local(Headers(scope=scope).get("host", "localhost")):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            detail = "expected to be asked as localhost or 127.0.0.1, as TIGER_API_KEYS is not set"
            await refuse(Problem(HTTPStatus.MISDIRECTED_REQUEST, detail), scope, receive, send)


def _is_local(host: str) -> bool:
    """Return whether a Host header, with or without a port, names this machine."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
