"""A service that has keys: of this process, and as a real server."""

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
from fastapi.testclient import TestClient

from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.middleware.keys import parse
from tiger.api.settings import Settings

KEYS = ("first-key-of-enough-letters", "second-key-of-enough-letters")
BASIC = f"Basic {KEYS[0]}"
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


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Return a client, without a key, of a service of this process that has two, and has not started."""
    return TestClient(create_app(Settings(workers=1, api_keys=parse(",".join(KEYS))), in_memory))


def routes(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return method and path of every route that the service documents, and of its files."""
    asked = {(verb.upper(), re.sub(r"{\w+}", "x", path)) for path, verbs in document["paths"].items() for verb in verbs}
    return sorted(asked | {("GET", path) for path in FILES})


def test_every_route_but_health_needs_a_key(client: TestClient, document: dict[str, Any]) -> None:
    """Without one the answer is 401, and with either one it is another; none of health and the index is about keys."""
    asked = routes(document)
    assert len(asked) > 20
    for method, path in asked:
        refused = () if path in OPEN else ({}, {"X-API-Key": "wrong-key-of-enough-letters"}, {"Authorization": BASIC})
        for headers in refused:
            answer = client.request(method, path, headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json"), path
            assert "www-authenticate" in answer.headers
        for headers in ({"X-API-Key": KEYS[0]}, {"Authorization": f"Bearer {KEYS[1]}"}):
            assert client.request(method, path, headers=headers).status_code not in (401, 403), path
    assert {client.get(path).status_code for path in OPEN} <= {200, 503}


@pytest.mark.slow
def test_no_key_is_in_the_log(server: httpx.Client, folder: Path) -> None:
    """Requests are told apart by their owners."""
    answer = server.get("/jobs", headers={"X-API-Key": KEYS[0], "X-Request-Id": "follow-me"})
    server.get(f"/{KEYS[0][:5]}", headers={"Authorization": f"Bearer {KEYS[1]}"})
    log = (folder / "log").read_text()
    assert answer.headers["x-request-id"] == "follow-me"
    assert '"request_id": "follow-me"' in log
    assert not any(key in log for key in (*KEYS, "wrong-key"))


@pytest.mark.slow
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
