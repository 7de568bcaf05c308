"""Whole servers whose neighbours, databases and disks fail them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from tests.api.jobs.pgserver import Postgres
from tests.api.jobs.service import LATER, TASKS, TINY, Service, until
from tiger.api.jobs.migrations import JOBS

pytestmark = pytest.mark.slow
Rows = list[tuple[str, str | None, int, bytes | None]]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Return what closes servers and disks at the end, the last first."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def trio(stack: ExitStack, tmp_path: Path, database: str) -> list[Service]:
    """Return three servers that were started at once on a database without tables."""
    services = [Service(tmp_path / name, TIGER_DATABASE_URL=database) for name in "abc"]
    for service in services:
        stack.callback(service.close)
    return [service.ready() for service in services]


@pytest.fixture
def alone(stack: ExitStack, tmp_path: Path, database: str) -> Service:
    """Return a server on PostgreSQL."""
    service = Service(tmp_path / "a", TIGER_DATABASE_URL=database)
    stack.callback(service.close)
    return service.ready()


@pytest.fixture
def disk(stack: ExitStack, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Return a small disk of its own, of 4 MiB unless told otherwise."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={getattr(request, 'param', 4)}m", "tmpfs", disk]
    if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("a file system cannot be mounted here")
    stack.callback(subprocess.run, ["umount", disk], check=True)
    return disk


@pytest.fixture
def cramped(stack: ExitStack, disk: Path) -> Service:
    """Return a server on SQLite on the small disk."""
    service = Service(disk)
    stack.callback(service.close)
    return service.ready()


def rows(url: str) -> Rows:
    """Return state, server, token and report of all jobs, the oldest first."""
    engine = sa.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect() as connection:
        query = sa.select(JOBS.c.status, JOBS.c.server, JOBS.c.token, JOBS.c.report).order_by(JOBS.c.created_s)
        found = [(row.status, row.server, row.token, row.report) for row in connection.execute(query)]
    engine.dispose()
    return found


def collect_refusals(service: Service) -> list[httpx.Response]:
    """Return the answers of a server without its database, which are all 503."""
    answers = [service.http.get("/readyz"), service.http.post("/assign", json=TINY, headers=LATER)]
    assert [answer.status_code for answer in answers] == [503, 503]
    assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}
    assert (answers[0].json()["database"], answers[0].json()["workers"]) == (False, True)
    assert [service.http.get(f"/readyz/{part}").status_code for part in ("database", "workers")] == [503, 200]
    assert service.http.post("/assign", json=TINY).status_code == 200
    return answers


def running(service: Service, count: int) -> list[str]:
    """Submit jobs of two seconds, and return them once the first runs."""
    ids = [service.submit(2, seed) for seed in range(count)]
    until(lambda: "running" in service.statuses(ids), 20)
    return ids


def check_small_solves_while_the_database_hangs(server: Service, postgres: Postgres) -> None:
    """Check that readiness says so: all of it is lost for who asks for all, and none of the workers."""
    postgres.signal(signal.SIGSTOP)
    try:
        shown = server.http.get("/readyz")
        assert (shown.status_code, shown.json()["database"], shown.json()["workers"]) == (503, False, True)
        assert (shown.json()["routes"]["/assign"], shown.json()["routes"]["/jobs"]) == ("limited", "unavailable")
        assert server.http.get("/readyz/workers").json() == {"workers": True}
        assert server.http.get("/readyz/database").status_code == 503
        assert server.http.post("/assign", json=TINY).json()["feasible"]
    finally:
        postgres.signal(signal.SIGCONT)
    until(lambda: server.http.get("/readyz").status_code == 200, 60)


@pytest.mark.long
def test_two_servers_let_no_more_jobs_of_an_account_wait_than_may(
    stack: ExitStack, tmp_path: Path, database: str
) -> None:
    """Of fifty that are submitted at once, seven are kept, while another account has all workers."""
    ann, bob = ({"X-API-Key": letter * 16} | LATER for letter in "ab")
    file = tmp_path / "keys.toml"
    file.write_text(f'accounts.ann = {{keys = ["{"a" * 16}"], queued_jobs = 7}}\naccounts.bob.keys = ["{"b" * 16}"]\n')
    services = [Service(tmp_path / name, TIGER_DATABASE_URL=database, TIGER_KEYS_FILE=str(file)) for name in "ab"]
    for service in services:
        stack.callback(service.close)
    work = {"tasks": TASKS, "topology": "torus:5x8", "time_limit_s": 40}
    for service in services:
        service.ready().http.post("/assign", json=work, headers=bob).raise_for_status()
    until(lambda: services[0].http.get("/usage", headers=bob).json()["running_jobs"]["used"] == 2, 30)

    def submit(k: int) -> int:
        return services[k % 2].http.post("/assign", json=TINY, headers=ann).status_code

    with ThreadPoolExecutor(50) as threads:
        assert sorted(threads.map(submit, range(50))) == [202] * 7 + [429] * 43


@pytest.mark.long
def test_a_third_server_stands_in_for_a_killed_and_a_halted_one(trio: list[Service], database: str) -> None:
    """What these two had begun is done once, by the third; the halted one changes nothing when it goes on."""
    killed, halted, third = trio
    ids = [third.submit(4, seed) for seed in range(6)]
    until(lambda: sum(server is not None for _, server, _, _ in rows(database)) == 3, 20)
    os.killpg(killed.process.pid, signal.SIGKILL)
    os.kill(halted.process.pid, signal.SIGSTOP)
    third.wait_until_done(ids, 60)
    found = rows(database)
    assert {server for _, server, _, _ in found} == {third.name}
    assert sorted(token for _, _, token, _ in found) == [0, 0, 0, 0, 1, 1]
    os.kill(halted.process.pid, signal.SIGCONT)
    halted.wait_until_done([halted.submit(0.5)], 30)
    assert rows(database)[:6] == found


@pytest.mark.long
def test_a_server_gets_over_the_loss_of_its_database(alone: Service, postgres: Postgres) -> None:
    """It says so and takes no job; what it solved meanwhile is written, and what waited is done, once it is back."""
    check_small_solves_while_the_database_hangs(alone, postgres)
    ids = running(alone, 2)
    postgres.stop()
    collect_refusals(alone)
    assert alone.http.get("/healthz").status_code == 200
    time.sleep(4)
    collect_refusals(alone)
    postgres.start()
    until(lambda: alone.http.get("/readyz").status_code == 200, 5)
    alone.wait_until_done(ids, 20)
    assert alone.said("database") < 20


@pytest.mark.long
def test_bug_a_body_is_not_blamed_for_workers_that_are_killed(stack: ExitStack, tmp_path: Path) -> None:
    """Whenever that is while they read it: the answer is the job, or 503 with when to ask again, and never 422."""
    service = Service(tmp_path / "a", TIGER_WORKERS="2")
    stack.callback(service.close)
    service.ready()
    edges = [{"source": k % 3000, "target": (k * 7 + 1) % 3000, "weight": 1} for k in range(60_000)]
    body = {"tasks": {"nodes": [{"id": k} for k in range(3000)], "edges": edges}, "topology": "torus:64x64"}
    asked = partial(service.http.post, "/assign", json=body | {"time_limit_s": 0.1}, headers=LATER, timeout=120)
    with ThreadPoolExecutor(4) as clients:
        answers = [clients.submit(asked) for _ in range(16)]
        while not all(answer.done() for answer in answers):
            for worker in service.list_workers():
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
            time.sleep(1.0)
    found = {(answer.result().status_code, answer.result().headers.get("retry-after")) for answer in answers}
    assert found <= {(202, "1"), (503, "5")}


@pytest.mark.long
def test_a_server_gets_over_a_full_disk(cramped: Service, disk: Path) -> None:
    """As over the loss of its database, but that jobs can still be read."""
    ids = running(cramped, 2)
    subprocess.run(["dd", "if=/dev/zero", f"of={disk}/filler"], stderr=subprocess.DEVNULL, check=False)
    collect_refusals(cramped)
    time.sleep(4)
    assert cramped.statuses(ids) == ["running", "queued"]
    collect_refusals(cramped)
    (disk / "filler").unlink()
    cramped.wait_until_done(ids, 20)
    assert cramped.http.get("/readyz").status_code == 200


@pytest.mark.long
def test_a_server_that_is_told_to_end_goes_on_where_it_was(cramped: Service) -> None:
    """What ran waits again, and all is done once it is started again."""
    ids = running(cramped, 3)
    assert cramped.end() == 0
    cramped.start()
    cramped.ready().wait_until_done(ids, 30)


@pytest.mark.long
@pytest.mark.parametrize("disk", [20], indirect=True)
def test_bug_a_queue_that_fills_its_disk_gets_over_it(cramped: Service) -> None:
    """New jobs are refused before there is no room to cancel, to end and to delete; what has gone makes room again."""
    held = cramped.submit(30)
    ids, last = fill(cramped)
    assert last.headers["retry-after"] == "5"
    assert "disk" in last.json()["detail"]
    assert fill(cramped)[1].status_code == 503
    answers = [cramped.http.delete(f"/jobs/{name}") for name in ids[2:]]
    assert {(answer.status_code, answer.json()["status"]) for answer in answers} == {(200, "cancelled")}
    assert cramped.http.delete(f"/jobs/{held}").json()["status"] == "cancelled"
    cramped.wait_until_done(ids[:2], 60)
    again, _ = fill(cramped)
    assert len(again) >= len(ids) // 2
    assert cramped.http.get("/readyz").status_code == 200


def fill(service: Service) -> tuple[list[str], httpx.Response]:
    """Submit jobs of half a megabyte until one is refused, and return their ids and the refusal."""
    ids: list[str] = []
    while len(ids) < 100:
        body = {"tasks": TASKS | {"note": "x" * 500_000}, "topology": "torus:5x8", "time_limit_s": 0.5}
        answer = service.http.post("/assign", json=body, headers=LATER)
        if answer.status_code != 202:
            return ids, answer
        ids.append(answer.json()["id"])
    raise AssertionError("the disk is not full")


CLOCK = """
import time
from pathlib import Path
real, ahead = time.time, Path(__file__).with_name("ahead")
time.time = lambda: real() + float(ahead.read_text())
"""


@pytest.fixture
def ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file that says by how many seconds the clocks of servers that are started from now on are ahead."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(CLOCK)
    (tmp_path / "site" / "ahead").write_text("0")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path / "site"), *filter(None, sys.path))))
    return tmp_path / "site" / "ahead"


@pytest.mark.long
def test_bug_a_clock_that_is_set_puts_no_job_back(ahead: Path, stack: ExitStack, tmp_path: Path) -> None:
    """A solve that runs goes on, whether the clock jumps forward or back."""
    service = Service(tmp_path / "a")
    stack.callback(service.close)
    service.ready()
    for seconds in (7200, -7200):
        ids = running(service, 1)
        ahead.write_text(str(seconds))
        service.wait_until_done(ids, 30)
    assert (service.said("job begun"), service.said("put back")) == (2, 0)
