"""A set of worker processes that is opened once and ended whole, whatever has become of the threads that manage it."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, InvalidStateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import ForkServerContext, ForkServerProcess
from threading import Lock
from typing import TypeVar, TypeVarTuple

import structlog
from pebble import ProcessFuture, ProcessPool

Parts = TypeVarTuple("Parts")
Result = TypeVar("Result")

# A thread that asks for a process while another one starts the fork server again would find it without an address.
STARTING = Lock()
# Processes that are killed end at once, unless the kernel itself holds them up.
END_S = 5.0
LOG = structlog.get_logger()


class Pool:
    """Run functions in `count` processes, each of which calls `set_up(*terms)` first.

    Opening blocks until the processes are started, and raises BrokenProcessPool where they are not.
    """

    def __init__(self, count: int, set_up: Callable[[*Parts], None], terms: tuple[*Parts]) -> None:
        self._context, self._failing = ForkContext(), set[Callable[[BaseException], None]]()
        self._pool = ProcessPool(count, initializer=set_up, initargs=terms, context=self._context)

    def open(self) -> None:
        """Start the processes."""
        try:
            self.schedule(bool)
        except Exception as error:
            self.end()
            raise BrokenProcessPool(*error.args) from error

    @property
    def active(self) -> bool:
        """Return whether functions can be run."""
        return bool(self._pool.active)

    def schedule(self, function: Callable[[*Parts], Result], *args: *Parts) -> "Future[Result]":
        """Run a function as soon as a process is free; cancelling the future ends it. Raises BrokenProcessPool.

        There is no time limit, as the pool would count it by a clock that somebody may set.
        """
        try:
            call: ProcessFuture[Result] = self._pool.schedule(function, args=args)
        except RuntimeError as error:
            raise BrokenProcessPool(*error.args) from error
        fail = call.set_exception
        self._failing.add(fail)
        call.add_done_callback(lambda _: self._failing.discard(fail))
        return call

    def end(self) -> None:
        """End the processes, whatever they do, also those that the pool has lost sight of."""
        self._pool.stop()  # type: ignore[no-untyped-call]  # it has no types
        try:
            self._pool.join()
        except Exception:
            LOG.exception("workers not ended in good order")
        for member in self._context.members:
            if member.is_alive():
                member.kill()
                member.join(END_S)

    def abort(self) -> None:
        """Have all calls that were never answered raise BrokenProcessPool; after the end, no one else would."""
        for fail in tuple(self._failing):
            with suppress(InvalidStateError):
                fail(BrokenProcessPool("The pool has ended."))


class WorkerProcess(ForkServerProcess):
    """Be a process of a pool."""

    def start(self) -> None:
        """Start, one at a time in a server."""
        with STARTING:
            super().start()


class ForkContext(ForkServerContext):
    """Make the processes of a pool, and know all that live."""

    def __init__(self) -> None:
        super().__init__()
        self.members: list[WorkerProcess] = []

    def Process(  # type: ignore[override]  # noqa: N802 (what pools call)
        self, *, target: Callable[..., object], name: str, args: Iterable[object], kwargs: Mapping[str, object]
    ) -> WorkerProcess:
        """Return a process that is yet to be started."""
        started = WorkerProcess(target=target, name=name, args=args, kwargs=kwargs)
        self.members = [*(member for member in self.members if member.is_alive()), started]
        return started
