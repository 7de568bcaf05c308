"""Connections that state no request, or what is none."""

import asyncio
import json
import logging
import resource
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from tiger.api.middleware import connections
from tiger.api.middleware.connections import LimitedConnection

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


LARGE = 32 << 20


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with nothing, after a second where it is said to be slow, and with much where it is said to be large."""
    size = LARGE if scope["path"] == "/large" else 0
    if scope["path"] == "/read":
        while (await receive()).get("more_body"):
            pass
    await asyncio.sleep(scope["path"] == "/slow")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
    await send({"type": "http.response.body", "body": bytes(size)})


@pytest.fixture
def server() -> uvicorn.Server:
    """Return a server."""
    return uvicorn.Server(uvicorn.Config(_app, http=LimitedConnection, lifespan="off", log_config=None))


@pytest.fixture
def stated_s() -> float:
    """Return within how many seconds a server wants a request: no test has to hurry but those of this bound."""
    return 60.0


hurried = pytest.mark.parametrize("stated_s", [0.3])


@pytest.fixture
def stranger(server: uvicorn.Server, stated_s: float, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Return a connection to a server."""
    monkeypatch.setattr(connections, "STATED_S", stated_s)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        with socket.create_connection(listener.getsockname(), timeout=300) as connection:
            yield connection
        server.should_exit = True
        thread.join()


def send_on(connection: socket.socket, part: bytes) -> None:
    """Send a part again and again, with pauses, for longer than anybody should take it."""
    for _ in range(3000):
        connection.sendall(part)
        time.sleep(0.02)


@hurried
def test_a_connection_that_dribbles_is_closed(stranger: socket.socket) -> None:
    """A byte now and then does not keep it open."""
    stranger.sendall(REQUEST[:-2] + b"X: ")
    with pytest.raises(ConnectionError):
        send_on(stranger, b"a")


@pytest.mark.slow
@hurried
def test_a_connection_may_ask_again(stranger: socket.socket) -> None:
    """The time begins anew with every answer."""
    for _ in range(4):
        stranger.sendall(REQUEST)
        assert stranger.recv(1000).startswith(b"HTTP/1.1 200")
        time.sleep(0.2)
    assert stranger.recv(1000) == b""


def test_bug_what_is_no_request_is_refused_by_a_problem_document(stranger: socket.socket) -> None:
    """With the status that is meant, a number, and nothing after it."""
    stranger.sendall(REQUEST.replace(b"1.1", b"9.9") + REQUEST)
    head, _, body = stranger.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 505 HTTP Version Not Supported\r\n")
    assert {b"content-type: application/problem+json", b"connection: close", b"x-content-type-options: nosniff"} <= {
        line.lower() for line in head.split(b"\r\n")
    }
    assert json.loads(body)["detail"] == "expected HTTP/1.0 or HTTP/1.1, got HTTP/9.9"


def test_bug_a_client_that_sends_to_the_end_reads_its_refusal(stranger: socket.socket) -> None:
    """It was told by a reset alone, where it sends first and reads then."""
    stranger.sendall(REQUEST[:-2] + b"X: ")
    for _ in range(64):
        stranger.sendall(b"a" * (1 << 16))
    assert stranger.makefile("rb").read().startswith(b"HTTP/1.1 431")


@pytest.mark.slow
@hurried
@pytest.mark.parametrize(("name", "bound"), [("DRAINED_BYTES", 1000), ("DRAINED_S", 0.2)])
def test_what_follows_a_refusal_is_not_read_for_ever(
    stranger: socket.socket, monkeypatch: pytest.MonkeyPatch, name: str, bound: float
) -> None:
    """Bytes and seconds are bounded."""
    monkeypatch.setattr(connections, name, bound)
    began_s = time.monotonic()
    with suppress(ConnectionError):
        while time.monotonic() < began_s + 15:
            stranger.sendall(bytes(600))
            time.sleep(0.02)
    assert time.monotonic() < began_s + 5


@pytest.mark.parametrize(("method", "path"), [(b"GET", b"/"), (b"HEAD", b"/read"), (b"GET", b"/read")])
@pytest.mark.parametrize("pause_s", [0.0, 0.1])
def test_bug_a_body_that_is_none_fails_nothing(
    stranger: socket.socket, method: bytes, path: bytes, pause_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether it has been answered already, is waited for or was sent with its head, and whatever was asked."""
    head = REQUEST.replace(b"GET /", method + b" " + path).replace(b"Host", b"Transfer-Encoding: chunked\r\nHost")
    stranger.sendall(head)
    time.sleep(pause_s)
    stranger.sendall(b"none\r\n")
    answer = stranger.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400") or (path == b"/" and answer.startswith(b"HTTP/1.1 200"))
    assert answer.count(b"HTTP/1.1") == 1
    assert method != b"HEAD" or answer.endswith(b"\r\n\r\n")
    assert [record for record in caplog.records if record.levelno > logging.WARNING] == []


@pytest.mark.slow
@hurried
def test_bug_requests_sent_together_are_answered(stranger: socket.socket) -> None:
    """The second one was there before the first was answered, and may take its time."""
    stranger.sendall(REQUEST + REQUEST.replace(b"/ ", b"/slow ", 1))
    with stranger.makefile("rb") as answers:
        assert answers.read().count(b"HTTP/1.1 200") == 2


@pytest.mark.slow
@hurried
def test_an_answer_that_nobody_takes_is_not_held(stranger: socket.socket, server: uvicorn.Server) -> None:
    """Nor is its connection."""
    stranger.sendall(REQUEST.replace(b"/ ", b"/large ", 1).replace(b"Host", b"LimitedConnection: close\r\nHost"))
    stranger.recv(1)
    until_s = time.monotonic() + 10
    while server.server_state.connections and time.monotonic() < until_s:
        time.sleep(0.05)
    assert not server.server_state.connections


@pytest.mark.slow
@hurried
def test_an_answer_that_is_taken_slowly_is_sent(stranger: socket.socket) -> None:
    """Time begins anew as long as something is taken."""
    stranger.sendall(REQUEST.replace(b"/ ", b"/large ", 1).replace(b"Host", b"LimitedConnection: close\r\nHost"))
    taken = 0
    while piece := stranger.recv(LARGE // 16, socket.MSG_WAITALL):
        taken += len(piece)
        time.sleep(0.06)
    assert taken > LARGE


def test_bug_there_are_no_more_connections_than_there_is_room_for(
    stranger: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One too many is closed at once, and the others are answered."""
    stranger.sendall(REQUEST)
    assert stranger.recv(1000).startswith(b"HTTP/1.1 200")
    monkeypatch.setattr(connections, "room", lambda: 1)
    with socket.create_connection(stranger.getpeername(), timeout=300) as other, suppress(ConnectionError):
        assert other.recv(1) == b""
    stranger.sendall(REQUEST)
    assert stranger.recv(1000).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("limits", "made"), [((1024, 9999), (4096, 9999)), ((256, 1024), (1024, 1024)), ((9, -1), (4096, -1))]
)
def test_room_is_made_where_it_may_be(
    monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int], made: tuple[int, int]
) -> None:
    """A user may have as many files as the hard limit says; a quarter is left for the database and the workers."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits)
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, found: set_to.append(found))
    connections.make_room()
    assert set_to == [made]
    assert connections.room() == limits[0] * 3 // 4
