"""What samplers are worth: neal, tabu, OpenJij, coin flips and the native search at equal processor time."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

import dimod
import numpy as np
import scipy.sparse as sp
from dimod.core.sampler import Sampler

from benchmarks.clocks import processor_clock
from tiger.mapping.mapper import solve
from tiger.model.problem import Problem
from tiger.model.tasks import TaskGraph
from tiger.qubo.params import IsingParams
from tiger.solvers import registry
from tiger.topologies.spec import build

SEEDS = (0, 1, 2, 3)
SIZES = {16: "torus:4x4", 25: "torus:5x5", 36: "torus:6x6", 64: "torus:4x4x4", 100: "torus:10x10", 150: "torus:10x15"}
KINDS = ("dense", "sparse", "capacity", "levels")
SOLVERS = ("neal", "tabu", "OpenJij", "coin flips", "search")


class CoinFlips(dimod.Sampler):
    """Draw every bit by a coin flip: what repair and polish do without a sampler."""

    parameters: ClassVar[dict[str, list[str]]] = {"num_reads": [], "seed": []}
    properties: ClassVar[dict[str, object]] = {}

    def sample(self, bqm: dimod.BinaryQuadraticModel, *, num_reads: int = 1, seed: int = 0) -> dimod.SampleSet:
        """Return random bits; their energies, which no one asks for, are 0."""
        bits = np.random.default_rng(seed).integers(0, 2, (num_reads, bqm.num_variables), np.int8)
        return dimod.SampleSet.from_samples((bits, list(bqm.variables)), dimod.BINARY, np.zeros(num_reads))


def table(say: Callable[[str], None], _: Path | None = None) -> Iterator[tuple[str, ...]]:
    """Yield mean gaps in per cent over four seeds to the best of all, a problem a row, and the seconds of each solver.

    `neal` runs at effort 1, and the others get the processor time that it took. Calls of tabu search and OpenJij are
    not cut short by it, so that seconds are stated.
    """
    yield ("problem", *SOLVERS, "seconds")
    gaps: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    context = get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        cases = [(kind, size) for kind in KINDS for size in SIZES]
        for (kind, size), row in zip(cases, pool.map(measure, cases), strict=True):
            say(f"{kind} {size}")
            gaps[kind].append(row[0])
            seconds = " / ".join(f"{each:.1f}" for each in row[1])
            yield f"{kind}, {size} tasks", *(f"{gap:.2f}" for gap in row[0]), seconds
    for kind in KINDS:
        yield f"**{kind}, mean**", *(f"{gap:.2f}" for gap in np.mean(gaps[kind], axis=0)), ""


def measure(case: tuple[str, int]) -> tuple[list[float], list[float]]:
    """Return the mean gap and the mean seconds of each solver on a problem."""
    problem = draw(*case)
    # Every kernel is loaded before a clock runs.
    for solver in ("neal", "search"):
        solve(problem, solver=solver, effort=1, time_limit_s=1.0)
    costs, seconds = np.zeros((len(SEEDS), len(SOLVERS))), np.zeros((len(SEEDS), len(SOLVERS)))
    for row, seed in enumerate(SEEDS):
        for column, name in enumerate(SOLVERS):
            limit = {"effort": 1} if name == "neal" else {"time_limit_s": float(max(seconds[row, 0], 1e-3))}
            begun = time.process_time()
            with processor_clock():
                report = solve(problem, solver=solver_of(name), seed=seed, ising=IsingParams(control=False), **limit)
            seconds[row, column] = time.process_time() - begun
            costs[row, column] = report.cost
    return (100 * (costs.mean(axis=0) / costs.min() - 1)).tolist(), seconds.mean(axis=0).tolist()


def solver_of(name: str) -> str | Sampler:
    """Return a solver of the table."""
    if name == "coin flips":
        return CoinFlips()
    if name == "OpenJij":
        sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
        from openjij_sampler import OpenJij

        return OpenJij()
    return name if name == "search" else registry.sampler(name)


def draw(kind: str, size: int) -> Problem:
    """Return a drawn problem: one-to-one on a torus, on a fifth as many nodes with memory, or levels on a mesh."""
    rng = np.random.default_rng([size, KINDS.index(kind)])
    names = tuple(f"t{k}" for k in range(size))
    if kind == "levels":
        return _draw_levels(size, rng)
    degree = {"dense": size / 2, "sparse": 4, "capacity": 6}[kind]
    linked = np.triu(rng.random((size, size)) < degree / (size - 1), 1)
    traffic = sp.csr_array(np.where(linked, rng.integers(1, 11, (size, size)), 0).astype(float))
    if kind != "capacity":
        return Problem(
            tasks=TaskGraph(names=names, traffic=traffic, directed=False),
            topology=build(SIZES[size]),
            rule="one-to-one",
        )
    nodes = max(size // 5, 4)
    memory = rng.integers(1, 10, size)
    room = max(math.ceil(memory.sum() * 1.1 / nodes), int(memory.max()))
    hardware = replace(build(f"ring:{nodes}"), memory=np.full(nodes, room), slots=np.full(nodes, size))
    tasks = TaskGraph(names=names, traffic=traffic, memory=memory, directed=False)
    return Problem(tasks=tasks, topology=hardware, rule="capacity")


def _draw_levels(size: int, rng: np.random.Generator) -> Problem:
    """Return layers of five tasks or so that read from the layer before, on a mesh of unequal processors."""
    layers = np.sort(np.append(np.arange(size // 5), rng.integers(0, size // 5, size - size // 5)))
    volumes = np.zeros((size, size))
    for task in np.flatnonzero(layers > 0):
        before = np.flatnonzero(layers == layers[task] - 1)
        for source in rng.choice(before, min(len(before), int(rng.integers(1, 4))), replace=False):
            volumes[source, task] = rng.integers(1, 11)
    work = rng.integers(5, 40, size).astype(float)
    mesh = replace(build("grid:4x4"), cost=1.0 + np.arange(16) % 4)
    names = tuple(f"t{k}" for k in range(size))
    return Problem(tasks=TaskGraph(names=names, work=work, traffic=volumes), topology=mesh, rule="levels")
