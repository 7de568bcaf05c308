"""What requests use of the workers, counted towards the day of whoever asks."""

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from tiger.api.pool.meter import SPENT
from tiger.api.seams.quota import Charge


class Spending:
    """Have the processor seconds of what a request is answered by counted, also of what ends after its answer.

    A worker that is killed leaves no figure: the seconds by the clock count, which on a busy machine are more.
    """

    def __init__(self, app: ASGIApp, charge: Callable[[Charge], None]) -> None:
        self.app, self.charge = app, charge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, whose calls of workers know by their context whom to tell."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        owner: str = scope.get("state", {}).get("owner", "")

        def count(processor_s: float | None, wall_s: float) -> None:
            self.charge(Charge(owner, wall_s if processor_s is None else processor_s))

        token = SPENT.set(count)
        try:
            await self.app(scope, receive, send)
        finally:
            SPENT.reset(token)
