"""Tests of where windows are solved: the caller's executor, or a Dask cluster of separate processes."""

import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tiger.errors import InputError
from tiger.run.parallel.executors import open_executor

ROOT = Path(__file__).resolve().parents[3]


def test_executors_of_the_caller_are_lent_as_they_are():
    """Tests None and a thread pool, which is not shut down."""
    with open_executor(None) as nothing:
        assert nothing is None
    with ThreadPoolExecutor(1) as pool:
        with open_executor(pool) as lent:
            assert lent is pool
        assert pool.submit(int, "7").result() == 7


@pytest.mark.parametrize("bad", ["dask", "dask://", "dask://host", "dask://:8786", "dask://host:x", "tcp://host:1"])
def test_addresses_that_are_none_are_refused(bad):
    """Tests that the message names the field and the form."""
    with pytest.raises(InputError, match="dask://HOST:PORT"), open_executor(bad):
        pass


def test_other_things_are_refused():
    """Tests a number in place of an executor."""
    with pytest.raises(TypeError, match="executor"), open_executor(3):
        pass


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch):
    """Tests a port that nobody listens on."""
    pytest.importorskip("distributed")
    monkeypatch.setattr("tiger.run.parallel.executors.CONNECT_S", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"dask://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=address), open_executor(address):
            pass


def test_missing_dask_is_said(monkeypatch):
    """Tests the advice where the extra is not installed."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"tiger-mapper\[dask\]"), open_executor("dask://localhost:8786"):
        pass


@pytest.mark.long
def test_a_lost_worker_changes_nothing():
    """Tests a local cluster of two processes of which one is killed on the way, against no executor and two threads.

    In a process of its own, since Dask's threads complain of the dead worker long after.
    """
    pytest.importorskip("distributed")
    subprocess.run([sys.executable, "-m", "tests.run.parallel.lost_worker"], check=True, cwd=ROOT, timeout=900)
