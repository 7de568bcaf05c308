"""Answers to clients that are still sending."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from fastapi import Request, Response
from starlette.types import Message, Receive, Scope, Send

from tiger.api.middleware import drain
from tiger.api.middleware.body import Bodies
from tiger.api.middleware.connections import LimitedConnection
from tiger.api.middleware.drain import Drain
from tiger.api.middleware.problems import RefusedError

HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SENT = 8 << 20


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Read a body of at most a thousand bytes."""
    try:
        async with Bodies(1000).read(Request(scope, receive)):
            response = Response(status_code=204)
    except RefusedError as refused:
        response = refused.problem.response()
    await response(scope, receive, send)


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """Return the address of a server that drains."""
    server = uvicorn.Server(uvicorn.Config(Drain(_app), http=LimitedConnection, lifespan="off", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(
    "framed", [b"Content-Length: %d\r\n\r\n" % SENT, b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % SENT]
)
def test_bug_a_client_that_sends_to_the_end_reads_its_413(address: tuple[str, int], framed: bytes) -> None:
    """It was told by a reset alone, where it sends first and reads then."""
    with socket.create_connection(address, timeout=60) as client:
        client.sendall(HEAD + framed)
        for _ in range(SENT >> 16):
            client.sendall(bytes(1 << 16))
        client.sendall(b"\r\n0\r\n\r\n" if b"chunked" in framed else b"")
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 413")


def test_the_answer_does_not_wait_for_the_body(address: tuple[str, int]) -> None:
    """Only the end of the connection does, and not for ever."""
    with socket.create_connection(address, timeout=60) as client:
        client.sendall(HEAD + b"Content-Length: 9999\r\n\r\n")
        answer = client.recv(1 << 16)
        assert (answer[:12], b"connection: close" in answer.lower()) == (b"HTTP/1.1 413", True)


def test_bug_a_client_that_would_still_ask_whether_to_send_is_not_misread(address: tuple[str, int]) -> None:
    """Refused at once, it may send the body or not, so that its connection ends."""
    with socket.create_connection(address, timeout=60) as client:
        head = HEAD.replace(b"application/json", b"text/plain")
        client.sendall(head + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        time.sleep(0.1)
        client.sendall(b"{}" + HEAD + b"\r\n")
        answer = client.makefile("rb").read()
        assert (answer[:12], answer.count(b"HTTP/1.1")) == (b"HTTP/1.1 415", 1)
        assert b"connection: close" in answer.lower()


def send_on(connection: socket.socket, part: bytes) -> None:
    """Send a part again and again, with pauses, for longer than anybody should take it."""
    for _ in range(3000):
        connection.sendall(part)
        time.sleep(0.02)


@pytest.mark.parametrize(("name", "bound"), [("DRAINED_BYTES", 1000), ("DRAINED_S", 0.2)])
def test_nothing_is_drained_for_ever(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, name: str, bound: float
) -> None:
    """Bytes and seconds are bounded."""
    monkeypatch.setattr(drain, name, bound)
    with socket.create_connection(address, timeout=60) as client:
        client.sendall(HEAD + b"Content-Length: 999999999\r\n\r\n")
        with pytest.raises(ConnectionError):
            send_on(client, bytes(600))


def answers(*, head: list[tuple[bytes, bytes]], version: str = "1.1") -> tuple[list[Message], int]:
    """Return what is sent where a route reads nothing of a body of three parts, and how many parts are then read."""
    sent, read = [], 0

    async def receive() -> Message:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x", "more_body": read < 3}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": head, "http_version": version}
    asyncio.run(Drain(Response(b"x"))(scope, receive, send))
    return sent, read


@pytest.mark.parametrize(
    ("head", "version", "parts", "read"),
    [
        ([(b"content-length", b"3")], "1.1", 1, 0),
        ([(b"content-length", b"3")], "1.0", 2, 3),
        ([(b"transfer-encoding", b"chunked"), (b"connection", b"x, Close")], "1.1", 2, 3),
        ([(b"connection", b"close")], "1.1", 1, 0),
        ([(b"content-length", b"0"), (b"connection", b"close")], "1.1", 1, 0),
    ],
)
def test_a_body_is_drained_where_its_connection_ends(
    head: list[tuple[bytes, bytes]], version: str, parts: int, read: int
) -> None:
    """Elsewhere the server goes on to the next request by itself."""
    sent, found = answers(head=head, version=version)
    assert found == read
    assert [message.get("more_body", False) for message in sent[1:]] == [True, False][2 - parts :]


def test_the_life_of_the_service_is_not_touched() -> None:
    """What is no request passes."""
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    async def nothing(*_: object) -> Message:
        return {}

    asyncio.run(Drain(app)({"type": "lifespan"}, nothing, nothing))  # type: ignore[arg-type]  # as nothing is sent
    assert seen == [{"type": "lifespan"}]
