"""Assignments in nested clusters, hard for swaps of two tasks: gaps of TIGER and its peers at equal seconds."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.qap import WHO, measure
from tiger.formats.files import read_tasks
from tiger.model.arrays import FloatArray
from tiger.model.metrics import DenseMetric
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.model.topology import Topology

LIMIT_S, SEEDS = 10.0, (0,)
# Sizes of clusters from the outside in.
GENERATED = ((3, 3, 3), (3, 3, 5), (3, 5, 5), (5, 5, 5))
# Optima, and best known costs of those of Taillard; that of tai343e01 is the lowest found here.
RECORDS = {
    "dre15": 306,
    "dre21": 356,
    "dre30": 508,
    "dre42": 764,
    "dre56": 1086,
    "dre72": 1452,
    "tai27e01": 2558,
    "tai45e01": 6412,
    "tai75e01": 14488,
    "tai125e01": 35426,
    "tai343e01": 136280,
}
HEAD = ("instance", "best cost", *(f"{who}, {LIMIT_S:g} s" for who in WHO))


def table(say: Callable[[str], None], records: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield gaps in per cent to the best known cost, or to the best of all four where none is known."""
    yield HEAD
    for name, problem, best in (*generate(), *(_read(records) if records else ())):
        say(name)
        costs = np.array(measure(problem, best or 1.0, LIMIT_S, SEEDS)) / 100 + 1
        reached = best or float(costs.min())
        gaps = 100 * (costs * (best or 1.0) / reached - 1)
        yield name, f"{reached:,.0f}", *(f"{gap:.2f}" for gap in gaps)


def generate() -> Iterator[tuple[str, Problem, float]]:
    """Yield problems after tai*e of Z. Drezner, P. M. Hahn and E. D. Taillard, doi:10.1007/s10479-005-3444-z.

    Distances are those of three nested levels of clusters, flows are large within these and rare beyond. Where the
    numbers of two tasks are both even or both odd, the first matrix has their flow and the second their distance, else
    the other way round; both are then shuffled. Best costs are not known (0).
    """
    for sizes in GENERATED:
        rng, count = np.random.default_rng(sizes), int(np.prod(sizes))
        distance, flow = _nest(sizes, rng)
        alike = np.add.outer(np.arange(count), np.arange(count)) % 2 == 0
        first, second = (
            np.where(chosen, flow, distance)[np.ix_(order, order)]
            for chosen, order in ((alike, rng.permutation(count)), (~alike, rng.permutation(count)))
        )
        names = tuple(map(str, range(count)))
        tasks = TaskGraph(names=names, traffic=first)
        topology = Topology(names=names, metric=DenseMetric(second))
        yield f"nested {' x '.join(map(str, sizes))}", Problem(tasks=tasks, topology=topology, rule="one-to-one"), 0.0


def _nest(sizes: tuple[int, ...], rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return distances and flows [n, n] of nested clusters, symmetric and without diagonals."""
    place, count = np.arange(int(np.prod(sizes))), int(np.prod(sizes))
    distance, flow = np.zeros((count, count)), np.zeros((count, count))
    width = count
    # By level: the least distance, the spread of distances, the share of pairs with traffic, and its largest volume.
    for size, (least, spread, share, most) in zip(
        sizes, ((24, 8, 0.05, 1), (11, 8, 0.3, 3), (1, 8, 0.8, 12)), strict=True
    ):
        together = place // width
        width //= size
        cluster = place // width
        level = (together[:, None] == together) & (cluster[:, None] != cluster)
        apart = least + rng.integers(spread, size=(cluster.max() + 1,) * 2)
        distance[level] = apart[np.ix_(cluster, cluster)][level]
        flow[level] = ((rng.random((count, count)) < share) * rng.integers(1, most + 1, (count, count)))[level]
    upper = [np.triu(matrix, 1) for matrix in (distance, flow)]
    return upper[0] + upper[0].T, upper[1] + upper[1].T


def _read(folder: Path) -> Iterator[tuple[str, Problem, float]]:
    """Yield those of the named instances that are found in a folder, with their best known costs."""
    for name, best in RECORDS.items():
        if (folder / f"{name}.dat").exists():
            found = read_tasks(folder / f"{name}.dat")
            assert found.topology is not None
            yield name, Problem(tasks=found.tasks, topology=found.topology, rule="one-to-one"), best
