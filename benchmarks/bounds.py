"""How many SWAPs a circuit needs at least, beside those that routing adds."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from qiskit import QuantumCircuit

import tiger
from benchmarks.devices import Case, cases, load_circuits
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.transpiler.target import coupling_of

SEED, LEVEL, THREADS = 0, 3, 2
# The effort at which the small circuits are laid out once more.
MORE = 4
# Small circuits, as exact searches are for: qubits and gates, on a grid and on a heavy-hexagon lattice.
SMALL = ((4, 15), (5, 20), (5, 40), (6, 20), (6, 40), (7, 25), (8, 20), (8, 40))
STAGES = ("bound", "exact")
HEAD = ("circuits", "bound above 0", "proved optimal", "bound over extra CX", "seconds of the bound", "seconds in all")


class Bounded(NamedTuple):
    """Hold the extra CX gates of a routing, the bound on them, and the seconds of the bound and of it all."""

    extra_cx: int
    bound: int
    bound_s: float
    seconds: float


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield how often there is a bound and a proof, means of the bound over the extra CX, and mean seconds."""
    yield HEAD
    families: dict[str, list[Bounded]] = defaultdict(list)
    for case in (*_small_cases(), *cases(SEED), *(load_circuits(data) if data else ())):
        say(f"{case.name} on {case.coupling.size} qubits")
        row = _measure(case)
        # What needs no SWAP needs no bound either.
        for family in (case.family, "**all**") if row.extra_cx else ():
            families[family].append(row)
    for case in _small_cases():
        say(f"{case.name} on {case.coupling.size} qubits at effort {MORE}")
        families[f"{case.family}, at effort {MORE}"].append(_measure(case, MORE))
    for family in sorted(families, key=lambda name: name == "**all**"):
        yield _sum_up(family, families[family])


def _small_cases() -> Iterator[Case]:
    """Yield CX gates between random qubits, with rotations between them so that none change places."""
    rng = np.random.default_rng(SEED)
    for spec in ("grid:4x5", "heavy-hex:3"):
        for qubits, gates in SMALL:
            circuit = QuantumCircuit(qubits)
            for _ in range(gates):
                a, b = rng.choice(qubits, 2, replace=False).tolist()
                circuit.u(0.1, 0.2, 0.3, a)
                circuit.u(0.1, 0.2, 0.3, b)
                circuit.cx(a, b)
            yield Case("random, small", f"{gates} gates on {qubits}", circuit, coupling_of(read_device(spec)))


def _measure(case: Case, effort: int = 1) -> Bounded:
    """Lay a circuit out."""
    edges = case.coupling.edges.tolist()
    report = tiger.layout(case.circuit, edges, seed=SEED, level=LEVEL, threads=THREADS, effort=effort)
    bound_s = sum(stage.seconds for stage in report.stages if stage.name in STAGES)
    return Bounded(report.extra_cx, report.lower_bound, bound_s, report.seconds)


def _sum_up(family: str, rows: list[Bounded]) -> tuple[str, ...]:
    """Return the figures of a family."""
    count = len(rows)
    return (
        f"{family} ({count})",
        f"{sum(row.bound > 0 for row in rows)}",
        f"{sum(row.bound == row.extra_cx for row in rows)}",
        f"{sum(row.bound / row.extra_cx for row in rows) / count:.2f}",
        f"{sum(row.bound_s for row in rows) / count:.2f}",
        f"{sum(row.seconds for row in rows) / count:.2f}",
    )
