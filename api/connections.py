"""Connections that have to say what they are for."""

import asyncio

from uvicorn.protocols.http.auto import AutoHTTPProtocol

STATED_S = 20.0


class Connection(AutoHTTPProtocol):  # type: ignore[valid-type,misc]
    """Close a connection that has not stated its next request in time, however slowly it says something.

    The server itself gives up on none that says something, so that a few thousand would keep everybody else out.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take a connection, and expect a request of it."""
        super().connection_made(transport)
        self._expect()

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
        if self._late is not None:
            self._late.cancel()
        self._late = asyncio.get_running_loop().call_later(STATED_S, self._look, self.cycle)

    def _look(self, before: object) -> None:
        """Close the connection if its last request is still the one from before, which has been answered."""
        if self.cycle is before:
            self.transport.close()
