"""The name of this server, the same after every restart."""

import fcntl
import os
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import IO


@dataclass(frozen=True, slots=True)
class ServerLock:
    """Hold a server's name, and the lock that keeps others from it while this process lives."""

    name: str
    lock: IO[str]

    def close(self) -> None:
        """Let go of the name."""
        self.lock.close()


def claim_name(data_dir: Path) -> ServerLock:
    """Return the first name of a folder that no living process has, a new one if there is none.

    A process that is merely halted keeps its name, so that whoever starts meanwhile does not take it for a dead one.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    number = 0
    while True:
        lock = open(data_dir / f"server.{number}", "a+", encoding="ascii", opener=_open_private)  # noqa: SIM115
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            number += 1
        else:
            return ServerLock(_read(lock), lock)


def _open_private(path: str, flags: int) -> int:
    """Open a file, which only its user may read where it is made now."""
    return os.open(path, flags, 0o600)


def _read(lock: IO[str]) -> str:
    """Return the name in a file, and write one where there is none."""
    lock.seek(0)
    name = lock.read().strip()
    if not name:
        name = uuid.uuid4().hex
        lock.write(name)
        lock.flush()
        os.fsync(lock.fileno())
    return name
