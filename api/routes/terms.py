"""What a request says of its job beside the work: how urgent it is, its tags, and whom to tell of its end."""

import re
from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Query, Request

from tiger.api.middleware.problems import FieldError, Problem, RefusedError
from tiger.api.seams.job import TAG, JobTerms
from tiger.api.webhooks.policy import WebhookPolicy

# Tags of a job, and characters of the address that is told.
MOST_TAGS, LONGEST_URL = 16, 2000
WEBHOOK = "Webhook-URL"
Priority = Annotated[
    int,
    Query(
        ge=0,
        le=9,
        description="How urgent the job is, from 0 to 9, which goes first; ten minutes of waiting count as one step.",
    ),
]
Tags = Annotated[
    list[str],
    Query(
        max_length=MOST_TAGS,
        description="A tag of the job, by which `GET /jobs` finds it: 1 to 64 letters, digits, `.`, `_`, `:`, `/` and "
        "`-`; repeat it for several.",
    ),
]
Webhook = Annotated[
    str | None,
    Header(
        alias=WEBHOOK,
        description="Address that is told of the end of the job, by https and signed; the operator has to allow its "
        "host, and the account needs a secret.",
    ),
]


def read_terms(
    request: Request,
    priority: Priority = 0,
    tag: Tags = [],  # noqa: B006 (which FastAPI copies)
    webhook_url: Webhook = None,
) -> JobTerms:
    """Return what a request says of its job; raise RefusedError (422) for a tag or an address that cannot be one."""
    tags = read_tags(tag)
    if len(request.headers.getlist(WEBHOOK)) > 1:
        raise _refuse(WEBHOOK, "expected one address, got several")
    if webhook_url is not None:
        _check_url(webhook_url)
    return JobTerms(priority=priority, tags=tags, webhook_url=webhook_url)


def read_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return tags, each once; raise RefusedError (422) for one that cannot be a tag."""
    if not all(map(TAG.fullmatch, tags)):
        raise _refuse("tag", "expected tags of 1 to 64 letters, digits, '.', '_', ':', '/' and '-'")
    return tuple(dict.fromkeys(tags))


def check_webhook(policy: WebhookPolicy, terms: JobTerms, owner: str) -> None:
    """Raise RefusedError (422) where a job names an address that the service does not tell for its owner."""
    fault = None if terms.webhook_url is None else policy.find_fault(terms.webhook_url, owner)
    if fault is not None:
        raise _refuse(WEBHOOK, fault)


Validate = Annotated[
    bool,
    Query(
        description="Answer at once with what the request would have solved, in place of solving it: sizes, rule, "
        "stages, estimates of time and memory, and what cannot be met. Nothing is kept; what is wrong is refused as "
        "without it."
    ),
]
Terms = Annotated[JobTerms, Depends(read_terms)]


def _check_url(url: str) -> None:
    """Refuse what is not an address by https without a name and a password in it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _refuse(WEBHOOK, "expected an address such as https://hooks.example/tiger") from None
    plain = re.fullmatch(r"[!-~]+", url) and len(url) <= LONGEST_URL and port != 0
    if not (plain and parts.scheme == "https" and parts.hostname and parts.username is None and not parts.fragment):
        raise _refuse(WEBHOOK, "expected an address such as https://hooks.example/tiger, without a password")


def _refuse(name: str, reason: str) -> RefusedError:
    """Return the refusal of a parameter or a header."""
    return RefusedError(Problem(422, f"#/{name}: {reason}", (FieldError(f"#/{name}", reason),)))
