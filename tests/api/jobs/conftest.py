"""Jobs on both databases, worked off by two real worker processes that load nothing ahead."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from asyncio import Runner
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.settings import JobSettings
from tiger.api.workers import Workers

# Worker processes inherit the path, and find the toy there.
sys.path.insert(0, str(Path(__file__).parent))
import toy

Opened = Callable[..., DurableJobs]


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the URL of a server of PostgreSQL's own, up to the name of a database."""
    if shutil.which("initdb") is None or shutil.which("postgres") is None:
        pytest.skip("PostgreSQL's initdb and postgres are not installed")
    home = Path(f"/tmp/tiger-pg-{uuid.uuid4().hex[:8]}")  # its socket's path has to be short, and open to another user
    home.mkdir()
    user = "postgres" if os.getuid() == 0 else None
    if user is not None:
        shutil.chown(home, user)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    made = ["initdb", "-D", home / "data", "-U", "tiger", "-A", "trust", "-N"]
    subprocess.run(made, user=user, cwd=home, check=True, stdout=subprocess.DEVNULL)
    serve = ["postgres", "-D", home / "data", "-p", str(port), "-k", home, "-c", "fsync=off"]
    with subprocess.Popen(serve, user=user, cwd=home, stderr=subprocess.DEVNULL) as server:
        yield f"postgresql://tiger@127.0.0.1:{port}/"
        # Unlike SIGTERM, this does not wait for connections to be closed.
        server.send_signal(signal.SIGINT)
    shutil.rmtree(home)


@pytest.fixture
def database(postgres: str) -> str:
    """Return the URL of a new database on PostgreSQL."""
    return _created(postgres)


def _created(postgres: str) -> str:
    """Create a database, as soon as the server is there."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    for _ in range(100):
        try:
            with psycopg.connect(f"{postgres}postgres", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return postgres + name
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("PostgreSQL did not start")


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest) -> str | None:
    """Return the URL of a database for a module, None for SQLite in the folder of its data."""
    return None if request.param == "sqlite" else _created(request.getfixturevalue("postgres"))


@pytest.fixture(scope="module")
def pool(loop: Runner) -> Iterator[Workers]:
    """Return two worker processes."""
    pool = Workers(2)
    yield pool
    loop.run(pool.stop())


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for a module."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def jobs(loop: Runner, pool: Workers, url: str | None, data_dir: Path) -> Iterator[DurableJobs]:
    """Return jobs that are worked off."""
    settings = JobSettings(data_dir=data_dir, database_url=url, max_queued=100, tick_s=0.1, beat_s=0.2, reap_s=1.0)
    jobs = DurableJobs(settings, pool, toy.solve)
    loop.run(jobs.start())
    yield jobs
    loop.run(jobs.stop())
