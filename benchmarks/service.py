"""The service: how soon it is ready, how fast it answers, and how much a processor gets done, on both databases.

    python -m benchmarks service

Servers of its own, on the machine that the requests come from. PostgreSQL is TIGER_DATABASE_URL, where that names one,
else one of its own where `initdb` and `postgres` are installed.
"""

import asyncio
import itertools
import json
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.servers import CORES, Server, postgres, run_server

SECONDS = 8  # of each measurement
CROWD = 16  # who ask at once, where it is for throughput
LATER = {"Prefer": "respond-async"}
SIDE = 4
GRID = [(k, k + 1) for k in range(SIDE * SIDE) if (k + 1) % SIDE] + [(k, k + SIDE) for k in range(SIDE * (SIDE - 1))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Ask for something `rate` times a second: bodies by number, with headers, to be answered by a status."""

    title: str
    rate: int
    body: Callable[[int], object]
    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Say how many were done in a second, and how many in a second of processor time of server and workers."""

    per_second: float
    per_processor_second: float

    def __str__(self) -> str:
        return f"{self.per_second:.0f} ({self.per_processor_second:.0f})"


def build_request(seed: int) -> dict[str, object]:
    """Ask for sixteen tasks on as many nodes."""
    edges = [{"source": u, "target": v, "weight": 1 + (seed + 7 * k) % 10} for k, (u, v) in enumerate(GRID)]
    tasks = {"directed": False, "nodes": [{"id": k} for k in range(SIDE * SIDE)], "edges": edges}
    return {"tasks": tasks, "topology": f"torus:{SIDE}x{SIDE}", "rule": "one-to-one", "seed": seed}


STREAMS = (
    Stream(title="small solves answered at once", rate=50, body=build_request, status=200, headers={}),
    Stream(title="jobs submitted", rate=20, body=build_request, status=202, headers=LATER),
    Stream(title="invalid bodies refused", rate=100, body=lambda k: {"tasks": k}, status=422, headers={}),
)


def table(say: Callable[[str], None], _: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield the figures of the service on each database.

    Latencies are from the instant a request is due, however the ones before it fare. Throughput is that of sixteen who
    ask again as soon as they are answered, for jobs with keys, answered with the report; in brackets per second of
    processor time of the server and its workers, which is what a core gets done.
    """
    with postgres() as url:
        stores = {"SQLite": None} | ({"PostgreSQL": url} if url else {})
        found = [measure(name, store, say) for name, store in stores.items()]
    yield "", *stores
    for title in found[0]:
        yield title, *(column[title] for column in found)


def measure(name: str, store: str | None, say: Callable[[str], None]) -> dict[str, str]:
    """Return the figures of servers of one worker and of two on a database."""
    cells = {f"load of the machine before, {CORES} processors": f"{os.getloadavg()[0]:.1f}"}
    for workers in (CORES, 1) if CORES > 1 else (1,):
        say(f"{name}, workers: {workers}")
        with run_server(workers, store) as server:
            if workers == CORES:
                cells["start to ready, s"] = f"{server.ready_s:.1f}"
                cells |= {
                    f"{stream.title}, {stream.rate}/s: p50 / p99, ms": waits(server, stream) for stream in STREAMS
                }
            for title, headers in {"small solves": dict, "jobs, stored and waited for": name_job}.items():
                cells[f"{title}/s, workers: {workers}"] = str(pace(server, headers))
    return cells


def name_job() -> dict[str, str]:
    """Return the headers of a request that is a stored job, and is waited for."""
    return {"Idempotency-Key": uuid.uuid4().hex, "Prefer": "wait=60"}


def waits(server: Server, stream: Stream) -> str:
    """Return the median and the 99th percentile of a stream, and what was not answered as it should be."""
    asyncio.run(send(server.url, stream, stream.rate))
    answers = asyncio.run(send(server.url, stream, SECONDS * stream.rate))
    took = sorted(1e3 * seconds for seconds, _ in answers)
    bad = sum(status != stream.status for _, status in answers)
    text = f"{took[len(took) // 2]:.0f} / {took[int(len(took) * 0.99)]:.0f}"
    return f"{text}, {bad} of {len(took)} failed" if bad else text


async def send(url: str, stream: Stream, count: int) -> list[tuple[float, int]]:
    """Send requests when they are due, whatever became of those before.

    Returns the seconds since then and the status of each, 0 for none.
    """
    clock, bodies = asyncio.get_running_loop().time, [json.dumps(stream.body(k)) for k in range(count)]
    async with client(url) as web:
        begun = clock() + 0.1

        async def one(number: int) -> tuple[float, int]:
            due = begun + number / stream.rate
            await asyncio.sleep(due - clock())
            try:
                status = (await web.post("/assign", content=bodies[number], headers=dict(stream.headers))).status_code
            except httpx.TransportError:
                status = 0
            return clock() - due, status

        return await asyncio.gather(*map(one, range(count)))


def pace(server: Server, headers: Callable[[], dict[str, str]]) -> Pace:
    """Return how much is done for clients that ask again as soon as they are answered."""
    number = itertools.count()

    async def ask(web: httpx.AsyncClient) -> None:
        answer = await web.post("/assign", content=json.dumps(build_request(next(number))), headers=headers())
        answer.raise_for_status()

    asyncio.run(run_clients(server.url, ask, 1.0))
    begun, processor_s = time.perf_counter(), server.processor_s()
    count = asyncio.run(run_clients(server.url, ask, SECONDS))
    seconds, processor_s = time.perf_counter() - begun, server.processor_s() - processor_s
    return Pace(per_second=count / seconds, per_processor_second=count / processor_s)


async def run_clients(url: str, ask: Callable[[httpx.AsyncClient], Awaitable[None]], seconds: float) -> int:
    """Have clients ask again and again for so long, and return how often they were answered."""
    clock = asyncio.get_running_loop().time
    async with client(url) as web:
        end = clock() + seconds

        async def one() -> int:
            count = 0
            while clock() < end:
                await ask(web)
                count += 1
            return count

        return sum(await asyncio.gather(*(one() for _ in range(CROWD))))


def client(url: str) -> httpx.AsyncClient:
    """Return a client with as many connections as it needs."""
    # The server closes what has been idle for five seconds.
    limits = httpx.Limits(max_connections=400, max_keepalive_connections=400, keepalive_expiry=2)
    headers = {"Content-Type": "application/json"}
    return httpx.AsyncClient(base_url=url, timeout=90, limits=limits, trust_env=False, headers=headers)
