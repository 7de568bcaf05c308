"""A job as a stream of events."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import Response
from starlette.types import Message

from tests.api.desk import Desk, job, keep_jobs, settle, work
from tests.api.memory import MemoryJobs
from tiger.api.middleware.problems import RefusedError
from tiger.api.routes import events as stream
from tiger.api.routes.events import HEARTBEAT, Streams
from tiger.api.seams.job import DatabaseDownError, Job


class ScriptedJobs(MemoryJobs):
    """Jobs of which a test says what is seen of them."""

    def __init__(self, *seen: Job | Exception) -> None:
        self.seen = seen

    async def watch(self, job_id: str, owner: str) -> AsyncIterator[Job]:
        """Yield what a test says."""
        for seen in self.seen:
            if isinstance(seen, Exception):
                raise seen
            yield seen

    async def get(self, job_id: str, owner: str) -> Job | None:
        """Return what was seen last."""
        return self.seen[-1] if isinstance(self.seen[-1], Job) else None


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have streams pause for a moment alone."""
    monkeypatch.setattr(stream, "PAUSE_S", 0.001)


def test_a_stream_shows_progress_then_the_end(loop: asyncio.Runner) -> None:
    """Only the end has the report."""

    async def scenario() -> list[bytes]:
        async with keep_jobs(desk := Desk()) as jobs:
            following = Streams(jobs).events(made := await jobs.submit(work()))
            shown = [await anext(following)]
            await settle()
            desk.asked[0].set_result(b'{\n"cost": 3}')
            shown += [event async for event in following]
            assert all(made.id.encode() in event and event.endswith(b"\n\n") for event in shown)
        return shown

    first, *_, last = loop.run(scenario())
    assert first.startswith(b"event: progress\ndata: {")
    assert b"report" not in first
    assert last.startswith(b"event: done\ndata: {")
    assert b'"report": { "cost": 3}' in last


def test_an_ended_job_is_one_event(loop: asyncio.Runner) -> None:
    """There is nothing to wait for."""

    async def scenario() -> list[bytes]:
        failed = job(status="failed")
        return [event async for event in Streams(ScriptedJobs(failed)).events(failed)]

    assert [event[:11] for event in loop.run(scenario())] == [b"event: done"]


def test_changes_nobody_read_are_left_out(loop: asyncio.Runner) -> None:
    """A slow reader costs no memory."""
    states = [job(progress={"fraction": k / 99}) for k in range(99)]

    async def scenario() -> list[bytes]:
        return [event async for event in Streams(ScriptedJobs(*states, job(status="done"))).events(states[0])]

    assert len(loop.run(scenario())) == 1


def test_an_idle_stream_is_kept_open(loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a comment, which readers skip."""
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.01)

    async def scenario() -> list[bytes]:
        async with keep_jobs(Desk()) as jobs:
            following = Streams(jobs).events(await jobs.submit(work()))
            return [await anext(following) for _ in range(4)]

    assert HEARTBEAT in loop.run(scenario())


def test_a_stream_ends_without_the_store(loop: asyncio.Runner) -> None:
    """The reader asks again, as browsers do by themselves."""

    async def scenario() -> list[bytes]:
        return [event async for event in Streams(ScriptedJobs(DatabaseDownError())).events(job())]

    assert loop.run(scenario()) == []


def test_readers_of_one_job_watch_it_together(loop: asyncio.Runner) -> None:
    """The last one to leave ends the watch; who comes later sees the newest state at once."""

    async def scenario() -> None:
        async with keep_jobs(Desk()) as jobs:
            streams, made = Streams(jobs), await jobs.submit(work())
            readers = [streams.events(made) for _ in range(3)]
            assert {(await anext(reader))[:15] for reader in readers} == {b"event: progress"}
            (news,) = streams._watched.values()
            for reader in readers:
                assert not news.following.cancelled()
                await reader.aclose()
                await settle()
            assert (news.following.cancelled(), streams.open.total(), streams._watched) == (True, 0, {})

    loop.run(scenario())


async def read_stream(response: Response) -> str:
    """Return what is sent of a stream to its end."""
    sent: list[bytes] = []

    async def receive() -> Message:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]  # it never comes

    async def send(message: Message) -> None:
        sent.append(message.get("body", b""))

    await response({"type": "http", "asgi": {"spec_version": "2.3"}}, receive, send)
    return b"".join(sent).decode()


def test_streams_are_bounded(loop: asyncio.Runner) -> None:
    """One that ends makes room."""

    async def scenario() -> None:
        streams = Streams(ScriptedJobs(seen := job(status="done")), most=1)
        with streams.take_place(seen.owner):
            with pytest.raises(RefusedError) as refusal:
                await read_stream(streams.of(seen))
            assert (refusal.value.problem.status, "Retry-After" in refusal.value.problem.headers) == (429, True)
        assert (await read_stream(streams.of(seen))).startswith("event: done")
        assert streams.open.total() == 0

    loop.run(scenario())


def test_one_owner_may_not_have_all_streams(loop: asyncio.Runner) -> None:
    """Others still get theirs."""

    async def scenario() -> None:
        ann, bob = job(owner="ann", status="done"), job(owner="bob", status="done")
        streams = Streams(ScriptedJobs(ann), most=4)
        with streams.take_place("ann"):
            with pytest.raises(RefusedError):
                await read_stream(streams.of(ann))
            await read_stream(streams.of(bob))
        await read_stream(streams.of(ann))

    loop.run(scenario())


@pytest.mark.parametrize(("owner", "room"), [("", 8), ("ann", 2)])
def test_bug_streams_asked_for_at_once_are_bounded(loop: asyncio.Runner, owner: str, room: int) -> None:
    """All were let in that asked before the first one had sent anything."""

    async def scenario() -> list[object]:
        streams = Streams(ScriptedJobs(seen := job(owner=owner, status="done")), most=8)
        made = [streams.of(seen) for _ in range(50)]
        return await asyncio.gather(*map(read_stream, made), return_exceptions=True)

    found = loop.run(scenario())
    assert sum(isinstance(one, str) for one in found) == room
    assert sum(isinstance(one, RefusedError) for one in found) == 50 - room


def test_a_reader_who_stops_reading_is_left(loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept for a client that takes nothing."""
    monkeypatch.setattr(stream, "STALLED_S", 0.01)

    async def never(*_: Any) -> Any:
        await asyncio.sleep(60)

    seen = job(status="done")
    streams = Streams(ScriptedJobs(seen))
    loop.run(streams.of(seen)({"type": "http", "asgi": {"spec_version": "2.3"}}, never, never))
    assert streams.open.total() == 0
