"""Several servers on one PostgreSQL with a Dask cluster, all as processes of their own."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("cluster", ROOT / "examples" / "cluster.py")
SCRIPT = importlib.util.module_from_spec(SPEC)
sys.modules["cluster"] = SCRIPT
SPEC.loader.exec_module(SCRIPT)

pytestmark = pytest.mark.slow
BIG = {"Prefer": "respond-async"}


@pytest.fixture(scope="module")
def running() -> Iterator[object]:
    """Return two servers of one worker each, and two workers of a Dask cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIGER_WORKERS", "1")
        try:
            with SCRIPT.cluster() as running:
                yield running
        except SCRIPT.MissingError as error:
            pytest.skip(str(error))


def big(seed: int = 1, **fields: object) -> dict[str, object]:
    """Return a request whose search is shared out from its third round on."""
    graph = nx.random_geometric_graph(1024, 0.06, seed=1)
    tasks = nx.node_link_data(nx.Graph(graph.edges), edges="edges")
    return {"tasks": tasks, "topology": "torus:8x8x16", "solver": "search", "effort": 4, "seed": seed, **fields}


def submitted(url: str, body: dict[str, object]) -> str:
    """Return the address of a new job."""
    answer = httpx.post(f"{url}/assign", json=body, headers=BIG, timeout=30)
    assert answer.status_code == 202
    return url + answer.headers["Location"]


def ended(job: str, limit_s: float = 120) -> dict:
    """Return a job once it has ended."""
    end_s = time.monotonic() + limit_s
    while time.monotonic() < end_s:
        found = httpx.get(job, timeout=30).json()
        if found["status"] not in ("queued", "running"):
            return found
        time.sleep(0.2)
    raise AssertionError(f"still {found['status']}")


def test_servers_share_a_queue(running) -> None:
    """What is submitted to one is done by both, and either knows it."""
    bodies = [big(seed, effort=None, time_limit_s=3.0) for seed in range(6)]
    jobs = [submitted(running.urls[0], body) for body in bodies]
    time.sleep(2)
    states = [httpx.get(job.replace(*running.urls)).json()["status"] for job in jobs]
    assert states.count("running") == 2
    assert {ended(job)["status"] for job in jobs} == {"done"}
