"""Reading a body within bounds."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from fastapi.testclient import TestClient

Post = Callable[..., httpx.Response]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
def test_another_content_type_is_415(refused: Post, kind: str) -> None:
    """Only JSON is read."""
    answer = refused(b"{}", kind)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8"])
def test_json_is_read_whatever_its_parameters(refused: Post, kind: str) -> None:
    """The type alone counts, without regard to case."""
    assert refused(b"{}", kind).status_code == 422


def test_a_declared_body_over_the_limit_is_413(refused: Post) -> None:
    """The length is believed before anything is read."""
    answer = refused(b" " * 2001)
    assert (answer.status_code, answer.headers["connection"]) == (413, "close")


def test_a_body_at_the_limit_is_read(refused: Post) -> None:
    """The limit itself passes."""
    assert refused(b"{}" + b" " * 1998).status_code == 422


def test_an_undeclared_body_over_the_limit_is_not_read_on(refusing: TestClient) -> None:
    """Reading a body in chunks ends at the limit."""
    sent = []

    def chunks() -> Iterator[bytes]:
        for _ in range(5):
            sent.append(1000)
            yield b" " * 1000

    answer = refusing.post("/assign", content=chunks(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413
