"""Tasks one to one on a torus, and up to a million on a tree: cost, seconds and memory beside Scotch and METIS."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from typing import NamedTuple

import numpy as np

from benchmarks import scotch
from benchmarks.anytime import map_by_metis
from benchmarks.graphs import build_full_problem, geometric, triangulate
from benchmarks.memory import read_peak_mb
from benchmarks.peers import is_installed
from tiger.model.arrays import IntArray
from tiger.model.problem import Problem
from tiger.objectives.cost import cost_of

SEED = 0
CASES = {
    "32,768 points near each other on torus:32x32x32": (geometric, 32_768, "torus:32x32x32"),
    "32,768 points triangulated on torus:32x32x32": (triangulate, 32_768, "torus:32x32x32"),
    "262,144 points triangulated on tree:16x8x8": (triangulate, 262_144, "tree:16x8x8@1,10,100"),
    "1,000,000 points triangulated on tree:16x16x16": (triangulate, 1_000_000, "tree:16x16x16@1,10,100"),
}
HEAD = ("problem", "method", "cost", "over Scotch's", "load, of slots", "seconds", "peak, MB")


class Found(NamedTuple):
    """Hold places[n], the seconds that took, and the peak memory of the process in MB, None where it is not known."""

    places: IntArray
    seconds: float
    peak_mb: float | None = None


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield what every method reaches; TIGER at effort 1 in a process of its own, its processor's seconds."""
    yield HEAD
    for case, (draw, size, hardware) in CASES.items():
        problem, reference = build_full_problem(draw(SEED, size), hardware), None
        for method, find in METHODS.items():
            say(f"{case}: {method}")
            found = find(problem, case)
            if found is None:
                yield case, method, "not installed", "", "", "", ""
                continue
            cost, load = cost_of(problem, found.places).total, int(np.bincount(found.places).max())
            reference = cost if find is _scotch else reference
            slots = f"{load} of {problem.topology.slots.max()}"
            peak = "" if found.peak_mb is None else f"{found.peak_mb:,.0f}"
            ratio = "" if reference is None else f"{cost / reference:.3f}"
            yield case, method, f"{cost:,.0f}", ratio, slots, f"{found.seconds:.1f}", peak


def run_tiger(case: str) -> Found:
    """Map a case by its name in this process, with kernels loaded, and return what that took."""
    from tiger.mapping.mapper import solve
    from tiger.solvers.warm import warm

    warm(lambda _: None)
    draw, size, hardware = CASES[case]
    problem = build_full_problem(draw(SEED, size), hardware)
    begun = thread_time()
    mapping = solve(problem, seed=SEED).mapping or {}
    seconds = thread_time() - begun
    index = {name: k for k, name in enumerate(problem.topology.names)}
    places = np.array([index[mapping[task]] for task in problem.tasks.names])
    return Found(places, seconds, read_peak_mb())


def _tiger(_problem: Problem, case: str) -> Found:
    """Return what a process of its own finds."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run_tiger, case).result()


def _scotch(problem: Problem, _case: str) -> Found | None:
    """Return the mapping of Scotch."""
    with TemporaryDirectory() as folder:
        found = scotch.map_graph(problem, Path(folder))
    return None if found is None else Found(*found)


def _metis(problem: Problem, _case: str) -> Found | None:
    """Return the mapping by METIS's bisections."""
    return Found(*map_by_metis(problem, SEED)) if is_installed("pymetis") else None


METHODS = {"Scotch `-cq`": _scotch, "METIS, recursive": _metis, "TIGER": _tiger}
