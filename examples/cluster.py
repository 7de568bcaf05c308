"""Run what compose.yaml describes as plain processes: PostgreSQL, a Dask cluster, and servers that share both.

    python examples/cluster.py [--servers 2] [--workers 2] [--port 8000]

For trials on one Linux machine: all of it listens on loopback, without keys and passwords, and everything, the jobs
included, is gone when it ends. PostgreSQL's initdb and postgres have to be installed (Debian: postgresql), and Dask
(the extra `dask`).
"""

import argparse
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path

PR_SET_PDEATHSIG = 1
START_S, END_S = 180.0, 15.0
DEBIAN = ":".join(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)))


class MissingError(Exception):
    """Say what has to be installed, or what did not start."""


@dataclass(slots=True)
class Cluster:
    """Hold the processes by name, and their logs in `home`; `urls` are those of the servers."""

    home: Path
    urls: list[str] = field(default_factory=list)
    database: str = ""
    scheduler: str = ""
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, command: list[str], user: str | None = None, **settings: str) -> None:
        """Start a process, which the end of this one ends as well."""
        with (self.home / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self.home,
                env=os.environ | settings,
                user=user,
                # Ctrl-C reaches this process alone, which ends the others in their order.
                process_group=0,
                # PostgreSQL has processes of its own to end; the others are made for being killed.
                preexec_fn=partial(_die_with_parent, signal.SIGINT if name == "postgres" else signal.SIGKILL),
            )

    def log(self, name: str) -> str:
        """Return what a process has said."""
        return (self.home / f"{name}.log").read_text(errors="replace")

    def await_start(self, name: str, started: Callable[[], bool]) -> None:
        """Wait until a process has started; raise MissingError with the end of its log where it does not."""
        end_s = time.monotonic() + START_S
        while not started():
            if self.processes[name].poll() is not None or time.monotonic() > end_s:
                raise MissingError(f"{name} did not start: {self.log(name)[-500:].strip() or 'it printed nothing'}")
            time.sleep(0.2)

    def close(self) -> None:
        """End all processes, the last one first, and wait for them."""
        for process in reversed(self.processes.values()):
            # PostgreSQL waits for its connections to be closed after SIGTERM, and closes them after SIGINT.
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
            process.kill()
            process.wait()


@contextmanager
def cluster(servers: int = 2, workers: int = 2, port: int = 0) -> Iterator[Cluster]:
    """Run servers, on ports that follow each other or, from 0, any free ones, with so many workers of Dask.

    Raises MissingError.
    """
    _check()
    home = Path(tempfile.mkdtemp(prefix="tiger-cluster-"))
    running = Cluster(home)
    try:
        _start_postgres(running)
        _start_dask(running, workers)
        _start_servers(running, [port + number if port else _free_port() for number in range(servers)])
        yield running
    finally:
        running.close()
        shutil.rmtree(home, ignore_errors=True)


def main() -> int:
    """Run a cluster until it is interrupted or one of its processes ends."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--servers", type=int, default=2, help="servers, each with as many solves as processors")
    options.add_argument("--workers", type=int, default=2, help="processes that share in large solves")
    options.add_argument("--port", type=int, default=8000, help="port of the first server")
    asked = options.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        # A shell that starts it in the background has the former ignored.
        signal.signal(number, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt), cluster(asked.servers, asked.workers, asked.port) as running:
            return _watch(running)
    except MissingError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _watch(running: Cluster) -> int:
    """Print where everything is, and wait; return 1 when a process has ended by itself."""
    places = {"servers": " ".join(running.urls), "database": running.database, "scheduler": running.scheduler}
    sys.stdout.write("".join(f"{name:10} {place}\n" for name, place in (places | {"logs": running.home}).items()))
    sys.stdout.write("Ctrl-C ends it\n")
    sys.stdout.flush()
    while all(process.poll() is None for process in running.processes.values()):
        time.sleep(0.2)
    gone = next(name for name, process in running.processes.items() if process.poll() is not None)
    sys.stderr.write(f"{gone} has ended: {running.log(gone)[-500:].strip()}\n")
    return 1


def _check() -> None:
    """Raise MissingError where a part is not installed."""
    if None in (_tool("initdb"), _tool("postgres")):
        raise MissingError("PostgreSQL's initdb and postgres are needed; on Debian: apt-get install postgresql")
    if find_spec("distributed") is None:
        raise MissingError("Dask is needed: pip install 'tiger-mapper[dask]'")


def _tool(name: str) -> str | None:
    """Return where a program of PostgreSQL's is, which Debian keeps out of the path."""
    return shutil.which(name) or shutil.which(name, path=DEBIAN)


def _start_postgres(running: Cluster) -> None:
    """Start a database server, as its own user where this one is root, as it refuses to be root's."""
    import psycopg

    user = _user() if os.getuid() == 0 else None
    home = running.home / "postgres"
    home.mkdir()
    if user is not None:
        shutil.chown(home, user)
        running.home.chmod(0o755)
    port = _free_port()
    made = [str(_tool("initdb")), "-D", f"{home}/data", "-U", "tiger", "-A", "trust", "-N", "-E", "UTF8"]
    subprocess.run(made, user=user, cwd=home, check=True, stdout=subprocess.DEVNULL)
    serve = [str(_tool("postgres")), "-D", f"{home}/data", "-p", str(port), "-k", str(home), "-c", "fsync=off"]
    running.start("postgres", serve, user)
    running.database = f"postgresql://tiger@127.0.0.1:{port}/postgres"

    def answers() -> bool:
        with suppress(psycopg.OperationalError):
            psycopg.connect(running.database).close()
            return True
        return False

    running.await_start("postgres", answers)


def _user() -> str:
    """Return the user that PostgreSQL is to run as; raise MissingError."""
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise MissingError("PostgreSQL does not run as root, and there is no user `postgres`") from None


def _start_dask(running: Cluster, workers: int) -> None:
    """Start a scheduler, and workers of one thread each."""
    port, dask = _free_port(), [sys.executable, "-m", "dask"]
    running.start("scheduler", [*dask, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"])
    running.await_start("scheduler", partial(_listens, port))
    running.scheduler = f"dask://127.0.0.1:{port}"
    for number in range(workers):
        here = ["--no-nanny", "--no-dashboard", "--local-directory", str(running.home)]
        ready = ["--nthreads", "1", "--preload", "tiger.api.workers.preload"]
        running.start(f"worker{number}", [*dask, "worker", f"tcp://127.0.0.1:{port}", *ready, *here])
    for number in range(workers):
        running.await_start(f"worker{number}", partial(_said, running, f"worker{number}", "Registered to"))


def _start_servers(running: Cluster, ports: list[int]) -> None:
    """Start servers on some ports, and wait until they are ready."""
    for number, port in enumerate(ports):
        running.start(
            f"server{number}",
            [sys.executable, "-m", "tiger", "serve", "--port", str(port)],
            TIGER_DATABASE_URL=running.database,
            TIGER_EXECUTOR=running.scheduler,
            TIGER_DATA_DIR=str(running.home / f"server{number}"),
            TIGER_API_KEYS="",
        )
        running.urls.append(f"http://127.0.0.1:{port}")
    for number, url in enumerate(running.urls):
        running.await_start(f"server{number}", partial(_ready, url))


def _ready(url: str) -> bool:
    """Return whether a server is ready to work."""
    with suppress(OSError), urllib.request.urlopen(f"{url}/readyz", timeout=5) as answer:
        return bool(answer.status == 200)
    return False


def _said(running: Cluster, name: str, words: str) -> bool:
    """Return whether a process has said some words."""
    return words in running.log(name)


def _listens(port: int) -> bool:
    """Return whether somebody listens on a port."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def _free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _die_with_parent(end: signal.Signals) -> None:
    """Have this process ended by a signal when its parent is killed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, end)


if __name__ == "__main__":
    sys.exit(main())
