"""Files that come as bodies: checked, hashed and compressed as they arrive, so that none is held whole."""

import asyncio
import codecs
import hashlib
import math
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import NamedTuple

from fastapi import Request

from tiger.api.middleware.body import refuse_unread
from tiger.api.middleware.problems import Problem, RefusedError, excerpt
from tiger.errors import InputError

# Bytes that are worked on at a time, in a thread; seconds for all of a file to arrive; and files that arrive at once.
PART_BYTES, READ_S, AT_ONCE = 1 << 20, 600.0, 4
TEXT, OTHERS = "text/", ("application/octet-stream", "application/json", "application/xml")
# How hard zlib tries. Of 8.9 MB of rows of random numbers `zlib.compress` makes 4.6 MB in 0.07 s at level 1, and 4.4
# MB in 0.47 s at its usual 6.
LEVEL = 1
# The format of gzip, as zlib is told.
GZIP = 16 + zlib.MAX_WBITS


class Packed(NamedTuple):
    """Hold the SHA-256 of a text, its bytes, and the same compressed as zlib does."""

    id: str
    size: int
    packed: bytes


class Packer:
    """Check, hash and compress a text of at most `limit` bytes that comes in parts, by gzip or as it is."""

    def __init__(self, limit: int, *, gzipped: bool = False) -> None:
        self.limit, self.size = limit, 0
        self._inflate = zlib.decompressobj(GZIP) if gzipped else None
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._hash, self._deflate, self._packed = hashlib.sha256(), zlib.compressobj(LEVEL), bytearray()

    def add(self, part: bytes) -> None:
        """Add a part; raise RefusedError (413) beyond the limit, and InputError of `body` for what is no text."""
        for plain in self._unpack(part):
            self.size += len(plain)
            if self.size > self.limit:
                detail = f"expected a file of at most {self.limit} bytes, got a larger one"
                raise refuse_unread(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
            self._decode(plain)
            self._hash.update(plain)
            self._packed += self._deflate.compress(plain)

    def finish(self) -> Packed:
        """Return the text; raise InputError of `body` for none, and for one that is not all there."""
        self._decode(b"", final=True)
        if self._inflate is not None and not self._inflate.eof:
            raise InputError("body", "expected a whole file in gzip, got a part of one")
        if not self.size:
            raise InputError("body", "expected a file, got no bytes")
        self._packed += self._deflate.flush()
        return Packed(self._hash.hexdigest(), self.size, bytes(self._packed))

    def _unpack(self, part: bytes) -> Iterator[bytes]:
        """Yield what a part holds, no more than a part's bytes at a time."""
        if self._inflate is None:
            yield part
            return
        while part:
            if self._inflate.eof:
                raise InputError("body", "expected one file in gzip, got more after its end")
            try:
                yield self._inflate.decompress(part, PART_BYTES)
            except zlib.error:
                raise InputError("body", "expected a file in gzip, as Content-Encoding says, got another") from None
            part = self._inflate.unconsumed_tail or self._inflate.unused_data

    def _decode(self, plain: bytes, *, final: bool = False) -> None:
        """Raise InputError of `body` for bytes that are no text."""
        try:
            self._decoder.decode(plain, final)
        except UnicodeDecodeError:
            raise InputError("body", "expected text in UTF-8, got other bytes") from None


class Receiver:
    """Receive files of at most `limit` bytes, a few at a time, half of these of one owner."""

    def __init__(self, limit: int) -> None:
        self.limit, self._arriving = limit, Counter[str]()

    async def receive(self, request: Request, owner: str) -> Packed:
        """Return the text that a request brings; raise RefusedError (413, 415, 408, 429), or InputError of `body`."""
        _check_type(request.headers.get("content-type", ""))
        packer = Packer(self.limit, gzipped=_is_gzipped(request.headers.get("content-encoding", "")))
        declared = request.headers.get("content-length", "0")
        if declared.isdecimal() and int(declared[:20]) > self.limit:
            detail = f"expected a file of at most {self.limit} bytes, got a larger one"
            raise refuse_unread(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
        with self._take_place(owner):
            try:
                async with asyncio.timeout(READ_S):
                    return await _fill(packer, request)
            except TimeoutError:
                detail = f"expected the whole file within {READ_S:g} s"
                raise refuse_unread(HTTPStatus.REQUEST_TIMEOUT, detail) from None

    @contextmanager
    def _take_place(self, owner: str) -> Iterator[None]:
        """Count a file that arrives; raise RefusedError (429) for one too many."""
        own = math.ceil(AT_ONCE / 2) if owner else AT_ONCE
        if self._arriving.total() >= AT_ONCE or self._arriving[owner] >= own:
            detail = "expected room for another file, but too many arrive at once; ask again later"
            raise refuse_unread(HTTPStatus.TOO_MANY_REQUESTS, detail)
        self._arriving[owner] += 1
        try:
            yield
        finally:
            self._arriving[owner] -= 1
            if not self._arriving[owner]:
                del self._arriving[owner]


async def _fill(packer: Packer, request: Request) -> Packed:
    """Work on what arrives, in a thread, a part at a time."""
    part = bytearray()
    async for chunk in request.stream():
        part += chunk
        if len(part) >= PART_BYTES:
            await asyncio.to_thread(packer.add, bytes(part))
            part.clear()
    await asyncio.to_thread(packer.add, bytes(part))
    return await asyncio.to_thread(packer.finish)


def _check_type(kind: str) -> None:
    """Raise RefusedError (415) for a content type of which no file is."""
    name = kind.partition(";")[0].strip().lower()
    if not (name.startswith(TEXT) or name in OTHERS):
        found = f"got {excerpt(kind)}" if kind else "got none"
        detail = f"expected a content type text/.., {', '.join(OTHERS[:-1])} or {OTHERS[-1]}, {found}"
        raise RefusedError(Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail))


def _is_gzipped(coding: str) -> bool:
    """Return whether a body is compressed by gzip; raise RefusedError (415) for another coding."""
    name = coding.strip().lower()
    if name not in ("", "identity", "gzip"):
        detail = f"expected no Content-Encoding or gzip, got {excerpt(coding)}"
        accepted = {"Accept-Encoding": "gzip, identity"}
        raise RefusedError(Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, detail, headers=accepted))
    return name == "gzip"
