"""A set of worker processes that is opened once and ended whole, whatever has become of the threads that manage it."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, InvalidStateError
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.synchronize import RLock
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
# Seconds for which nobody holds a lock of a pool: a worker takes 40 MB in a fifth of that on a machine at rest.
LOCKED_S = 1.0
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
        # Those that are ended now may hold what nobody needs any more.
        self._context.locks.clear()
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
    """Be a process of a pool, and have `ended` called once it is known to have ended."""

    ended: Callable[[], None] | None = None

    def start(self) -> None:
        """Start, one at a time in a server."""
        with STARTING:
            super().start()

    def is_alive(self) -> bool:
        """Return whether it runs."""
        alive = super().is_alive()
        if not alive and self.ended is not None:
            ended, self.ended = self.ended, None
            ended()
        return alive

    def __getstate__(self) -> dict[str, object]:
        """Return what goes to the new process."""
        return {name: value for name, value in vars(self).items() if name != "ended"}


class ForkContext(ForkServerContext):
    """Make the processes of a pool and the locks that they share, and know all that live."""

    def __init__(self) -> None:
        super().__init__()
        self.members: list[WorkerProcess] = []
        self.locks: list[RLock] = []

    def Process(  # type: ignore[override]  # noqa: N802 (what pools call)
        self, *, target: Callable[..., object], name: str, args: Iterable[object], kwargs: Mapping[str, object]
    ) -> WorkerProcess:
        """Return a process that is yet to be started."""
        started = WorkerProcess(target=target, name=name, args=args, kwargs=kwargs)
        started.ended = self.check_locks
        self.members = [*(member for member in self.members if member.is_alive()), started]
        return started

    def RLock(self) -> RLock:  # noqa: N802 (what pools call)
        """Return a lock for the processes."""
        self.locks.append(lock := super().RLock())
        return lock

    def check_locks(self) -> None:
        """Raise BrokenProcessPool where a process has ended with a lock, as one that is killed while it is sent work.

        The others would wait for the lock for a minute, and then end; the pool takes the error for its own end.
        """
        for lock in self.locks:
            if not lock.acquire(timeout=LOCKED_S):
                raise BrokenProcessPool("A process has ended while it held a lock.")
            lock.release()
