"""Calls shared with a Dask cluster, a worker of one thread in this process, and what becomes of them when it fails."""

import threading
import time
from functools import partial

import pytest

from tiger.run.deadline import ENDING, Deadline
from tiger.run.island_call import IslandCall
from tiger.run.parallel import dask_pool as fanout
from tiger.run.parallel.dask_pool import FanOut
from tiger.run.parallel.executors import DaskConnection, keep_executor

distributed = pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Take nothing for lost, as a busy machine may take any time."""
    monkeypatch.setattr(fanout, "PATIENCE_S", 3600.0)
    monkeypatch.setattr(fanout, "LOOK_S", 60.0)


@pytest.fixture(scope="module")
def connection():
    """Return a connection to a cluster."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address=None
    ) as cluster:
        connection = DaskConnection(cluster.scheduler_address.replace("tcp://", "dask://"))
        connection.begin().join()
        yield connection
        connection.close()


@pytest.fixture
def eager(monkeypatch, connection):
    """Return an executor that has seen calls of `where`, `late` and `picky`, and finds any of them worth sending."""
    monkeypatch.setattr(fanout, "WORTH_S", 0.0)
    monkeypatch.setattr(fanout, "BYTES_PER_S", 1e12)
    executor = FanOut(connection)
    for call in (partial(where, "x"), late, picky):
        list(executor.map(call, [0]))
    return executor


def where(name, number):
    """Return the arguments and the thread."""
    return name, number, threading.get_ident()


def together(name, number):
    """Return the arguments and the thread, once another thread does so too."""
    MEETING.wait()
    return where(name, number)


def late(seconds):
    """Return whether so many seconds went by before all had to end, and tell of it."""
    BEGUN.append(seconds)
    ended, deadline = time.monotonic() + seconds, Deadline(None)
    while time.monotonic() < ended and not deadline():
        time.sleep(0.005)
    ENDED.append(seconds)
    return time.monotonic() >= ended


BEGUN: list[float] = []
ENDED: list[float] = []
MEETING = threading.Barrier(2, timeout=600)
RELEASED = threading.Event()


def wait_for_release():
    """Wait until a test lets all go on."""
    RELEASED.wait()


def picky(number):
    """Find fault with a number."""
    if number == 1:
        raise ValueError(f"not {number}")
    return number


def here(found):
    """Tell of every answer whether it was found in this thread."""
    return [thread == threading.get_ident() for *_, thread in found]


@pytest.mark.slow
def test_calls_are_shared_in_order(eager):
    """Half of the calls are made on the cluster's one thread, and the answers are those of `map`."""
    found = list(eager.map(partial(where, "x"), range(5)))
    assert [answer[:2] for answer in found] == [("x", number) for number in range(5)]
    assert here(found) == [True] * 3 + [False] * 2


def test_what_is_quick_unknown_or_single_is_done_here(connection, monkeypatch):
    """Nothing is sent that took less than its way, and nothing that nobody has made before."""
    monkeypatch.setattr(fanout, "WORTH_S", 3600.0)
    executor = FanOut(connection)
    assert all(here([answer for _ in range(3) for answer in executor.map(partial(where, "x"), range(3))]))
    executor._seconds["where str"] = 9999.0
    assert here(executor.map(partial(where, "x"), [1])) == [True]


def test_islands_are_sent_before_they_are_timed(connection, monkeypatch):
    """One of two is made on the cluster, though nobody knows how long it takes."""
    monkeypatch.setattr(fanout, "WORTH_S", 1e-9)
    found = list(FanOut(connection).map(IslandCall(together, "x"), range(2)))
    assert [answer[:2] for answer in found] == [("x", 0), ("x", 1)]
    assert here(found) == [True, False]


def test_bug_quick_islands_do_not_wait_for_a_busy_cluster(connection, monkeypatch):
    """They are made here, and the cluster is not said to have failed."""
    monkeypatch.setattr(fanout, "WORTH_S", 3600.0)
    monkeypatch.setattr(fanout, "ISLAND_S", 3600.0)
    executor = FanOut(connection)
    busy = connection().submit(wait_for_release, pure=False)
    assert here(executor.map(IslandCall(where, "x"), range(4))) == [True] * 4
    assert executor.trouble is None
    assert not busy.done()
    RELEASED.set()
    busy.result()


def test_what_is_long_on_its_way_is_done_here(eager, monkeypatch):
    """Sending takes time by the byte."""
    monkeypatch.setattr(fanout, "BYTES_PER_S", 1.0)
    assert all(here(eager.map(partial(where, "x"), range(4))))
    assert eager.trouble is None


def test_bug_the_cluster_was_blamed_for_a_search_that_cannot_be_sent(connection):
    """All is done here, and what is said does not look for the reason elsewhere."""
    executor = FanOut(connection)
    assert here(executor.map(IslandCall(where, threading.Lock()), range(2))) == [True] * 2
    assert executor.trouble == fanout.UNSENDABLE


def test_what_is_sent_depends_on_the_function_alone():
    """Parts of a function's arguments tell what takes about as long by their types."""
    assert fanout._kind(partial(where, "x")) == fanout._kind(partial(where, "y")) == "where str"
    assert fanout._kind(partial(where, 1)) == "where int"
    assert fanout._kind(where) == "where"


def test_while_the_connection_is_made_all_is_done_here(eager):
    """Nobody waits for it, and nothing is the matter."""
    eager.connected = lambda: None
    assert all(here(eager.map(partial(where, "x"), range(4))))
    assert eager.trouble is None


def test_without_a_connection_all_is_done_here(eager, caplog):
    """The report and the log say so."""

    def refuse():
        raise OSError("nobody there")

    eager.connected = refuse
    assert all(here(eager.map(partial(where, "x"), range(4))))
    assert eager.trouble == "the cluster failed, so that the rest was done by one process"
    assert "nobody there" in caplog.text


def test_a_call_that_fails_there_is_made_here(eager):
    """What it raises is raised, as it would be without a cluster."""
    with pytest.raises(ValueError, match="not 1"):
        list(eager.map(picky, [0, 1]))
    assert eager.trouble is not None
    assert list(eager.map(picky, [0, 2])) == [0, 2]


def test_another_version_is_not_asked(eager, monkeypatch):
    """Its answers might be others."""
    monkeypatch.setattr(fanout, "__version__", "0")
    packed = distributed.protocol.pickle.dumps(("1", where, ("x", 1)))
    assert "expected 1" in str(eager.connected().submit(fanout.call_on_worker, packed, pure=False).exception())


def test_all_ends_when_it_has_to(eager):
    """What is on its way is called back, and made here, where it ends at once."""
    threading.Timer(0.3, ENDING.set).start()
    try:
        assert list(eager.map(late, [600.0, 601.0, 602.0])) == [False] * 3
        assert list(eager.map(late, [603.0, 604.0])) == [False] * 2
    finally:
        ENDING.clear()


def test_what_nobody_waits_for_ends_on_the_cluster(eager):
    """Only that call is told: another one goes on."""
    answers = eager.map(late, [0.0, 700.0])
    next(answers)
    while 700.0 not in BEGUN:
        time.sleep(0.01)
    answers.close()
    end_s = time.monotonic() + 600
    while 700.0 not in ENDED and time.monotonic() < end_s:
        time.sleep(0.01)
    assert 700.0 in ENDED
    assert list(eager.map(late, [0.0, 0.2])) == [True, True]


def test_nobody_waits_forever(eager, monkeypatch):
    """A worker that does not answer is not waited for."""
    monkeypatch.setattr(fanout, "PATIENCE_S", 0.1)
    assert list(eager.map(late, [0.0, 1.0])) == [True, True]
    assert eager.trouble is not None


def test_a_cluster_without_workers_is_told_of(eager, monkeypatch):
    """Its scheduler would keep calls for those that may come."""
    monkeypatch.setattr(fanout, "LOOK_S", 0.05)
    answers = eager.map(late, [0.0, 1.0])
    monkeypatch.setattr(type(eager.connected()), "nthreads", lambda *_, **__: {})
    assert list(answers) == [True, True]
    assert eager.trouble is not None


def test_the_connection_of_a_process_is_kept(connection):
    """The next solve has it at once."""
    first = keep_executor(connection.address)
    first.connected.begin().join()
    try:
        assert keep_executor(connection.address).connected() is first.connected() is not None
    finally:
        first.connected.close()
    with pytest.raises(OSError, match="lost"):
        first.connected()
    again = keep_executor(connection.address)
    again.connected.begin().join()
    assert again.connected() is not None
    again.connected.close()
