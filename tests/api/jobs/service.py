"""A server as its users start it: `tiger serve`, a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx

LATER = {"Prefer": "respond-async"}
EDGES = [{"source": u, "target": v, "weight": 1 + u * v % 7} for u in range(40) for v in range(u) if (u + v) % 3]
TASKS = {"nodes": [{"id": k} for k in range(40)], "edges": EDGES}
TINY = {"tasks": {"nodes": [{"id": "a"}, {"id": "b"}], "edges": []}, "topology": "grid:2"}


class Service:
    """Hold a server of one worker, which may be killed, halted, ended and started again."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home, self.log, self.settings = home, home.with_suffix(".log"), {"TIGER_WORKERS": "1", **settings}
        self.start()

    def start(self) -> None:
        """Start the process, and return at once."""
        settings = os.environ | self.settings | {"TIGER_DATA_DIR": str(self.home)}
        command = [sys.executable, "-m", "tiger", "serve", "--port", "0"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, env=settings, text=True, start_new_session=True
            )

    def listen(self) -> "Service":
        """Return once it answers."""
        assert self.process.stdout is not None
        url = self.process.stdout.readline().strip().rpartition(" ")[2]
        self.http = httpx.Client(base_url=url, trust_env=False, timeout=30)
        return self

    def ready(self, limit_s: float = 120) -> "Service":
        """Return once it takes work."""
        self.listen()
        until(lambda: self.http.get("/readyz").status_code == 200, limit_s)
        return self

    @property
    def name(self) -> str:
        """Return the name that it goes by among servers."""
        return (self.home / "server.0").read_text()

    def list_workers(self) -> list[int]:
        """Return the processes that answer at once, which are as nice as the server, unlike those of jobs."""
        stats = [stat.rpartition(")") for stat in map(_read, Path("/proc").glob("[0-9]*/stat"))]
        parents = {int(head.partition(" ")[0]): int(fields.split()[1]) for head, _, fields in stats if head}
        nice = {int(head.partition(" ")[0]): fields.split()[16] for head, _, fields in stats if head}
        found = {self.process.pid}
        while more := {child for child, parent in parents.items() if parent in found} - found:
            found |= more
        leaves = [process for process in found - set(parents.values()) if nice[process] == nice[self.process.pid]]
        return [process for process in leaves if "forkserver" in _read(Path(f"/proc/{process}/cmdline"))]

    def submit(self, seconds: float, seed: int = 0) -> str:
        """Submit a job of so many seconds, and return its id."""
        body = {"tasks": TASKS, "topology": "torus:5x8", "seed": seed, "time_limit_s": seconds}
        return str(self.http.post("/assign", json=body, headers=LATER).raise_for_status().json()["id"])

    def statuses(self, ids: list[str]) -> list[str]:
        """Return how jobs are."""
        return [self.http.get(f"/jobs/{name}").raise_for_status().json()["status"] for name in ids]

    def wait_until_done(self, ids: list[str], limit_s: float) -> None:
        """Wait until all jobs are done."""
        until(lambda: set(self.statuses(ids)) == {"done"}, limit_s)

    def said(self, event: str) -> int:
        """Count the lines of the log that tell of an event, in whatever words."""
        return sum(event in line for line in self.log.read_text().splitlines())

    def end(self) -> int:
        """Tell the process to end, and return its status once it has."""
        self.process.terminate()
        status = self.process.wait(15)
        self.close()
        return status

    def close(self) -> None:
        """Kill what is left."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.http.close()


def _read(path: Path) -> str:
    """Return the text of a file, nothing of one that is gone."""
    with suppress(OSError):
        return path.read_text()
    return ""


def until(condition: Callable[[], bool], limit_s: float) -> None:
    """Wait for a condition."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, "waited in vain"
        time.sleep(0.05)
