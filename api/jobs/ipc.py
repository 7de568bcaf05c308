"""The connection between the server and a worker that solves a job: how far it has come, and when to end."""

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

# Seconds between two reports of progress: a person sees no difference, and a solve of milliseconds sends one.
EVERY_S = 0.5
# The length in bytes of the document that follows.
HEAD = struct.Struct(">I")
# What the server sends for a solve to end.
END = b"e"

# What solves, and reports its progress by the last argument; it ends once tiger.run.deadline.ENDING is set.
Solve = Callable[[str, bytes, Callable[[Progress], None]], bytes]


@dataclass(slots=True)
class Call:
    """Hold what the server knows of a solve that runs."""

    ticket: str
    progress: Progress | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    ending: bool = False
    writer: asyncio.StreamWriter | None = None

    def end(self) -> None:
        """Ask the solve to end, as soon as its worker connects where it has not yet."""
        self.ending = True
        if self.writer is not None and not self.writer.is_closing():
            self.writer.write(END)

    def connect(self, writer: asyncio.StreamWriter) -> None:
        """Take the connection of the worker."""
        self.writer = writer
        self.begun.set()
        if self.ending:
            self.end()


class IpcServer:
    """Take the connections of workers, each of which states first by its ticket which solve it is about."""

    def __init__(self) -> None:
        # A name without a file, so that a server that is killed leaves nothing behind; tickets keep strangers out.
        self.address = f"\0tiger-{uuid.uuid4().hex}"
        self._calls: dict[str, Call] = {}

    async def start(self) -> None:
        """Begin to take connections."""
        self._server = await asyncio.start_unix_server(self._take, self.address)

    async def stop(self) -> None:
        """Take no more connections."""
        self._server.close()

    def open(self) -> Call:
        """Return a call, to which a worker may connect."""
        call = Call(uuid.uuid4().hex)
        self._calls[call.ticket] = call
        return call

    def close(self, call: Call) -> None:
        """End a call."""
        self._calls.pop(call.ticket, None)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what one worker sends until it disconnects."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            call = self._calls.get((await reader.readexactly(32)).decode("ascii", "replace"))
            if call is not None:
                call.connect(writer)
                while True:
                    (size,) = HEAD.unpack(await reader.readexactly(HEAD.size))
                    call.progress = Progress(**json.loads(await reader.readexactly(size)))
        writer.close()


class ProgressSender:
    """Send progress from a worker to its server."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._sent_s = -EVERY_S

    def send(self, progress: Progress) -> None:
        """Send how far the solve has come; more than about twice a second is dropped."""
        if time.monotonic() - self._sent_s >= EVERY_S:
            self._sent_s = time.monotonic()
            document = json.dumps(asdict(progress)).encode()
            with suppress(OSError):
                self._server.sendall(HEAD.pack(len(document)) + document)


def solve_over_ipc(address: str, ticket: str, solve: Solve, kind: str, body: bytes) -> bytes:
    """Solve in a worker that is connected to its server."""
    ENDING.clear()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        server.sendall(ticket.encode())
        listener = threading.Thread(target=_listen, args=(server,), daemon=True)
        listener.start()
        try:
            return solve(kind, body, ProgressSender(server).send)
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            # A request to end that came in the last moment must not end the next solve.
            listener.join()


def _listen(server: socket.socket) -> None:
    """Wait for the request to end; a connection that breaks is none."""
    with suppress(OSError):
        if server.recv(1) == END:
            ENDING.set()
