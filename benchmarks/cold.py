"""Measure how long the first answers take on a machine where no kernel has been compiled."""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# What is run, on how many cores, and the seconds that it may take there.
COMMANDS = (
    (("assign", "examples/stencil8x8.json", "--topology", "grid:8x8"), 1, 8),
    (("assign", "examples/stencil8x8.json", "--topology", "torus:4x4x4"), 1, 8),
    (("layout", "examples/circuits/qft5.qasm", "--coupling", "heavy-hex:3"), 1, 25),
    (("warm",), 2, 60),
)


def table(say: Callable[[str], None], before: Path | None = None) -> Iterator[tuple[str, ...]]:
    """Yield a row a command: seconds on the clock, and of processors in brackets; `before` is another checkout.

    On a machine with other work the clock says little; on one core the seconds of processors are what counts.
    """
    trees = ([before] if before else []) + [ROOT]
    yield ("command", "cores", "goal", *(["before"] if before else []), "seconds", *(["ratio"] if before else []))
    for words, cores, goal_s in COMMANDS:
        figures = []
        for tree in trees:
            say(f"tiger {' '.join(words)} of {tree.name}")
            figures.append(_run(tree, words, cores))
        shown = [f"{clock_s:.1f} ({processor_s:.1f})" for clock_s, processor_s in figures]
        ratio = [f"{figures[1][1] / figures[0][1]:.2f}"] if before else []
        yield (f"`tiger {' '.join(words)}`", str(cores), str(goal_s), *shown, *ratio)


def checkout(text: str) -> Path:
    """Return the folder of a checkout; raise what argparse reports for any other."""
    if not Path(text, "tiger", "__main__.py").is_file():
        raise argparse.ArgumentTypeError(f"expected a checkout of this project, got {text!r}")
    return Path(text).resolve()


def _run(tree: Path, words: tuple[str, ...], cores: int) -> tuple[float, float]:
    """Run a command of a checkout with an empty cache on so many cores; return its seconds and its processors'."""
    known = sorted(os.sched_getaffinity(0))[:cores]
    begun, spent_s = time.perf_counter(), _spent_s()
    with tempfile.TemporaryDirectory(prefix="tiger-cold-") as cache:
        subprocess.run(
            ["taskset", "-c", ",".join(map(str, known)), sys.executable, "-m", "tiger", *words],
            cwd=tree,
            env=os.environ | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(tree)},
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    return time.perf_counter() - begun, _spent_s() - spent_s


def _spent_s() -> float:
    """Return the seconds that processors have spent on children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
