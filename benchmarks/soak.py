"""A soak: a server at seven tenths of what it can do, for long, and what that does to its memory.

    python -m benchmarks soak [--minutes 30]

A server of its own on SQLite, with a worker for every processor, on the machine that the requests come from. Visits are
small solves, jobs, jobs with an Idempotency-Key sent twice, cancelled jobs, and jobs followed by their events. How many
visits a second it can do is measured first, by visitors who come again at once.
"""

import asyncio
import itertools
import json
import os
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import httpx
import numpy as np

from benchmarks.servers import CORES, Server, run_server
from benchmarks.service import LATER, build_request, client, run_clients

# The load of a soak as a share of the most in a trial of so many seconds, and the seconds between looks at the memory.
SHARE, TRIAL_S, EVERY_S = 0.7, 30.0, 5.0
# Memory whose mean grows by at most this share from the first quarter to the last is flat.
FLAT = 0.1
# Seconds after which a job that was submitted runs, so that cancelling it ends a search.
RUNS_S = 0.3
ENDLESS = {"effort": 1_000_000, "time_limit_s": 30}

Visit = Callable[[httpx.AsyncClient, int], Awaitable[None]]


class FaultError(Exception):
    """Say that a visit did not go as it should."""


@dataclass(slots=True)
class Diary:
    """Keep what became of visits: how many of a kind, what went wrong, and the seconds of small solves."""

    kinds: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)


def table(say: Callable[[str], None], minutes: float) -> Iterator[tuple[str, ...]]:
    """Yield the figures of a soak of so many minutes: memory is the mean of its first quarter and of its last."""
    with run_server(CORES, None) as server:
        say("what the server can do")
        asyncio.run(trial(server, Diary(), TRIAL_S / 3))
        most = asyncio.run(trial(server, Diary(), TRIAL_S)) / TRIAL_S
        load, diary = os.getloadavg()[0], Diary()
        say(f"{minutes:g} minutes at {SHARE * most:.1f} visits/s")
        memory = asyncio.run(soak(server, diary, SHARE * most, 60 * minutes))
        deaths = figure(server, "tiger_worker_deaths_total")
    yield "what", f"{minutes:g} minutes on SQLite, workers: {CORES}"
    yield "visits", f"{diary.kinds.total():,} at {SHARE * most:.1f}/s, {SHARE:.0%} of {most:.1f}/s"
    yield "of which", ", ".join(f"{count:,} {kind}" for kind, count in sorted(diary.kinds.items()))
    yield "failed", ", ".join(f"{count} {fault}" for fault, count in diary.faults.items()) or "0"
    yield "workers lost", f"{deaths:.0f}"
    p50, p99 = np.quantile(diary.seconds, (0.5, 0.99)) * 1e3
    yield "small solves: p50 / p99, ms", f"{p50:.0f} / {p99:.0f}"
    for name, of in {"server": memory[:, 0], "workers together": memory[:, 1], "largest worker": memory[:, 2]}.items():
        yield f"memory, {name}: first quarter, last quarter, MB", flatness(of)
    yield f"load of the machine before and after, {CORES} processors", f"{load:.1f}, {os.getloadavg()[0]:.1f}"


async def at_once(web: httpx.AsyncClient, number: int) -> None:
    """Ask for a small solve."""
    answer = await web.post("/assign", content=json.dumps(build_request(number)))
    if answer.status_code == 202:
        # The machine was too busy to answer in time, so it has become a job.
        await wait(web, answer.headers["location"])
    else:
        expect(answer.status_code == 200 and answer.json()["feasible"], f"small solve: {answer.status_code}")


async def as_job(web: httpx.AsyncClient, number: int) -> None:
    """Submit a job and wait for its report."""
    await wait(web, await submit(web, build_request(number)))


async def submit_twice(web: httpx.AsyncClient, number: int) -> None:
    """Submit a job twice with the same key, at the same time."""
    key = uuid.uuid4().hex
    one, other = await asyncio.gather(*(submit(web, build_request(number), key) for _ in range(2)))
    expect(one == other, "same key: two jobs")
    await wait(web, one)


async def cancel(web: httpx.AsyncClient, number: int) -> None:
    """Submit a long job and cancel it."""
    job = await submit(web, build_request(number) | ENDLESS | {"solver": "neal"})
    await asyncio.sleep(RUNS_S)
    answer = await web.delete(job)
    while answer.status_code == 202:
        answer = await web.get(job, params={"wait": "10"})
    status = answer.json().get("status")
    expect(status in ("cancelled", "done"), f"cancelled job: {answer.status_code} {status}")


async def follow(web: httpx.AsyncClient, number: int) -> None:
    """Submit a job and follow its events."""
    job, event, report = await submit(web, build_request(number)), "", ""
    async with web.stream("GET", f"{job}/events") as stream:
        async for line in stream.aiter_lines():
            event = line[7:] if line.startswith("event: ") else event
            report = line[6:] if line.startswith("data: ") else report
    expect(event == "done" and json.loads(report)["status"] == "done", f"events: end with {event!r}")


MIX: dict[str, tuple[Visit, int]] = {
    "small solves": (at_once, 12),
    "jobs": (as_job, 3),
    "jobs sent twice": (submit_twice, 2),
    "jobs followed": (follow, 2),
    "jobs cancelled": (cancel, 1),
}
TURNS = [kind for kind, (_, share) in MIX.items() for _ in range(share)]


async def submit(web: httpx.AsyncClient, body: dict[str, object], key: str | None = None) -> str:
    """Submit a job and return its path."""
    headers = LATER | ({"Idempotency-Key": key} if key else {})
    answer = await web.post("/assign", content=json.dumps(body), headers=headers)
    expect(answer.status_code == 202, f"submit: {answer.status_code}")
    return answer.headers["location"]


async def wait(web: httpx.AsyncClient, job: str) -> None:
    """Wait until a job is done."""
    status = "queued"
    while status in ("queued", "running"):
        answer = await web.get(job, params={"wait": "30"})
        status = answer.json().get("status")
    expect(status == "done", f"job: {answer.status_code} {status}")


def expect(kept: bool, fault: str) -> None:  # noqa: FBT001 (a condition)
    """Raise FaultError where something is not as it should be."""
    if not kept:
        raise FaultError(fault)


async def visit(web: httpx.AsyncClient, number: int, diary: Diary, due: float) -> None:
    """Make one visit, and note what becomes of it and when."""
    kind = TURNS[number * 7 % len(TURNS)]
    diary.kinds[kind] += 1
    try:
        await MIX[kind][0](web, number)
    except (FaultError, httpx.HTTPError, ValueError) as error:
        diary.faults[str(error) or type(error).__name__] += 1
    if kind == "small solves":
        diary.seconds.append(asyncio.get_running_loop().time() - due)


async def trial(server: Server, diary: Diary, seconds: float) -> int:
    """Return how many visits clients make in so many seconds."""
    number = itertools.count()
    return await run_clients(server.url, lambda web: visit(web, next(number), diary, 0.0), seconds)


async def soak(server: Server, diary: Diary, rate: float, seconds: float) -> np.ndarray:
    """Send a visitor whenever one is due, and return memory in bytes[samples, (server, workers, largest worker)]."""
    clock = asyncio.get_running_loop().time
    watching = asyncio.create_task(watch(server, seconds))
    async with client(server.url) as web, asyncio.TaskGroup() as group:
        begun = clock()
        for number in range(int(rate * seconds)):
            due = begun + number / rate
            await asyncio.sleep(due - clock())
            group.create_task(visit(web, number, diary, due))
    return await watching


async def watch(server: Server, seconds: float) -> np.ndarray:
    """Look at the memory of a server every few seconds."""
    end_s, samples = time.monotonic() + seconds, []
    while time.monotonic() < end_s:
        own, *workers = await asyncio.to_thread(server.memory_bytes)
        samples.append((own, sum(workers), max(workers)))
        await asyncio.sleep(EVERY_S)
    return np.array(samples, float)


def flatness(memory: np.ndarray) -> str:
    """Return the mean of the first quarter and of the last, and whether that is flat."""
    quarter = max(1, len(memory) // 4)
    first, last = memory[:quarter].mean() / 1e6, memory[-quarter:].mean() / 1e6
    change = last / first - 1
    return f"{first:.0f}, {last:.0f}: {change:+.1%}, {'flat' if change <= FLAT else 'NOT flat'}"


def figure(server: Server, name: str) -> float:
    """Return one of the server's own figures."""
    text = httpx.get(f"{server.url}/metrics", trust_env=False).text
    return float(next(line for line in text.splitlines() if line.startswith(f"{name} ")).split()[1])
