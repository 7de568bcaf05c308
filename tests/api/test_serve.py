"""The server process: where it listens, and how it ends."""

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from tiger.api.jobs import migrations
from tiger.api.jobs.database import Database
from tiger.api.middleware.keys import parse
from tiger.api.routes.examples import STENCIL_ON_TORUS
from tiger.api.serve import _listen, _make_folder, _Server, serve
from tiger.api.settings import Settings
from tiger.errors import InputError

SERVE = "from tiger.api.serve import serve\nif __name__ == '__main__':\n    serve('127.0.0.1', 0)\n"
# Workers that are still warming up on a busy machine may take longer than an answer is usually waited for.
PATIENT = {"Prefer": "wait=60"}


@pytest.fixture
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Return a running server, of one worker unless a test asks for more, and its URL."""
    script = tmp_path / "server.py"
    script.write_text(SERVE)
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "limits.py").write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'imported')!r}).touch()\n"
    )
    settings = {"TIGER_WORKERS": str(getattr(request, "param", 1)), "TIGER_DATA_DIR": str(tmp_path / "data")}
    with subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | settings,
        cwd=tmp_path / "beside",
    ) as process:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip().rpartition(" ")[2]
        process.kill()


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[int]:
    """Prepare this process to serve; return a free port."""
    root, terminate = logging.getLogger(), signal.getsignal(signal.SIGTERM)
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    monkeypatch.setattr("tiger.api.serve.DRAIN_S", 0.2)
    monkeypatch.setenv("TIGER_WORKERS", "1")
    monkeypatch.setenv("TIGER_DATA_DIR", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    yield number
    root.handlers, root.level = handlers, level
    signal.signal(signal.SIGTERM, terminate)
    structlog.reset_defaults()


def visit(port: int, path: str, **request: Any) -> tuple[threading.Thread, list[httpx.Response]]:
    """Wait for the server and send a request, both from a thread; return thread and answer.

    SIGTERM comes a second after a request for work, and after the answer to any other.
    """
    answers: list[httpx.Response] = []

    def send() -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=httpx.HTTPTransport(retries=5)) as client:
            client.get("/healthz", timeout=60)
            end = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM))
            if request:
                end.start()
            answers.append(client.request("POST" if request else "GET", path, timeout=60, **request))
            if not request:
                end.start()

    visitor = threading.Thread(target=send)
    visitor.start()
    return visitor, answers


def after(call: Callable[[], None]) -> Callable[..., Any]:
    """Return a server's start, after which a call is made from a thread."""
    start = _Server.startup

    async def startup(server: _Server, sockets: list[socket.socket] | None = None) -> None:
        await start(server, sockets)
        threading.Thread(target=call).start()

    return startup


def children(process: int) -> list[int]:
    """Return the ids of the processes that a process has started."""
    return [
        int(child) for tree in Path(f"/proc/{process}/task").glob("*/children") for child in tree.read_text().split()
    ]


def alive(process: int) -> bool:
    """Return whether a process runs; one that only waits to be collected does not."""
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


@pytest.mark.slow
@pytest.mark.parametrize("server", [2], indirect=True)
def test_a_killed_server_leaves_no_process(server: tuple[subprocess.Popen[str], str], tmp_path: Path) -> None:
    """None of the workers, nor anything else it started, outlives SIGKILL for long, nor those that are starting."""
    process, url = server
    answer = httpx.post(f"{url}/assign", json=STENCIL_ON_TORUS, headers=PATIENT, timeout=60)
    assert answer.json()["cost"] == 24
    # A file of the user's is not taken for a library where the server is started beside it.
    assert not (tmp_path / "imported").exists()
    workers = children(process.pid)
    assert len(workers) >= 2
    process.kill()
    process.wait()
    assert survivors(workers, 15.0) == []


@pytest.mark.slow
def test_a_terminated_server_ends_well(server: tuple[subprocess.Popen[str], str]) -> None:
    """SIGTERM ends server and workers, with status 0."""
    process, url = server
    assert httpx.get(f"{url}/healthz").status_code == 200
    workers = children(process.pid)
    process.terminate()
    assert process.wait(10) == 0
    assert survivors(workers, 0.5) == []


@pytest.mark.slow
def test_serve_prints_its_url_and_returns_on_sigterm(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The address is on stdout, and the end is a return."""
    visitor, answers = visit(port, "/healthz")
    serve("127.0.0.1", port)
    visitor.join()
    assert [answer.status_code for answer in answers] == [200]
    assert capsys.readouterr().out == f"TIGER is listening on http://127.0.0.1:{port}\n"


def test_bug_a_connection_that_says_nothing_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has connections state what they are for."""
    monkeypatch.setattr("tiger.api.middleware.connections.STATED_S", 0.2)
    told: list[bytes] = []

    def say_nothing() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            told.append(connection.recv(1))
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("tiger.api.serve._Server.startup", after(say_nothing))
    serve("127.0.0.1", port)
    assert told == [b""]


@pytest.mark.slow
def test_a_solve_cut_off_by_sigterm_is_answered(port: int, endless: dict[str, Any]) -> None:
    """A client that waits for an answer is told that there will be none."""
    visitor, answers = visit(port, "/assign", json=endless | {"time_limit_s": 50})
    serve("127.0.0.1", port)
    visitor.join()
    assert [answer.status_code for answer in answers] == [503]


@pytest.mark.slow
def test_a_database_of_a_newer_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server says so in a line, and ends with status 3."""
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, ("SELECT 1",)))
    database = Database(f"sqlite:///{tmp_path / 'tiger.sqlite'}")
    database.prepare()
    database.close()
    settings = {"TIGER_WORKERS": "1", "TIGER_DATA_DIR": str(tmp_path)}
    serve = [sys.executable, "-c", "from tiger.api.serve import serve; serve('127.0.0.1', 0)"]
    ended = subprocess.run(serve, env=os.environ | settings, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 3
    assert "database: expected tables of version" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_taken_port_is_bad_input() -> None:
    """The message names the port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port: expected a free port on 127.0.0.1, got {port}"):
            serve("127.0.0.1", port)


def test_bug_an_address_of_another_machine_is_no_taken_port() -> None:
    """The part at fault is the host."""
    with pytest.raises(InputError, match=r"host: expected an address of this machine, got '192\.0\.2\.1'"):
        _listen("192.0.2.1", 0, Settings(api_keys=parse("k" * 16)))


@pytest.mark.parametrize(("host", "port", "field"), [("127.0.0.1", 65536, "port"), ("no.such.host.invalid", 0, "host")])
def test_an_address_that_is_none_is_bad_input(host: str, port: int, field: str) -> None:
    """The part at fault is named."""
    with pytest.raises(InputError) as refusal:
        serve(host, port)
    assert refusal.value.field == field


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "::ffff:0.0.0.0"])
def test_without_keys_no_other_machine_is_served(host: str) -> None:
    """An address that others can reach is refused, however it is written."""
    with pytest.raises(InputError, match="host: expected a loopback address while no keys are set"):
        _listen(host, 0, Settings(api_keys=()))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3"])
def test_without_keys_this_machine_is_served(host: str) -> None:
    """All of its loopback addresses are as good."""
    with _listen(host, 0, Settings(api_keys=())) as listener:
        assert listener.getsockname()[1] > 0


def test_with_keys_every_address_is_served() -> None:
    """They are what protects it then."""
    with _listen("0.0.0.0", 0, Settings(api_keys=parse("k" * 16))) as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


def test_the_data_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    """Nobody else may read what others have asked."""
    _make_folder(tmp_path / "new" / "tiger")
    assert (tmp_path / "new" / "tiger").stat().st_mode & 0o777 == 0o700
    _make_folder(tmp_path / "new" / "tiger")


def test_a_data_folder_that_cannot_be_made_is_bad_input(tmp_path: Path) -> None:
    """The variable is named."""
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="TIGER_DATA_DIR: expected a folder that can be made"):
        _make_folder(tmp_path / "file" / "tiger")


def test_a_data_folder_that_cannot_be_written_is_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found before the first job is lost."""
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="TIGER_DATA_DIR: expected a folder that can be written to"):
        _make_folder(tmp_path)
