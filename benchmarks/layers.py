"""Levels on a mesh: what windows of levels gain over the original partition and over one QUBO for everything."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.instances import generate_layered
from tiger.feasibility.start import launch_order
from tiger.mapping.mapper import solve
from tiger.mapping.sampler_policy import ising_of
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.model.seeds import derive
from tiger.objectives.cost import cost_of
from tiger.qubo.lookahead import assign_level, place_forward
from tiger.qubo.params import IsingParams
from tiger.qubo.sweeps import Sweeps
from tiger.qubo.whole_sampling import sample_whole
from tiger.run.deadline import Deadline
from tiger.run.mapping import MappingIncumbent
from tiger.run.search_stage import Round
from tiger.solvers import registry

# What an iterated search gets for the cost that gaps are relative to.
SECONDS = 60.0
SEEDS = (0, 1, 2)
HEAD = (
    "layers x width, processors",
    "forward, level by level",
    "one QUBO and level sweeps",
    "`--solver neal`",
    "`--solver auto`",
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield rows of gaps in per cent to the best of all and a minute of iterated search by exact levels.

    One QUBO with sweeps gets the seconds that `--solver neal` takes.
    """
    yield HEAD
    gaps = []
    for name, problem in generate_layered():
        say(name)
        gaps.append(measure(problem))
        yield name, *cells(gaps[-1])
    yield "**mean**", *cells(np.mean(gaps, axis=0))


def cells(row: np.ndarray) -> list[str]:
    """Return the cells of a row of gaps followed by the seconds of both solvers."""
    text = [f"{gap:.1f}" for gap in row[:4]]
    return [*text[:2], *(f"{gap} ({seconds:.1f} s)" for gap, seconds in zip(text[2:], row[4:], strict=True))]


def measure(problem: Problem) -> np.ndarray:
    """Return mean gaps in per cent over the seeds, and the seconds of `neal` and `auto`."""
    start = launch_order(problem)
    assert not isinstance(start, tuple)
    forward = cost_of(problem, place_forward(problem, start, 1, assign_level, bool)).total
    rows = []
    for seed in SEEDS:
        neal, auto = (solve(problem, solver=solver, seed=seed) for solver in ("neal", "auto"))
        rows.append([forward, one_qubo(problem, start, seed, neal.seconds), neal.cost, auto.cost])
    best = min(iterate_sweeps(problem, start, SECONDS), float(np.min(rows)))
    return np.append(100 * (np.mean(rows, axis=0) / best - 1), [neal.seconds, auto.seconds])


def one_qubo(problem: Problem, start: IntArray, seed: int, seconds: float) -> float:
    """Return the cost by the QUBO of the whole problem, sampled for as long as given and swept level by level."""
    run = MappingIncumbent(problem=problem, solution=start, stop=Deadline(time.monotonic() + seconds))
    ising = ising_of(registry.sampler("neal"), problem, IsingParams())
    ising = replace(ising, params=replace(ising.params, whole_variables=1 << 20))
    for number in range(1000):
        if not run.ended:
            sample_whole(run, ising, Round(number, 1, derive(seed, number)))
    run.offer(Sweeps(problem).improve(run.places, lambda: False))
    return run.cost


def iterate_sweeps(problem: Problem, start: IntArray, seconds: float) -> float:
    """Return the best cost of iterated local search by exact level sweeps, kicked by shuffling one or two levels."""
    rng, end = np.random.default_rng(0), time.monotonic() + seconds
    sweeps = Sweeps(problem)
    best = sweeps.improve(start, lambda: False)
    lowest = cost_of(problem, best).total
    while time.monotonic() < end:
        places = best.copy()
        first = rng.integers(len(problem.groups))
        everything = rng.random() < 0.1
        for group in problem.groups if everything else problem.groups[first : first + 2]:
            places[group] = rng.permutation(problem.topology.hosts)[: len(group)]
        places = sweeps.improve(places, lambda: False)
        cost = cost_of(problem, places).total
        if cost < lowest:
            best, lowest = places, cost
    return lowest
