"""The `Idempotency-Key` of a request, which makes repeats of it the same job."""

import re
from collections.abc import Sequence
from http import HTTPStatus

from tiger.api.middleware.problems import FieldError, Problem, RefusedError

NAME = "Idempotency-Key"
# Characters of a key, as most services that take one allow.
MAX_LENGTH = 255
KEY = re.compile(rf"[!-~]{{1,{MAX_LENGTH}}}")


def key_of(headers: Sequence[str]) -> str | None:
    """Return the key that a request carries, if any; raise RefusedError (400) for one that is malformed or repeated."""
    if not headers:
        return None
    if len(headers) > 1:
        raise _refuse(f"expected one key, got {len(headers)}")
    if not KEY.fullmatch(headers[0]):
        found = f"{len(headers[0])} characters" if len(headers[0]) > MAX_LENGTH else "others, or none"
        raise _refuse(f"expected 1 to {MAX_LENGTH} visible ASCII characters, got {found}")
    return headers[0]


def _refuse(reason: str) -> RefusedError:
    """Return the refusal of a key."""
    problem = Problem(HTTPStatus.BAD_REQUEST, f"{NAME}: {reason}", (FieldError(f"#/{NAME}", reason),))
    return RefusedError(problem)
