"""Lists of circuits on one worker and on two: seconds, those of the processor, and the longer of two queues.

A machine with two cores to spare shows what users gain. On one that does other work too, the processor's seconds tell
whether two workers do more work than one, and the longer queue how long they take where each has a core.
"""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from qiskit import QuantumCircuit, transpile

import tiger
from benchmarks.delivered import devices
from benchmarks.programs import programs
from tiger.circuits.warm import warm

NAMES = ("QFT 16", "QAOA 20", "random 12", "quantum volume 10", "adder 14", "full ansatz 8", "triangles 9", "QRAM 20")
LEVEL, SEED, WORKERS, DEVICE = 2, 0, 2, "grid of 7x12, CZ"
# What Qiskit asks before it uses processes at all.
PARALLEL = "QISKIT_PARALLEL"
HEAD = (
    *("list", "workers", "circuits", "seconds", "of the processor", "seconds over one worker's"),
    *("processor's over one worker's", "longer of two queues over all"),
)
Circuits = list[QuantumCircuit]
Way = tuple[str, Callable[[Circuits], object]]


class Measure(NamedTuple):
    """Hold the seconds of a call, and those of the processor in this process and its children."""

    seconds: float
    processor_s: float


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield what every way takes, the first of each kind on one worker."""
    yield HEAD
    warm(say)
    named = [circuit for name, circuit in programs(SEED) if name in NAMES]
    circuits = transpile(named, basis_gates=["u", "cx"], optimization_level=0)
    for name, (one, *others) in (("`tiger.layout`", _list_layouts()), ("`transpile`", _list_transpiles())):
        say(f"{name}, {one[0]}")
        # One worker takes for a list what its circuits take one after another.
        parts = [measure(one[1], [circuit]) for circuit in circuits]
        alone = Measure(*(sum(column) for column in zip(*parts, strict=True)))
        queue = _find_longer_queue([part.processor_s for part in parts]) / alone.processor_s
        yield name, one[0], str(len(circuits)), f"{alone.seconds:.1f}", f"{alone.processor_s:.1f}", "1", "1", ""
        for workers, run in others:
            say(f"{name}, {workers}")
            made = measure(run, circuits)
            ratios = [f"{of / single:.2f}" for of, single in zip(made, alone, strict=True)]
            seconds = f"{made.seconds:.1f}", f"{made.processor_s:.1f}"
            yield name, workers, str(len(circuits)), *seconds, *ratios, f"{queue:.2f}"


def measure(run: Callable[[Circuits], object], circuits: Circuits) -> Measure:
    """Run a call whose processes end with it."""
    begun, before = time.perf_counter(), os.times()
    run(circuits)
    seconds, after = time.perf_counter() - begun, os.times()
    return Measure(seconds, sum(after[:4]) - sum(before[:4]))


def _find_longer_queue(seconds: list[float]) -> float:
    """Return when the last of some tasks ends, each of which begins on the first worker that is free."""
    free = [0.0] * WORKERS
    for each in seconds:
        free.sort()
        free[0] += each
    return max(free)


def _list_layouts() -> list[Way]:
    """Return ways to map a list."""

    def in_threads(circuits: Circuits, threads: int) -> object:
        return tiger.layout(circuits, "grid:7x12", level=LEVEL, seed=SEED, threads=threads)

    def in_processes(circuits: Circuits) -> object:
        with ProcessPoolExecutor(WORKERS) as executor:
            return tiger.layout(circuits, "grid:7x12", level=LEVEL, seed=SEED, executor=executor)

    return [
        ("1 thread", lambda circuits: in_threads(circuits, 1)),
        (f"{WORKERS} threads", lambda circuits: in_threads(circuits, WORKERS)),
        (f"{WORKERS} processes", in_processes),
    ]


def _list_transpiles() -> list[Way]:
    """Return ways to transpile a list: one after another, in which each has all threads, and in processes."""
    target = dict(devices())[DEVICE]

    def run(circuits: Circuits, processes: int) -> object:
        with _allow_processes():
            return transpile(circuits, target=target, optimization_level=LEVEL, seed_transpiler=SEED,
                             layout_method="tiger", routing_method="tiger", num_processes=processes)  # fmt: skip

    return [
        (f"1 process, {os.cpu_count()} threads", lambda circuits: run(circuits, 1)),
        (f"{WORKERS} processes", lambda circuits: run(circuits, WORKERS)),
    ]


@contextmanager
def _allow_processes() -> Iterator[None]:
    """Let Qiskit use processes."""
    before = os.environ.get(PARALLEL)
    os.environ[PARALLEL] = "TRUE"
    try:
        yield
    finally:
        os.environ.pop(PARALLEL)
        if before is not None:
            os.environ[PARALLEL] = before
