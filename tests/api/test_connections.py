"""Connections that state no request."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from tiger.api import connections
from tiger.api.connections import Connection

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer everything with nothing."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Return a connection to a server that wants a request within 0.3 s."""
    monkeypatch.setattr(connections, "STATED_S", 0.3)
    server = uvicorn.Server(uvicorn.Config(_app, http=Connection, lifespan="off", log_config=None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        with socket.create_connection(listener.getsockname(), timeout=10) as connection:
            yield connection
        server.should_exit = True
        thread.join()


def test_a_connection_that_dribbles_is_closed(stranger: socket.socket) -> None:
    """A byte now and then does not keep it open."""
    sent = 0
    with suppress(ConnectionError):
        for byte in REQUEST:
            sent += stranger.send(bytes([byte]))
            time.sleep(0.05)
    assert sent < len(REQUEST)


def test_a_connection_may_ask_again(stranger: socket.socket) -> None:
    """The time begins anew with every answer."""
    for _ in range(4):
        stranger.sendall(REQUEST)
        assert stranger.recv(1000).startswith(b"HTTP/1.1 204")
        time.sleep(0.2)
    assert stranger.recv(1000) == b""
