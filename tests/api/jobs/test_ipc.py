"""The line between the server and a worker."""

import asyncio
from asyncio import Runner
from collections.abc import Callable, Mapping

from tiger.api.jobs.ipc import IpcServer, RunningSolve, solve_over_ipc
from tiger.api.seams.files import JobDelivery, Solution
from tiger.api.seams.upload import UploadText
from tiger.run.deadline import ENDING
from tiger.run.progress import Progress


def say(kind: str, body: bytes, tell: Callable[[Progress], None], _: Mapping[str, UploadText]) -> Solution:
    """Tell of two stages, and wait for the word to end."""
    tell(Progress("one", 0.5, 3.0))
    tell(Progress("two", None, None))
    while not ENDING.is_set():
        pass
    return Solution(kind.encode() + body)


async def story(ticket: str | None = None) -> tuple[RunningSolve, JobDelivery]:
    """Have a thread solve on a line that is told to end once it has said all."""
    ipc_server = IpcServer()
    await ipc_server.start()
    call = ipc_server.open()
    solving = asyncio.create_task(
        asyncio.to_thread(solve_over_ipc, ipc_server.address, call.ticket, say, "kind", b"body")
    )
    async with asyncio.timeout(300):
        while call.progress is None:
            await asyncio.sleep(0.01)
    call.end()
    found = await solving
    ipc_server.close(call)
    await ipc_server.stop()
    return call, found


def test_what_a_solve_says_is_heard(loop: Runner) -> None:
    """Of two messages at once the first is kept; the word to end ends it."""
    call, found = loop.run(story())
    assert call.progress == Progress("one", 0.5, 3.0)
    assert found == JobDelivery(b"kindbody", ())


def test_a_solve_that_is_to_end_before_it_begins_is_told_so(loop: Runner) -> None:
    """Its worker hears it as soon as it calls."""

    async def early() -> JobDelivery:
        ipc_server = IpcServer()
        await ipc_server.start()
        call = ipc_server.open()
        call.end()
        async with asyncio.timeout(300):
            found = await asyncio.to_thread(solve_over_ipc, ipc_server.address, call.ticket, say, "kind", b"body")
        await ipc_server.stop()
        return found

    assert loop.run(early()).report == b"kindbody"


def test_a_stranger_is_not_listened_to(loop: Runner) -> None:
    """A call with no known ticket is hung up on."""

    async def stranger() -> bytes:
        ipc_server = IpcServer()
        await ipc_server.start()
        reader, writer = await asyncio.open_unix_connection(ipc_server.address)
        writer.write(b"0" * 32)
        heard = await reader.read()
        writer.close()
        await ipc_server.stop()
        return heard

    assert loop.run(stranger()) == b""


def test_a_worker_that_stays_is_hung_up_on_when_the_server_stops(loop: Runner) -> None:
    """No connection outlives the server that took it, known or not."""

    async def stay() -> list[bytes]:
        ipc_server = IpcServer()
        await ipc_server.start()
        call = ipc_server.open()
        silent, known = [await asyncio.open_unix_connection(ipc_server.address) for _ in range(2)]
        known[1].write(call.ticket.encode())
        async with asyncio.timeout(300):
            await call.begun.wait()
            await ipc_server.stop()
            heard = [await reader.read() for reader, _ in (known, silent)]
        for _, writer in (known, silent):
            writer.close()
            await writer.wait_closed()
        return heard

    assert loop.run(stay()) == [b"", b""]
