"""Readiness."""

import asyncio
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tiger.api.middleware import problems
from tiger.api.routes import readiness

WORK = ("/assign", "/place", "/plan", "/experts")


async def good() -> bool:
    """Say that all is well."""
    return True


async def cold() -> bool:
    """Say that the part cannot be used yet."""
    return False


async def broken() -> bool:
    """Fail."""
    raise OSError("/secret")


async def silent() -> bool:
    """Say nothing for a long time."""
    await asyncio.sleep(60)
    return True


def client_of(database: readiness.Ready, workers: readiness.Ready) -> TestClient:
    """Return a client of a service that is as ready as these say."""
    app = FastAPI()
    app.add_exception_handler(problems.RefusedError, problems.answer)
    app.include_router(readiness.router({"database": database, "workers": workers}))
    return TestClient(app)


def routes_of(shown: dict[str, Any]) -> tuple[set[str], str, str, str]:
    """Return what the routes of work do, and those of previews, jobs and rebalancers."""
    found = shown["routes"]
    return {found[path] for path in WORK}, found["/views"], found["/jobs"], found["/rebalancers"]


def test_a_ready_server_says_of_what() -> None:
    """The answer lists the parts, and the routes."""
    answer = client_of(good, good).get("/readyz")
    assert (answer.status_code, answer.json()["database"], answer.json()["workers"]) == (200, True, True)
    assert routes_of(answer.json()) == ({"available"}, "available", "available", "available")


def test_a_server_that_is_not_ready_says_why() -> None:
    """The problem names the part, in its sentence and as a member, and what goes on without it."""
    answer = client_of(good, cold).get("/readyz")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.headers["retry-after"] == "1"
    shown = answer.json()
    assert shown["detail"] == "The server cannot use the workers."
    assert (shown["database"], shown["workers"]) == (True, False)
    assert routes_of(shown) == ({"limited"}, "unavailable", "available", "limited")


@pytest.mark.parametrize("ready", [broken, silent])
def test_bug_workers_are_not_blamed_where_the_database_hangs(
    ready: readiness.Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part is asked on its own, and why it fails is not told."""
    monkeypatch.setattr(readiness, "TIMEOUT_S", 0.05)
    answer = client_of(ready, good).get("/readyz")
    assert (answer.status_code, answer.json()["database"], answer.json()["workers"]) == (503, False, True)
    assert routes_of(answer.json()) == ({"limited"}, "available", "unavailable", "unavailable")
    assert "secret" not in answer.text


def test_nothing_goes_on_without_all_parts() -> None:
    """Every route needs one of them."""
    assert set(client_of(cold, cold).get("/readyz").json()["routes"].values()) == {"unavailable"}


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_part_is_asked_alone(method: str) -> None:
    """So that a balancer may send small solves while the database is away."""
    client = client_of(silent, good)
    answer = client.request(method, "/readyz/workers")
    assert (answer.status_code, answer.text) == (200, '{"workers":true}' if method == "GET" else "")
    refused = client_of(cold, silent).get("/readyz/database")
    assert (refused.status_code, refused.json()["database"], "workers" in refused.json()) == (503, False, False)


def test_a_part_that_is_not_known_is_none() -> None:
    """Nor is a parameter, as one that was ignored would show in an outage alone."""
    client = client_of(good, good)
    assert client.get("/readyz/disk").status_code == 404
    answer = client.get("/readyz?exclude=database")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/exclude")
