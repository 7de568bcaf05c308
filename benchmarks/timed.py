"""Extra CX under time limits: every fourth case of the record table beside LightSABRE, in seconds of one processor."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from qiskit import QuantumCircuit
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import SabreLayout

import tiger
from benchmarks.clocks import processor_clock
from benchmarks.record import DEVICES, LIGHTSABRE, read
from tiger.circuits.warm import warm

# Of all cases by their CX gates every fourth, from the second on.
STEP, OFFSET = 4, 1
# Limits in seconds of a processor; the first column has what LightSABRE took for the case.
LIMITS = (1.0, 10.0, 60.0)
# Enough for the limits to end the search, where no bound does.
EFFORT = 64
LEAST_S = 0.02
HEAD = (
    "device",
    "cases",
    "LightSABRE, CX",
    "seconds, mean",
    *(
        cell
        for limit in ("its seconds", *(f"{limit:g} s" for limit in LIMITS))
        for cell in (f"{limit}: CX", "ratio", "seconds, mean")
    ),
)

Measured = list[tuple[int, float]]


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield sums of added CX by device, LightSABRE's and ours at level 3 within its time and within limits."""
    yield HEAD
    if data is None or not (data / "record").exists():
        return
    maps = json.loads((data / "coupling_maps.json").read_text("utf-8"))
    warm(say)
    found: dict[str, list[Measured]] = {device: [] for device in DEVICES}
    with processor_clock():
        for name, device, circuit in list(_cases(data))[OFFSET::STEP]:
            say(f"{name} on {device}")
            found[device].append(_measure(circuit, [tuple(pair) for pair in maps[device]]))
    for device, title in DEVICES.items():
        yield title, *_cells(found[device])
    yield "**all**", *_cells([each for some in found.values() for each in some])


def _cases(data: Path) -> Iterator[tuple[str, str, QuantumCircuit]]:
    """Yield every circuit on every device, the smallest circuits first."""
    circuits = [(path.stem, read(path)) for path in (data / "record").glob("*.qasm")]
    for name, circuit in sorted(circuits, key=lambda each: (each[1].count_ops()["cx"], each[0])):
        for device in DEVICES:
            yield name, device, circuit


def _measure(circuit: QuantumCircuit, edges: list[tuple[int, int]]) -> Measured:
    """Return added CX and seconds of LightSABRE, then ours within as many seconds and within every limit."""
    begun = time.process_time()
    sabre = SabreLayout(CouplingMap([*edges, *((b, a) for a, b in edges)]), seed=0, **LIGHTSABRE)
    swaps = PassManager([sabre]).run(circuit).count_ops().get("swap", 0)
    peer_s = time.process_time() - begun
    made = [(3 * swaps, peer_s)]
    for limit in (max(peer_s, LEAST_S), *LIMITS):
        begun = time.process_time()
        report = tiger.layout(circuit, edges, level=3, commute=False, threads=1, effort=EFFORT, time_limit_s=limit)
        made.append((report.extra_cx, time.process_time() - begun))
    return made


def _cells(cases: list[Measured]) -> Iterator[str]:
    """Yield how many cases there are, LightSABRE's sum and mean seconds, and ours with their ratios."""
    yield str(len(cases))
    for k in range(len(LIMITS) + 2):
        added, peer = (sum(each[column][0] for each in cases) for column in (k, 0))
        yield f"{added:,}"
        if k:
            yield f"{added / peer:.3f}"
        yield f"{sum(each[k][1] for each in cases) / len(cases):.2f}"
