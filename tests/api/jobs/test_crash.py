"""Servers of nothing but jobs, as processes that are killed, halted and ended."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from tiger.api.jobs.database import Database
from tiger.api.jobs.migrations import JOBS
from tiger.api.jobs.settings import JobSettings
from tiger.api.jobs.store import Store
from tiger.api.seams.job import Job, JobOrder

TOY = Path(__file__).with_name("toy.py")

pytestmark = pytest.mark.slow


class Site:
    """Hold the servers of one database, and the jobs that they are given."""

    def __init__(self, home: Path, url: str | None) -> None:
        self.home, self.url, self.log, self.count = home, url, home / "log", 0
        self.servers: list[subprocess.Popen[str]] = []
        (home / "a").mkdir()
        self.store = Store(Database(JobSettings(data_dir=home / "a", database_url=url).url), 1000)

    def start(self, name: str) -> subprocess.Popen[str]:
        """Start a server and return it once it is ready."""
        command = [sys.executable, "-W", "ignore", str(TOY), str(self.home / name), *([self.url] if self.url else [])]
        # What is left of a killed server's semaphores is told of on stderr.
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )
        self.servers.append(server)
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        return server

    def submit(self, count: int, sleep_s: float) -> list[str]:
        """Submit jobs, each of which writes a line to the log when it is solved."""
        numbers = range(self.count, self.count + count)
        self.count += count
        bodies = (json.dumps({"n": n, "sleep": sleep_s, "log": str(self.log)}).encode() for n in numbers)
        return [self.store.insert(JobOrder(kind="assign", body=body))[0].id for body in bodies]

    def count_solved(self) -> int:
        """Count the solves that came to their end, those of one job all."""
        return len(self.log.read_text().split()) if self.log.exists() else 0

    def wait_until_ended(self, ids: list[str], limit_s: float) -> list[Job | None]:
        """Return jobs once all have ended."""
        until(lambda: all(job is not None and job.ended for job in (self.store.get(name, "") for name in ids)), limit_s)
        return [self.store.get(name, "") for name in ids]

    def close(self) -> None:
        """Kill all servers."""
        for server in self.servers:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()
            assert server.stdout is not None
            server.stdout.close()
        self.store.database.close()


def until(condition: Callable[[], bool], limit_s: float) -> None:
    """Wait for a condition."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, "waited in vain"
        time.sleep(0.05)


def family(server: subprocess.Popen[str]) -> list[int]:
    """List the living processes of a server's session."""
    stats = {int(path.name): _stat(path) for path in Path("/proc").glob("[0-9]*")}
    return [pid for pid, (state, *_, session) in stats.items() if state not in "ZX" and session == str(server.pid)]


def _stat(path: Path) -> list[str]:
    """Return the state, parent, group and session of a process."""
    try:
        return (path / "stat").read_text(errors="replace").rpartition(")")[2].split()[:4]
    except OSError:
        return ["Z", "", "", ""]


def outcomes(jobs: list[Job | None]) -> set[tuple[str | None, bytes | None]]:
    """Return the states of jobs, and the numbers that they have found."""
    return {(job.status, job.report) if job else (None, None) for job in jobs}


def all_done(count: int, first: int = 0) -> set[tuple[str | None, bytes | None]]:
    """Return the outcomes of jobs that are done."""
    return {("done", json.dumps({"n": n, "ended": False}).encode()) for n in range(first, first + count)}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    """Return a place for servers on either database."""
    with ExitStack() as stack:
        site = Site(tmp_path, request.getfixturevalue("database") if request.param == "postgres" else None)
        stack.callback(site.close)
        yield site


@pytest.fixture
def shared(tmp_path: Path, database: str) -> Iterator[Site]:
    """Return a place for servers on one PostgreSQL."""
    site = Site(tmp_path, database)
    yield site
    site.close()


def test_a_killed_server_loses_nothing(site: Site) -> None:
    """Its processes die with it, or alone; when it starts again, every job is done, once, and what waited meanwhile."""
    server = site.start("a")
    ids = site.submit(10, 0.2)
    for solved, kill in ((2, os.kill), (5, os.killpg)):
        until(lambda least=solved: site.count_solved() >= least, 30)
        kill(server.pid, signal.SIGKILL)
        server.wait()
        until(lambda gone=server: not family(gone), 1)
        ids += site.submit(1, 0)
        server = site.start("a")
    assert outcomes(site.wait_until_ended(ids, 30)) == all_done(12)


def test_a_server_that_is_told_to_end_puts_its_jobs_back(shared: Site) -> None:
    """The other one does them, long before it could take the first for dead."""
    first = shared.start("a")
    ids = shared.submit(4, 1.0)
    until(lambda: any(job and job.status == "running" for job in (shared.store.get(name, "") for name in ids)), 10)
    first.send_signal(signal.SIGTERM)
    assert first.wait(10) == 0
    assert all(job and job.status == "queued" for job in (shared.store.get(name, "") for name in ids))
    shared.start("b")
    assert outcomes(shared.wait_until_ended(ids, 30)) == all_done(4)


@pytest.mark.long
def test_a_dead_server_is_stood_in_for(shared: Site) -> None:
    """The other one takes its jobs over."""
    first, _ = shared.start("a"), shared.start("b")
    ids = shared.submit(6, 3.0)
    time.sleep(1.5)
    os.killpg(first.pid, signal.SIGKILL)
    assert outcomes(shared.wait_until_ended(ids, 60)) == all_done(6)


@pytest.mark.long
def test_a_halted_server_changes_nothing_when_it_goes_on(shared: Site) -> None:
    """What it has solved meanwhile comes too late, and it works on as before."""
    first, _ = shared.start("a"), shared.start("b")
    ids = shared.submit(6, 3.0)
    time.sleep(1.5)
    halted = family(first)
    for process in halted:
        os.kill(process, signal.SIGSTOP)
    before = shared.wait_until_ended(ids, 60)
    for process in halted:
        os.kill(process, signal.SIGCONT)
    time.sleep(2)
    assert [shared.store.get(name, "") for name in ids] == before
    assert outcomes(before) == all_done(6)
    assert outcomes(shared.wait_until_ended(shared.submit(6, 0.2), 30)) == all_done(6, 6)


def test_two_servers_share_what_waits(shared: Site) -> None:
    """Each job is begun once, by one of them, and both take part."""
    shared.start("a"), shared.start("b")
    ids = shared.submit(60, 0.05)
    assert outcomes(shared.wait_until_ended(ids, 60)) == all_done(60)
    assert shared.count_solved() == 60
    with shared.store.database.read() as connection:
        rows = connection.execute(sa.select(JOBS.c.server, JOBS.c.token, JOBS.c.attempts)).all()
    assert {(row.token, row.attempts) for row in rows} == {(0, 1)}
    assert len({row.server for row in rows}) == 2
