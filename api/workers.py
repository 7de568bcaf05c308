"""Warm worker processes that solve away from the event loop, and die with the server."""

import asyncio
import ctypes
import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar, TypeVarTuple

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from tiger.errors import InputError

PR_SET_PDEATHSIG = 1
MEMORY_BYTES = 4 << 30
FULL = 77  # the status of a process whose memory is

Parts = TypeVarTuple("Parts")
Found = TypeVar("Found")


class SolverLostError(Exception):
    """Say that the process which was solving is gone, so that there is no answer."""


class Workers:
    """Run functions in a fixed number of processes that are started ahead and replaced when they are lost.

    None may hold more than `memory_bytes` of data. Start and run belong to one event loop. `told` is called with what
    comes of every call that is not cancelled: what was returned, or a SolverLostError.
    """

    def __init__(self, count: int, memory_bytes: int = MEMORY_BYTES) -> None:
        self.count, self.memory_bytes = count, memory_bytes
        self.told: Callable[[object], None] = lambda _: None

    def start(self) -> None:
        """Start the processes and return at once; what is run meanwhile waits until one of them is warm."""
        context, ready = multiprocessing.get_context("spawn"), (os.getpid(), self.memory_bytes)
        self._pool = ProcessPool(self.count, initializer=_warm_up, initargs=ready, context=context)
        # The processes are told to die with the thread that starts them, so it is the event loop's own.
        self._pool.schedule(os.getpid)

    @property
    def active(self) -> bool:
        """Tell whether calls are taken."""
        return bool(self._pool.active)

    async def run(self, timeout_s: float, function: Callable[[*Parts], Found], *args: *Parts) -> Found:
        """Run a function in a worker; the worker is killed after `timeout_s` of work, or when this is cancelled.

        Raises InputError as the function does, SolverLostError where the worker is gone, and RuntimeError, with the
        worker's own traceback, for anything else.
        """
        try:
            found = await self._run(timeout_s, function, *args)
        except SolverLostError as error:
            self.told(error)
            raise
        self.told(found)
        return found

    async def _run(self, timeout_s: float, function: Callable[[*Parts], Found], *args: *Parts) -> Found:
        """Run a function in a worker, and name what may go wrong."""
        try:
            return await asyncio.wrap_future(self._schedule(timeout_s, function, *args))
        except TimeoutError:
            raise SolverLostError(f"The solve was ended after {timeout_s:g} s without an answer.") from None
        except (ProcessExpired, BrokenProcessPool) as error:
            if isinstance(error, ProcessExpired) and error.exitcode == FULL:
                reason = f"expected work that takes at most {self.memory_bytes} bytes of memory, got more"
                raise InputError("", reason) from None
            raise SolverLostError("The process that was solving ended unexpectedly; ask again.") from None
        except RuntimeError as error:
            # Without what the pool adds to it, the worker's traceback a second time.
            raise RuntimeError(*error.args) from None

    async def stop(self) -> None:
        """End the processes, whatever they do."""
        self._pool.stop()  # type: ignore[no-untyped-call]
        await asyncio.to_thread(self._pool.join)

    def _schedule(self, timeout_s: float, function: Callable[[*Parts], Found], *args: *Parts) -> ProcessFuture[Found]:
        """Queue a call, in new processes if the pool broke, as it does when a process dies that has no work."""
        if not self._pool.active:
            broken = self._pool
            asyncio.get_running_loop().run_in_executor(None, broken.join)
            self.start()
        return self._pool.schedule(_contained, args=(function, *args), timeout=timeout_s)


def _warm_up(server: int, memory_bytes: int) -> None:
    """Tie this process to the server, then load everything that a solve needs."""
    _tie(server, memory_bytes)
    import tiger.api.assignment
    import tiger.pipeline.doors.door  # noqa: F401 (loaded ahead of the first request)
    from tiger.circuits.warm import warm as warm_circuits
    from tiger.solvers.warm import warm

    for load in (warm, warm_circuits):
        load(lambda _: None)


def _tie(server: int, memory_bytes: int) -> None:
    """Make this process die with the server, and at once when told to end, and bound its memory."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(1)
    # Compiled code does not come back to run a handler, so a request to end must not wait for one.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Files that are mapped do not count; what is refused becomes a MemoryError in Python and in numpy.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))


def _contained(function: Callable[[*Parts], Found], *args: *Parts) -> Found:
    """Call a function, and let only exceptions out that are sure to survive the way to the server."""
    try:
        return function(*args)
    except InputError:
        raise
    except MemoryError:
        # What has filled the memory is not sure to be given back, so that another process goes on.
        os._exit(FULL)
    except BaseException as error:  # noqa: BLE001
        raise RuntimeError("".join(traceback.format_exception(error))) from None
