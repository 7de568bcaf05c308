"""A script that kills workers of a Dask cluster while windows and islands are solved on it, and compares answers."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import networkx as nx
import numpy as np
from distributed import Client, LocalCluster
from qiskit import QuantumCircuit

from tiger.circuits.entry.entry import layout
from tiger.formats.graphs import task_graph_of
from tiger.mapping.mapper import solve
from tiger.mapping.sampler_policy import ising_of
from tiger.model.problem import Problem
from tiger.qubo.params import IsingParams
from tiger.qubo.window_sampling import sample_windows
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.parallel import dask_pool
from tiger.run.parallel.executors import open_executor
from tiger.run.search_stage import Round
from tiger.solvers import registry
from tiger.topologies.spec import build


def groups():
    """Return six groups of eight tasks without traffic between them, on a torus, whose windows do not all touch."""
    graph = nx.disjoint_union_all([nx.gnm_random_graph(8, 14, seed=k) for k in range(6)])
    return Problem(tasks=task_graph_of(graph), topology=build("torus:6x8"), rule="one-to-one")


def windows(problem, executor):
    """Return the mapping and the costs of the stages of two passes of windows."""
    run = MappingIncumbent(problem=problem, solution=problem.topology.hosts.copy(), stop=Deadline(None))
    params = IsingParams(passes=2, starts=1)
    sample_windows(run, ising_of(registry.sampler("neal"), problem, params, executor), Round(0, 1, 3))
    return run.places.tolist(), [stage.cost for stage in run.stages]


def main():
    """Compare mappings and stages of no executor, two threads, and a cluster before and after it loses a worker."""
    # So that windows of any size are sent.
    dask_pool.WORTH_S, dask_pool.BYTES_PER_S = 0.0, 1e12
    problem = groups()
    alone = windows(problem, None)
    with ThreadPoolExecutor(2) as pool:
        assert windows(problem, pool) == alone
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, open_executor(cluster.scheduler_address.replace("tcp://", "dask://")) as lent:
        assert windows(problem, lent) == alone
        with killing(cluster, 0, 0.05):
            assert windows(problem, lent) == alone
        assert lent.trouble is None
        report = solve(problem, solver="neal", seed=1, executor=lent)
    assert report.to_dict()["mapping"] == solve(problem, solver="neal", seed=1).to_dict()["mapping"]
    compare_islands()
    compare_circuits()


def compare_islands():
    """Compare islands without an executor with those on a cluster, lent by tiger and by Dask, that loses a worker."""
    rng = np.random.default_rng(1)
    graph = nx.from_numpy_array(rng.integers(1, 100, (60, 60)) * (rng.random((60, 60)) < 0.6))
    problem = Problem(tasks=task_graph_of(graph), topology=build("torus:6x10"), rule="one-to-one")
    alone = islands_of(problem, None)
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with open_executor(cluster.scheduler_address.replace("tcp://", "dask://")) as lent:
            assert islands_of(problem, lent) == alone
            with killing(cluster, 0, 0.3):
                assert islands_of(problem, lent) == alone
            assert lent.trouble is None
        with Client(cluster) as client, killing(cluster, 1, 0.3):
            assert islands_of(problem, client.get_executor()) == alone


def islands_of(problem, executor):
    """Return the mapping and the costs of the stages of four islands."""
    report = solve(problem, seed=4, effort=32, islands=4, executor=executor)
    return report.mapping, [stage.cost for stage in report.stages]


def compare_circuits():
    """Compare islands of a circuit without an executor with those on a cluster that loses a worker."""
    alone = circuit_of(None)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        assert circuit_of(client.get_executor()) == alone
        with killing(cluster, 0, 1.0):
            assert circuit_of(cluster.scheduler_address.replace("tcp://", "dask://")) == alone


def circuit_of(executor):
    """Return the circuit that three islands find."""
    rng, circuit = np.random.default_rng(1), QuantumCircuit(16)
    for _ in range(80):
        circuit.cx(*rng.choice(16, 2, replace=False).tolist())
    return layout(circuit, "grid:4x4", level=2, seed=3, islands=3, executor=executor).qasm


@contextmanager
def killing(cluster, number, seconds):
    """Kill a worker of a cluster, by its number, some seconds after the body has begun."""
    process = list(cluster.workers.values())[number].pid
    killer = threading.Timer(seconds, os.kill, (process, signal.SIGKILL))
    killer.start()
    yield
    killer.join()


if __name__ == "__main__":
    main()
