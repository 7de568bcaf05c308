"""Two-qubit gates and their depth after the whole transpile, plain and with TIGER, on three devices."""

import time
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from qiskit import QuantumCircuit, transpile
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap, Target

from benchmarks.noise import library
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.transpiler.target import coupling_of

LEVELS, SEED = (1, 2, 3), 0
HEAD = (
    "device",
    "level",
    "circuits",
    "two-qubit gates, Qiskit and with TIGER",
    "ratio",
    "fewer, equal, more",
    "two-qubit depth, Qiskit and with TIGER",
    "ratio",
    "less, equal, more",
    "most behind in depth",
    "seconds, Qiskit and with TIGER",
)


class Delivery(NamedTuple):
    """Hold what a transpiled circuit amounts to, and the seconds it took."""

    gates: int
    depth: int
    seconds: float


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield sums, geometric means of ratios and mean seconds for every device and level."""
    yield HEAD
    circuits = dict(library(SEED))
    for device, target in devices():
        for level in LEVELS:
            made = dict[str, tuple[Delivery, Delivery]]()
            measure(circuits["star 8"], target, level, "tiger")
            for name, circuit in circuits.items():
                say(f"{name} on {device} at level {level}")
                made[name] = measure(circuit, target, level, None), measure(circuit, target, level, "tiger")
            yield device, str(level), str(len(made)), *_cells(made)


def devices() -> Iterator[tuple[str, Target]]:
    """Yield a line with CX, a grid with CZ and error rates, and a heavy-hexagon lattice with ECR one way."""
    yield "line of 24, CX", Target.from_configuration(["u", "cx", "measure"], 24, CouplingMap.from_line(24))
    grid = CouplingMap.from_grid(5, 5)
    yield "grid of 25, CZ", GenericBackendV2(25, ["cz", "rz", "sx", "x"], coupling_map=grid, seed=SEED).target
    hexagons = coupling_of(read_device("heavy-hex:7"))
    one_way = CouplingMap(hexagons.edges.tolist())
    yield (
        f"heavy-hex of {hexagons.size}, ECR",
        Target.from_configuration(["rz", "sx", "x", "ecr", "measure"], hexagons.size, one_way),
    )


def measure(circuit: QuantumCircuit, target: Target, level: int, method: str | None) -> Delivery:
    """Run the whole transpiler."""
    begun = time.perf_counter()
    made = transpile(circuit, target=target, optimization_level=level, seed_transpiler=SEED, layout_method=method,
                     routing_method=method)  # fmt: skip
    seconds = time.perf_counter() - begun
    return Delivery(made.num_nonlocal_gates(), made.depth(lambda each: len(each.qubits) == 2), seconds)


def _cells(made: dict[str, tuple[Delivery, Delivery]]) -> Iterator[str]:
    """Yield the cells of a device and level."""
    pairs = list(made.values())
    for k in (0, 1):
        theirs, ours = ([each[side][k] for each in pairs] for side in (0, 1))
        yield f"{sum(theirs):,}, {sum(ours):,}"
        yield f"{exp(sum(log(max(b, 1) / max(a, 1)) for a, b in zip(theirs, ours, strict=True)) / len(pairs)):.3f}"
        signs = [(b > a) - (b < a) for a, b in zip(theirs, ours, strict=True)]
        yield ", ".join(str(signs.count(sign)) for sign in (-1, 0, 1))
    worst, share = max(((name, ours.depth / theirs.depth) for name, (theirs, ours) in made.items()), key=lambda w: w[1])
    yield f"{worst}, {share:.2f}" if share > 1 else "none"
    yield ", ".join(f"{sum(each[side].seconds for each in pairs) / len(pairs):.2f}" for side in (0, 1))
