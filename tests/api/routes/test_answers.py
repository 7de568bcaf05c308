"""What the OpenAPI document says of answers, and what they are."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.middleware.hosts import Local
from tiger.api.middleware.keys import parse
from tiger.api.seams.job import DatabaseDownError, KeyReusedError
from tiger.api.seams.quota import QueueFullError
from tiger.api.settings import Settings

Responses = dict[str, Any]
BODIES = (b"", b"{", b"[]", b"{}", b" " * 3000, b'{"model": 1, "tasks": 1}')
HEADERS: tuple[dict[str, str], ...] = (
    {"Content-Type": "application/json"},
    {"Content-Type": "text/plain"},
    {"Content-Type": "application/json", "Idempotency-Key": "\x7f"},
)
SMALL = {"tasks": {"nodes": [{"id": "a"}], "edges": []}, "topology": "grid:2"}


def service(**settings: Any) -> FastAPI:
    """Return a service whose jobs are kept in memory, and not begun."""
    return create_app(Settings(workers=1, max_body_bytes=2000, **settings), in_memory)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, Responses]]:
    """Yield method, path and documented responses of every operation, `/jobs/x` for a job and `/files/y` for a file."""
    for path, verbs in document["paths"].items():
        for verb, operation in verbs.items():
            yield verb.upper(), path.replace("{job_id}", "x").replace("{name}", "y"), operation["responses"]


def test_what_is_refused_is_documented(document: dict[str, Any]) -> None:
    """Bodies, types, keys and parameters of every sort are tried."""
    client, found = TestClient(service()), set()
    for method, path, documented in operations(document):
        sent = [{"content": body, "headers": headers} for body in BODIES for headers in HEADERS]
        for request in sent if method == "POST" else [{"params": {"wait": "x", "limit": "0", "after": ""}}, {}]:
            status = str(client.request(method, path, **request).status_code)
            assert status in documented, (method, path, status)
            found.add(status)
    assert found == {"200", "400", "404", "413", "415", "422", "503"}


@pytest.mark.parametrize(
    ("status", "settings", "wrap", "open_to_all"),
    [
        (
            401,
            {"api_keys": parse("k" * 16)},
            lambda app: app,
            {"/", "/healthz", "/readyz", "/readyz/database", "/readyz/workers"},
        ),
        (429, {"rate": "1/day"}, lambda app: app, {"/", "/healthz", "/readyz", "/readyz/database", "/readyz/workers"}),
        (421, {}, Local, set()),
    ],
)
def test_whom_a_route_turns_away_is_documented(
    document: dict[str, Any],
    status: int,
    settings: dict[str, Any],
    wrap: Callable[[FastAPI], Any],
    open_to_all: set[str],
) -> None:
    """No key, too many requests, another name."""
    client = TestClient(wrap(service(**settings)), base_url="http://evil.example")
    client.get("/metrics")
    for method, path, documented in operations(document):
        if path not in open_to_all:
            assert client.request(method, path).status_code == status, path
            assert str(status) in documented, path


@pytest.mark.slow
def test_other_methods_are_documented(document: dict[str, Any]) -> None:
    """Every operation says that its path has no others."""
    client = TestClient(service())
    for _, path, documented in operations(document):
        assert client.patch(path).status_code == 405
        assert "405" in documented, path


@pytest.mark.parametrize(
    ("error", "status"), [(DatabaseDownError(), 503), (QueueFullError("jobs", 9, 9), 429), (KeyReusedError(), 422)]
)
def test_what_fails_further_in_is_documented(
    document: dict[str, Any], error: Exception, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of jobs and of the database."""

    async def fail(*_: object) -> None:
        raise error

    for name in ("submit", "get", "page"):
        monkeypatch.setattr(f"tests.api.memory.MemoryJobs.{name}", fail)
    client = TestClient(service(), headers={"Prefer": "respond-async"})
    assert client.post("/assign", json=SMALL).status_code == status
    for method, path, documented in operations(document):
        if path.startswith("/jobs"):
            assert str(client.request(method, path).status_code) in documented
        assert method != "POST" or str(status) in documented
