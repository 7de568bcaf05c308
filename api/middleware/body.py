"""The bodies of requests, bounded one by one and together for as long as they are held."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from http import HTTPStatus

from fastapi import Request

from tiger.api.middleware.problems import Problem, RefusedError, excerpt, refuse_for_quota
from tiger.api.seams.quota import QuotaExceededError

# Bytes of all large bodies together, sixteen of the largest by default, and bytes up to which a body counts as none.
HELD_BYTES, SHORT_BYTES = 64 << 20, 1 << 17
# Seconds for a body to arrive: 4 MiB at 70 kB/s.
READ_S = 60.0


class Bodies:
    """Read bodies of at most `limit` bytes, and of at most `most` bytes among all requests that are under way.

    Short ones do not count, so that clients who send large ones keep no others out.
    """

    def __init__(self, limit: int, most: int = HELD_BYTES) -> None:
        self.limit, self.most, self.held = limit, max(limit, most), 0

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """Yield the body of a JSON request; raise RefusedError (415, 413, 408, 429) as soon as that is clear."""
        _check_type(request.headers.get("content-type", ""))
        _check_coding(request.headers.get("content-encoding", ""))
        declared = request.headers.get("content-length", "0")
        if declared.isdecimal() and int(declared[:20]) > self.limit:
            raise self._too_large()
        body = bytearray()
        try:
            await self._fill(body, request)
            yield bytes(body)
        finally:
            self.held -= max(0, len(body) - SHORT_BYTES)

    async def _fill(self, body: bytearray, request: Request) -> None:
        """Read a body, and give up on one that is too large or too slow, or that there is no room for."""
        try:
            async with asyncio.timeout(READ_S):
                async for chunk in request.stream():
                    self.held += max(0, len(body) + len(chunk) - SHORT_BYTES) - max(0, len(body) - SHORT_BYTES)
                    body += chunk
                    if len(body) > self.limit:
                        raise self._too_large()
                    if self.held > self.most:
                        detail = "expected room for this body, but too many others are under way; ask again later"
                        over = refuse_for_quota(QuotaExceededError("body_bytes", self.held, self.most), detail)
                        raise RefusedError(replace(over, headers={**over.headers, "Connection": "close"}))
        except TimeoutError:
            raise refuse_unread(HTTPStatus.REQUEST_TIMEOUT, f"expected the whole body within {READ_S:g} s") from None

    def _too_large(self) -> RefusedError:
        """Return the refusal of a body over the limit."""
        detail = f"expected a body of at most {self.limit} bytes, got a larger one"
        return refuse_unread(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)


def _check_type(kind: str) -> None:
    """Raise RefusedError (415) for a body whose content type is not JSON."""
    if kind.partition(";")[0].strip().lower() != "application/json":
        found = f"got {excerpt(kind)}" if kind else "got none"
        detail = f"expected the content type application/json, {found}"
        raise RefusedError(Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail))


def _check_coding(coding: str) -> None:
    """Raise RefusedError (415) for a body that is compressed, as no bound on its size would be one."""
    if coding.strip().lower() not in ("", "identity"):
        detail = f"expected a body without Content-Encoding, got {excerpt(coding)}"
        raise RefusedError(Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, headers={"Accept-Encoding": "identity"}))


def refuse_unread(status: HTTPStatus, detail: str) -> RefusedError:
    """Return the refusal of a body whose rest is not read, so that the connection ends."""
    return RefusedError(Problem(status, detail, headers={"Connection": "close"}))
