"""The peak memory of a process."""

import re
from pathlib import Path


def read_peak_mb() -> float:
    """Return the peak memory of this process in MB, of Linux alone.

    What `getrusage` says of a new process begins at the memory of the one that started it.
    """
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert found is not None
    return int(found[1]) / 1024
