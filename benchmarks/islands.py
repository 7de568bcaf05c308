"""Two islands at effort 4 beside one at effort 8: cost, critical path on two workers, and a cluster that loses one.

Times are of the processor, task by task, so that they do not depend on what else a machine does. The last columns and a
picture say how much sooner 64 islands of the same tasks would end on more workers, without what transfers take.
"""

import heapq
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from math import exp, log
from pathlib import Path
from typing import NamedTuple

import networkx as nx
from qiskit import QuantumCircuit

import tiger
from benchmarks.graphs import build_full_problem, geometric
from benchmarks.plans import LLAMA
from tiger.mapping.mapper import solve

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "islands.svg"
# Islands of the picture, which has up to as many workers, and the numbers of workers in the table.
MANY, WORKERS = 64, (16, 64)
HEAD = (
    *("problem", "seeds", "one island, effort 8", "its time, s", "two islands, effort 4", "cost ratio"),
    *("time on two workers, s", "time ratio", "on a Dask cluster that loses one of two workers"),
    *(f"{MANY} islands on {workers} workers: times sooner" for workers in WORKERS),
)
# A worker is killed once so much of the time is over that two workers take.
KILLED_AT = 0.4
Answer = tuple[float, object]


class Solver(NamedTuple):
    """Name a problem and how to solve it: for effort, islands, seed and executor, its cost and its answer."""

    name: str
    seeds: int
    solve: Callable[[int, int, int, Executor | str | None], Answer]


class Batch(NamedTuple):
    """Hold the seconds that a solve takes by itself, and then those of tasks that do not need each other."""

    alone: float
    tasks: tuple[float, ...]


@dataclass(eq=False)
class Recorder(Executor):
    """Make calls one after another in this process, and note the processor's seconds of each and between them."""

    batches: list[Batch] = field(default_factory=list)
    since: float = field(default_factory=time.process_time)

    def map(self, fn: Callable[..., object], *iterables: Iterable[object], **_: object) -> Iterator[object]:
        """Return the answers of all calls."""
        alone, found, seconds = time.process_time() - self.since, [], []
        for call in zip(*iterables, strict=True):
            begun = time.process_time()
            found.append(fn(*call))
            seconds.append(time.process_time() - begun)
        self.batches.append(Batch(alone, tuple(seconds)))
        self.since = time.process_time()
        return iter(found)

    def end(self) -> list[Batch]:
        """Return all batches, the last one without tasks."""
        return [*self.batches, Batch(time.process_time() - self.since, ())]


def critical_path(batches: Iterable[Batch], workers: int) -> float:
    """Return the seconds of batches one after another on workers that take the next task as soon as they are free."""
    seconds = 0.0
    for batch in batches:
        free = [0.0] * workers
        for task in batch.tasks:
            heapq.heapreplace(free, free[0] + task)
        seconds += batch.alone + max(free)
    return seconds


def multiply(batches: Iterable[Batch], islands: int) -> list[Batch]:
    """Return batches for more islands, whose tasks take as long as those that were measured, in turn."""
    return [
        Batch(batch.alone, tuple(batch.tasks[k % len(batch.tasks)] for k in range(islands)) if batch.tasks else ())
        for batch in batches
    ]


def speed_up(batches: Iterable[Batch], workers: int) -> float:
    """Return how many times sooner many islands of these tasks end on so many workers than on one."""
    many = multiply(batches, MANY)
    return critical_path(many, 1) / critical_path(many, workers)


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield costs and times of one island and of two for every kind of problem, and draw what more workers gain."""
    yield HEAD
    curves = {}
    for solver in solvers(data):
        say(solver.name)
        solver.solve(1, 1, 0, None)
        pairs = [(_measure(solver, 8, 1, seed), _measure(solver, 4, 2, seed)) for seed in range(solver.seeds)]
        one, two = ([pair[k][0][0] for pair in pairs] for k in range(2))
        seconds = [[critical_path(pair[k][1], k + 1) for pair in pairs] for k in range(2)]
        before, after = (sum(each) / len(each) for each in seconds)
        curves[solver.name] = pairs[0][1][1]
        yield (
            solver.name,
            str(solver.seeds),
            f"{sum(one) / len(one):,.6g}",
            f"{before:.2f}",
            f"{sum(two) / len(two):,.6g}",
            f"{exp(sum(log(b / a) for a, b in zip(one, two, strict=True)) / len(one)):.4f}",
            f"{after:.2f}",
            f"{after / before:.2f}",
            _compare_with_cluster(solver, pairs[0][1][0], KILLED_AT * seconds[1][0]),
            *(f"{speed_up(curves[solver.name], workers):.1f}" for workers in WORKERS),
        )
    _draw(curves)


def solvers(data: Path | None) -> Iterator[Solver]:
    """Yield a QAP of 100, a circuit of 100 qubits, a plan of 70B, and a sparse graph of 32,768 tasks."""
    if data is not None:
        path = str(data / "sko100a.dat")
        yield Solver("QAP sko100a", 10, lambda effort, islands, seed, lent: _assign(path, effort, islands, seed, lent))
    circuit = build_circuit(100)
    # One seed's cost varies by 3 %.
    yield Solver("QAOA of 100 qubits, heavy-hex", 10, lambda *asked: _layout(circuit, *asked))
    yield Solver("plan of 70B, 64 GPUs", 1, _plan)
    problem = build_full_problem(geometric(0, 32_768), "tree:8x8x4@1,10,100")

    def solve_sparse(effort: int, islands: int, seed: int, executor: Executor | str | None) -> Answer:
        report = solve(problem, effort=effort, islands=islands, seed=seed, executor=executor)
        return report.cost or 0.0, report.mapping

    yield Solver("32,768 points near each other on a tree", 1, solve_sparse)


def build_circuit(qubits: int) -> QuantumCircuit:
    """Return a layer of QAOA on a random graph in which every qubit meets three."""
    circuit = QuantumCircuit(qubits)
    for a, b in sorted(nx.random_regular_graph(3, qubits, seed=0).edges):
        circuit.cx(a, b)
        circuit.rz(0.3, b)
        circuit.cx(a, b)
    return circuit


def _assign(path: str, effort: int, islands: int, seed: int, executor: Executor | str | None) -> Answer:
    """Return the cost of a mapping, and the mapping."""
    report = tiger.assign(path, effort=effort, islands=islands, seed=seed, executor=executor)
    return report.cost or 0.0, report.mapping


def _layout(circuit: QuantumCircuit, effort: int, islands: int, seed: int, executor: Executor | str | None) -> Answer:
    """Return the extra CX gates of a routed circuit, and its text."""
    report = tiger.layout(circuit, "heavy-hex:7", effort=effort, islands=islands, seed=seed, executor=executor)
    return report.extra_cx or 0, report.qasm


def _plan(effort: int, islands: int, seed: int, executor: Executor | str | None) -> Answer:
    """Return the seconds of an iteration by the best plan, and what is said of it."""
    report = tiger.plan(LLAMA, "dgx:8", batch=256, effort=effort, islands=islands, seed=seed, executor=executor)
    return report.iteration_s or 0.0, [plan.to_dict() for plan in report.ranked]


def _measure(solver: Solver, effort: int, islands: int, seed: int) -> tuple[Answer, list[Batch]]:
    """Return an answer, and the batches of its tasks."""
    recorder = Recorder()
    answer = solver.solve(effort, islands, seed, recorder)
    return answer, recorder.end()


def _compare_with_cluster(solver: Solver, expected: Answer, killed_s: float) -> str:
    """Say whether two workers of a Dask cluster, one of which is killed on the way, find the same, and in what time."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        victim = next(iter(cluster.workers.values())).pid
        killer = threading.Timer(killed_s, os.kill, (victim, signal.SIGKILL))
        killer.start()
        begun = time.monotonic()
        found = solver.solve(4, 2, 0, cluster.scheduler_address.replace("tcp://", "dask://"))
        seconds = time.monotonic() - begun
        killer.join()
    return f"{'the same' if found == expected else 'another answer'}, {seconds:.1f} s"


def _draw(curves: dict[str, list[Batch]]) -> None:
    """Draw how much sooner 64 islands end on more workers."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "tiger"
    figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
    workers = [1 << k for k in range(MANY.bit_length())]
    for name, batches in curves.items():
        axes.loglog(workers, [speed_up(batches, each) for each in workers], "o-", label=name)
    axes.loglog(workers, workers, color="grey", linestyle=":", label="as many times as workers")
    axes.set(xlabel="workers", ylabel=f"times sooner, {MANY} islands of effort 4")
    axes.set_xticks(workers, [str(each) for each in workers])
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})
