"""Jobs on both databases, worked off by two real worker processes that load nothing ahead."""

import sys
from asyncio import Runner
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.jobs import pgserver
from tiger.api.jobs.database import Database
from tiger.api.jobs.engine import DurableJobs
from tiger.api.jobs.settings import JobSettings
from tiger.api.pool.processes import Workers

# Worker processes inherit the path, and find the toy there.
sys.path.insert(0, str(Path(__file__).parent))
import toy

Opened = Callable[..., DurableJobs]


@pytest.fixture(scope="session")
def postgres() -> Iterator[pgserver.Postgres]:
    """Return a server of PostgreSQL."""
    with pgserver.postgres() as server:
        yield server


@pytest.fixture
def database(postgres: pgserver.Postgres) -> str:
    """Return the URL of a new database on PostgreSQL."""
    return postgres.create()


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def kind(request: pytest.FixtureRequest) -> str:
    """Return the kind of database; modules of what does not depend on it leave one of them to `make check-long`."""
    return str(request.param)


@pytest.fixture(scope="module")
def url(kind: str, request: pytest.FixtureRequest) -> str | None:
    """Return the URL of a database for a module, None for SQLite in the folder of its data."""
    return None if kind == "sqlite" else request.getfixturevalue("postgres").create()


@pytest.fixture
def tables(tmp_path: Path, url: str | None, request: pytest.FixtureRequest) -> Iterator[Database]:
    """Return a database with empty tables."""
    database = Database(request.getfixturevalue("postgres").create() if url else f"sqlite:///{tmp_path}/jobs")
    database.prepare()
    yield database
    database.close()


@pytest.fixture(scope="module")
def kept_tables(tmp_path_factory: pytest.TempPathFactory, url: str | None) -> Iterator[Database]:
    """Return a database with tables for a module, whose tests empty those that they use."""
    database = Database(url or f"sqlite:///{tmp_path_factory.mktemp('rows')}/rows")
    database.prepare()
    yield database
    database.close()


@pytest.fixture(scope="module")
def pool(loop: Runner) -> Iterator[Workers]:
    """Return two worker processes, once there is what they are forked from, which may take long on a busy machine."""
    pool = Workers(2)
    loop.run(pool.run(120, bool))
    yield pool
    loop.run(pool.stop())


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for a module."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def jobs(loop: Runner, pool: Workers, url: str | None, data_dir: Path) -> Iterator[DurableJobs]:
    """Return jobs that are worked off."""
    often = {"tick_s": 0.1, "beat_s": 0.1, "reap_s": 0.4}
    jobs = DurableJobs(JobSettings(data_dir=data_dir, database_url=url, max_queued=30, **often), pool, toy.solve)
    loop.run(jobs.start())
    yield jobs
    loop.run(jobs.stop())


@pytest.fixture
def own(tmp_path: Path, url: str | None, pool: Workers, request: pytest.FixtureRequest) -> DurableJobs:
    """Return jobs on a database of their own, which are not started yet, and kill no solve that is told to end."""
    own_url = request.getfixturevalue("postgres").create() if url else None
    often = {"tick_s": 0.1, "beat_s": 0.1, "reap_s": 0.2, "kill_grace_s": 300.0}
    return DurableJobs(JobSettings(data_dir=tmp_path, database_url=own_url, **often), pool, toy.solve)
