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

from tiger.run.deadline import ENDING
from tiger.run.progress import Progress

EVERY_S = 0.5
HEAD = struct.Struct(">I")
END = b"e"

# What solves, told how to say how far it has come; tiger.run.deadline.ENDING tells it to come to an end.
Solve = Callable[[str, bytes, Callable[[Progress], None]], bytes]


@dataclass(slots=True)
class Call:
    """Hold what the server knows of a solve under way."""

    ticket: str
    progress: Progress | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ending: bool = False
    writer: asyncio.StreamWriter | None = None

    def end(self) -> None:
        """Tell the solve to come to an end, as soon as its worker calls where it has not yet."""
        self.ending = True
        if self.writer is not None and not self.writer.is_closing():
            self.writer.write(END)

    def answer(self, writer: asyncio.StreamWriter) -> None:
        """Take the call of the worker."""
        self.writer = writer
        self.begun.set()
        if self.ending:
            self.end()


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
                call.answer(writer)
                while True:
                    (size,) = HEAD.unpack(await reader.readexactly(HEAD.size))
                    call.progress = Progress(**json.loads(await reader.readexactly(size)))
        writer.close()


class Line:
    """The worker's end of a line."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._said_s = -EVERY_S

    def progress(self, progress: Progress) -> None:
        """Say how far the solve has come; more than about twice a second is dropped."""
        if time.monotonic() - self._said_s >= EVERY_S:
            self._said_s = time.monotonic()
            what = json.dumps(asdict(progress)).encode()
            with suppress(OSError):
                self._server.sendall(HEAD.pack(len(what)) + what)


def solve_on_line(address: str, ticket: str, solve: Solve, kind: str, body: bytes) -> bytes:
    """Solve in a worker, on the line to its server."""
    ENDING.clear()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        server.sendall(ticket.encode())
        listener = threading.Thread(target=_listen, args=(server,), daemon=True)
        listener.start()
        try:
            return solve(kind, body, Line(server).progress)
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
