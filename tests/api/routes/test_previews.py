"""The route of previews."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.api.desk import Clerk
from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.pool.processes import TooMuchWorkError
from tiger.api.routes import inline, previews
from tiger.api.settings import Settings


@pytest.fixture
def clerk() -> Clerk:
    """Return who answers."""
    return Clerk()


@pytest.fixture
def client(clerk: Clerk, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """Return a client of a service whose work is done by the clerk."""
    monkeypatch.setattr("tiger.api.app.Workers", lambda *_: clerk)
    with TestClient(create_app(Settings(), in_memory)) as client:
        yield client


def test_a_preview_is_answered_at_once(solving: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no job."""
    monkeypatch.setattr(previews, "PREVIEW_S", 3600.0)
    jobs = solving.get("/jobs").json()
    answer = solving.post("/views", json={"tasks": "ring:4"})
    assert (answer.status_code, answer.json()["kind"], answer.json()["total"]) == (200, "tasks", 4)
    assert solving.get("/jobs").json() == jobs


def test_a_fault_is_pointed_at(solving: TestClient) -> None:
    """Found before a worker is asked, or by it."""
    for body, pointer in (({"tasks": 3}, "#/tasks"), ({"cluster": "dgx:x"}, "#/cluster")):
        answer = solving.post("/views", json=body)
        assert (answer.status_code, [error["pointer"] for error in answer.json()["errors"]]) == (422, [pointer])


def test_a_preview_that_takes_long_asks_too_much(client: TestClient, clerk: Clerk) -> None:
    """To ask again would not help."""
    clerk.says = TooMuchWorkError("took more")
    assert client.post("/views", json={"tasks": "ring:4"}).status_code == 422


def test_bug_a_worker_that_is_too_slow_is_no_fault_of_a_preview(
    client: TestClient, clerk: Clerk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be halted, or the machine busy."""
    clerk.takes_s = 60.0
    monkeypatch.setattr(previews, "PREVIEW_S", 0.05)
    monkeypatch.setattr(inline, "LATE_S", 0.0)
    answer = client.post("/views", json={"tasks": "ring:4"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_a_preview_waits_for_no_worker_for_long(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer says when to ask again."""
    monkeypatch.setattr(inline, "MAX_WAITING", 0)
    answer = client.post("/views", json={"tasks": "ring:4"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
