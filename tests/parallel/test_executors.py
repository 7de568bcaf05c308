"""Tests of where windows are solved: the caller's executor, or a Dask cluster of separate processes."""

import os
import signal
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import networkx as nx
import pytest

from tiger.errors import InputError
from tiger.formats.graphs import task_graph_of
from tiger.mapper import solve
from tiger.model.problem import Problem
from tiger.parallel.executors import open_executor
from tiger.qubo.ising import IsingParams
from tiger.qubo.window_sampling import sample_windows
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.search_stage import Round
from tiger.sampler_policy import ising_of
from tiger.solvers import registry
from tiger.topologies.spec import build


def islands():
    """Return six groups of eight tasks without traffic between them, on a torus, whose windows do not all touch."""
    graph = nx.disjoint_union_all([nx.gnm_random_graph(8, 14, seed=k) for k in range(6)])
    return Problem(tasks=task_graph_of(graph), topology=build("torus:6x8"), rule="one-to-one")


def windows(problem, executor):
    """Return the mapping and the costs of the stages of two passes of windows."""
    run = MappingIncumbent(problem=problem, solution=problem.topology.hosts.copy(), stop=Deadline(None))
    params = IsingParams(passes=2, starts=1)
    sample_windows(run, ising_of(registry.sampler("neal"), problem, params, executor), Round(0, 1, 3))
    return run.places.tolist(), [stage.cost for stage in run.stages]


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
    monkeypatch.setattr("tiger.parallel.executors.CONNECT_S", 0.5)
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


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_lost_worker_changes_nothing(monkeypatch):
    """Tests a local cluster of two processes of which one is killed on the way, against no executor and two threads."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("tiger.parallel.dask_pool.WORTH_S", 0.0)
    monkeypatch.setattr("tiger.parallel.dask_pool.BYTES_PER_S", 1e12)
    problem = islands()
    alone = windows(problem, None)
    with ThreadPoolExecutor(2) as pool:
        assert windows(problem, pool) == alone
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, open_executor(cluster.scheduler_address.replace("tcp://", "dask://")) as lent:
        assert windows(problem, lent) == alone
        first = next(iter(cluster.workers.values())).pid
        killer = threading.Timer(0.05, os.kill, (first, signal.SIGKILL))
        killer.start()
        assert windows(problem, lent) == alone
        killer.join()
        assert lent.trouble is None
        report = solve(problem, solver="neal", seed=1, executor=lent)
    assert report.to_dict()["mapping"] == solve(problem, solver="neal", seed=1).to_dict()["mapping"]
