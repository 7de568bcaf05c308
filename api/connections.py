"""Connections that have to say what they are for, and to take what they asked for."""

import asyncio
import resource
import sys

from uvicorn.protocols.http.h11_impl import H11Protocol

STATED_S = 20.0
FILES = 4096


class Connection(H11Protocol):
    """Close a connection that has not stated its next request in time, and at once one for which there is no room.

    The server itself gives up on none that says something, however slowly, takes as many as it may have files, and then
    says in the log without end that it can take no more. Nor does it give up on one that is to be closed, but whose
    answer nobody takes, which it would hold for ever.
    """

    _late: asyncio.TimerHandle | None = None

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

    def _expect(self) -> None:
        """Look in time whether a request has come."""
        self._again(self.cycle, 0)

    def _again(self, before: object, unsent: int) -> None:
        """Look later."""
        if self._late is not None:
            self._late.cancel()
        self._late = asyncio.get_running_loop().call_later(STATED_S, self._look, before, unsent)

    def _look(self, before: object, unsent: int) -> None:
        """Close the connection if its last request is the one from before, answered; drop it if nobody reads the rest.

        The one from before may have followed so closely on another one that it is still to be answered.
        """
        left = self.transport.get_write_buffer_size()
        if self.transport.is_closing() and left == unsent:
            self.transport.abort()
            return
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.cycle is before:
            self.transport.close()
        self._again(before, left)


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
