"""The fork server and what stands by behind it, in a server of one worker that loads nothing ahead."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

# Says, whenever it is asked to, which worker has answered, who has forked it and who stands behind that.
SERVER = """
import asyncio, os, sys
from pathlib import Path
from tiger.api.pool import processes as workers

def line():
    parent = os.getppid()
    return f"{os.getpid()} {parent} {Path(f'/proc/{parent}/stat').read_text().rpartition(')')[2].split()[1]}"

async def main():
    pool = workers.Workers(1)
    while await asyncio.to_thread(sys.stdin.readline):
        await asyncio.wrap_future(workers.prepare())
        print(await pool.run(60, line), flush=True)
    await pool.stop()

workers.PRELOADED[1:-1] = ["__main__"]
if __name__ == "__main__":
    asyncio.run(main())
"""


class Server:
    """Hold a server."""

    def __init__(self, home: Path) -> None:
        script = home / "server.py"
        script.write_text(SERVER)
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.seen: set[int] = set()

    def ask(self) -> list[int]:
        """Return a worker, who has forked it, and who stands behind that."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = [int(part) for part in self.process.stdout.readline().split()]
        self.seen |= {*found} - {1}
        return found

    def left(self) -> list[int]:
        """Return which processes outlive the server by a second."""
        end_s = time.monotonic() + 1
        while any(map(alive, self.seen)) and time.monotonic() < end_s:
            time.sleep(0.02)
        return [process for process in self.seen if alive(process)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Return a server."""
    server = Server(tmp_path)
    with server.process:
        yield server
        server.process.kill()
    for process in server.seen:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def alive(process: int) -> bool:
    """Return whether a process runs."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_bug_a_killed_fork_server_is_forked_again(server: Server) -> None:
    """By what stood behind it, which has loaded everything, as often as that takes."""
    _, before, behind = server.ask()
    for _ in range(2):
        os.kill(before, signal.SIGKILL)
        time.sleep(0.5)
        _, after, still = server.ask()
        assert (after != before, still) == (True, behind)
        before = after


@pytest.mark.slow
def test_bug_workers_outlive_what_stands_behind_them(server: Server) -> None:
    """The same one answers, and the next one comes from another fork server; none of them outlives the server."""
    worker, before, behind = server.ask()
    os.kill(behind, signal.SIGKILL)
    time.sleep(0.2)
    assert server.ask()[:2] == [worker, before]
    os.kill(worker, signal.SIGKILL)
    time.sleep(0.5)
    _, after, other = server.ask()
    assert (after != before, other != behind) == (True, True)
    server.process.kill()
    server.process.wait()
    assert server.left() == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_that_ends_takes_all_with_it(server: Server, number: int) -> None:
    """Whether or not somebody stands behind the fork server."""
    for process in server.ask()[2:]:
        os.kill(process, signal.SIGKILL)
    time.sleep(0.2)
    server.process.send_signal(number)
    server.process.wait()
    assert server.left() == []


@pytest.mark.slow
def test_a_server_that_closes_its_pool_leaves_nothing(server: Server) -> None:
    """All end by themselves."""
    server.ask()
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(10) == 0
    assert server.left() == []
