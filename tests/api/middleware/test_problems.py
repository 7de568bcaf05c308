"""Problem documents."""

import json
from dataclasses import fields
from http import HTTPStatus

import pytest
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tiger.api.middleware.problems import OVER_QUOTA, Problem, RefusedError, excerpt, of_fields, problem_of
from tiger.api.pool.processes import SolverLostError
from tiger.api.schemas.assignment import AssignRequest
from tiger.api.seams.job import DatabaseDownError, DiskFullError, KeyReusedError
from tiger.api.seams.quota import QueueFullError, QuotaExceededError, Quotas, RebalancersFullError
from tiger.errors import InputError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (InputError("seed", "expected less"), 422),
        (InputError("body", "expected JSON"), 400),
        (HTTPException(404), 404),
        (RefusedError(Problem(415, "no")), 415),
        (SolverLostError("gone"), 503),
        (ClientDisconnect(), 499),
        (KeyError("x"), 500),
        (KeyReusedError(), 422),
        (QueueFullError("jobs", 9, 9), 429),
        (RebalancersFullError("rebalancers", 9, 9), 429),
        (DatabaseDownError("/secret"), 503),
        (DiskFullError("/secret"), 503),
    ],
)
def test_every_error_has_one_status(error: Exception, status: int) -> None:
    """Errors that a caller can tell apart have statuses of their own."""
    assert problem_of(error).status == status


def test_an_unforeseen_error_keeps_its_text_to_itself() -> None:
    """A bare 500 shows neither message nor path."""
    assert b"secret" not in problem_of(OSError("/secret/path")).response().body


def test_a_problem_is_a_strict_document_that_points_at_the_field() -> None:
    """The members are those of RFC 9457, with a pointer in fragment form."""
    response = problem_of(InputError("pinned/t1", "expected a node, got 'x'")).response()
    assert response.headers["content-type"] == "application/problem+json"
    assert json.loads(bytes(response.body)) == {
        "type": "about:blank",
        "title": HTTPStatus.UNPROCESSABLE_ENTITY.phrase,
        "status": 422,
        "detail": "#/pinned/t1: expected a node, got 'x'",
        "errors": [{"pointer": "#/pinned/t1", "detail": "expected a node, got 'x'"}],
    }


@pytest.mark.parametrize(
    ("field", "pointer"),
    [
        ("pinned/é b", "#/pinned/%C3%A9%20b"),
        ("pinned/100%", "#/pinned/100%25"),
        ("pinned/" + "x" * 300, "#/pinned"),
        ("x" * 300, "#"),
    ],
)
def test_a_pointer_is_encoded_and_short(field: str, pointer: str) -> None:
    """Unsafe characters are percent-encoded, and an endless name gives way to its parent."""
    assert problem_of(InputError(field, "no")).errors[0].pointer == pointer


@pytest.mark.parametrize("name", ["x" * 1000, "x " * 500, "'" + "y" * 1000, '"' * 1000])
def test_a_reason_quotes_an_excerpt(name: str) -> None:
    """However long the input, a reason shows little of it."""
    assert len(problem_of(InputError("tasks", f"expected another name, got {name!r}")).detail) <= 250


@pytest.mark.parametrize(
    ("value", "text"),
    [({"a": 1}, "an object"), ([1], "an array"), (None, "null"), (True, "a boolean"), ("a\n", '"a\\n"'), (2.5, "2.5")],
)
def test_an_excerpt_names_containers_and_shows_the_rest(value: object, text: str) -> None:
    """Containers are not printed."""
    assert excerpt(value) == text


def test_an_excerpt_has_at_most_80_characters() -> None:
    """Long texts and numbers are cut."""
    assert len(excerpt("x" * 1000)) == len(excerpt(10**1000)) == 80


def test_every_wrong_field_is_listed() -> None:
    """One answer names all of them, and its sentence the first."""
    with pytest.raises(ValidationError) as refusal:
        AssignRequest.read({"topology": "grid:2", "seed": -1, "x": 1})
    problem = of_fields(refusal.value)
    assert [error.pointer for error in problem.errors] == ["#/tasks", "#/seed", "#/x"]
    assert problem.detail == "#/tasks: expected this field, found nothing (and 2 more)"


def test_names_in_a_pointer_are_escaped() -> None:
    """A slash inside a name is `~1`, a tilde `~0`."""
    with pytest.raises(ValidationError) as refusal:
        AssignRequest.read({"tasks": {}, "topology": "grid:2", "pinned": {"a/b~": 1}})
    assert of_fields(refusal.value).errors[0].pointer == "#/pinned/a~1b~0"


def test_a_quota_that_is_used_up_is_named() -> None:
    """With what is used and left of it, and the seconds until there is more, in whole ones and none too few."""
    answer = problem_of(QuotaExceededError("kept_bytes", 120, 100, 3.2)).response()
    quota = {"quota": "kept_bytes", "used": 120, "limit": 100, "left": 0, "resets_s": 4}
    problem = json.loads(bytes(answer.body))
    assert {name: problem[name] for name in quota} == quota
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "4")


@pytest.mark.parametrize("name", [field.name for field in fields(Quotas)])
def test_every_quota_has_words_for_its_refusal(name: str) -> None:
    """But that of jobs that run, beyond which jobs wait."""
    assert (name in OVER_QUOTA) == (name != "running_jobs")


@pytest.mark.parametrize(
    "error",
    [QueueFullError("jobs", 9, 9), DatabaseDownError("/secret"), DiskFullError("/secret"), SolverLostError("gone")],
)
def test_what_passes_says_when_to_ask_again(error: Exception) -> None:
    """A client knows that the same request may succeed later."""
    assert problem_of(error).response().headers["retry-after"] == "5"


def test_a_problem_may_have_members_of_its_own() -> None:
    """They stand beside those of RFC 9457."""
    shown = json.loads(bytes(Problem(503, "no", members={"database": False}).response().body))
    assert (shown["status"], shown["database"]) == (503, False)
