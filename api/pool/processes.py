"""Warm worker processes that solve away from the event loop, and die with the server."""

import asyncio
import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import forkserver
from pathlib import Path
from typing import TypeVar, TypeVarTuple, cast

import structlog
from pebble import ProcessExpired

from tiger.api.pool.meter import SPENT, Metered, read_own_processor_s
from tiger.api.pool.parent import PARENT, die_with_parent
from tiger.api.pool.pool import STARTING, Pool
from tiger.errors import InputError

# Bytes of data that a worker may hold unless the settings state others.
MEMORY_BYTES = 4 << 30
FULL = 77  # the status of a process whose memory is
UNKNOWN = 255  # what multiprocessing gives as the status when the process that workers are forked from is lost
STARTER = ThreadPoolExecutor(1, thread_name_prefix="tiger-zygote")
PRELOADED = ["tiger.api.pool.zygote", "tiger.api.workers.preload", "tiger.api.pool.standby"]
# Pools that break one after the other are no accident.
TRIES = 3
# A call that waits for a worker looks this often whether one has taken it up.
LOOK_S = 0.1
LOG = structlog.get_logger()

Parts = TypeVarTuple("Parts")
Result = TypeVar("Result")


class SolverLostError(Exception):
    """Say that the process which was solving is gone, so that there is no answer: the server's fault (503)."""


class TooMuchWorkError(Exception):
    """Say that a call took more processor time than it was given: the fault of what it was asked to do."""


class Workers:
    """Run functions in a fixed number of processes, which are replaced when they are lost.

    They are forked from one that has loaded what a solve needs, so that a new one is there at once. None may hold more
    than `memory_bytes` of data; `nice` lowers their priority. Run belongs to one event loop. `on_result` is called
    with the outcome of every call that is not cancelled: what was returned, or a SolverLostError or TooMuchWorkError.
    `warm` is for who starts them to set once one has answered: until then a call waits for what they load.
    """

    def __init__(self, count: int, memory_bytes: int = MEMORY_BYTES, nice: int = 0) -> None:
        self.count, self.memory_bytes, self.nice = count, memory_bytes, nice
        self.on_result: Callable[[object], None] = lambda _: None
        self.warm = False
        self._pool: Pool | None = None
        self._opening: Future[Pool] | None = None
        self._stopped = False

    @property
    def active(self) -> bool:
        """Return whether there are processes."""
        with suppress(BrokenProcessPool):
            return self._pool is not None and self._pool.active
        return False

    async def run(self, timeout_s: float, function: Callable[[*Parts], Result], *args: *Parts) -> Result:
        """Run a function in a worker; the worker is killed after `timeout_s` of work, or when this is cancelled.

        Raises InputError as the function does, or for work that fills the worker's memory, SolverLostError where the
        worker is gone or was too slow, TooMuchWorkError of `spend_at_most`, and RuntimeError, with the worker's own
        traceback, for anything else.
        """
        try:
            result = await self._run(timeout_s, function, *args)
        except (SolverLostError, TooMuchWorkError) as error:
            self.on_result(error)
            raise
        self.on_result(result)
        return result

    async def _run(self, timeout_s: float, function: Callable[[*Parts], Result], *args: *Parts) -> Result:
        """Run a function in a worker, and name what may go wrong."""
        for _ in range(TRIES):
            try:
                found = await self._call(timeout_s, function, *args)
            except BrokenProcessPool:
                # All workers were lost, and nothing says that this function is why.
                continue
            except TimeoutError:
                raise SolverLostError(f"The solve was ended after {timeout_s:g} s without an answer.") from None
            except ProcessExpired as error:
                if error.exitcode == FULL:
                    reason = f"expected work that takes at most {self.memory_bytes} bytes of memory, got more"
                    raise InputError("", reason) from None
                if error.exitcode == -signal.SIGPROF:
                    raise TooMuchWorkError("The work took more processor time than it may.") from None
                if error.exitcode != UNKNOWN:
                    break
            else:
                if found.error is not None:
                    raise found.error
                return cast(Result, found.answer)
        raise SolverLostError("The process that was solving ended unexpectedly; ask again.")

    async def _call(self, timeout_s: float, function: Callable[[*Parts], Result], *args: *Parts) -> Metered[Result]:
        """Run a function in a worker, for so long from when a worker takes it up, and tell what it has used."""
        pool = self._pool
        if pool is None or not self.active:
            pool = await self._ensure_open()
        call = pool.schedule(_measure, function, *args)
        answer, begun_s, processor_s = asyncio.wrap_future(call), None, None
        try:
            while not (call.running() or call.done()):
                await asyncio.wait((answer,), timeout=LOOK_S)
                if not (call.done() or pool.active):
                    raise BrokenProcessPool
            begun_s = time.monotonic()
            async with asyncio.timeout(timeout_s):
                found = await answer
            processor_s = found.processor_s
            return found
        finally:
            if begun_s is not None:
                SPENT.get()(processor_s, time.monotonic() - begun_s)
            # An answer that is there already stays.
            answer.cancel()

    async def stop(self) -> None:
        """End the processes, whatever they do; there are no others from then on."""
        self._stopped = True
        if self._pool is not None:
            await asyncio.to_thread(self._pool.end)

    async def _ensure_open(self) -> Pool:
        """Return the processes, new ones if there are none or the pool broke, as it does when one dies at rest.

        All who wait for them wait for one thread, which is not one that others take turns in or that has to end before
        the server does: where kernels are still to be compiled, they are there after minutes.
        """
        if self._stopped:
            raise SolverLostError("The server is ending; ask again.")
        opening = self._opening
        if opening is None or opening.done():
            self._opening = opening = Future()
            threading.Thread(target=self._open, args=(opening,), name="tiger-workers", daemon=True).start()
        # Who leaves is not to take it from the others.
        return await asyncio.shield(asyncio.wrap_future(opening))

    def _open(self, opening: "Future[Pool]") -> None:
        """Start processes, after the end of those before."""
        try:
            if self._pool is not None:
                self._pool.end()
                self._pool.abort()
            prepare().result()
            pool = Pool(self.count, _init_worker, (self.memory_bytes, self.nice))
            pool.open()
            # Not before it has started, as asking it whether it is active would wait for that.
            self._pool = pool
            if self._stopped:
                # `stop` found no pool to end meanwhile.
                pool.end()
            opening.set_result(pool)
        except Exception as error:
            # Those who wait may try again, and the log says why; a server that ends takes from it what opening needs.
            if not self._stopped:
                LOG.exception("workers not opened")
            opening.set_exception(BrokenProcessPool(*error.args))


def spend_at_most(seconds: float, work: Callable[[], Result]) -> Result:
    """Do some work in a worker, which ends at once where that takes more processor time.

    What waits for a busy machine, or is halted, takes none.
    """
    # Not by a handler, to which compiled code does not come back.
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def prepare() -> Future[None]:
    """Start the process that workers are forked from, unless it is there; it loads on its own.

    It dies with the thread that starts it, which therefore lasts as long as this process.
    """
    multiprocessing.set_forkserver_preload(PRELOADED)
    return STARTER.submit(_start)


def _start() -> None:
    """Start the process that workers are forked from."""
    # Who is starting a worker meanwhile has found it there, and may have to wait until it has loaded.
    if not STARTING.acquire(blocking=False):
        return
    # It imports what this process would, and nothing from the folder where the server was started.
    path = {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(folder or str(Path.cwd()) for folder in sys.path)}
    path[PARENT] = str(os.getpid())
    # Of these alone, as others may change meanwhile.
    before = {name: os.environ.get(name) for name in path}
    os.environ.update(path)
    try:
        forkserver.ensure_running()
    finally:
        STARTING.release()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _init_worker(memory_bytes: int, nice: int) -> None:
    """Make this process die with the server, and at once on SIGTERM, and bound its memory."""
    from tiger.api.pool import zygote

    die_with_parent()
    if os.getppid() != zygote.PID:
        os._exit(1)
    # Compiled code does not come back to run a handler, so a request to end must not wait for one.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Files that are mapped do not count; what is refused becomes a MemoryError in Python and in numpy.
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    os.nice(nice)


def _measure(function: Callable[[*Parts], Result], *args: *Parts) -> Metered[Result]:
    """Call a function, and return what it came to with the processor time that it took."""
    begun_s = read_own_processor_s()
    answer: Result | None = None
    error: Exception | None = None
    try:
        answer = _contain(function, *args)
    except (InputError, RuntimeError) as fault:
        error = fault
    return Metered(answer, error, read_own_processor_s() - begun_s)


def _contain(function: Callable[[*Parts], Result], *args: *Parts) -> Result:
    """Call a function, and let only exceptions out that are sure to survive the way to the server."""
    try:
        return function(*args)
    except InputError:
        raise
    except BaseException as error:  # noqa: BLE001 (the server is to see all of them)
        if _is_memory_error(error):
            # What has filled the memory is not sure to be given back, so that another process goes on.
            os._exit(FULL)
        raise RuntimeError("".join(traceback.format_exception(error))) from None


def _is_memory_error(error: BaseException) -> bool:
    """Return whether an error comes of too little memory, after which Qiskit's compiled code finds no object."""
    return isinstance(error, MemoryError) or "PyObject pointer is null" in str(error)
