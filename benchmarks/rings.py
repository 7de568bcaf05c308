"""Orders of rings through shuffled hosts: the order as given, networkx's tours, and TIGER with its proofs."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx as nx
import numpy as np
from networkx.algorithms import approximation

from tiger.formats.graphs import task_graph_of
from tiger.mapping.mapper import solve
from tiger.model.arrays import FloatArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.topology import Topology
from tiger.run.report import Report
from tiger.solvers.rings.ring_order import RingParams

GPUS = 8
RANDOM = (16, 64, 256)


def cases() -> Iterator[tuple[str, FloatArray]]:
    """Yield names and distances [m, m] between hosts in shuffled order."""
    for machines in (8, 16):
        machine, rail = np.divmod(np.random.default_rng(machines).permutation(machines * GPUS), GPUS)
        same = machine[:, None] == machine
        rack = machine // 4
        tree = np.where(same, 1.0, np.where(rack[:, None] == rack, 10.0, 20.0))
        yield f"{machines} machines x {GPUS} GPUs, racks of 4", _without_self(tree)
        # Over NVLink to the GPU of the right rail first, where two machines are on different ones.
        rails = np.where(same, 1.0, np.where(rail[:, None] == rail, 4.0, 5.0))
        yield f"{machines} machines x {GPUS} GPUs, {GPUS} rails", _without_self(rails)
    for size in RANDOM:
        latency = np.random.default_rng(size).gamma(4.0, 0.5, (size, size))
        yield f"{size} hosts, random latencies", _without_self((latency + latency.T) / 2)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield slowest hop and sum of all hops over TIGER's bounds, and the seconds."""
    yield "hardware", "as given", "networkx", "TIGER, `cost`", "TIGER, `ring`", "proved"
    for name, away in cases():
        say(name)
        problem = _problem_of(away)
        by_cost, by_ring = solve(problem, seed=0), solve(problem, objective="ring", seed=0)
        if by_ring.objective is None or by_ring.lower_bound is None:
            raise SystemExit("expected a report of the slowest hop and a bound")
        least = by_ring.objective.bound, by_ring.lower_bound
        proofs = [what for what, proved in (("slowest", by_ring.optimal), ("sum", by_ring.cost <= least[1])) if proved]
        if len(away) <= RingParams().slots:
            proofs = ["slowest, then sum"]
        begun = time.perf_counter()
        order = approximation.threshold_accepting_tsp(nx.from_numpy_array(away), "greedy", seed=0, max_iterations=10)
        spent = time.perf_counter() - begun
        yield (
            name,
            _ratios(away, np.arange(len(away)), least),
            f"{_ratios(away, np.array(order[:-1]), least)} ({spent:.1f} s)",
            *(f"{_ratios(away, _order_of(report), least)} ({report.seconds:.1f} s)" for report in (by_cost, by_ring)),
            " and ".join(proofs) or "neither",
        )


def _problem_of(away: FloatArray) -> Problem:
    """Return the ring of as many ranks as there are hosts."""
    names = tuple(f"n{k}" for k in range(len(away)))
    ring = task_graph_of(nx.cycle_graph(len(away), create_using=nx.DiGraph))
    return Problem(tasks=ring, topology=Topology(names=names, metric=DenseMetric(away)), rule="one-to-one")


def _order_of(report: Report) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the hosts of the ranks in order."""
    return np.array([int(report.mapping[str(rank)][1:]) for rank in range(len(report.mapping))])


def _ratios(away: FloatArray, order: np.ndarray[tuple[int], np.dtype[np.int64]], least: tuple[float, float]) -> str:
    """Return the slowest hop and the sum of an order over what they are at least."""
    hops = away[order, np.roll(order, -1)]
    return f"{hops.max() / least[0]:.2f} / {hops.sum() / least[1]:.2f}"


def _without_self(away: FloatArray) -> FloatArray:
    """Return the distances with those of hosts to themselves 0."""
    np.fill_diagonal(away, 0.0)
    return away
