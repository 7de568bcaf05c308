"""A proxy that adds a prefix to the paths of a service."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


@contextmanager
def proxy(url: str, prefix: str) -> Iterator[str]:
    """Run a proxy that takes a prefix off the path of every request, and yield where the server is behind it."""
    loop, ready, ports = asyncio.new_event_loop(), threading.Event(), []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).replace(b"Connection: keep-alive", b"Connection: close")
            method, path, rest = head.split(b" ", 2)
            server = urlsplit(url)
            far, back = await asyncio.open_connection(server.hostname, server.port)
            ends.append(back)
            assert path.startswith(prefix.encode())
            back.write(b" ".join([method, path.removeprefix(prefix.encode()), rest]))
            await asyncio.gather(pump(reader, back), pump(far, writer), return_exceptions=True)
        finally:
            for end in ends:
                end.transport.abort()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
        writer.close()

    async def listen() -> None:
        server = await asyncio.start_server(carry, "127.0.0.1", 0)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()
        await server.serve_forever()

    running = loop.create_task(listen())
    thread = threading.Thread(target=lambda: _run(loop, running))
    thread.start()
    assert ready.wait(10)
    yield f"http://127.0.0.1:{ports[0]}{prefix}"
    loop.call_soon_threadsafe(running.cancel)
    thread.join(10)


def _run(loop: asyncio.AbstractEventLoop, running: "asyncio.Task[None]") -> None:
    """Run a proxy until it is cancelled, and all that it carries with it."""
    try:
        loop.run_until_complete(running)
    except asyncio.CancelledError:
        loop.run_until_complete(_end(asyncio.all_tasks(loop)))
    finally:
        loop.close()


async def _end(tasks: "set[asyncio.Task[None]]") -> None:
    """Cancel tasks, and wait for them."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    # Connections are closed in the turn after that which aborts them.
    await asyncio.sleep(0)
