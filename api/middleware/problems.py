"""Every refusal and failure as an RFC 9457 problem document; the one place that turns errors into statuses."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from urllib.parse import quote, unquote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from tiger.api.pool.processes import SolverLostError
from tiger.api.schemas.closed import refer
from tiger.api.schemas.problems import ProblemBody
from tiger.api.seams.job import DatabaseDownError, DiskFullError, KeyReusedError
from tiger.api.seams.quota import QuotaExceededError
from tiger.errors import InputError

MEDIA_TYPE = "application/problem+json"
# As nginx logs a client that has closed its connection; no client ever reads it.
CLIENT_GONE = 499
RETRY = {"Retry-After": "5"}
# Bytes of a body that are left unread without closing the connection, as the sockets' buffers hold them.
UNREAD_BYTES = 65_536
# Characters of a quotation of the input, of a reason, and of a pointer.
EXCERPT, REASON, POINTER = 80, 240, 200
LONG = re.compile(rf"'[^']{{{EXCERPT - 1},}}'|\"[^\"]{{{EXCERPT - 1},}}\"|\S{{{EXCERPT + 1},}}")
EXPECTED = {
    "missing": "expected this field, found nothing",
    "unexpected_keyword_argument": "expected a known field, got an unknown one",
    "dataclass_type": "expected an object",
    "dict_type": "expected an object",
    "list_type": "expected an array",
    "string_type": "expected a string",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "bool_parsing": "expected true or false",
    "finite_number": "expected a finite number",
    "int_parsing": "expected a whole number",
    "float_parsing": "expected a number",
    "string_pattern_mismatch": "expected the cursor of a page, as `next` of the one before has it",
}
# What frameworks answer by the phrase of the status alone.
DETAILS: Mapping[int, str] = {
    404: "expected a path of this service, as /docs lists them, got another one",
    405: "expected a method that this path knows, as Allow lists them, got another one",
}
# What is expected, by the quota that is used up.
OVER_QUOTA: Mapping[str, str] = {
    "jobs": "expected room for another job, but too many of all owners wait already; ask again later",
    "queued_jobs": "expected room for another job, but too many of yours wait already; ask again later",
    "rebalancers": "expected room for another rebalancer, but too many are kept; delete one, or ask again later",
    "kept_bytes": "expected room for what work leaves, but as much of yours is kept as may be; purge ended jobs",
    "processor_s_per_day": "expected processor time for more work, but that of your day (UTC) is used up",
}
JSON_TYPES = {dict: "an object", list: "an array", type(None): "null", bool: "a boolean"}


@dataclass(frozen=True, slots=True)
class FieldError:
    """Point at a field of the request (`pointer`, a JSON pointer in fragment form) and say what is wrong with it."""

    pointer: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Hold the status, the sentence and the fields of a problem document, and members of its own beside them."""

    status: int
    detail: str
    errors: tuple[FieldError, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, object] = field(default_factory=dict)

    def response(self) -> Response:
        """Return the problem as a response of strict JSON."""
        body: dict[str, object] = {"type": "about:blank", "title": _title(self.status), "status": self.status}
        body["detail"] = self.detail
        if self.errors:
            body["errors"] = [asdict(error) for error in self.errors]
        body |= self.members
        return Response(json.dumps(body, allow_nan=False), self.status, dict(self.headers), MEDIA_TYPE)


class RefusedError(Exception):
    """Refuse a request for a reason that is not one of its fields."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


HANDLED: tuple[type[Exception], ...] = (
    InputError,
    HTTPException,
    RefusedError,
    RequestValidationError,
    SolverLostError,
    KeyReusedError,
    QuotaExceededError,
    DatabaseDownError,
    ClientDisconnect,
)


async def answer(request: Request, error: Exception) -> Response:
    """Answer an error that a route raised."""
    problem = problem_of(error)
    _note_quota(problem, request.scope)
    response = problem.response()
    if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        # A route knows its own methods alone, and several may share a path.
        others = [route for route in request.app.routes if isinstance(route, Route)]
        methods = [route.methods or set() for route in others if route.matches(request.scope)[0] != Match.NONE]
        response.headers["Allow"] = ", ".join(sorted({*response.headers["Allow"].split(", ")}.union(*methods)))
    return response


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that goes no further; a connection whose body would still have to be read ends with it."""
    headers = Headers(scope=scope)
    declared = headers.get("content-length", "0")
    small = "transfer-encoding" not in headers and declared.isdecimal() and int(declared[:20]) <= UNREAD_BYTES
    _note_quota(problem, scope)
    response = problem.response()
    if not small:
        response.headers["Connection"] = "close"
    await response(scope, receive, send)


def refuse_for_quota(error: QuotaExceededError, detail: str) -> Problem:
    """Return the refusal of a request for which nothing is left of a quota (429), with what is used and when it resets.

    The seconds until then are rounded up, so that a client which waits for them does not come too early.
    """
    resets_s = math.ceil(error.resets_s)
    left = max(0, error.limit - error.used)
    members = {"quota": error.quota, "used": error.used, "limit": error.limit, "left": left, "resets_s": resets_s}
    return Problem(HTTPStatus.TOO_MANY_REQUESTS, detail, headers={"Retry-After": str(resets_s)}, members=members)


def _note_quota(problem: Problem, scope: Scope) -> None:
    """Have the figures of the service know by which quota a request is refused."""
    if "quota" in problem.members:
        scope.setdefault("state", {})["quota"] = problem.members["quota"]


def problem_of(error: Exception) -> Problem:
    """Return the problem that an error amounts to; any other error becomes a bare 500."""
    match error:
        case RefusedError():
            return error.problem
        case InputError():
            status = HTTPStatus.BAD_REQUEST if error.field == "body" else HTTPStatus.UNPROCESSABLE_ENTITY
            path = "" if error.field == "body" else error.field
            return _about_fields(status, (FieldError(_pointer(path), shorten(error.reason)),))
        case HTTPException():
            detail = shorten(error.detail)
            if detail == _title(error.status_code):
                detail = DETAILS.get(error.status_code, detail)
            return Problem(error.status_code, detail, headers=error.headers or {})
        case RequestValidationError():
            details = [_about_parameter(detail) for detail in error.errors()]
            return _about_fields(HTTPStatus.UNPROCESSABLE_ENTITY, tuple(map(_field_error, details)))
        case KeyReusedError():
            reason = "expected a new Idempotency-Key, as another body came with this one before"
            return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, reason)
        case QuotaExceededError():
            return refuse_for_quota(error, OVER_QUOTA[error.quota])
        case DiskFullError():
            reason = "expected room for more, but too little is left on the server's disk; ask again later"
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, reason, headers=RETRY)
        case DatabaseDownError():
            reason = "The database cannot be used at the moment; ask again, with an Idempotency-Key to have one job."
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, reason, headers=RETRY)
        case SolverLostError():
            return Problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), headers=RETRY)
        case ClientDisconnect():
            return Problem(CLIENT_GONE, "The client went away before the answer.")
    return Problem(HTTPStatus.INTERNAL_SERVER_ERROR, "The server failed on this request; its log says why.")


def of_fields(error: ValidationError) -> Problem:
    """Return the problem of a request whose fields have the wrong type or are out of bounds."""
    details = error.errors(include_url=False, include_context=False)
    return _about_fields(HTTPStatus.UNPROCESSABLE_ENTITY, tuple(map(_field_error, details)))


def first_fault(error: ValidationError) -> InputError:
    """Return the first of the fields that have the wrong type or are out of bounds as an error of it."""
    fault = of_fields(error).errors[0]
    return InputError(unquote(fault.pointer[1:]).removeprefix("/"), fault.detail)


def excerpt(value: object) -> str:
    """Return a value of the request as at most 80 characters, containers by their kind alone."""
    text = JSON_TYPES.get(type(value)) or (json.dumps(value) if isinstance(value, str) else str(value))
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 3]}..."


def _about_fields(status: int, errors: tuple[FieldError, ...]) -> Problem:
    """Return a problem whose sentence is its first error."""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    where = f"{errors[0].pointer}: " if errors[0].pointer != "#" else ""
    return Problem(status, f"{where}{errors[0].detail}{more}", errors)


def _about_parameter(details: ErrorDetails) -> ErrorDetails:
    """Return what is wrong with a parameter of the path or the query, named without saying where it stood."""
    return details | {"loc": tuple(part for part in details["loc"][1:])}


def _field_error(details: ErrorDetails) -> FieldError:
    """Return what pydantic found as a pointer and a sentence."""
    path = "/".join(str(part).replace("~", "~0").replace("/", "~1") for part in details["loc"])
    kind, about = details["type"], details.get("ctx", {})
    if kind in ("too_short", "too_long"):
        bound = f"at least {about['min_length']}" if kind == "too_short" else f"at most {about['max_length']}"
        return FieldError(_pointer(path), f"expected {bound} items, got {about['actual_length']}")
    wanted = EXPECTED.get(kind, details["msg"].replace("Input should be", "expected"))
    shown = "" if kind in ("missing", "unexpected_keyword_argument") else f", got {excerpt(details['input'])}"
    return FieldError(_pointer(path), shorten(wanted) + shown)


def _pointer(path: str) -> str:
    """Return a pointer in fragment form; one that is too long points at the nearest ancestor that is short enough."""
    while len(path) > POINTER:
        path = path.rpartition("/")[0]
    return "#" + (f"/{quote(path, safe='/~!$&()*+,;=:@?')}" if path else "")


def shorten(reason: str) -> str:
    """Return a reason whose quotations of the input are excerpts, and which is not too long as a whole."""
    text = LONG.sub(lambda quoted: f"{quoted[0][: EXCERPT - 3]}...", reason)
    return text if len(text) <= REASON else f"{text[: REASON - 3]}..."


def _title(status: int) -> str:
    """Return the phrase of a status."""
    return "Client Closed Request" if status == CLIENT_GONE else HTTPStatus(status).phrase


def document_problems(sentences: Mapping[int, str]) -> dict[int | str, dict[str, object]]:
    """Return OpenAPI responses for problems from {status: sentence}."""
    content = {MEDIA_TYPE: {"schema": refer(ProblemBody.__name__)}}
    return {status: {"description": sentence, "content": content} for status, sentence in sentences.items()}
