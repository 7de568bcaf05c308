"""Problem documents of a service (RFC 9457) as exceptions."""

from collections.abc import Mapping
from urllib.parse import unquote

from tiger.errors import InputError

Document = Mapping[str, object]
BAD_REQUEST, UNAUTHORIZED, UNPROCESSABLE = 400, 401, 422
# Characters of a message that are shown of what a service sends.
LONGEST = 1000
KEY_VARIABLE = "TIGER_API_KEY"
ADVICE = f"; set {KEY_VARIABLE} to a key of this service, or give the client one"


class ServiceError(Exception):
    """Report that a service did not do what was asked, for a reason that is not a field of the request.

    `status` is that of its answer, None where there was none; `detail` says why.
    """

    def __init__(self, status: int | None, detail: str) -> None:
        super().__init__(detail if status is None else f"{detail} (status {status})")
        self.status = status
        self.detail = detail


class JobCancelledError(Exception):
    """Report that a job was cancelled before its end; `job_id` names it."""

    def __init__(self, job_id: str) -> None:
        super().__init__(f"the job {job_id} was cancelled")
        self.job_id = job_id


def error_of(status: int, problem: Document | None, phrase: str = "") -> InputError | ServiceError:
    """Return the exception for an answer that is no success: InputError where its problem points at a field."""
    found = problem or {}
    pointed = _first_pointer(found.get("errors")) if status in (BAD_REQUEST, UNPROCESSABLE) else None
    if pointed is not None:
        return pointed
    detail = found.get("detail")
    text = detail[:LONGEST] if isinstance(detail, str) and detail else f"the service answered {phrase or status}"
    return ServiceError(status, text.rstrip(".") + ADVICE if status == UNAUTHORIZED else text)


def _first_pointer(errors: object) -> InputError | None:
    """Return the first error that points at a field."""
    for error in errors if isinstance(errors, list) else []:
        if not isinstance(error, dict):
            continue
        pointer, detail = error.get("pointer"), error.get("detail")
        if isinstance(pointer, str) and pointer.startswith("#") and isinstance(detail, str):
            return InputError(unquote(pointer[1:]).removeprefix("/") or "body", detail[:LONGEST])
    return None
