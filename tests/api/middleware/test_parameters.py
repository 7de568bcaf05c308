"""Query parameters."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.memory import in_memory
from tiger.api.app import create_app
from tiger.api.settings import Settings


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Return a client of a service that has not started."""
    return TestClient(create_app(Settings(workers=1), in_memory))


@pytest.mark.slow
def test_bug_no_route_takes_a_parameter_that_it_does_not_know(client: TestClient, document: dict[str, Any]) -> None:
    """A misspelt filter returned all jobs; the problem names it and what there is."""
    for path, verbs in document["paths"].items():
        for verb in verbs:
            answer = client.request(verb.upper(), path, params={"body": "1"})
            assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json"), path
            assert [error["pointer"] for error in answer.json()["errors"]] == ["#/body"]


def test_what_there_is_is_named(client: TestClient) -> None:
    """Of the first parameter that is not known."""
    detail = client.get("/jobs?limit=2&state=done&x~/y=1").json()["detail"]
    known = "after, limit, status, kind, tag, created_after, created_before"
    assert detail == f'#/state: expected one of the parameters {known}, got "state"'
    assert client.get("/solvers?x~/y=1").json()["errors"][0] == {
        "pointer": "#/x~0~1y",
        "detail": 'expected no parameters, got "x~/y"',
    }


def test_pages_take_any_parameter(client: TestClient) -> None:
    """As those that lead to them add their own."""
    for path in ("/", "/docs", "/page/app.js"):
        assert client.get(path, params={"from": "mail"}).status_code == 200
