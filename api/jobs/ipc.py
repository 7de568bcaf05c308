"""The connection between the server and a worker that solves a job: how far it has come, its report, when to end."""

import asyncio
import json
import os
import socket
import struct
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from tiger.api.pool.meter import read_processor_s
from tiger.api.seams.files import JobDelivery, Solution, write_files
from tiger.api.seams.upload import NO_UPLOADS, UploadText
from tiger.run.deadline import ENDING
from tiger.run.progress import Progress

# Seconds between two reports of progress: a person sees no difference, and a solve of milliseconds sends one.
EVERY_S = 0.5
# What follows, the number of the process, progress or the report, and its length in bytes.
HEAD = struct.Struct(">cI")
PROCESS, PROGRESS, REPORT = b"n", b"p", b"r"
# What the server sends for a solve to end.
END = b"e"

# What solves a body, whose uploads are given by id, and calls another with its progress; it ends once
# tiger.run.deadline.ENDING is set.
Solve = Callable[[str, bytes, Callable[[Progress], None], Mapping[str, UploadText]], Solution]


@dataclass(slots=True)
class RunningSolve:
    """Hold what the server knows of a solve that runs; it has its report before the files beside it are written.

    `processor_s` is what it had used when that was last measured, for the case that its worker is lost.
    """

    ticket: str
    progress: Progress | None = None
    report: bytes | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    solved: asyncio.Event = field(default_factory=asyncio.Event)
    ending: bool = False
    writer: asyncio.StreamWriter | None = None
    processor_s: float = 0.0
    process: int | None = None
    before_s: float = 0.0

    def measure(self) -> None:
        """Measure what the solve has used until now; what is gone stays as it was last measured."""
        now_s = None if self.process is None else read_processor_s(self.process)
        if now_s is not None:
            self.processor_s = now_s - self.before_s

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

    def take(self, kind: bytes, document: bytes) -> None:
        """Take what the worker has sent."""
        if kind == REPORT:
            self.report = document
            self.solved.set()
        elif kind == PROCESS:
            self.process, self.processor_s = int(document), 0.0
            self.before_s = read_processor_s(self.process) or 0.0
        else:
            self.progress = Progress(**json.loads(document))


class IpcServer:
    """Take the connections of workers, each of which states first by its ticket which solve it is about."""

    def __init__(self) -> None:
        # A name without a file, so that a server that is killed leaves nothing behind; tickets keep strangers out.
        self.address = f"\0tiger-{uuid.uuid4().hex}"
        self._calls: dict[str, RunningSolve] = {}
        self._connections: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Begin to take connections."""
        self._server = await asyncio.start_unix_server(self._take, self.address)

    async def stop(self) -> None:
        """Take no more connections, and close those that workers left open."""
        self._server.close()
        for writer in self._connections:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._connections), return_exceptions=True)

    def open(self) -> RunningSolve:
        """Return a call, to which a worker may connect."""
        call = RunningSolve(uuid.uuid4().hex)
        self._calls[call.ticket] = call
        return call

    def close(self, call: RunningSolve) -> None:
        """End a call."""
        self._calls.pop(call.ticket, None)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read what one worker sends until it disconnects or the server stops."""
        self._connections.add(writer)
        try:
            await self._read(reader, writer)
        finally:
            writer.close()
            self._connections.discard(writer)

    async def _read(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take what one worker sends; one whose ticket is not known is not read on."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            call = self._calls.get((await reader.readexactly(32)).decode("ascii", "replace"))
            if call is not None:
                call.connect(writer)
                while True:
                    kind, size = HEAD.unpack(await reader.readexactly(HEAD.size))
                    call.take(kind, await reader.readexactly(size))


class ProgressSender:
    """Send progress from a worker to its server."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._sent_s = -EVERY_S

    def send(self, progress: Progress) -> None:
        """Send how far the solve has come; more than about twice a second is dropped."""
        if time.monotonic() - self._sent_s >= EVERY_S:
            self._sent_s = time.monotonic()
            _send(self._server, PROGRESS, json.dumps(asdict(progress)).encode())


def solve_over_ipc(
    address: str,
    ticket: str,
    solve: Solve,
    kind: str,
    body: bytes,
    uploads: Mapping[str, UploadText] = NO_UPLOADS,
) -> JobDelivery:
    """Solve in a worker that is connected to its server, and write the files beside the report.

    The report is sent before, so that nothing is lost with a worker that comes to grief over a file.
    """
    ENDING.clear()
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        server.sendall(ticket.encode())
        _send(server, PROCESS, str(os.getpid()).encode())
        listener = threading.Thread(target=_listen, args=(server,), daemon=True)
        listener.start()
        try:
            report, drafts = solve(kind, body, ProgressSender(server).send, uploads)
            _send(server, REPORT, report)
            return JobDelivery(report, write_files(drafts))
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            # A request to end that came in the last moment must not end the next solve.
            listener.join()


def _send(server: socket.socket, kind: bytes, document: bytes) -> None:
    """Send a document to the server; where it cannot be reached, nobody waits for one."""
    with suppress(OSError):
        server.sendall(HEAD.pack(kind, len(document)) + document)


def _listen(server: socket.socket) -> None:
    """Wait for the request to end; a connection that breaks is none."""
    with suppress(OSError):
        if server.recv(1) == END:
            ENDING.set()
