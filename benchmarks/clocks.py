"""Clocks: time limits in seconds of this process, so that others on the machine do not change what a limit allows."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def processor_clock() -> Iterator[None]:
    """Count the seconds of the processor wherever this process asks for the time; for work on one thread."""
    with patch.object(time, "monotonic", time.process_time), patch.object(time, "perf_counter", time.process_time):
        yield
