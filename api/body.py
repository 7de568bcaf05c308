"""The body of a request, bounded while it is read."""

from http import HTTPStatus

from fastapi import Request

from tiger.api.problems import Problem, RefusedError, excerpt


async def read(request: Request, limit: int) -> bytes:
    """Return the body of a JSON request; raise RefusedError (415, 413) as soon as its type or size is wrong."""
    kind = request.headers.get("content-type", "")
    if kind.partition(";")[0].strip().lower() != "application/json":
        found = f"got {excerpt(kind)}" if kind else "got none"
        detail = f"expected the content type application/json, {found}"
        raise RefusedError(Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail))
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:20]) > limit:
        raise _too_large(limit)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise _too_large(limit)
    return bytes(body)


def _too_large(limit: int) -> RefusedError:
    """Return the refusal of a body over the limit; the rest of it is not read, so the connection ends."""
    detail = f"expected a body of at most {limit} bytes, got a larger one"
    return RefusedError(Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, headers={"Connection": "close"}))
