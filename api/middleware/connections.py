"""Connections with time limits on their requests, and on how long an answer may stay unread."""

import asyncio
import resource
import sys
import uuid
from http import HTTPStatus

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from tiger.api.middleware import headers
from tiger.api.middleware.drain import DRAINED_BYTES, DRAINED_S
from tiger.api.middleware.framing import Framing
from tiger.api.middleware.problems import Problem, shorten

# Seconds to send a request's head, or to take some of an answer.
STATED_S = 20.0
# Open files of the process, of which three quarters may be connections.
FILES = 4096


class LimitedConnection(H11Protocol):
    """Close a connection that has not stated its next request in time, and at once one for which there is no room.

    Uvicorn itself closes none that sends something, however slowly, takes as many as it may have files, and then fills
    the log with errors that it can take no more. Nor does it drop one that is to be closed while its answer stays
    unread, which it would hold for ever.
    """

    conn: Framing
    _late: asyncio.TimerHandle | None = None
    _drained: int | None = None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = Framing()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the one it refines
        """Take a connection, and expect a request of it."""
        super().connection_made(transport)
        self._expect()
        if len(self.connections) > room():
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Expect the next request once one has been answered."""
        super().on_response_complete()
        self._expect()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 (h11 says more)
        """Refuse what is no request by a problem document, and close the connection.

        The server itself fails where an answer has begun before the body turns out to be none, and tells the route
        nothing of it.
        """
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(self._make_error_response(sys.exception()))
            self._drain()
        else:
            self.transport.close()

    def _drain(self) -> None:
        """End what is sent, and close once the client has, or has sent too much for too long.

        To close with something unread would reset the connection, and the answer may be lost.
        """
        self._drained = 0
        self.transport.write_eof()
        self.flow.resume_reading()
        asyncio.get_running_loop().call_later(DRAINED_S, self.transport.close)

    def data_received(self, data: bytes) -> None:
        """Read on, or past what follows an error response."""
        if self._drained is None:
            super().data_received(data)
            return
        self._drained += len(data)
        if self._drained > DRAINED_BYTES:
            self.transport.close()

    def _make_error_response(self, fault: BaseException | None) -> bytes:
        """Return the answer to what is no request as bytes, with the status that h11 hints at."""
        status = getattr(fault, "error_status_hint", HTTPStatus.BAD_REQUEST)
        response = Problem(status, shorten(str(fault)), headers={"Connection": "close"}).response()
        headers.tag(response.headers, uuid.uuid4().hex)
        bare = self.conn.our_state is h11.SEND_RESPONSE and self.conn.method == b"HEAD"
        reason = HTTPStatus(status).phrase.encode()
        return b"".join(
            (
                self.conn.send(h11.Response(status_code=status, headers=response.raw_headers, reason=reason)),
                self.conn.send(h11.Data(data=b"" if bare else bytes(response.body))),
                self.conn.send(h11.EndOfMessage()),
            )
        )

    def _expect(self) -> None:
        """Look in time whether a request has come."""
        self._schedule_look(self.cycle, 0)

    def _schedule_look(self, before: object, unsent: int) -> None:
        """Look later."""
        if self._late is not None:
            self._late.cancel()
        self._late = asyncio.get_running_loop().call_later(STATED_S, self._look, before, unsent)

    def _look(self, before: object, unsent: int) -> None:
        """Close the connection if its last request is the one from before, answered; drop it if that stays unread.

        The one from before may have followed so closely on another one that it is still to be answered.
        """
        left = self.transport.get_write_buffer_size()
        if self.transport.is_closing() and left == unsent:
            self.transport.abort()
            return
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.cycle is before:
            self.transport.close()
        self._schedule_look(before, left)


def make_room() -> None:
    """Let this process open a few thousand files, each connection being one, where its user may have so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def room() -> int:
    """Return how many connections there may be; the database and the workers need files as well."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft * 3 // 4
