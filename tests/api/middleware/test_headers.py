"""The headers of every answer."""

import pytest
import structlog
from fastapi import FastAPI
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.testclient import TestClient

from tiger.api.middleware.headers import Headers


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Return a client of a service with a page, a fault and a route that tells the number in the log's context."""
    app = FastAPI()
    app.add_middleware(Headers)
    app.add_api_route("/page", lambda: HTMLResponse("<script>1</script>"))
    app.add_api_route("/kept", lambda: JSONResponse({}, headers={"Cache-Control": "max-age=9"}))
    app.add_api_route("/context", structlog.contextvars.get_contextvars)
    return TestClient(app)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/context", "/none", "/page"])
@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ],
)
def test_every_answer_carries_them(client: TestClient, path: str, header: str, value: str) -> None:
    """Good, bad and pages alike."""
    assert client.get(path).headers[header] == value


def test_no_answer_runs_or_is_framed(client: TestClient) -> None:
    """A document that is no page of ours may load nothing."""
    assert client.get("/none").headers["content-security-policy"].startswith("default-src 'none'")


def test_a_page_runs_its_own_scripts_alone(client: TestClient) -> None:
    """Nothing comes from another origin, and nobody frames it."""
    policy = client.get("/page").headers["content-security-policy"]
    assert "script-src 'self' 'unsafe-inline'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy


def test_what_a_route_says_of_caching_stands(client: TestClient) -> None:
    """A file that never changes may be kept."""
    assert client.get("/kept").headers["cache-control"] == "max-age=9"


def test_no_answer_opens_to_other_origins(client: TestClient) -> None:
    """CORS is off."""
    assert "access-control-allow-origin" not in client.get("/page", headers={"Origin": "https://a.example"}).headers


def test_a_number_that_comes_in_goes_out_and_into_the_log(client: TestClient) -> None:
    """A caller follows a request by a number of its own."""
    answer = client.get("/context", headers={"X-Request-Id": "job.7_a-B"})
    assert answer.headers["x-request-id"] == "job.7_a-B"
    assert answer.json() == {"request_id": "job.7_a-B"}


@pytest.mark.parametrize("sent", ["", "x" * 65, "a b", 'a"b', "a\tb", "\xe9", "a,b"])
def test_a_number_that_is_no_plain_word_is_replaced(client: TestClient, sent: str) -> None:
    """Nothing odd gets into answers or logs."""
    answer = client.get("/context", headers={"X-Request-Id": sent.encode("latin-1")})
    assert len(answer.headers["x-request-id"]) == 32
    assert answer.headers["x-request-id"] != sent


def test_numbers_differ(client: TestClient) -> None:
    """Two requests without one have two."""
    assert client.get("/none").headers["x-request-id"] != client.get("/none").headers["x-request-id"]
