"""Files that arrive as bodies, in parts, and what is refused of them."""

import asyncio
import gzip
import hashlib
import random
import zlib
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from starlette.datastructures import Headers

from tiger.api.middleware.problems import RefusedError
from tiger.api.routes import uploading
from tiger.api.routes.uploading import PART_BYTES, Packed, Packer, Receiver
from tiger.errors import InputError

TEXT = ("é,b\n" * 700_000).encode()


class Sent:
    """Stand in for a request whose body comes in pieces."""

    def __init__(self, body: bytes, piece: int = 10_000, wait: asyncio.Event | None = None, **headers: str) -> None:
        self.body, self.piece, self.wait = body, piece, wait
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.headers = Headers({"content-type": "text/csv"} | named)

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield the pieces."""
        if self.wait is not None:
            await self.wait.wait()
        for at in range(0, len(self.body), self.piece):
            yield self.body[at : at + self.piece]


def receive(sent: Sent, limit: int = 1 << 23, owner: str = "") -> Packed:
    """Receive what is sent."""
    return asyncio.run(Receiver(limit).receive(cast(Any, sent), owner))


@pytest.mark.parametrize("piece", [9_999, 3 * PART_BYTES])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_text_is_hashed_and_compressed(piece: int, coding: str) -> None:
    """However it comes, and whatever its characters are cut into."""
    body = gzip.compress(TEXT) if coding == "gzip" else TEXT
    found = receive(Sent(body, piece, content_encoding=coding))
    assert (found.id, found.size) == (hashlib.sha256(TEXT).hexdigest(), len(TEXT))
    assert zlib.decompress(found.packed) == TEXT


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (Sent(b"x", content_type="image/png"), 415),
        (Sent(b"x", content_type=""), 415),
        (Sent(b"x", content_encoding="br"), 415),
        (Sent(b"x" * 2000), 413),
        (Sent(b"x", content_length="2000"), 413),
        (Sent(gzip.compress(bytes(50_000_000)), content_encoding="gzip"), 413),
    ],
)
def test_what_is_no_file_or_too_large_is_refused(sent: Sent, status: int) -> None:
    """A text that is small only as it is sent among it."""
    with pytest.raises(RefusedError) as refusal:
        receive(sent, 1000)
    assert refusal.value.problem.status == status


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (Sent(b""), "expected a file, got no bytes"),
        (Sent(b"a\xff"), "expected text in UTF-8"),
        (Sent("é".encode()[:1]), "expected text in UTF-8"),
        (Sent(b"plain", content_encoding="gzip"), "expected a file in gzip"),
        (Sent(gzip.compress(TEXT)[:-5], content_encoding="gzip"), "expected a whole file in gzip"),
        (Sent(gzip.compress(b"a") + b"more", content_encoding="gzip"), "expected one file in gzip"),
    ],
)
def test_what_is_no_text_is_refused(sent: Sent, reason: str) -> None:
    """As a fault of the body."""
    with pytest.raises(InputError, match=f"body: {reason}"):
        receive(sent)


def test_a_bomb_is_never_inflated_beyond_the_limit() -> None:
    """What is inflated at a time is one part."""
    packer = Packer(PART_BYTES, gzipped=True)
    with pytest.raises(RefusedError):
        packer.add(gzip.compress(bytes(50_000_000)))
    assert packer.size <= 2 * PART_BYTES


def test_a_slow_file_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place is free then."""
    monkeypatch.setattr(uploading, "READ_S", 0.01)

    async def late() -> Packed:
        receiver = Receiver(9)
        for _ in range(uploading.AT_ONCE + 1):
            with pytest.raises(RefusedError) as refusal:
                await receiver.receive(cast(Any, Sent(b"x", wait=asyncio.Event())), "me")
            assert refusal.value.problem.status == 408
        return await receiver.receive(cast(Any, Sent(b"x")), "me")

    assert asyncio.run(late()).size == 1


def test_few_files_arrive_at_once() -> None:
    """One owner leaves room for others, who come soon enough."""

    async def many() -> list[int]:
        receiver, go = Receiver(9), asyncio.Event()
        sent = [Sent(b"x", wait=go) for _ in range(uploading.AT_ONCE + 2)]
        owners = ["a", "a", "a", "b", "b", "c"]
        tasks = [
            asyncio.create_task(receiver.receive(cast(Any, each), owner))
            for each, owner in zip(sent, owners, strict=True)
        ]
        await asyncio.sleep(0)
        go.set()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        statuses = [each.problem.status if isinstance(each, RefusedError) else 200 for each in outcomes]
        assert (await receiver.receive(cast(Any, Sent(b"x")), "c")).size == 1
        return statuses

    assert asyncio.run(many()) == [200, 200, 429, 200, 200, 429]


def test_random_bytes_are_text_or_refused() -> None:
    """As Python decodes them, however they are cut."""
    chance = random.Random(1)
    for _ in range(200):
        body = bytes(chance.choice(b"a\xc3\xa9\xe2\x82\xac\xff") for _ in range(chance.randrange(1, 6)))
        packer = Packer(9)
        try:
            body.decode()
            known = True
        except UnicodeDecodeError:
            known = False
        try:
            for byte in body:
                packer.add(bytes([byte]))
            assert packer.finish().size == len(body)
            assert known
        except InputError:
            assert not known
