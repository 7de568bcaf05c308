"""A process dies with the one that started it."""

import ctypes
import signal

# The variable that gives the fork server the process with which it ends.
PARENT = "TIGER_PARENT"
# Of prctl(2).
PR_SET_PDEATHSIG = 1


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process a signal as soon as the thread ends that started it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
