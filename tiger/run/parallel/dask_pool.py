"""An executor that shares calls with the workers of a Dask cluster, and makes them here where these fail."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from tiger import __version__
from tiger.run.deadline import ABANDONED, ENDING
from tiger.run.island_call import IslandCall

if TYPE_CHECKING:
    from dask.distributed import Client, Future

# Calls quicker than this, or than their transfer at a slow network's pace, are made here: a round trip takes longer.
# What nobody has timed yet is taken for quick, but what an island does for this long.
WORTH_S, BYTES_PER_S, ISLAND_S = 0.25, 50e6, 1.0
# How often a waiting call looks for the end of all, how often for the cluster, and how long it waits for an answer
# beside the time that the call takes: ends are quick, questions to the scheduler rare, and a lost worker is noticed.
TICK_S, LOOK_S, PATIENCE_S = 0.02, 2.0, 10.0
LOG = logging.getLogger(__name__)

Result = TypeVar("Result")
Call = tuple[object, ...]
FAILED = "the cluster failed, so that the rest was done by one process"
UNSENDABLE = "what was to be done on the cluster cannot be sent there, so that it was done by one process"


class UnsendableError(Exception):
    """Say that a call cannot be pickled."""


@dataclass(frozen=True, slots=True)
class Batch(Generic[Result]):
    """Hold calls of a function, how long one is expected to take, and the futures of the last of them: those sent."""

    function: Callable[..., Result]
    calls: Sequence[Call]
    seconds: float
    futures: "Sequence[Future[Result]]" = ()

    def cancel(self) -> None:
        """Have what was sent ended, as far as it has not."""
        waiting = [future for future in self.futures if not future.done()]
        # A cluster that does not hear of this ends it by itself.
        with suppress(Exception):
            if waiting:
                waiting[0].client.cancel(waiting)


class FanOut(Executor):
    """Share calls with a Dask cluster where that saves time; what `map` returns is that of the plain one.

    A part of the calls is made here, and so are all that were quick the last time, all once ENDING is set, which lets
    them end at once, and from then on all when the cluster has failed: `trouble` says how. `connected` returns the
    client of the cluster, None while there is none yet, and raises OSError where there will be none.
    """

    def __init__(self, connected: "Callable[[], Client | None]") -> None:
        self.connected = connected
        self.trouble: str | None = None
        self._seconds: dict[str, float] = {}

    def map(
        self,
        fn: Callable[..., Result],
        *iterables: Iterable[object],
        timeout: float | None = None,  # noqa: ARG002 (as every executor has it; solves end by their deadline)
        chunksize: int = 1,  # noqa: ARG002 (as every executor has it)
    ) -> Iterator[Result]:
        """Return the answers in order; what is sent is under way when this returns."""
        calls = list(zip(*iterables, strict=False))
        untimed_s = ISLAND_S if isinstance(fn, IslandCall) else 0.0
        return self._answers(self._send(Batch(fn, calls, self._seconds.get(_kind(fn), untimed_s))))

    def _send(self, batch: Batch[Result]) -> Batch[Result]:
        """Send all calls but this process's share, none where that would save no time."""
        if len(batch.calls) < 2 or batch.seconds < WORTH_S or self.trouble or ENDING.is_set():
            return batch
        try:
            client = self.connected()
            return batch if client is None else _send_shares(client, batch)
        except Exception as error:  # noqa: BLE001 (whatever becomes of the cluster, the work can be done here)
            self._give_up(error)
            return batch

    def _answers(self, batch: Batch[Result]) -> Iterator[Result]:
        """Yield the answers of a batch."""
        here = len(batch.calls) - len(batch.futures)
        try:
            for call in batch.calls[:here]:
                yield self._make(batch, call)
            for call, future in zip(batch.calls[here:], batch.futures, strict=True):
                yield self._receive(batch, call, future)
        finally:
            batch.cancel()

    def _make(self, batch: Batch[Result], call: Call) -> Result:
        """Make a call here, and remember how long it took."""
        begun_s = time.monotonic()
        result = batch.function(*call)
        self._seconds[_kind(batch.function)] = time.monotonic() - begun_s
        return result

    def _receive(self, batch: Batch[Result], call: Call, future: "Future[Result]") -> Result:
        """Wait for the answer of a call that was sent, or make it here."""
        # Calls that were made here meanwhile tell more than those before; quick ones are not worth a wait.
        seconds = self._seconds.get(_kind(batch.function), batch.seconds)
        if seconds < WORTH_S and not future.done():
            return self._make(batch, call)
        try:
            if not self.trouble and _await_future(future, PATIENCE_S * (1 + max(seconds, batch.seconds))):
                return future.result(timeout=LOOK_S)
        except Exception as error:  # noqa: BLE001 (as above)
            self._give_up(error)
        batch.cancel()
        return self._make(batch, call)

    def _give_up(self, error: Exception) -> None:
        """Make all further calls here."""
        reason = str(error) or type(error).__name__
        self.trouble = UNSENDABLE if isinstance(error, UnsendableError) else FAILED
        LOG.warning("%s: %s", self.trouble, reason)


def _kind(function: Callable[..., object]) -> str:
    """Name what takes about as long each time: a function, with the type of its first argument where that is bound."""
    if isinstance(function, partial):
        return f"{_kind(function.func)} {type(function.args[0]).__name__ if function.args else ''}"
    return getattr(function, "__qualname__", type(function).__name__)


def _send_shares(client: "Client", batch: Batch[Result]) -> Batch[Result]:
    """Send all calls of a batch but the first ones, so that every thread of the cluster and this one have as many."""
    import dask
    from distributed.protocol.pickle import dumps

    remote = batch.calls[math.ceil(len(batch.calls) / (_count_threads(client) + 1)) :]
    try:
        packed = [dumps((__version__, batch.function, call)) for call in remote]
    except Exception as error:
        raise UnsendableError(str(error)) from error
    if batch.seconds < sum(map(len, packed)) / BYTES_PER_S:
        return batch
    # A warning of large graphs is of no use to those who cannot make them smaller.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        futures = [cast("Future[Result]", client.submit(call_on_worker, call, pure=False)) for call in packed]
    return Batch(batch.function, batch.calls, batch.seconds, futures)


def _count_threads(client: "Client") -> int:
    """Count the calls that the cluster makes at a time; raise TimeoutError or OSError where it does not say."""
    threads: dict[str, int] = client.nthreads(callback_timeout=LOOK_S)
    if not threads:
        raise OSError("it has no workers")
    return sum(threads.values())


def _await_future(future: "Future[Result]", patience_s: float) -> bool:
    """Wait for a future, and return whether it has ended before all has to; raise OSError where it will not."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    begun_s = look_s = time.monotonic()
    while not done.wait(TICK_S):
        now_s = time.monotonic()
        if ENDING.is_set():
            return False
        if now_s - begun_s > patience_s:
            raise TimeoutError(f"no answer within {patience_s:.0f} s")
        if now_s - look_s > LOOK_S:
            _count_threads(future.client)
            look_s = time.monotonic()
    return True


def call_on_worker(packed: bytes) -> object:
    """Make a call on a worker of the cluster; it ends as soon as nobody waits for it any more."""
    from dask.distributed import get_worker
    from distributed.protocol.pickle import loads

    worker = get_worker()
    task = worker.state.tasks[worker.get_current_task()]
    token = ABANDONED.set(lambda: task.state == "cancelled")
    try:
        version, function, call = loads(packed)
        if version != __version__:
            raise RuntimeError(f"its workers have tiger {__version__}, expected {version}")
        return function(*call)
    finally:
        ABANDONED.reset(token)
