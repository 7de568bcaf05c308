"""Tests of errors: which exception a problem document amounts to."""

import pytest

from tiger.client.errors import JobCancelledError, ServiceError, error_of
from tiger.errors import InputError


def problem(pointer: str, detail: str = "expected more") -> dict[str, object]:
    """Return a problem document that points at a field."""
    return {"status": 422, "detail": "all in all", "errors": [{"pointer": pointer, "detail": detail}]}


@pytest.mark.parametrize(
    ("pointer", "field"),
    [
        ("#/seed", "seed"),
        ("#/tasks/edges/3/weight", "tasks/edges/3/weight"),
        ("#/pinned/a%20b", "pinned/a b"),
        ("#", "body"),
    ],
)
def test_a_pointer_names_the_field(pointer: str, field: str) -> None:
    """The error is that of a local run: a pointer without its beginning, and the reason."""
    error = error_of(422, problem(pointer))
    assert isinstance(error, InputError)
    assert (error.field, error.reason) == (field, "expected more")


@pytest.mark.parametrize("errors", [None, [], ["x"], [{"pointer": 3, "detail": "x"}], [{"pointer": "#/a"}], "no list"])
def test_without_a_pointer_it_is_about_the_service(errors: object) -> None:
    """Such as a key that came with another request before."""
    error = error_of(422, {"detail": "this key was used before", "errors": errors})
    assert isinstance(error, ServiceError)
    assert (error.status, error.detail) == (422, "this key was used before")


def test_other_statuses_are_about_the_service() -> None:
    """A pointer in them plays no part."""
    error = error_of(413, problem("#/tasks"))
    assert isinstance(error, ServiceError)
    assert str(error) == "all in all (status 413)"


def test_without_a_key_it_says_what_to_set() -> None:
    """The variable is named, and never a key."""
    assert "TIGER_API_KEY" in str(error_of(401, {"detail": "No key."}))


def test_an_answer_that_says_nothing() -> None:
    """The phrase of the status is better than nothing."""
    assert str(error_of(502, None, "Bad Gateway")) == "the service answered Bad Gateway (status 502)"


def test_no_answer_has_no_status() -> None:
    """Nothing is made up."""
    assert (str(ServiceError(None, "gone")), ServiceError(None, "gone").status) == ("gone", None)


def test_a_cancelled_job_is_named() -> None:
    """A caller can look for what it had found."""
    assert JobCancelledError("j1").job_id == "j1"
