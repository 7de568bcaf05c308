"""The edge as a whole, around a service of a few routes."""

import re

import httpx
import pytest
from fastapi import FastAPI, HTTPException
from fastapi.testclient import TestClient
from fastapi_offline import FastAPIOffline

from tiger.api import stack as edge
from tiger.api.middleware import keys
from tiger.api.middleware.metrics import Metrics
from tiger.api.seams.job import DatabaseDownError, KeyReusedError
from tiger.api.seams.quota import QueueFullError
from tiger.api.settings import Settings

KEY = "k" * 32
GOOD = {"X-API-Key": KEY}
ERRORS = {
    "reused": KeyReusedError(),
    "full": QueueFullError("jobs", 9, 9),
    "gone": DatabaseDownError("/secret"),
    "conflict": HTTPException(409),
    "bug": OSError("/secret"),
}


async def ready() -> bool:
    """Say that all is well."""
    return True


async def fail(name: str, wait: int = 0) -> None:
    """Raise an error."""
    raise ERRORS[name]


async def fine() -> dict[str, str]:
    """Answer."""
    return {"status": "ok"}


READY = {"/readyz", "/readyz/database", "/readyz/workers"}


def service(**changes: object) -> FastAPI:
    """Return a service with one key and few routes."""
    app = FastAPIOffline(title="x", redoc_url=None, redirect_slashes=False)
    metrics = Metrics()
    settings = Settings(api_keys=keys.parse(KEY)).model_copy(update=changes)
    edge.protect(app, settings, metrics, lambda _: None)
    app.router.routes.extend(edge.operations(metrics, {"database": ready, "workers": ready}))
    app.add_api_route("/healthz", fine)
    app.add_api_route("/errors/{name}", fail, methods=["GET", "POST"])
    return app


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Return a client of that service."""
    return TestClient(service())


def is_problem(answer: httpx.Response, status: int) -> bool:
    """Return whether an answer is a problem document of a status that shows nothing of the inside."""
    typed = answer.headers["content-type"] == "application/problem+json"
    return answer.status_code == status == answer.json()["status"] and typed and "secret" not in answer.text


@pytest.mark.slow
@pytest.mark.usefixtures("lines")
def test_every_route_but_health_needs_a_key(client: TestClient) -> None:
    """Documents, files and figures are closed, too; with a key none is."""
    paths = {re.sub(r"{\w+}", "x", route.path) for route in client.app.routes if hasattr(route, "path")}  # type: ignore[attr-defined]
    paths |= {"/metrics", "/readyz", "/static-offline-docs/swagger-ui.css"}
    refused = {path for path in paths if client.get(path).status_code == 401}
    assert paths - refused == {"/healthz", *READY}
    assert {"/docs", "/openapi.json", "/metrics"} <= refused
    assert all(client.get(path, headers=GOOD).status_code != 401 for path in paths - {"/errors/x"})


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"])
def test_no_method_gets_around_the_key(client: TestClient, method: str) -> None:
    """Whatever is asked of a route."""
    assert client.request(method, "/errors/full").status_code == 401


@pytest.mark.parametrize(
    ("name", "status", "header"),
    [
        ("reused", 422, "x-request-id"),
        ("full", 429, "retry-after"),
        ("gone", 503, "retry-after"),
        ("conflict", 409, "x-request-id"),
        ("bug", 500, "x-request-id"),
        ("full?wait=x", 422, "x-request-id"),
    ],
)
@pytest.mark.usefixtures("lines")
def test_every_error_is_a_problem_document(client: TestClient, name: str, status: int, header: str) -> None:
    """Whoever raises it, a route, a library or nobody on purpose."""
    answer = client.get(f"/errors/{name}", headers=GOOD)
    assert is_problem(answer, status)
    assert header in answer.headers


def test_what_is_not_there_is_a_problem_document(client: TestClient) -> None:
    """Neither a path nor a method."""
    assert is_problem(client.get("/none", headers=GOOD), 404)
    assert is_problem(client.delete("/errors/full", headers=GOOD), 405)
    assert client.delete("/errors/full", headers=GOOD).headers["allow"] in ("GET, POST", "POST, GET")


def test_a_parameter_is_pointed_at(client: TestClient) -> None:
    """The pointer names the parameter of the query."""
    (error,) = client.get("/errors/full?wait=x", headers=GOOD).json()["errors"]
    assert error == {"pointer": "#/wait", "detail": 'expected a whole number, got "x"'}


def test_refusals_carry_headers_and_count(client: TestClient) -> None:
    """A request without a key has a number, and is in the figures."""
    assert "x-content-type-options" in client.get("/errors/full").headers
    counted = re.search(r'tiger_request_seconds_count{.*status="401"} (\d+)', client.get("/metrics", headers=GOOD).text)
    assert counted is not None


def test_rates_count_what_has_a_key() -> None:
    """Nobody without one uses up what is left."""
    client = TestClient(service(rate="1/minute"))
    assert client.get("/none").status_code == 401
    statuses = [client.get("/none", headers=GOOD).status_code for _ in range(2)]
    assert statuses == [404, 429]


def test_other_origins_may_ask_where_they_are_named() -> None:
    """A browser asks first without a key, and for an origin that is not named it is told no."""
    client = TestClient(service(cors_origins=("https://a.example",)))
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key, content-type"}
    named = client.options("/errors/full", headers={"Origin": "https://a.example", **asked})
    other = client.options("/errors/full", headers={"Origin": "https://b.example", **asked})
    assert (named.status_code, named.headers["access-control-allow-origin"]) == (200, "https://a.example")
    assert is_problem(other, 400)
    assert "access-control-allow-origin" not in other.headers


def test_pages_of_other_origins_may_send_every_header_that_requests_take() -> None:
    """A browser sends none that the answer to its first request does not name."""
    origin = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}
    client = TestClient(service(cors_origins=("https://a.example",)))
    headers = ("Prefer", "Idempotency-Key", "Webhook-URL", "X-API-Key", "X-Request-Id")
    for name in headers:
        answer = client.options("/assign", headers={**origin, "Access-Control-Request-Headers": name})
        assert (name, answer.status_code) == (name, 200)


def test_without_keys_nobody_is_refused() -> None:
    """The edge of a server on a laptop has no entry."""
    assert TestClient(service(api_keys=())).get("/docs").status_code == 200
