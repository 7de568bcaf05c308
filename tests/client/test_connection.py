"""Tests of the way to a service: what it takes for one, and what a busy one says."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from tiger.client.connection import Call, Connection, Patience, _retry_after
from tiger.client.errors import ServiceError
from tiger.errors import InputError


@pytest.mark.parametrize("url", ["", "localhost:8000", "ftp://host", "http://", "http://[::1", "file:///etc/passwd"])
def test_what_is_no_url(url: str) -> None:
    """It is bad input, named `server`."""
    with pytest.raises(InputError, match=r"^server: expected a URL"):
        Connection(url, "", 1.0, Patience())


def test_bug_who_does_not_answer_is_named_with_its_port() -> None:
    """And without what a URL may say of its user."""
    connection = Connection("http://me:secret@127.0.0.1:1", "", 1.0, Patience(asking_s=0.0))
    with pytest.raises(ServiceError, match=r"^no answer from 127\.0\.0\.1:1: "):
        connection.send(Call(method="GET", path="jobs"))


@pytest.mark.parametrize("key", ["a\nb", "schlüssel", " k"])
def test_what_is_no_key(key: str) -> None:
    """It is bad input, and the message does not repeat it."""
    with pytest.raises(InputError) as caught:
        Connection("http://localhost", key, 1.0, Patience())
    assert (caught.value.field, key in caught.value.reason) == ("key", False)


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [(503, "2", 2.0), (429, "0", 0.0), (503, "", None), (503, "soon", None), (500, "2", None), (200, "2", None)],
)
def test_when_a_busy_service_wants_to_be_asked_again(status: int, header: str, seconds: float | None) -> None:
    """Only 429 and 503 say so."""
    assert _retry_after(httpx.Response(status, headers={"Retry-After": header})) == seconds


def test_a_time_to_be_asked_again() -> None:
    """A date is as good as a number of seconds."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert _retry_after(httpx.Response(503, headers={"Retry-After": date})) == pytest.approx(30, abs=2)
