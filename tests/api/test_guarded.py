"""A real server that has keys."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tiger.api.app import create_app
from tiger.api.settings import Settings

KEYS = ("first-key-of-enough-letters", "second-key-of-enough-letters")
OPEN = {"/", "/healthz", "/readyz", "/readyz/database", "/readyz/workers"}
FILES = {"/docs", "/openapi.json", "/metrics", "/static-offline-docs/swagger-ui.css", "/none"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the server's data and log are."""
    return tmp_path_factory.mktemp("guarded")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[httpx.Client]:
    """Return a client, without a key, of a server that has two."""
    settings = {"TIGER_API_KEYS": ",".join(KEYS), "TIGER_DATA_DIR": str(folder), "TIGER_WORKERS": "1"}
    command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | settings) as process,
    ):
        assert process.stdout is not None
        url = process.stdout.readline().strip().rpartition(" ")[2]
        with httpx.Client(base_url=url, timeout=300) as client:
            yield client
        process.send_signal(signal.SIGKILL)


def routes() -> list[tuple[str, str]]:
    """Return method and path of every route that the service documents, and of its files."""
    documented = create_app(Settings(workers=1)).openapi()["paths"]
    asked = {(verb.upper(), re.sub(r"{\w+}", "x", path)) for path, verbs in documented.items() for verb in verbs}
    return sorted(asked | {("GET", path) for path in FILES})


@pytest.mark.parametrize(("method", "path"), [route for route in routes() if route[1] not in OPEN])
def test_a_route_needs_a_key(server: httpx.Client, method: str, path: str) -> None:
    """Without one the answer is 401, and with either one it is another."""
    for headers in ({}, {"X-API-Key": "wrong-key-of-enough-letters"}, {"Authorization": f"Basic {KEYS[0]}"}):
        answer = server.request(method, path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
        assert "www-authenticate" in answer.headers
    for headers in ({"X-API-Key": KEYS[0]}, {"Authorization": f"Bearer {KEYS[1]}"}):
        assert server.request(method, path, headers=headers).status_code not in (401, 403)


@pytest.mark.parametrize("path", sorted(OPEN))
def test_health_and_the_index_need_none(server: httpx.Client, path: str) -> None:
    """Whatever the answer is, it is none about keys."""
    assert server.get(path).status_code in (200, 503)


def test_no_key_is_in_the_log(server: httpx.Client, folder: Path) -> None:
    """Requests are told apart by their owners."""
    answer = server.get("/jobs", headers={"X-API-Key": KEYS[0], "X-Request-Id": "follow-me"})
    server.get(f"/{KEYS[0][:5]}", headers={"Authorization": f"Bearer {KEYS[1]}"})
    log = (folder / "log").read_text()
    assert answer.headers["x-request-id"] == "follow-me"
    assert '"request_id": "follow-me"' in log
    assert not any(key in log for key in (*KEYS, "wrong-key"))


def test_a_large_body_without_a_key_is_not_read(server: httpx.Client) -> None:
    """The connection ends with the refusal."""
    answer = server.post("/assign", content=b" " * 200_000)
    assert (answer.status_code, answer.headers["connection"]) == (401, "close")


@pytest.mark.slow
def test_bug_streams_that_are_opened_together_are_bounded(server: httpx.Client, endless: dict[str, Any]) -> None:
    """A key may have a quarter of the 256, however many it asks for before the first one is answered."""
    key = {"X-API-Key": KEYS[0]}
    job = server.post("/assign", json=endless, headers=key | {"Prefer": "respond-async"}).json()["id"]
    asked = f"GET /jobs/{job}/events HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {KEYS[0]}\r\n\r\n".encode()
    with ExitStack() as stack:
        clients = [
            stack.enter_context(socket.create_connection((server.base_url.host, server.base_url.port), timeout=60))
            for _ in range(120)
        ]
        for client in clients:
            client.sendall(asked)
        statuses = Counter(client.recv(12) for client in clients)
    assert statuses == {b"HTTP/1.1 200": 64, b"HTTP/1.1 429": 56}
    server.delete(f"/jobs/{job}", headers=key)


def test_the_document_says_how_a_key_is_sent(server: httpx.Client) -> None:
    """Health needs none."""
    document = server.get("/openapi.json", headers={"X-API-Key": KEYS[0]}).json()
    assert set(document["components"]["securitySchemes"]) == {"key", "bearer"}
    assert document["security"] == [{"key": []}, {"bearer": []}]
    open_to_all = {path for path, verbs in document["paths"].items() if verbs.get("get", {}).get("security") == []}
    assert open_to_all == OPEN - {"/"}
