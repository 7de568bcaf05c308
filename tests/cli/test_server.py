"""Tests of commands that a service carries out: the output and the exit status of a local run."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread, Timer
from typing import Any, ClassVar

import numpy as np
import pytest

import tiger
from tiger.cli.app import run
from tiger.formats import nodelink
from tiger.run.progress import Progress
from tiger.topologies.spec import build

Run = Callable[..., tuple[int, str, str]]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ASSIGN = ("assign", str(EXAMPLES / "house5.graph"), "--topology", "grid:2x3", "--seed", "2")
PLACE = ("place", str(EXAMPLES / "models/gpt2-medium.json"), "--cluster", "dgx:1", "--pipeline-parallel", "4")
PLAN = ("plan", *PLACE[1:], "--tensor-parallel", "1", "--data-parallel", "1", "--schedule", "1f1b", "--batch", "4")
LAYOUT = ("layout", str(EXAMPLES / "circuits/qft5.qasm"), "--coupling", "grid:2x3", "--level", "0")
EXPERTS = ("experts", str(EXAMPLES / "traces/router8.csv"), "--experts", "8", "--cluster", "dgx:1")
JOB = {
    "id": "j1",
    "status": "running",
    "report": None,
    "progress": {"stage": "slow-anneal", "cost": 7, "fraction": 0.5},
}


class LocalService(BaseHTTPRequestHandler):
    """Answer requests by the local entries, from the documents that come; one that is `slow` never ends."""

    protocol_version = "HTTP/1.1"
    slow: ClassVar[Event] = Event()
    keys: ClassVar[list[str | None]] = []
    paths: ClassVar[list[str]] = []
    cancelled: ClassVar[Event] = Event()
    ended: ClassVar[Event] = Event()

    def do_POST(self) -> None:
        """Answer with a report, or with a job."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.keys.append(self.headers["x-api-key"])
        self.paths.append(self.path)
        if self.slow.is_set():
            self.say(202, JOB)
        elif "model" in body:
            solve = tiger.plan if self.path == "/plan" else tiger.place
            self.say(200, solve(body.pop("model"), body.pop("cluster"), **body).to_dict())
        elif "trace" in body:
            self.say(200, tiger.experts(np.array(body.pop("trace")), body.pop("cluster"), **body).to_dict())
        elif "circuit" in body:
            self.say(200, tiger.layout(body.pop("circuit"), body.pop("topology"), **body).to_dict())
        else:
            self.say(200, map_tasks(body))

    def do_GET(self) -> None:
        """Say how far the job is, without events."""
        status = "cancelled" if self.ended.is_set() else "running"
        self.say(404 if self.path.endswith("/events") else 200, {**JOB, "status": status})

    def do_DELETE(self) -> None:
        """Cancel the job."""
        self.cancelled.set()
        self.say(202, {**JOB, "status": "cancelled"})

    def say(self, status: int, document: object) -> None:
        """Answer with JSON."""
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


def map_tasks(body: dict[str, Any]) -> dict[str, object]:
    """Return the report of a request for a mapping."""
    tasks, hardware = nodelink.read_task_graph(body.pop("tasks")), body.pop("topology")
    topology = build(hardware) if isinstance(hardware, str) else nodelink.read_topology(hardware)
    del body["ising"]
    return tiger.assign(tasks, topology, **body).to_dict()


@pytest.fixture(scope="module", name="url")
def _url() -> Iterator[str]:
    """Return the URL of a service."""
    with ThreadingHTTPServer(("127.0.0.1", 0), LocalService) as server:
        server.daemon_threads = True
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `tiger` in a folder of its own and returns status, output and complaints."""
    monkeypatch.chdir(tmp_path)
    for name in ("TIGER_SERVER", "TIGER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for event in (LocalService.slow, LocalService.ended, LocalService.cancelled):
        event.clear()
    LocalService.keys.clear()

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        return status, *capsys.readouterr()

    return call


def timeless(text: str) -> str:
    """Return a text without the digits of its seconds, and without what their width makes of tables."""
    return re.sub(r" +", " ", re.sub(r"\d+\.\d{3}\b|(?<=, in )\d+\.\d+", "?", text))


@pytest.mark.parametrize(
    "command",
    [
        ASSIGN,
        PLACE,
        LAYOUT,
        PLAN,
        EXPERTS,
        ("place", *EXPERTS[1:], "--mode", "experts"),
        (*PLACE, "--emit", "megatron"),
        (*ASSIGN, "--slots", "2"),
    ],
)
def test_the_output_is_that_of_a_local_run(cli: Run, url: str, command: tuple[str, ...]) -> None:
    """Summary and complaints, but for the seconds."""
    here, there = (tuple(map(timeless, map(str, cli(*command, *more)))) for more in ((), ("--server", url)))
    assert there == here
    assert (there[0], len(LocalService.keys)) == ("0", 1)


@pytest.mark.slow
def test_the_json_is_that_of_a_local_run(cli: Run, url: str) -> None:
    """Field by field, but for the seconds."""
    here, there = (json.loads(cli(*ASSIGN, "--json", "-", *more)[1]) for more in ((), ("--server", url)))
    assert list(there) == list(here)
    assert {**there, "seconds": 0, "stages": []} == {**here, "seconds": 0, "stages": []}


def test_the_variable_names_a_server_too(cli: Run, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a script moves without a change; the key comes from its own variable."""
    monkeypatch.setenv("TIGER_SERVER", url)
    monkeypatch.setenv("TIGER_API_KEY", "secret")
    assert cli(*ASSIGN)[0] == 0
    assert LocalService.keys == ["secret"]


def test_an_empty_variable_names_none(cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command runs here."""
    monkeypatch.setenv("TIGER_SERVER", "")
    assert (cli(*ASSIGN)[0], LocalService.keys) == (0, [])


def test_a_routed_circuit_is_written_here(cli: Run, url: str, tmp_path: Path) -> None:
    """The file of `-o` is on the machine of whoever asks."""
    assert cli(*LAYOUT, "--server", url, "-o", "out.qasm")[0] == 0
    assert (tmp_path / "out.qasm").read_text().startswith("OPENQASM 2.0;")


def test_nothing_feasible_is_status_1(cli: Run, url: str) -> None:
    """As with a local run."""
    status, out, _ = cli(*ASSIGN[:2], "--topology", "grid:2x2", "--rule", "one-to-one", "--server", url)
    assert (status, out.startswith("infeasible: no mapping meets\n")) == (1, True)


def test_a_job_has_tags_and_a_priority(cli: Run, url: str) -> None:
    """At a service alone, as a command that runs here makes no job."""
    terms = ("--tag", "team/a", "--tag", "b", "--priority", "7")
    assert cli(*ASSIGN, *terms, "--server", url)[0] == 0
    assert LocalService.paths[-1] == "/assign?tag=team%2Fa&tag=b&priority=7"
    for name, given in (("tag", terms[:2]), ("priority", terms[4:])):
        status, _, err = cli(*ASSIGN, *given)
        assert (status, err) == (2, f"tiger: error: {name}: expected --server beside it, as only a service has jobs\n")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((*ASSIGN, "--server", "nowhere"), "server"),
        ((*ASSIGN, "--threads", "2"), "threads"),
        ((*LAYOUT, "--threads", "2"), "threads"),
        ((*ASSIGN[:2], "--topology", "grid:0x3"), "topology"),
        (("assign", "nosuch.json", "--topology", "grid:2x3"), "tasks"),
        (("layout", "nosuch.qasm", "--coupling", "grid:2x3"), "circuit"),
        (("place", "nosuch.json", "--cluster", "dgx:1"), "model"),
        (("plan", "nosuch.json", "--cluster", "dgx:1"), "model"),
        ((*PLAN, "--batch", "0"), "batch"),
    ],
)
def test_bad_input_is_one_line_and_status_2(cli: Run, url: str, arguments: tuple[str, ...], field: str) -> None:
    """It names the option, and nothing is sent."""
    given = arguments if "--server" in arguments else (*arguments, "--server", url)
    status, out, err = cli(*given)
    assert (status, out, err.count("\n"), LocalService.keys) == (2, "", 1, [])
    assert err.startswith(f"tiger: error: {field}: ")


def test_what_a_service_fails_at_is_status_2(cli: Run, url: str) -> None:
    """The job of nobody here is cancelled by somebody else."""
    LocalService.slow.set()
    LocalService.ended.set()
    status, out, err = cli(*ASSIGN, "--server", url)
    assert (status, out, err) == (2, "", "tiger: error: server: the job j1 was cancelled\n")


def test_an_interrupt_cancels_the_job(url: str, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service is told, nothing is printed, and the status is 130."""

    @contextmanager
    def interrupting() -> Iterator[Callable[[Progress], None]]:
        def stop(step: Progress) -> None:
            raise KeyboardInterrupt

        yield stop

    LocalService.slow.set()
    monkeypatch.setattr("tiger.cli.console.progress", interrupting)
    assert cli(*ASSIGN, "--server", url) == (130, "", "")
    assert LocalService.cancelled.is_set()


@pytest.mark.slow
def test_an_interrupt_at_a_terminal(url: str, cli: Run) -> None:
    """Ctrl-C while progress is shown, to a process of its own."""
    LocalService.slow.set()
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "tiger", *ASSIGN, "--server", url]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    # Whoever runs tests in the background has them ignore what Ctrl-C sends, and so would this process.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=follower, env=environment) as process:
        signal.signal(signal.SIGINT, before)
        os.close(follower)
        # Nothing that goes wrong is to leave this test waiting.
        watchdog = Timer(60.0, process.kill)
        watchdog.start()
        shown = b""
        with suppress(OSError):
            while b"slow-anneal cost 7" not in shown:
                shown += os.read(leader, 4096)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate()
        watchdog.cancel()
    os.close(leader)
    assert (process.returncode, out, LocalService.cancelled.is_set()) == (130, b"", True), shown


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [ASSIGN, PLACE, LAYOUT])
def test_a_picture_is_that_of_a_local_run(cli: Run, url: str, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """What documents do not carry is read from the arguments: problem, plan and device."""
    for name, server in (("remote.svg", ("--server", url)), ("local.svg", ())):
        assert cli(*arguments, *server, "--plot", name)[0] == 0
    assert (tmp_path / "remote.svg").read_bytes() == (tmp_path / "local.svg").read_bytes()
