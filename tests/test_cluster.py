"""Several servers on one PostgreSQL with a Dask cluster, all as processes of their own."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import httpx
import networkx as nx
import pytest

from tiger.mapping.entry import assign

SCRIPT = Path(__file__).resolve().parents[1] / "examples" / "cluster.py"
ASYNC = {"Prefer": "respond-async"}
TICKS = os.sysconf("SC_CLK_TCK")
GRAPH = nx.gnm_random_graph(216, 900, seed=1)


@pytest.fixture(scope="module", name="script")
def _script() -> Iterator[ModuleType]:
    """Return the script as a module, that of servers with one worker each."""
    spec = importlib.util.spec_from_file_location("cluster", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["cluster"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIGER_WORKERS", "1")
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield module
    del sys.modules["cluster"]


@pytest.fixture(scope="module", name="able")
def _able(script: ModuleType) -> None:
    """Skip where a part is not installed, or fail where TIGER_TEST_POSTGRES says that it is required."""
    try:
        script._check()
    except script.MissingError as error:
        lacking = str(error)
        pytest.fail(lacking) if os.environ.get("TIGER_TEST_POSTGRES") == "required" else pytest.skip(lacking)


@pytest.fixture(scope="module")
def running(able: None, script: ModuleType) -> Iterator[object]:
    """Return a server, and a Dask cluster of one worker, that no test harms."""
    with script.cluster(servers=1, workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def mapping() -> dict[str, str]:
    """Return what is found without a cluster."""
    return map_locally(8)


def map_locally(effort: int) -> dict[str, str]:
    """Return what one process finds."""
    return assign(GRAPH, "torus:6x6x6", effort=effort, seed=1).mapping


def submit(url: str, **fields: object) -> str:
    """Return the address of a new job whose search is shared out from its third round on."""
    body = {"tasks": nx.node_link_data(GRAPH, edges="edges"), "topology": "torus:6x6x6", "seed": 1, **fields}
    answer = httpx.post(f"{url}/assign", json=body, headers=ASYNC, timeout=30)
    assert answer.status_code == 202, answer.text
    return url + answer.headers["Location"]


def show(job: str) -> dict:
    """Return a job as it is."""
    return httpx.get(job, timeout=30).json()


def until(condition: Callable[[], bool], limit_s: float = 120) -> None:
    """Wait for a condition."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, "waited in vain"
        time.sleep(0.05)


def wait_for_end(job: str) -> dict:
    """Return a job once it has ended."""
    until(lambda: show(job)["status"] not in ("queued", "running"))
    return show(job)


def cpu_s(running, name: str) -> float:
    """Return the seconds of a processor that a process has used."""
    stat = Path(f"/proc/{running.processes[name].pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def busy(running) -> list[str]:
    """List the workers of the Dask cluster that use more than a tenth of a processor."""
    names = [name for name in running.processes if name.startswith("worker")]
    before = {name: cpu_s(running, name) for name in names}
    time.sleep(0.3)
    return [name for name in names if cpu_s(running, name) - before[name] > 0.03]


@pytest.mark.long
def test_servers_share_a_queue(able, script) -> None:
    """What is submitted to one is done by both, and either knows of it."""
    with script.cluster(servers=2) as pair:
        jobs = [submit(pair.urls[0], effort=10**6, time_limit_s=2.0, seed=seed) for seed in range(4)]
        seen = [job.replace(*pair.urls) for job in jobs]
        until(lambda: [show(job)["status"] for job in seen].count("running") == 2)
        assert {wait_for_end(job)["status"] for job in seen} == {"done"}


@pytest.mark.long
def test_a_cluster_changes_no_answer(running, mapping) -> None:
    """Its worker does its share once the server has connected to them, and the mapping is that of one process."""

    def is_shared() -> bool:
        before = cpu_s(running, "worker0")
        report = wait_for_end(submit(running.urls[0], effort=8))["report"]
        assert (report["mapping"], report["warnings"]) == (mapping, [])
        return cpu_s(running, "worker0") - before > 0.3

    until(is_shared)


@pytest.mark.long
def test_what_is_cancelled_leaves_the_cluster(running) -> None:
    """Its workers are free within two seconds."""
    job = submit(running.urls[0], effort=10**6, time_limit_s=60.0)
    until(lambda: bool(busy(running)))
    begun_s = time.monotonic()
    assert httpx.delete(job, timeout=30).json()["status"] == "cancelled"
    until(lambda: not busy(running), 10)
    assert time.monotonic() - begun_s < 2.0 + 0.3


@pytest.mark.long
def test_lost_workers_lose_no_job(able, script, mapping) -> None:
    """One is killed in the middle of a solve, then the scheduler; the next solve, which is over soon, finds none."""
    with script.cluster(servers=1) as harmed:
        job = submit(harmed.urls[0], effort=16)
        until(lambda: bool(busy(harmed)))
        for name in ("worker0", "scheduler"):
            harmed.processes[name].kill()
        found = wait_for_end(job)
        assert (found["status"], found["report"]["mapping"]) == ("done", map_locally(16))
        assert "the rest was done by one process" in found["report"]["warnings"][-1]
        found = wait_for_end(submit(harmed.urls[0], effort=8))
        assert (found["status"], found["report"]["mapping"]) == ("done", mapping)


@pytest.mark.long
def test_a_killed_server_leaves_the_cluster(able, script) -> None:
    """What it had sent is ended by the workers of the cluster."""
    with script.cluster(servers=1) as harmed:
        submit(harmed.urls[0], effort=10**6, time_limit_s=60.0)
        until(lambda: bool(busy(harmed)))
        harmed.processes["server0"].kill()
        until(lambda: not busy(harmed), 5)


@pytest.mark.long
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(able, script, end: signal.Signals) -> None:
    """Whatever ends the script ends what it has started."""
    # Where a shell has started it in the background, too.
    command = ["sh", "-c", 'trap "" INT; exec "$0" "$@"', sys.executable, str(SCRIPT)]
    command += ["--port", "0", "--servers", "1", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        home = next(line.split()[1] for line in process.stdout if line.startswith("logs"))
        process.send_signal(end)
        assert process.wait(30) == (0 if end is not signal.SIGKILL else -end)
    until(lambda: not list_processes(home), 15)
    # Only who is killed cannot tidy up.
    assert Path(home).exists() == (end is signal.SIGKILL)
    shutil.rmtree(home, ignore_errors=True)


def list_processes(home: str) -> list[str]:
    """List the processes that live in a folder."""
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/cwd") if home in _target(path)]


def _target(link: Path) -> str:
    """Return where a link points."""
    try:
        return os.readlink(link)  # noqa: PTH115
    except OSError:
        return ""


def test_what_is_missing_is_said(script, monkeypatch, capsys) -> None:
    """It ends with status 2 and what to install."""
    monkeypatch.setattr(script, "_tool", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["cluster.py"])
    terminate = signal.getsignal(signal.SIGTERM)
    assert script.main() == 2
    signal.signal(signal.SIGTERM, terminate)
    assert "apt-get install postgresql" in capsys.readouterr().err
