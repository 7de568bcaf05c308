"""The fork server's last import: from here on there are two, one that forks workers and one that stands by.

To load everything takes seconds in which nothing could be solved. So the process that has loaded it forks once more:
the child returns from this import and goes on as the fork server, while its parent sleeps, and forks another child as
soon as that one is killed. All of them have the socket at which the server asks for workers. Should the sleeping one be
killed instead, workers go on, and the server starts another fork server beside them.

Nothing else is to import this.
"""

import gc
import os
import signal
import time
from pathlib import Path

from tiger.api.pool import zygote
from tiger.api.pool.parent import die_with_parent

# A fork server that dies at once, whatever the reason, is not to take the processor for itself.
AGAIN_S = 0.2
# How often a fork server without its parent looks for the server: no orphan outlives that by a second.
LOOK_S = 0.2


def stand_by() -> None:
    """Return in a child, whenever the one before was killed; end with one that ends by itself, as its server closes."""
    # Ctrl-C is for the server, which ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What is loaded stays, so that no collection writes to the memory that all of them share.
    gc.freeze()
    parent = os.getpid()
    while True:
        begun_s = time.monotonic()
        child = os.fork()
        if child == 0:
            _go_on(parent)
            return
        if os.waitpid(child, 0)[1] == 0:
            os._exit(0)
        time.sleep(max(0.0, begun_s + AGAIN_S - time.monotonic()))


def _go_on(parent: int) -> None:
    """Become the fork server, which ends soon after the server does, with or without the process it was forked from."""
    zygote.PID = os.getpid()
    signal.signal(signal.SIGUSR1, _outlive)
    signal.signal(signal.SIGALRM, _look)
    die_with_parent(signal.SIGUSR1)
    if os.getppid() != parent:
        _outlive()


def _outlive(*_: object) -> None:
    """Look for the server now and then, as no signal comes when it is gone."""
    signal.setitimer(signal.ITIMER_REAL, LOOK_S, LOOK_S)
    _look()


def _look(*_: object) -> None:
    """End without a server, or with one that only waits to be collected; workers end with this."""
    try:
        alive = Path(f"/proc/{zygote.SERVER}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        alive = False
    if not alive:
        os._exit(0)


stand_by()
