"""Whole transpilations to five two-qubit bases and to a device of 433 qubits: gates, depth, seconds and peak memory."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from qiskit import QuantumCircuit
from qiskit.transpiler import CouplingMap, Target

from benchmarks.clocks import processor_clock
from benchmarks.delivered import Delivery, find_mean_ratio, measure
from benchmarks.programs import programs
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.transpiler.target import coupling_of
from tiger.circuits.warm import warm

SEED, ROOT = 0, Path(__file__).parent.parent
OSPREY, EAGLE = "heavy-hex:13x27", "heavy-hex:7x15"
PROGRAMS = ("QFT 8", "QAOA 12", "random 12", "quantum volume 10")
HEAD = (
    *("device", "basis", "level", "programs", "two-qubit gates, ratio", "two-qubit depth, ratio"),
    *(
        "with more gates",
        "seconds of a processor, Qiskit and with TIGER",
        "peak MB, Qiskit, that and one kernel, with TIGER",
    ),
)
# Run by a process that imports Qiskit alone, and what of TIGER the plugin needs.
PEAK = """
import pickle, sys
from benchmarks.memory import read_peak_mb
from qiskit import transpile
circuit, options = pickle.load(sys.stdin.buffer)
transpile(circuit, **options)
{more}
print(read_peak_mb())
"""
# The least that anything takes which calls a function that numba has compiled and kept.
KERNEL = """
import numpy as np
from tiger.solvers.matching.neighbourhoods import rule_out
rule_out(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64), np.ones((1, 1), np.bool_))
"""


class Case(NamedTuple):
    """Name a device, its two-qubit gate, the level of both, and the programs that are transpiled."""

    device: str
    basis: str
    level: int
    programs: tuple[str, ...]


CASES = (
    *(Case(EAGLE, basis, 3, PROGRAMS) for basis in ("cx", "cz", "ecr", "iswap", "rzz")),
    Case(OSPREY, "cz", 2, ("QAOA 12", "QAOA 20", "QAOA 50")),
    Case(OSPREY, "cz", 2, ("random 12", "random 30")),
)


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield geometric means of ratios, mean seconds, and the memory that the last program takes."""
    yield HEAD
    warm(say)
    circuits = dict(programs(SEED))
    for case in CASES:
        target, made = build_target(case), list[tuple[Delivery, ...]]()
        for name in case.programs:
            say(f"{name} on {case.device}, {case.basis}")
            with processor_clock():
                made.append(tuple(measure(circuits[name], target, case.level, way, None) for way in (None, "tiger")))
        last = circuits[case.programs[-1]], target, case.level
        peaks = (measure_peak_mb(*last, method, more) for method, more in ((None, ""), (None, KERNEL), ("tiger", "")))
        named = f"{case.device}, {target.num_qubits} qubits", case.basis, str(case.level), ", ".join(case.programs)
        yield *named, *_cells(made), ", ".join(f"{peak:.0f}" for peak in peaks)


def build_target(case: Case) -> Target:
    """Return a device without error rates, whose couplings are used both ways, but those of ECR one way."""
    coupling = coupling_of(read_device(case.device))
    edges = coupling.edges.tolist()
    both = edges if case.basis == "ecr" else [*edges, *((b, a) for a, b in edges)]
    gates = ["rz", "sx", "x", case.basis, "measure"]
    return Target.from_configuration(gates, coupling.size, CouplingMap(both))


def measure_peak_mb(circuit: QuantumCircuit, target: Target, level: int, method: str | None, more: str = "") -> float:
    """Return the peak memory of a new process that transpiles a circuit with kernels that are compiled, in MB.

    And does `more` after that.
    """
    options = {"target": target, "optimization_level": level, "seed_transpiler": SEED, "layout_method": method,
               "routing_method": method}  # fmt: skip
    command, job = [sys.executable, "-c", PEAK.format(more=more)], pickle.dumps((circuit, options))
    return float(subprocess.run(command, input=job, capture_output=True, check=True, cwd=ROOT).stdout)


def _cells(made: list[tuple[Delivery, ...]]) -> Iterator[str]:
    """Yield the ratios of gates and of depth, the circuits with more gates than Qiskit's, and mean seconds."""
    yield f"{find_mean_ratio([ours.gates for _, ours in made], [theirs.gates for theirs, _ in made]):.3f}"
    yield f"{find_mean_ratio([ours.depth for _, ours in made], [theirs.depth for theirs, _ in made]):.3f}"
    yield f"{sum(ours.gates > theirs.gates for theirs, ours in made)} of {len(made)}"
    yield ", ".join(f"{sum(row[side].seconds for row in made) / len(made):.2f}" for side in (0, 1))
