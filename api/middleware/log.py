"""One line of JSON on stderr for every request and for every event of the server."""

import asyncio
import logging
import sys
import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiger.api.middleware.keys import Mask
from tiger.api.middleware.problems import Problem, problem_of
from tiger.api.seams.job import DatabaseDownError
from tiger.errors import InputError

ENDING = Problem(503, "The server is shutting down; ask again.", headers={"Retry-After": "5"})
# Characters of a method or a path in the log.
LONGEST = 200
NO_KEYS = Mask()
STEPS: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso"),
    structlog.processors.format_exc_info,
]


def configure() -> None:
    """Send the service's events, and those of the libraries below it, to stderr as lines of JSON."""
    render = structlog.processors.JSONRenderer()
    structlog.configure([*STEPS, render], logger_factory=structlog.WriteLoggerFactory(sys.stderr))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=render, foreign_pre_chain=STEPS))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class RequestLog:
    """Time and log every request, and answer for whatever nothing further in has answered for."""

    def __init__(self, app: ASGIApp, mask: Mask = NO_KEYS) -> None:
        self.app, self.mask = app, mask
        self.log = structlog.get_logger()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, _with_reason(send))
            return
        began, status = time.perf_counter(), 0
        about = {"method": scope["method"][:LONGEST], "path": self.mask.hide(scope, scope["path"])[:LONGEST]}

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except asyncio.CancelledError:
            if status:
                raise
            await ENDING.response()(scope, receive, send_and_note)
        except Exception as error:
            self.log.exception("failed", **about)
            if not status:
                await problem_of(error).response()(scope, receive, send_and_note)
        finally:
            known = {name: scope.get("state", {}).get(name) or None for name in ("owner", "job_id")}
            self.log.info("request", **about, status=status, seconds=round(time.perf_counter() - began, 6), **known)


def _with_reason(send: Send) -> Send:
    """Return a `send` that gives the reason alone where the start fails of what an operator can mend."""

    async def send_reason(message: Message) -> None:
        error = sys.exception()
        if message["type"] == "lifespan.startup.failed" and isinstance(error, InputError | DatabaseDownError):
            message = {**message, "message": _reason(error)}
        await send(message)

    return send_reason


def _reason(error: InputError | DatabaseDownError) -> str:
    """Return what is to be mended; of a database that cannot be used, its driver says it."""
    if isinstance(error, InputError):
        return str(error)
    return f"the database cannot be used: {getattr(error.__cause__, 'orig', error)}"
