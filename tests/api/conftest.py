"""A service with one real worker, and the same service without any for what is refused before it gets there."""

import asyncio
import io
import itertools
import json
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import structlog

from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.middleware import log
from tiger.api.pool import processes as workers
from tiger.api.settings import Settings
from tiger.run.deadline import ENDING

with warnings.catch_warnings():
    # The client asks for another HTTP library by a warning at import, and works with this one.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

Post = Callable[..., httpx.Response]
Lines = Callable[[], list[dict[str, Any]]]
HOMES = itertools.count()
LINE = {"nodes": [{"id": "a"}, {"id": "b"}, {"id": "c"}], "edges": [{"source": "a", "target": "b", "weight": 3}]}


@pytest.fixture(autouse=True)
def _own_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every server that a test starts keep its jobs in a folder of that test's own, made by who uses it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / f"home{next(HOMES)}"))


@pytest.fixture(autouse=True)
def _going_on() -> Iterator[None]:
    """Let solves of this process go on after a test that told them to end."""
    yield
    ENDING.clear()


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    """Configure the log; return a function that reads its lines as objects."""
    root, stderr = logging.getLogger(), io.StringIO()
    before, level = root.handlers[:], root.level
    root.handlers = []
    monkeypatch.setattr(sys, "stderr", stderr)
    log.configure()
    yield lambda: [json.loads(line) for line in stderr.getvalue().splitlines()]
    root.handlers, root.level = before, level
    structlog.reset_defaults()


@pytest.fixture(scope="session", name="line")
def _line() -> dict[str, Any]:
    """Return three tasks a, b, c of which a talks to b."""
    return {"directed": True, **LINE}


@pytest.fixture(scope="session")
def endless() -> dict[str, Any]:
    """Return a problem whose optimum takes longer to prove than any test."""
    edges = [{"source": u, "target": v, "weight": 1 + u * v % 7} for u in range(40) for v in range(u) if (u + v) % 3]
    return {"tasks": {"nodes": [{"id": k} for k in range(40)], "edges": edges}, "topology": "torus:5x8"}


@pytest.fixture(scope="session")
def solving() -> Iterator[TestClient]:
    """Return a client of a service that solves in one process, and accepts limits of at most 5 s.

    It waits for an answer as long as that takes, since a busy machine may take any time.
    """
    settings = Settings(workers=1, max_time_s=5.0, max_wait_s=3600)
    with TestClient(create_app(settings, in_memory), headers={"Prefer": "wait=3600"}) as client:
        # A worker loads for seconds, and what is asked meanwhile may become a job.
        while client.get("/readyz").status_code != 200:
            time.sleep(0.05)
        yield client


@pytest.fixture(scope="session")
def refusing() -> TestClient:
    """Return a client of a service without workers, of at most 8 tasks and 2,000 bytes."""
    return TestClient(create_app(Settings(workers=1, max_tasks=8, max_body_bytes=2000)))


@pytest.fixture(scope="session")
def document(refusing: TestClient) -> dict[str, Any]:
    """Return the OpenAPI document of a service without keys, which takes long to make and is not to be changed."""
    found: dict[str, Any] = refusing.get("/openapi.json").json()
    return found


@pytest.fixture(scope="session")
def ask(solving: TestClient, line: dict[str, Any]) -> Post:
    """Return a function that asks for the three tasks on `grid:3`, but for the fields it is given."""

    def post(**fields: object) -> httpx.Response:
        # NaN and infinity must reach the service, so the client's own strict encoder stays out of it.
        body = json.dumps({"tasks": line, "topology": "grid:3", **fields})
        answer: httpx.Response = solving.post("/assign", content=body, headers={"Content-Type": "application/json"})
        return answer

    return post


@pytest.fixture(scope="session")
def refused(refusing: TestClient) -> Post:
    """Return a function that posts raw bytes to the service without workers."""

    def post(body: bytes, kind: str = "application/json") -> httpx.Response:
        answer: httpx.Response = refusing.post("/assign", content=body, headers={"Content-Type": kind})
        return answer

    return post


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """Return an event loop that lasts for a module."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def one(loop: asyncio.Runner) -> Iterator[workers.Workers]:
    """Return one worker."""
    pool = workers.Workers(1)
    yield pool
    loop.run(pool.stop())
