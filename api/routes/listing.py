"""What lists show: where a page begins, where the next one is, and what a list of jobs is narrowed to."""

import re
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request
from pydantic import AwareDatetime, BeforeValidator
from pydantic_core import PydanticCustomError

from tiger.api.routes.terms import MOST_TAGS, read_tags
from tiger.api.seams.job import CURSOR, JobFilter, Kind, Status

TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
# What says where in the list a page begins and ends, and not which jobs are in it.
PLACE = ("after", "limit")


def _check_time(text: object) -> object:
    """Return a text that is a time by RFC 3339, and no number, which might be of seconds or of milliseconds."""
    if not (isinstance(text, str) and TIME.fullmatch(text)):
        reason = "expected a time of RFC 3339 with its zone, such as 2026-01-31T12:00:00Z (a + is sent as %2B)"
        raise PydanticCustomError("rfc3339", reason)
    return text


After = Annotated[
    str | None, Query(pattern=CURSOR.pattern, description="The cursor of a page, as `next` of the one before has it.")
]
Time = Annotated[AwareDatetime, BeforeValidator(_check_time)]
Statuses = Annotated[list[Status], Query(description="Only jobs that are in this state; repeat it for several.")]
Kinds = Annotated[
    list[Kind], Query(description="Only jobs of this kind, which is the route that took them; repeat it for several.")
]
Tagged = Annotated[
    list[str], Query(max_length=MOST_TAGS, description="Only jobs that have this tag; repeat it for all of several.")
]
Since = Annotated[Time | None, Query(description="Only jobs that were created at this time (RFC 3339) or later.")]
Until = Annotated[Time | None, Query(description="Only jobs that were created before this time (RFC 3339).")]


def read_filter(
    status: Statuses = [],  # noqa: B006 (which FastAPI copies)
    kind: Kinds = [],  # noqa: B006 (which FastAPI copies)
    tag: Tagged = [],  # noqa: B006 (which FastAPI copies)
    created_after: Since = None,
    created_before: Until = None,
) -> JobFilter:
    """Return which jobs a request wants to see."""
    return JobFilter(
        statuses=tuple(status),
        kinds=tuple(kind),
        tags=read_tags(tag),
        since_s=_seconds(created_after),
        until_s=_seconds(created_before),
    )


def link_to_next(request: Request, cursor: str | None, limit: int) -> str | None:
    """Return where the page after a cursor is, of the same list; None where there is no cursor."""
    if cursor is None:
        return None
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in PLACE]
    return f"{request.scope['route'].path}?{urlencode([*kept, ('after', cursor), ('limit', limit)])}"


def _seconds(time: datetime | None) -> float | None:
    """Return a time as seconds since 1970."""
    return None if time is None else time.timestamp()
