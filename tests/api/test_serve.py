"""The server process: where it listens, and how it ends."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from tiger.api.examples import STENCIL_ON_TORUS
from tiger.api.serve import serve
from tiger.api.workers import _tie
from tiger.errors import InputError

SERVE = "from tiger.api.serve import serve\nif __name__ == '__main__':\n    serve('127.0.0.1', 0)\n"


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Return a running server, of one worker unless a test asks for more, and its URL."""
    script = tmp_path / "server.py"
    script.write_text(SERVE)
    environment = os.environ | {"TIGER_WORKERS": str(getattr(request, "param", 1))}
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip().rpartition(" ")[2]
        process.kill()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Prepare this process to serve; return a free port."""
    root, terminate = logging.getLogger(), signal.getsignal(signal.SIGTERM)
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    monkeypatch.setattr("tiger.api.workers._warm_up", _tie)
    monkeypatch.setattr("tiger.api.serve.DRAIN_S", 0.2)
    monkeypatch.setenv("TIGER_WORKERS", "1")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    yield number
    root.handlers, root.level = handlers, level
    signal.signal(signal.SIGTERM, terminate)
    structlog.reset_defaults()


def visit(port: int, path: str, **request: Any) -> tuple[threading.Thread, list[httpx.Response]]:
    """Send a request from a thread and SIGTERM a second later; return the thread and the list of its answer."""
    answers: list[httpx.Response] = []

    def send() -> None:
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
        transport = httpx.HTTPTransport(retries=5)
        with httpx.Client(transport=transport, timeout=20) as client:
            answers.append(client.request("POST" if request else "GET", f"http://127.0.0.1:{port}{path}", **request))

    visitor = threading.Thread(target=send)
    visitor.start()
    return visitor, answers


def children(process: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    return [
        int(child) for tree in Path(f"/proc/{process}/task").glob("*/children") for child in tree.read_text().split()
    ]


def alive(process: int) -> bool:
    """Tell whether a process runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def survivors(processes: list[int], patience: float) -> list[int]:
    """Return which of some processes are still alive after so many seconds, sooner if none is."""
    end = time.monotonic() + patience
    while any(map(alive, processes)) and time.monotonic() < end:
        time.sleep(0.02)
    return [process for process in processes if alive(process)]


@pytest.mark.parametrize("server", [2], indirect=True)
def test_a_killed_server_leaves_no_process(server: tuple[subprocess.Popen[str], str]) -> None:
    """None of the workers, nor anything else it started, outlives SIGKILL by two seconds."""
    process, url = server
    assert httpx.post(f"{url}/assign", json=STENCIL_ON_TORUS, timeout=60).json()["cost"] == 24
    workers = children(process.pid)
    assert len(workers) >= 2
    process.kill()
    process.wait()
    assert survivors(workers, 2.0) == []


def test_a_terminated_server_ends_well(server: tuple[subprocess.Popen[str], str]) -> None:
    """SIGTERM ends server and workers, with status 0."""
    process, url = server
    assert httpx.get(f"{url}/healthz").status_code == 200
    workers = children(process.pid)
    process.terminate()
    assert process.wait(10) == 0
    assert survivors(workers, 0.5) == []


def test_a_client_that_leaves_makes_room(server: tuple[subprocess.Popen[str], str], endless: dict[str, Any]) -> None:
    """A worker whose client has closed the connection is free long before its solve would end."""
    _, url = server
    before = httpx.post(f"{url}/assign", json=STENCIL_ON_TORUS, timeout=60)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{url}/assign", json=endless | {"time_limit_s": 50}, timeout=0.5)
    after = httpx.post(f"{url}/assign", json=STENCIL_ON_TORUS, timeout=20)
    assert (before.status_code, after.status_code) == (200, 200)


def test_serve_prints_its_url_and_returns_on_sigterm(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The address is on stdout, and the end is a return."""
    visitor, answers = visit(port, "/healthz")
    serve("127.0.0.1", port)
    visitor.join()
    assert [answer.status_code for answer in answers] == [200]
    assert capsys.readouterr().out == f"TIGER is listening on http://127.0.0.1:{port}\n"


def test_a_solve_cut_off_by_sigterm_is_answered(port: int, endless: dict[str, Any]) -> None:
    """A client that waits for an answer is told that there will be none."""
    visitor, answers = visit(port, "/assign", json=endless | {"time_limit_s": 50})
    serve("127.0.0.1", port)
    visitor.join()
    assert [answer.status_code for answer in answers] == [503]


def test_a_taken_port_is_bad_input() -> None:
    """The message names the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port: expected a free port on 127.0.0.1, got {port}"):
            serve("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port", "field"), [("127.0.0.1", 65536, "port"), ("no.such.host.invalid", 0, "host")])
def test_an_address_that_is_none_is_bad_input(host: str, port: int, field: str) -> None:
    """The part at fault is named."""
    with pytest.raises(InputError) as refusal:
        serve(host, port)
    assert refusal.value.field == field
