"""Two-qubit gates and their depth after the whole transpile, plain and with TIGER, on three devices."""

import os
import time
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from qiskit import QuantumCircuit, transpile
from qiskit.converters import circuit_to_dag
from qiskit.providers.fake_provider import GenericBackendV2
from qiskit.transpiler import CouplingMap, Target

from benchmarks.programs import programs
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.transpiler.aim import loss_of
from tiger.circuits.transpiler.environment import EFFORT
from tiger.circuits.transpiler.target import coupling_of, has_errors
from tiger.circuits.warm import warm
from tiger.routing.error_rates import Errors, errors_of_target

# Levels, and the effort of ours at each: from 4 on the search goes on where it gains little.
LEVELS, SEED = ((1, 1), (2, 1), (3, 1), (3, 4)), 0
# The level of the peer that gets our time, and what Qiskit's circuit has to succeed by to be in the mean.
BEST_LEVEL, LIKELY = 3, 0.01
# Most seeds of the peer, which more hardly help, and circuits named as those behind.
MOST_SEEDS, NAMED = 200, 3
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
    "gates and depth over the best of as many seeds of Qiskit's level 3 as fit into the same time",
    "estimated success over Qiskit's",
    "median seconds of a processor, Qiskit and with TIGER",
    "mean",
)


class Delivery(NamedTuple):
    """Hold what a transpiled circuit amounts to: two-qubit gates, their depth, -log of success, and the seconds."""

    gates: int
    depth: int
    loss: float
    seconds: float


class Row(NamedTuple):
    """Hold what Qiskit and we deliver, and the best of its level 3 over as many seeds as our time allows."""

    theirs: Delivery
    ours: Delivery
    best: Delivery


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield sums, geometric means of ratios, and seconds for every device and level."""
    yield HEAD
    warm(say)
    circuits = dict(programs(SEED))
    for device, target in devices():
        errors = errors_of_target(target) if has_errors(target) else None
        for level, effort in LEVELS:
            made = dict[str, Row]()
            os.environ[EFFORT] = str(effort)
            measure(circuits["star 20"], target, level, "tiger", errors)
            for name, circuit in circuits.items():
                say(f"{name} on {device} at level {level}")
                theirs, ours = (measure(circuit, target, level, method, errors) for method in (None, "tiger"))
                made[name] = Row(theirs, ours, find_best(circuit, target, errors, ours.seconds))
            yield device, f"{level}, effort {effort}" if effort > 1 else str(level), str(len(made)), *_cells(made)
        del os.environ[EFFORT]


def devices() -> Iterator[tuple[str, Target]]:
    """Yield a line with CX, a grid with CZ and error rates, and a heavy-hexagon lattice with ECR one way."""
    yield "line of 84, CX", Target.from_configuration(["u", "cx", "measure"], 84, CouplingMap.from_line(84))
    grid = CouplingMap.from_grid(7, 12)
    yield "grid of 7x12, CZ", GenericBackendV2(84, ["cz", "rz", "sx", "x"], coupling_map=grid, seed=SEED).target
    hexagons = coupling_of(read_device("heavy-hex:7"))
    one_way = CouplingMap(hexagons.edges.tolist())
    yield (
        f"heavy-hex of {hexagons.size}, ECR",
        Target.from_configuration(["rz", "sx", "x", "ecr", "measure"], hexagons.size, one_way),
    )


def measure(
    circuit: QuantumCircuit, target: Target, level: int, method: str | None, errors: Errors | None, seed: int = SEED
) -> Delivery:
    """Run the whole transpiler."""
    begun = time.process_time()
    made = transpile(circuit, target=target, optimization_level=level, seed_transpiler=seed, layout_method=method,
                     routing_method=method)  # fmt: skip
    seconds = time.process_time() - begun
    loss = 0.0 if errors is None else loss_of(circuit_to_dag(made), errors)
    return Delivery(made.num_nonlocal_gates(), made.depth(lambda each: len(each.qubits) == 2), loss, seconds)


def find_best(circuit: QuantumCircuit, target: Target, errors: Errors | None, limit_s: float) -> Delivery:
    """Return the best of Qiskit's circuits over as many seeds as a processor has time for, 1 at least, 200 at most."""
    begun, found = time.process_time(), [measure(circuit, target, BEST_LEVEL, None, errors)]
    while len(found) < MOST_SEEDS and time.process_time() - begun + found[-1].seconds < limit_s:
        found.append(measure(circuit, target, BEST_LEVEL, None, errors, SEED + len(found)))
    return min(found)


def _cells(made: dict[str, Row]) -> Iterator[str]:
    """Yield the cells of a device and level."""
    rows = list(made.values())
    for k in (0, 1):
        theirs, ours = [row.theirs[k] for row in rows], [row.ours[k] for row in rows]
        yield f"{sum(theirs):,}, {sum(ours):,}"
        yield f"{find_mean_ratio(ours, theirs):.3f}"
        signs = [(b > a) - (b < a) for a, b in zip(theirs, ours, strict=True)]
        yield ", ".join(str(signs.count(sign)) for sign in (-1, 0, 1))
    behind = sorted(((row.ours.depth / row.theirs.depth, name) for name, row in made.items()), reverse=True)[:NAMED]
    yield ", ".join(f"{name} {share:.2f}" for share, name in behind if share > 1) or "none"
    yield ", ".join(
        f"{find_mean_ratio([row.ours[k] for row in rows], [row.best[k] for row in rows]):.3f}" for k in (0, 1)
    )
    gained = [row.theirs.loss - row.ours.loss for row in rows if row.theirs.loss and exp(-row.theirs.loss) > LIKELY]
    yield f"{exp(sum(gained) / len(gained)):.3f} ({len(gained)})" if gained else ""
    for mean in (median, fmean):
        yield ", ".join(f"{mean(row[side].seconds for row in rows):.2f}" for side in (0, 1))


def find_mean_ratio(ours: list[int], theirs: list[int]) -> float:
    """Return the geometric mean of the ratios of ours to theirs."""
    return exp(sum(log(max(b, 1) / max(a, 1)) for a, b in zip(theirs, ours, strict=True)) / len(ours))
