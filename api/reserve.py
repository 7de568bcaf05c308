"""Workers that leave the processors to those whose answer somebody waits for."""

import multiprocessing
import os
from collections.abc import Callable

from pebble import ProcessPool

from tiger.api import workers
from tiger.api.workers import Workers

NICE = 5


class Reserve(Workers):
    """Run functions as Workers do, at a lower priority from the start."""

    def start(self) -> None:
        """Start the processes and return at once."""
        context, ready = multiprocessing.get_context("spawn"), (workers._warm_up, os.getpid(), self.memory_bytes)
        self._pool = ProcessPool(self.count, initializer=_step_back, initargs=ready, context=context)
        # The processes are told to die with the thread that starts them, so it is the event loop's own.
        self._pool.schedule(os.getpid)


def _step_back(warm_up: Callable[[int, int], None], server: int, memory_bytes: int) -> None:
    """Lower the priority of this process, then prepare it."""
    os.nice(NICE)
    warm_up(server, memory_bytes)
