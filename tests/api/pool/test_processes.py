"""Worker processes: what comes back from them, and what happens when they are lost."""

import asyncio
import os
import signal
import sys
import time
from asyncio import Runner
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from multiprocessing.synchronize import RLock
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import structlog
from pebble.pool.base_pool import Worker
from pebble.pool.process import PoolManager

from tiger.api.pool import processes
from tiger.api.pool.pool import ForkContext, Pool, WorkerProcess
from tiger.api.pool.processes import TRIES, SolverLostError, Workers, _contain, _init_worker, prepare
from tiger.api.routes.document import parse
from tiger.errors import InputError

# No other pool bounds its workers by as much.
MEMORY_BYTES = 5 << 30


def test_a_worker_returns_what_the_function_returns(loop: Runner, one: Workers) -> None:
    """Work is done in another process."""
    assert loop.run(one.run(60, os.getpid)) != os.getpid()


def test_bad_input_comes_back_as_such(loop: Runner, one: Workers) -> None:
    """InputError keeps its field."""
    with pytest.raises(InputError, match="body: expected"):
        loop.run(one.run(60, parse, b"{"))


def test_any_other_error_comes_back_with_its_traceback(loop: Runner, one: Workers) -> None:
    """The server can log where a worker failed."""
    with pytest.raises(RuntimeError, match=r"Traceback[\s\S]*ValueError: invalid literal"):
        loop.run(one.run(60, int, "x"))


def test_a_function_that_runs_over_its_time_is_ended(loop: Runner, one: Workers) -> None:
    """The worker is killed, and another takes the next call."""
    with pytest.raises(SolverLostError, match=r"after 0.1 s"):
        loop.run(one.run(0.1, time.sleep, 60))
    assert loop.run(one.run(60, abs, -1)) == 1


def test_a_worker_that_dies_at_work_is_reported_and_replaced(loop: Runner, one: Workers) -> None:
    """The call fails, the next one does not."""
    with pytest.raises(SolverLostError, match="ended unexpectedly"):
        loop.run(one.run(60, os._exit, 9))
    assert loop.run(one.run(60, abs, -1)) == 1


def test_a_worker_killed_at_rest_is_replaced(loop: Runner, one: Workers) -> None:
    """Losing an idle process costs nobody an answer."""
    os.kill(loop.run(one.run(60, os.getpid)), signal.SIGKILL)
    time.sleep(0.5)
    assert loop.run(one.run(60, abs, -1)) == 1


def test_bug_a_lost_fork_server_is_there_again_at_once(loop: Runner, one: Workers) -> None:
    """Its workers go with it, and the next call has new ones: what has loaded everything forks another."""
    before = loop.run(one.run(60, os.getppid))
    behind = parent(before)
    os.kill(before, signal.SIGKILL)
    # At once, and when all of them are known to be lost.
    assert loop.run(one.run(60, abs, -1)) == 1
    time.sleep(0.5)
    after = loop.run(one.run(60, os.getppid))
    assert (after != before, parent(after)) == (True, behind)


def test_bug_a_call_that_goes_with_the_fork_server_is_made_again(loop: Runner, one: Workers, tmp_path: Path) -> None:
    """It was not the reason; one that is lost each time is given up."""
    assert loop.run(one.run(60, lose_fork_server, tmp_path / "lost", 2)) == 2
    with pytest.raises(SolverLostError, match="ended unexpectedly"):
        loop.run(one.run(60, lose_fork_server, tmp_path / "given up", 99))
    assert (tmp_path / "given up").stat().st_size == TRIES


@pytest.mark.long
@pytest.mark.parametrize("hours", [-2.0, 2.0])
def test_bug_a_clock_that_is_set_ends_no_call(
    loop: Runner, one: Workers, monkeypatch: pytest.MonkeyPatch, hours: float
) -> None:
    """Nor does it give one more time than it has."""
    real = time.time

    async def scenario() -> int:
        going = asyncio.ensure_future(one.run(60, slept, 1.0))
        await asyncio.sleep(0.3)
        monkeypatch.setattr(time, "time", lambda: real() + hours * 3600)
        found = await going
        with pytest.raises(SolverLostError, match=r"after 0.1 s"):
            await one.run(0.1, time.sleep, 60)
        return found

    assert loop.run(scenario()) == 1


def test_bug_workers_that_are_stopped_while_they_start_leave_no_process(
    loop: Runner, started: list[WorkerProcess]
) -> None:
    """Those that are still to come end as well, and whoever waits for them is told."""

    async def scenario() -> None:
        pool = Workers(2, MEMORY_BYTES)
        going = asyncio.ensure_future(pool.run(60, time.sleep, 60))
        await asyncio.sleep(0)
        await pool.stop()
        with pytest.raises(SolverLostError):
            await going
        await wait_for_end(started)

    loop.run(scenario())
    assert len(started) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_bug_a_pool_that_breaks_again_and_again_leaves_no_process(
    loop: Runner, started: list[WorkerProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks is told, and once it does not break, all is well."""

    async def scenario() -> None:
        pool = Workers(3, MEMORY_BYTES)
        with monkeypatch.context() as patch:
            patch.setattr(PoolManager, "update_status", failing(PoolManager.update_status))
            for _ in range(2):
                with pytest.raises(SolverLostError):
                    await pool.run(60, time.sleep, 60)
            await wait_for_end(started, pool.count)
        assert await pool.run(60, abs, -1) == 1
        await pool.stop()
        await wait_for_end(started)

    loop.run(scenario())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_bug_calls_of_a_pool_without_threads_are_made_again(loop: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would wait for an answer that nobody is there to take."""
    pool = Workers(3)

    async def scenario() -> int:
        await pool.run(60, bool)
        with monkeypatch.context() as patch:
            patch.setattr(PoolManager, "process_next_message", failing(PoolManager.process_next_message))
            going = asyncio.ensure_future(pool.run(60, abs, -1))
            await asyncio.sleep(0.3)
        found = await going
        await pool.stop()
        return found

    assert loop.run(scenario()) == 1


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[WorkerProcess]:
    """Return what becomes all processes of pools of MEMORY_BYTES, whatever other pools do meanwhile."""
    found: list[WorkerProcess] = []
    make = ForkContext.Process

    def record(context: ForkContext, *, args: tuple[Worker, object], **others: Any) -> WorkerProcess:
        made = make(context, args=args, **others)
        if MEMORY_BYTES in args[0].initargs:
            found.append(made)
        return made

    monkeypatch.setattr(ForkContext, "Process", record)
    return found


async def wait_for_end(started: list[WorkerProcess], most: int = 0) -> None:
    """Wait until at most so many of the processes are left; those that are killed end soon."""
    until = time.monotonic() + 300
    while len(left := [made.pid for made in started if runs(made.pid)]) > most and time.monotonic() < until:
        await asyncio.sleep(0.05)
    assert len(left) <= most, [Path(f"/proc/{process}/status").read_text() for process in left]


def failing(method: Callable[..., object]) -> Callable[..., object]:
    """Return a method of a pool's manager that raises where there are three workers."""

    def call(manager: PoolManager, *args: object) -> object:
        if manager.context.workers == 3:
            raise KeyError
        return method(manager, *args)

    return call


def parent(process: int) -> int:
    """Return the parent of a process."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def runs(process: int | None) -> bool:
    """Return whether a process was started and runs; one that only waits to be collected does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def lose_fork_server(calls: Path, last: int) -> int:
    """End the process that workers are forked from, and with it this one, until the call with the number `last`."""
    with calls.open("a") as file:
        file.write("x")
    number = calls.stat().st_size
    if number < last:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    return number


def slept(seconds: float) -> int:
    """Sleep, and return 1."""
    time.sleep(seconds)
    return 1


def test_bug_processes_that_come_back_take_no_more_threads(loop: Runner, one: Workers) -> None:
    """Those of the pool that was lost end, whatever other pools of this process begin meanwhile."""
    loop.run(one.run(60, bool))
    lost = one._pool
    assert lost is not None
    lose_process(loop, one)
    assert one._pool is not lost
    for thread in lost._pool._loops:
        thread.join(300)
        assert not thread.is_alive()


def test_bug_a_worker_that_is_killed_with_a_lock_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was killed while it was sent a large body kept all calls waiting for two minutes."""
    monkeypatch.setattr("tiger.api.pool.pool.LOCKED_S", 0.05)
    prepare().result()
    context = ForkContext()
    lock = context.RLock()
    for locks in ((), (lock,)):
        process = context.Process(target=end_with, name="x", args=locks, kwargs={})
        process.start()
        process.join()
        with pytest.raises(BrokenProcessPool) if locks else nullcontext():
            process.is_alive()


@pytest.mark.slow
def test_bug_calls_go_on_when_a_worker_is_killed_while_it_is_sent_work(loop: Runner, tmp_path: Path) -> None:
    """They are made again, by other processes, and in seconds."""

    async def scenario() -> list[int]:
        pool = Workers(2)
        going = [asyncio.ensure_future(pool.run(120, note_and_sleep, tmp_path / "pid"))]
        while not (tmp_path / "pid").exists():
            await asyncio.sleep(0.1)
        going.append(asyncio.ensure_future(pool.run(120, len, bytes(40 << 20))))
        assert pool._pool is not None
        await asyncio.to_thread(kill_with_lock, pool._pool._context, int((tmp_path / "pid").read_text()))
        async with asyncio.timeout(90):
            found = await asyncio.gather(*going)
        await pool.stop()
        return found

    assert loop.run(scenario()) == [1, 40 << 20]


def end_with(*locks: RLock) -> None:
    """Take locks and end with them."""
    for lock in locks:
        lock.acquire()
    os._exit(9)


def note_and_sleep(path: Path) -> int:
    """Say which process this is, and sleep."""
    path.with_suffix(".new").write_text(str(os.getpid()))
    path.with_suffix(".new").rename(path)
    return slept(3.0)


def kill_with_lock(context: ForkContext, but: int) -> None:
    """Kill the processes of a pool but one, once a lock is held."""
    while context.locks[0].acquire(block=False):
        context.locks[0].release()
        time.sleep(0.002)
    for member in context.members:
        if member.pid not in (None, but):
            os.kill(member.pid, signal.SIGKILL)


def lose_process(loop: Runner, one: Workers) -> None:
    """Kill a process at rest, and wait until there is another."""
    os.kill(loop.run(one.run(60, os.getpid)), signal.SIGKILL)
    while one.active:
        time.sleep(0.05)
    loop.run(one.run(60, bool))


@pytest.mark.slow
def test_bug_nobody_is_held_up_while_processes_start(loop: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have kernels to compile: the event loop is free meanwhile, and so are the threads of others."""
    start, pool = PoolManager.start, Workers(1)

    def start_late(manager: PoolManager) -> None:
        time.sleep(1)
        start(manager)  # type: ignore[no-untyped-call]  # pebble has no types

    monkeypatch.setattr(PoolManager, "start", start_late)
    monkeypatch.setattr(pool, "_open", opened := mock.Mock(wraps=pool._open))

    async def scenario() -> int:
        calls = [asyncio.ensure_future(pool.run(60, abs, -1)) for _ in range(40)]
        await asyncio.sleep(0.2)
        async with asyncio.timeout(0.5):
            assert await asyncio.to_thread(bool, 1)
            assert not pool.active
        found = await asyncio.gather(*calls)
        await pool.stop()
        return sum(found)

    assert loop.run(scenario()) == 40
    # Processes that are lost on the way, as happens under load, are started again.
    assert 1 <= opened.call_count <= TRIES


def test_cancelling_ends_the_worker(loop: Runner, one: Workers) -> None:
    """Nobody works for a client that has left."""
    worker = loop.run(one.run(60, os.getpid))
    with pytest.raises(TimeoutError):
        loop.run(_cancelled_after(one, 0.3))
    assert loop.run(one.run(60, os.getpid)) != worker
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_only_errors_that_can_travel_leave_a_worker() -> None:
    """Whatever is raised in a worker, an exit included, becomes a RuntimeError with its traceback."""
    with pytest.raises(RuntimeError, match="SystemExit"):
        _contain(exec, "raise SystemExit(3)")


def test_an_orphan_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker whose server is already gone when it starts does not stay."""
    monkeypatch.setattr("ctypes.CDLL", mock.Mock())
    monkeypatch.setattr("os._exit", mock.Mock(side_effect=SystemExit))
    with pytest.raises(SystemExit):
        _init_worker(1 << 32, 0)


def test_workers_step_back_if_told(loop: Runner) -> None:
    """Behind this process, by as much as was said."""

    async def scenario() -> int:
        pool = Workers(1, nice=5)
        found = await pool.run(60, os.nice, 0)
        await pool.stop()
        return found

    assert loop.run(scenario()) == min(19, os.nice(0) + 5)


def test_a_worker_has_all_it_needs_from_the_start(loop: Runner, one: Workers) -> None:
    """It is forked from a process that has loaded it, and which is not this one."""
    assert loop.run(one.run(60, is_loaded, "tiger.routing.swaps.frontier"))
    assert loop.run(one.run(60, os.getppid)) != os.getpid()


def test_bad_input_leaves_a_worker_unchanged() -> None:
    """InputError is one of those that can."""
    with pytest.raises(InputError):
        _contain(parse, b"{")


def is_loaded(name: str) -> bool:
    """Return whether a module has been imported."""
    return name in sys.modules


def hoard(size: int) -> int:
    """Hold so many bytes."""
    return len(bytearray(size))


def register(qubits: int) -> int:
    """Have Qiskit read a register, without the scan that stands before it."""
    from qiskit import qasm2

    return int(qasm2.loads(f"OPENQASM 2.0; qreg q[{qubits}];", include_path=()).num_qubits)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "size"), [(hoard, 2 << 30), (register, 10**8)])
def test_a_worker_holds_no_more_than_it_may(loop: asyncio.Runner, function: Callable[[int], int], size: int) -> None:
    """What takes too much is bad input, and the worker goes on."""

    async def try_work() -> int:
        pool = Workers(1, 1 << 30)
        with pytest.raises(InputError, match="expected work that takes at most 1073741824 bytes of memory"):
            await pool.run(60, function, size)
        found = await pool.run(60, hoard, 1 << 28)
        await pool.stop()
        return found

    assert loop.run(try_work()) == 1 << 28


async def _cancelled_after(pool: Workers, seconds: float) -> None:
    """Cancel a long call after some seconds."""
    async with asyncio.timeout(seconds):
        await pool.run(60, time.sleep, 60)


def test_no_process_is_started_after_the_last(loop: Runner) -> None:
    """Whoever still asks is told that the server is ending."""

    async def scenario() -> None:
        pool = Workers(1)
        await pool.stop()
        with pytest.raises(SolverLostError, match="ending"):
            await pool.run(5, bool)

    loop.run(scenario())


@pytest.mark.parametrize("stopped", [True, False])
def test_bug_a_server_that_ends_blamed_the_workers(*, stopped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end takes from the thread that starts them what that needs; the log says why only where it goes on."""
    pool, opening = Workers(1), Future[Pool]()
    pool._stopped = stopped
    monkeypatch.setattr(Pool, "open", mock.Mock(side_effect=BrokenProcessPool))
    with structlog.testing.capture_logs() as logged:
        pool._open(opening)
    assert [entry["event"] for entry in logged] == ([] if stopped else ["workers not opened"])
    with pytest.raises(BrokenProcessPool):
        opening.result()


def test_bug_variables_that_change_while_workers_start_stay_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those that the start sets are set back, and the others not to what they were before it."""

    def change() -> None:
        monkeypatch.delenv("A_VARIABLE")
        assert os.environ["PYTHONSAFEPATH"] == "1"

    monkeypatch.setenv("A_VARIABLE", "old")
    monkeypatch.setenv("PYTHONPATH", "mine")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.setattr(processes.forkserver, "ensure_running", change)
    prepare().result(60)
    assert "A_VARIABLE" not in os.environ
    assert os.environ["PYTHONPATH"] == "mine"
    assert "PYTHONSAFEPATH" not in os.environ
