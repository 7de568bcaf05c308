"""Servers of their own to measure: `tiger serve` on a free port with a temporary folder, and PostgreSQL for it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import httpx
import psycopg

TICKS = os.sysconf("SC_CLK_TCK")
CORES = os.cpu_count() or 1
# Seconds that a server may take to start and to end before it counts as hanging.
START_S, END_S = 120.0, 20.0
# Debian keeps PostgreSQL's programs here, by version and off the path.
FOLDERS = (*os.environ.get("PATH", "").split(os.pathsep), *sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin"))))
# It refuses to be run by root.
USER = "nobody" if os.getuid() == 0 else None


class Server:
    """Hold a running service."""

    def __init__(self, process: subprocess.Popen[str], url: str, ready_s: float) -> None:
        self.process, self.url, self.ready_s = process, url, ready_s

    def processes(self) -> list[int]:
        """List the server, then whatever it has started and those have, as far as they are alive."""
        children: dict[int, list[int]] = {}
        for path in Path("/proc").glob("[0-9]*"):
            if found := _stat(int(path.name)):
                children.setdefault(int(found[1]), []).append(int(path.name))
        family = [self.process.pid]
        for member in family:
            family += children.get(member, [])
        return family

    def processor_s(self) -> float:
        """Return the processor seconds of server and workers so far, those of ended ones included."""
        return sum(sum(map(int, stat[11:15])) for stat in map(_stat, self.processes()) if stat) / TICKS

    def memory_bytes(self) -> list[int]:
        """Return what each process holds, the server's first.

        What several share is divided among them (PSS), and what they map of files is not counted, as that depends on
        who else on the machine maps it.
        """
        return [_memory_bytes(process) for process in self.processes()]


@contextmanager
def run_server(
    workers: int, database: str | None, others: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Server]:
    """Run a server of so many workers until the end, on SQLite unless a database is named, with other settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TIGER_")}
    with tempfile.TemporaryDirectory(prefix="tiger-bench-") as home:
        settings = {"TIGER_DATA_DIR": home, "TIGER_WORKERS": str(workers)}
        settings |= {"TIGER_DATABASE_URL": database} if database else {}
        begun = time.perf_counter()
        with (Path(home) / "log").open("w", encoding="utf-8") as log, subprocess.Popen(
            [sys.executable, "-m", "tiger", "serve", "--port", "0"],
            stdout=subprocess.PIPE, stderr=log, text=True, env=kept | settings | dict(others),
        ) as process:  # fmt: skip
            try:
                assert process.stdout is not None
                url = process.stdout.readline().strip().rpartition(" ")[2]
                _await_ready(url, begun + START_S)
                yield Server(process, url, time.perf_counter() - begun)
            except Exception:
                sys.stderr.write(Path(log.name).read_text(encoding="utf-8")[-2000:])
                raise
            finally:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
                process.kill()


@contextmanager
def postgres() -> Iterator[str | None]:
    """Lend the URL of a database on PostgreSQL: TIGER_DATABASE_URL, else one of a server of its own, if installed."""
    stated = os.environ.get("TIGER_DATABASE_URL", "")
    if stated.startswith("postgres"):
        yield stated
    elif (make := _find_program("initdb")) and (serve := _find_program("postgres")):
        # The path of its socket has to be short.
        with (
            tempfile.TemporaryDirectory(prefix="tiger-pg-", dir="/tmp") as home,
            _own_postgres(home, make, serve) as url,
        ):
            yield url
    else:
        yield None


@contextmanager
def _own_postgres(home: str, make: str, serve: str) -> Iterator[str]:
    """Run a server of PostgreSQL in a folder, and lend the URL of a database on it."""
    shutil.chown(home, USER or os.getuid())
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    made = [make, "-D", f"{home}/data", "-U", "tiger", "-A", "trust"]
    subprocess.run(made, user=USER, cwd=home, check=True, stdout=subprocess.DEVNULL)
    command = [serve, "-D", f"{home}/data", "-p", port, "-k", home]
    with subprocess.Popen(command, user=USER, cwd=home, stderr=subprocess.DEVNULL) as server:
        try:
            yield _database(f"postgresql://tiger@127.0.0.1:{port}/")
        finally:
            # Unlike SIGTERM, this does not wait for connections to be closed.
            server.send_signal(signal.SIGINT)


def _find_program(program: str) -> str | None:
    """Return where a program of PostgreSQL's is."""
    return shutil.which(program, path=os.pathsep.join(FOLDERS))


def _database(server: str) -> str:
    """Create a database as soon as the server is there, and return its URL."""
    end_s = time.monotonic() + START_S
    while True:
        try:
            with psycopg.connect(f"{server}postgres", autocommit=True) as connection:
                connection.execute("CREATE DATABASE bench")
            return f"{server}bench"
        except psycopg.OperationalError:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.1)


def _await_ready(url: str, end_s: float) -> None:
    """Wait until a server takes work."""
    with httpx.Client(base_url=url, timeout=START_S, trust_env=False) as web:
        while web.get("/readyz").status_code != 200:
            if time.perf_counter() > end_s:
                raise TimeoutError("the server did not become ready")
            time.sleep(0.02)


def _stat(process: int) -> list[str]:
    """Return the figures of a living process from its state on, none where it has gone."""
    with suppress(OSError):
        found = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return found if found[0] not in "ZX" else []
    return []


def _memory_bytes(process: int) -> int:
    """Return the memory of a process, 0 where it has gone."""
    with suppress(OSError, AttributeError):
        return 1024 * int(re.search(r"^Pss_Anon:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.M)[1])
    return 0
