"""Reading a body within bounds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import httpx
import pytest
from fastapi import Request
from fastapi.testclient import TestClient

from tiger.api.middleware import body
from tiger.api.middleware.body import SHORT_BYTES, Bodies
from tiger.api.middleware.problems import RefusedError

Post = Callable[..., httpx.Response]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""])
def test_another_content_type_is_415(refused: Post, kind: str) -> None:
    """Only JSON is read."""
    answer = refused(b"{}", kind)
    assert answer.status_code == 415
    assert "application/json" in answer.json()["detail"]


def test_bug_a_compressed_body_is_415(refusing: TestClient) -> None:
    """It was taken for text in another encoding."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = refusing.post("/assign", content=b"\x1f\x8b", headers=headers)
    assert (answer.status_code, answer.headers["accept-encoding"]) == (415, "identity")
    assert answer.json()["detail"] == 'expected a body without Content-Encoding, got "gzip"'


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


def coming(*chunks: bytes, every_s: float = 0.0) -> Request:
    """Return a request whose body comes in chunks, with a pause before each."""

    async def messages() -> AsyncIterator[dict[str, object]]:
        for chunk in chunks:
            await asyncio.sleep(every_s)
            yield {"type": "http.request", "body": chunk, "more_body": True}
        yield {"type": "http.request", "body": b""}

    headers = [(b"content-type", b"application/json")]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, messages().__anext__)


async def _read(bodies: Bodies, request: Request) -> int:
    """Return the length of a body, or the status of its refusal."""
    try:
        async with bodies.read(request) as asked:
            return len(asked)
    except RefusedError as refused:
        return refused.problem.status


def test_large_bodies_have_room_for_so_many_bytes() -> None:
    """Short ones are read nevertheless, and what has been answered makes room."""

    async def story() -> list[int]:
        bodies, large = Bodies(3 * SHORT_BYTES, 1), b" " * 3 * SHORT_BYTES
        async with bodies.read(coming(large)):
            found = [await _read(bodies, coming(large)), await _read(bodies, coming(b"short"))]
        return [*found, await _read(bodies, coming(large)), bodies.held]

    assert asyncio.run(story()) == [429, 5, 3 * SHORT_BYTES, 0]


def test_a_body_that_comes_too_slowly_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody holds a place by a byte now and then."""
    monkeypatch.setattr(body, "READ_S", 0.05)
    assert asyncio.run(_read(Bodies(1000), coming(*[b" "] * 100, every_s=0.01))) == 408
