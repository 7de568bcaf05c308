"""The line between the server and a worker that solves a job: how far it has come, and when to end."""

import asyncio
import json
import socket
import struct
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Protocol

from tiger.deadline import ENDING
from tiger.progress import Progress

EVERY_S = 0.5
HEAD = struct.Struct(">cI")
PROGRESS, REPORT, END = b"p", b"r", b"e"
# Set in a worker whose solve has to come to an end now, with what it has.


class Tell(Protocol):
    """What a solve may say while it runs; `ending` tells it to come to an end."""

    def progress(self, progress: Progress) -> None:
        """Say how far the solve has come; more than about twice a second is dropped."""

    def report(self, report: bytes) -> None:
        """Hand over the best answer so far, strict JSON; more than about twice a second is dropped."""

    def ending(self) -> bool:
        """Tell whether the solve has to come to an end."""


Solve = Callable[[str, bytes, Tell], bytes]


@dataclass(slots=True)
class Call:
    """Hold what the server knows of a solve under way."""

    ticket: str
    progress: Progress | None = None
    report: bytes | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    writer: asyncio.StreamWriter | None = None

    def end(self) -> None:
        """Tell the solve to come to an end."""
        if self.writer is not None and not self.writer.is_closing():
            self.writer.write(END)


class Exchange:
    """Take the calls of workers, each of which says first by its ticket which solve it is about."""

    def __init__(self) -> None:
        # A name without a file, so that a server that is killed leaves nothing behind; tickets keep strangers out.
        self.address = f"\0tiger-{uuid.uuid4().hex}"
        self._calls: dict[str, Call] = {}

    async def start(self) -> None:
        """Begin to take calls."""
        self._server = await asyncio.start_unix_server(self._take, self.address)

    async def stop(self) -> None:
        """Take no more calls."""
        self._server.close()

    def open(self) -> Call:
        """Return a call that a worker may make."""
        call = Call(uuid.uuid4().hex)
        self._calls[call.ticket] = call
        return call

    def close(self, call: Call) -> None:
        """End a call."""
        self._calls.pop(call.ticket, None)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Listen to one worker until it hangs up."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            call = self._calls.get((await reader.readexactly(32)).decode("ascii", "replace"))
            if call is not None:
                call.writer = writer
                call.begun.set()
                while True:
                    kind, size = HEAD.unpack(await reader.readexactly(HEAD.size))
                    _hear(call, kind, await reader.readexactly(size))
        writer.close()


class Line:
    """The worker's end of a line: a Tell."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._said_s = {PROGRESS: -EVERY_S, REPORT: -EVERY_S}

    def progress(self, progress: Progress) -> None:
        """Say how far the solve has come."""
        self._say(PROGRESS, json.dumps(asdict(progress)).encode())

    def report(self, report: bytes) -> None:
        """Hand over the best answer so far."""
        self._say(REPORT, report)

    def ending(self) -> bool:
        """Tell whether the solve has to come to an end."""
        return ENDING.is_set()

    def _say(self, kind: bytes, what: bytes) -> None:
        """Send a message, unless one of its kind went a moment ago."""
        if time.monotonic() - self._said_s[kind] >= EVERY_S:
            self._said_s[kind] = time.monotonic()
            with suppress(OSError):
                self._server.sendall(HEAD.pack(kind, len(what)) + what)


def solved(address: str, ticket: str, solve: Solve, kind: str, body: bytes) -> bytes:
    """Solve in a worker, on the line to its server."""
    ENDING.clear()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        server.sendall(ticket.encode())
        listener = threading.Thread(target=_listen, args=(server,), daemon=True)
        listener.start()
        try:
            return solve(kind, body, Line(server))
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            # What was said in the last moment must not end the next solve.
            listener.join()


def _listen(server: socket.socket) -> None:
    """Wait for the word to end; a line that breaks says nothing."""
    with suppress(OSError):
        if server.recv(1) == END:
            ENDING.set()


def _hear(call: Call, kind: bytes, what: bytes) -> None:
    """Keep what a worker says."""
    if kind == REPORT:
        call.report = what
    elif kind == PROGRESS:
        call.progress = Progress(**json.loads(what))
