"""The log, and the answer to what nothing else answers for."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any
from unittest import mock

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from tiger.api.middleware import log
from tiger.api.middleware.headers import Headers
from tiger.api.seams.job import DatabaseDownError
from tiger.errors import InputError

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def faulty() -> TestClient:
    """Return a client of a service whose routes fail."""
    app = FastAPI()
    app.add_middleware(log.RequestLog)
    app.add_middleware(Headers)

    @app.get("/fail")
    def fail() -> None:
        raise OSError("/secret/path")

    @app.get("/cancel")
    async def cancel() -> None:
        raise asyncio.CancelledError

    @app.get("/fine")
    def fine() -> str:
        return "yes"

    return TestClient(app)


def test_a_request_is_one_line_with_its_figures(lines: Lines, faulty: TestClient) -> None:
    """Id, method, path, status and seconds of a request are on its line."""
    answer = faulty.get("/fine")
    (line,) = (entry for entry in lines() if entry["event"] == "request")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/fine", 200)
    assert line["request_id"] == answer.headers["x-request-id"]
    assert 0 < line["seconds"] < 10


def test_an_unforeseen_error_is_logged_and_not_shown(lines: Lines, faulty: TestClient) -> None:
    """The traceback goes to the log, with the number of the request, and a bare 500 to the client."""
    answer = faulty.get("/fail")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
    (failure,) = (entry for entry in lines() if entry["event"] == "failed")
    assert "/secret/path" in failure["exception"]
    assert failure["request_id"] == answer.headers["x-request-id"]


def test_a_request_cut_off_by_shutdown_is_answered(lines: Lines, faulty: TestClient) -> None:
    """A client whose solve is cancelled is told to ask again."""
    answer = faulty.get("/cancel")
    assert answer.status_code == 503
    assert "shutting down" in answer.json()["detail"]


@pytest.mark.parametrize("end", [OSError(), asyncio.CancelledError()])
def test_an_answer_under_way_is_not_begun_again(lines: Lines, end: BaseException) -> None:
    """What breaks in the middle of an answer is logged with the status that was sent."""
    sent: list[str] = []

    async def break_off(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise end

    async def send(message: Message) -> None:
        sent.append(message["type"])

    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(
            log.RequestLog(break_off)({"type": "http", "headers": [], "method": "GET", "path": "/"}, mock.Mock(), send)
        )
    assert sent == ["http.response.start"]
    assert [entry["status"] for entry in lines() if entry["event"] == "request"] == [200]


def test_a_path_cannot_forge_a_line(lines: Lines, faulty: TestClient) -> None:
    """A line break in a path stays inside its line."""
    faulty.get("/fine%0Aforged")
    assert [entry["path"] for entry in lines() if entry["event"] == "request"] == ["/fine\nforged"]


def test_libraries_log_the_same_way(lines: Lines) -> None:
    """A record of the standard library is a line of JSON, too."""
    logging.getLogger("uvicorn.error").warning("something %s", "odd")
    (line,) = lines()
    assert (line["event"], line["level"]) == ("something odd", "warning")


def test_a_line_is_bounded(lines: Lines, faulty: TestClient) -> None:
    """However long a path, its line is short."""
    faulty.get(f"/{'x' * 5000}")
    assert [len(entry["path"]) for entry in lines() if entry["event"] == "request"] == [200]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("database", "expected another"), "database: expected another"),
        (DatabaseDownError("gone"), "the database cannot be used: gone"),
    ],
)
def test_a_start_that_fails_says_why_in_a_line(error: Exception, said: str) -> None:
    """There is no traceback of what an operator can mend."""
    assert start(error) == {"type": "lifespan.startup.failed", "message": said}


def test_a_start_that_fails_of_a_bug_is_traced() -> None:
    """Nobody could find it otherwise."""
    assert "Traceback" in start(OSError("no"))["message"]


def start(error: Exception) -> dict[str, Any]:
    """Return what a server is told of an application whose start raises an error."""
    sent: list[dict[str, Any]] = []

    @contextlib.asynccontextmanager
    async def fail(_: FastAPI) -> AsyncIterator[None]:
        raise error
        yield

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        sent.append(dict(message))

    app = log.RequestLog(FastAPI(lifespan=fail))
    with pytest.raises(type(error)):
        asyncio.run(app({"type": "lifespan", "app": app}, receive, send))
    return sent[-1]
