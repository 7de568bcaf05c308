"""A server of PostgreSQL's own, on a free port and in a folder that goes when it does."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

# Debian keeps them here, by version and off the path.
FOLDERS = (*os.environ.get("PATH", "").split(os.pathsep), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin"))))
# PostgreSQL refuses to run as root, so it is nobody there.
USER = "nobody" if os.getuid() == 0 else None


class Postgres:
    """Hold a server that can be stopped and started again."""

    def __init__(self, home: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.home, self.url = home, f"postgresql://tiger@127.0.0.1:{self.port}/"
        _run("initdb", "-D", home / "data", "-U", "tiger", "-A", "trust", "-N", "-E", "UTF8").communicate()
        self.start()

    def start(self) -> None:
        """Start it, and return once it answers."""
        self.process = _run("postgres", "-D", self.home / "data", "-p", self.port, "-k", self.home, "-c", "fsync=off")
        for _ in range(100):
            try:
                psycopg.connect(f"{self.url}postgres").close()
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("PostgreSQL did not start")

    def stop(self) -> None:
        """Stop it, without waiting for connections to be closed as SIGTERM would."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def signal(self, number: int) -> None:
        """Send a signal to it and to all processes that it has started for connections."""
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(path.read_text().rpartition(")")[2].split()[1]) == self.process.pid:
                    os.kill(int(path.parent.name), number)
        self.process.send_signal(number)

    def create(self) -> str:
        """Return the URL of a new database."""
        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(f"{self.url}postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url + name


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a server; skip where there is none, or fail where TIGER_TEST_POSTGRES says that it is required."""
    if _find("initdb") is None or _find("postgres") is None:
        lacking = "PostgreSQL's initdb and postgres are not installed"
        pytest.fail(lacking) if os.environ.get("TIGER_TEST_POSTGRES") == "required" else pytest.skip(lacking)
    # The path of its socket has to be short.
    with tempfile.TemporaryDirectory(prefix="tiger-pg-", dir="/tmp") as home:
        shutil.chown(home, USER or os.getuid())
        server = Postgres(Path(home))
        try:
            yield server
        finally:
            server.stop()


def _find(program: str) -> str | None:
    """Return where a program of PostgreSQL's is."""
    return shutil.which(program, path=os.pathsep.join(FOLDERS))


def _run(program: str, *args: object) -> "subprocess.Popen[bytes]":
    """Start a program, without its words."""
    null = subprocess.DEVNULL
    return subprocess.Popen([str(_find(program)), *map(str, args)], user=USER, cwd="/", stdout=null, stderr=null)
