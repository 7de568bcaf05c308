"""The names by which a server without keys may be asked for."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tiger.api.middleware.hosts import Local


@pytest.fixture(scope="module")
def client() -> TestClient:
    """Return a client of a service with nothing in it."""
    return TestClient(Local(FastAPI()))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "127.3.2.1", "[::1]:8000", "[::1]"])
def test_this_machine_is_asked_by_its_own_names(client: TestClient, host: str) -> None:
    """With or without a port."""
    assert client.get("/", headers={"Host": host}).status_code == 404


@pytest.mark.parametrize(
    "host",
    ["rebound.example", "localhost.example:80", "127.0.0.1.example", "10.0.0.1", "0.0.0.0", "[::]", "", "[", "::1"],
)
def test_another_name_is_refused(client: TestClient, host: str) -> None:
    """A page under such a name would be one origin with the service."""
    answer = client.get("/", headers={"Host": host})
    assert (answer.status_code, answer.headers["content-type"]) == (421, "application/problem+json")


def test_the_life_of_the_service_is_not_touched(client: TestClient) -> None:
    """It starts and stops as without."""
    with client as running:
        assert running.get("/", headers={"Host": "localhost"}).status_code == 404
