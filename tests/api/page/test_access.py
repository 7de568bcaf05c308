"""Who may use the page, and from where: API keys, and a prefix that a proxy adds."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.api.page.browser import run_job, run_server

pytestmark = pytest.mark.slow
KEY = "a-key-for-the-page-alone"
# Let the refusals of one address come half a second late.
LATE = """const at_once = window.fetch;
window.fetch = async (...asked) => {
  const response = await at_once(...asked);
  if (response.status === 401 && response.url.endsWith("/solvers")) await new Promise((go) => setTimeout(go, 500));
  return response;
};"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a server that has a key, and return its URL."""
    with run_server(tmp_path_factory.mktemp("guarded"), TIGER_API_KEYS=KEY) as address:
        yield address


def test_the_page_asks_for_the_key_and_keeps_it_for_the_tab(page: Any, guarded: str, faults: list[str]) -> None:
    """A wrong key is asked for again; a good one is not in the address, and another tab has to be given it."""
    page.goto(guarded)
    page.get_by_label("Key", exact=True).fill("a-key-that-is-not-known")
    page.get_by_role("button", name="Use it").click()
    page.get_by_text("The service does not know that key.").wait_for()
    page.get_by_label("Key", exact=True).fill(KEY)
    page.get_by_role("button", name="Use it").click()
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("Specification").fill("ring:4")
    run_job(page)
    assert KEY not in page.url
    assert page.evaluate("[sessionStorage['tiger-key'], Object.keys(localStorage).length]") == [KEY, 0]
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("heading", name="API key").wait_for()
    assert [fault for fault in faults if "401" not in fault] == []
    faults.clear()


def test_a_late_refusal_of_the_key_before_asks_for_none(page: Any, guarded: str, faults: list[str]) -> None:
    """What was sent with the wrong key is sent again with the right one, though it is refused after that was given."""
    page.add_init_script(LATE)
    page.goto(guarded)
    page.get_by_label("Key", exact=True).fill("a-key-that-is-not-known")
    # The late refusals of no key and of the wrong one, each in its turn.
    for key in (None, KEY):
        with page.expect_response(lambda answer: answer.url.endswith("/solvers")):
            if key:
                page.get_by_text("The service does not know that key.").wait_for()
                page.get_by_label("Key", exact=True).fill(key)
            page.get_by_role("button", name="Use it").click()
    page.get_by_text("The service does not know that key.").wait_for(state="hidden")
    page.wait_for_timeout(700)
    assert not page.get_by_role("heading", name="API key").is_visible()
    page.get_by_label("or paste it").fill("ring:4")
    page.get_by_label("Specification").fill("ring:4")
    run_job(page)
    assert [fault for fault in faults if "401" not in fault] == []
    faults.clear()


def test_the_page_works_behind_a_prefix(page: Any, url: str) -> None:
    """Nothing in it begins with a slash."""
    with proxy(url, "/maps/tiger") as outside:
        page.goto(f"{outside}/")
        page.get_by_label("or paste it").fill("ring:4")
        page.get_by_label("Specification").fill("ring:4")
        run_job(page)
        page.locator(".graph[data-ready]").nth(3).wait_for()
        page.get_by_role("link", name="Jobs").click()
        page.get_by_role("checkbox").first.wait_for()
        assert page.url.startswith(f"{outside}/#/jobs")
        page.get_by_role("link", name="REST").click()
        page.get_by_text("Place the layers of a network on a cluster").wait_for()
        # It asks for nothing more once the proxy ends.
        page.goto("about:blank")


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
