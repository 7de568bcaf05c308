"""Readiness."""

import asyncio
from collections.abc import Mapping

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tiger.api.middleware import readiness


async def good() -> Mapping[str, bool]:
    """Say that all is well."""
    return {"database": True, "workers": True}


async def cold() -> Mapping[str, bool]:
    """Say that the workers are not warm yet."""
    return {"database": True, "workers": False}


async def broken() -> Mapping[str, bool]:
    """Fail."""
    raise OSError("/secret")


async def silent() -> Mapping[str, bool]:
    """Say nothing for a long time."""
    await asyncio.sleep(60)
    return {}


def client_of(ready: readiness.Ready) -> TestClient:
    """Return a client of a service that is as ready as that says."""
    app = FastAPI()
    app.include_router(readiness.router(ready))
    return TestClient(app)


def test_a_ready_server_says_of_what() -> None:
    """The answer lists the parts."""
    answer = client_of(good).get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"database": True, "workers": True})


def test_a_server_that_is_not_ready_says_why() -> None:
    """The problem names the part, in its sentence and as a member."""
    answer = client_of(cold).get("/readyz")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json")
    assert answer.headers["retry-after"] == "1"
    shown = answer.json()
    assert shown["detail"] == "The server cannot use the workers."
    assert (shown["database"], shown["workers"]) == (True, False)


@pytest.mark.parametrize("ready", [broken, silent])
def test_no_answer_is_a_no(ready: readiness.Ready, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that hangs or fails is none, and why is not told."""
    monkeypatch.setattr(readiness, "TIMEOUT_S", 0.05)
    answer = client_of(ready).get("/readyz")
    assert (answer.status_code, answer.json()["database"]) == (503, False)
    assert "secret" not in answer.text
