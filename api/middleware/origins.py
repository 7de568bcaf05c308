"""Pages of other origins that may ask, off unless they are named (CORS)."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from tiger.api.middleware.problems import Problem

METHODS = ("GET", "POST", "DELETE")
SENT = (
    *("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Prefer", "Webhook-URL"),
    *("X-API-Key", "X-Request-Id"),
)
SHOWN = ("Location", "Preference-Applied", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id")


class Origins(CORSMiddleware):
    """Tell browsers that pages of some origins may ask, with a key of theirs and no cookies."""

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(app, allow_origins=origins, allow_methods=METHODS, allow_headers=SENT, expose_headers=SHOWN)

    def preflight_response(self, request_headers: Headers) -> Response:
        """Answer a preflight request, and refuse one by a problem document."""
        found = super().preflight_response(request_headers)
        if found.status_code < 400:
            return found
        refusal = Problem(found.status_code, "expected an origin, a method and headers that this service allows")
        return refusal.response()
