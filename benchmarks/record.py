"""The record table: CX that routing adds to 24 published circuits on three devices, every gate in its place."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from qiskit import QuantumCircuit, qasm2, qasm3
from qiskit.transpiler import CouplingMap, PassManager
from qiskit.transpiler.passes import SabreLayout

import tiger
from benchmarks.check_routing import count_added
from tests.circuits.equivalence import replay
from tiger.circuits.warm import warm

DEVICES = {"tokyo20": "20-qubit lattice", "willow105": "Willow, 105", "heron156": "Heron, 156"}
# The record table lists this circuit under two names, of which the folder has one.
TWICE = "9symml_195"
LIGHTSABRE = {"layout_trials": 20, "swap_trials": 20, "max_iterations": 4}
# Of the table: from 4 on a search goes on where it gains little. Sums at effort 1 are in a line of their own.
EFFORT = 4
ROUTED = Path(__file__).parent.parent / "build" / "record"
HEAD = (
    "circuit",
    "qubits",
    "CX",
    *(f"{device}: {method}" for device in DEVICES.values() for method in ("LightSABRE", "tiger", "commuting")),
)

Answer = TypeVar("Answer")


class Added(NamedTuple):
    """Hold the CX that LightSABRE, level 3 with the order kept, and level 3 with commuting gates add, and CPU seconds.

    `bridges` is the number of BRIDGEs in the second, of three CX each. Those that are `quick` have effort 1.
    """

    peer: int
    kept: int
    commuting: int
    bridges: int
    peer_s: float
    kept_s: float
    commuting_s: float
    quick: int
    quick_commuting: int
    quick_s: float
    quick_commuting_s: float


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield added CX of every circuit, their sums beside published ones, and mean seconds of a processor.

    LightSABRE is Qiskit's with 20 layout and 20 swap trials and 4 iterations. Routed circuits with the order kept go to
    `build/record` as OpenQASM 3, and each is replayed by `benchmarks/check_routing.py`.
    """
    yield HEAD
    if data is None or not (data / "record").exists():
        return
    maps = json.loads((data / "coupling_maps.json").read_text("utf-8"))
    # Every kernel is loaded before a clock runs.
    warm(say)
    ROUTED.mkdir(parents=True, exist_ok=True)
    for device in DEVICES:
        (ROUTED / f"{device}.json").write_text(json.dumps(maps[device]), encoding="utf-8")
    rows: list[list[Added]] = []
    for path in sorted((data / "record").glob("*.qasm")):
        circuit = read(path)
        row = []
        for device in DEVICES:
            say(f"{path.stem} on {device}")
            row.append(_measure(path, circuit, device, [tuple(pair) for pair in maps[device]]))
        rows += [row] * (2 if path.stem == TWICE else 1)
        cells = (f"{added:,}" for each in row for added in each[:3])
        yield path.stem, str(circuit.num_qubits), f"{circuit.count_ops()['cx']:,}", *cells
    yield from _sum_up(rows, json.loads((data / "record" / "published.json").read_text("utf-8"))["sums"])


def read(path: Path) -> QuantumCircuit:
    """Return a circuit with its gates alone."""
    circuit = qasm2.load(path, include_path=(), custom_instructions=qasm2.LEGACY_CUSTOM_INSTRUCTIONS)
    gates = QuantumCircuit(circuit.num_qubits)
    for each in circuit.data:
        if each.operation.num_clbits == 0 and each.operation.name != "barrier":
            gates.append(each.operation, [circuit.find_bit(qubit).index for qubit in each.qubits])
    return gates


def _measure(path: Path, circuit: QuantumCircuit, device: str, edges: list[tuple[int, int]]) -> Added:
    """Route a circuit by all methods; check what tiger returns, and what it says of it."""
    sabre = PassManager([SabreLayout(CouplingMap([*edges, *((b, a) for a, b in edges)]), seed=0, **LIGHTSABRE)])
    peer, peer_s = _time(lambda: sabre.run(circuit))
    kept, kept_s = _time(lambda: tiger.layout(circuit, edges, level=3, commute=False, effort=EFFORT, threads=1))
    text = _write(kept.circuit, [kept.initial_layout[qubit] for qubit in range(circuit.num_qubits)])
    (ROUTED / f"{path.stem}.{device}.qasm").write_text(text, encoding="utf-8")
    swaps, bridges = count_added(path.read_text(encoding="utf-8"), text, edges)
    if 3 * (swaps + bridges) != kept.extra_cx:
        raise RuntimeError(f"{path.stem} on {device}: {kept.extra_cx} CX reported, {swaps} and {bridges} found")
    free, free_s = _time(lambda: tiger.layout(circuit, edges, level=3, effort=EFFORT, threads=1))
    quick = [
        _time(lambda each=each: tiger.layout(circuit, edges, level=3, commute=each, threads=1))
        for each in (False, True)
    ]
    start, end = ([at[qubit] for qubit in range(circuit.num_qubits)] for at in (free.initial_layout, free.final_layout))
    if wrong := replay(circuit, free.circuit, start, end) or _find_uncoupled(free.circuit, edges):
        raise RuntimeError(f"{path.stem} on {device}: {wrong}")
    counts = free.circuit.count_ops()
    if counts["cx"] + 3 * counts.get("swap", 0) - circuit.count_ops()["cx"] != free.extra_cx:
        raise RuntimeError(f"{path.stem} on {device}: {free.extra_cx} CX reported, {dict(counts)} found")
    swaps = peer.count_ops().get("swap", 0)
    extra, quick_s = zip(*((found.extra_cx, seconds) for found, seconds in quick), strict=True)
    return Added(3 * swaps, kept.extra_cx, free.extra_cx, bridges, peer_s, kept_s, free_s, *extra, *quick_s)


def _time(call: Callable[[], Answer]) -> tuple[Answer, float]:
    """Return what a call returns, and the processor's seconds that it takes: others on the machine do not count."""
    begun = time.process_time()
    return call(), time.process_time() - begun


def _find_uncoupled(circuit: QuantumCircuit, edges: list[tuple[int, int]]) -> str:
    """Return which gate of a routed circuit is on two qubits that are not coupled, "" if none is."""
    pairs = {frozenset(edge) for edge in edges}
    for each in circuit.data:
        qubits = frozenset(circuit.find_bit(qubit).index for qubit in each.qubits)
        if len(qubits) > 1 and qubits not in pairs:
            return f"{each.operation.name} on {sorted(qubits)}, which are not coupled"
    return ""


def _write(circuit: QuantumCircuit, layout: list[int]) -> str:
    """Return a routed circuit as OpenQASM 3 on device qubits, with its layout in a comment."""
    plain = QuantumCircuit(circuit.num_qubits)
    for each in circuit.data:
        plain.append(each.operation, [circuit.find_bit(qubit).index for qubit in each.qubits])
    text = qasm3.dumps(plain).replace("q[", "$").replace("]", "")
    lines = [line for line in text.splitlines() if not line.startswith("qubit")]
    return "\n".join([lines[0], f"// layout: {' '.join(map(str, layout))}", *lines[1:], ""])


def _sum_up(rows: list[list[Added]], published: dict[str, dict[str, int]]) -> Iterator[tuple[str, ...]]:
    """Yield the sums over all rows by device, their BRIDGEs, mean seconds, and published sums."""
    columns = [[row[k] for row in rows] for k in range(len(DEVICES))]
    sums = [[sum(values) for values in zip(*column, strict=True)] for column in columns]
    yield f"**all {len(rows)}**", "", "", *(f"**{each:,}**" for some in sums for each in some[:3])
    yield "CX of BRIDGEs in it", "", "", *(cell for some in sums for cell in ("", f"{3 * some[3]:,}", ""))
    yield "seconds of a processor, mean", "", "", *(f"{each / len(rows):.1f}" for some in sums for each in some[4:7])
    yield "at effort 1", "", "", *(cell for some in sums for cell in ("", f"{some[7]:,}", f"{some[8]:,}"))
    quick_s = (("", *(f"{each / len(rows):.1f}" for each in some[9:])) for some in sums)
    yield "its seconds, mean", "", "", *(cell for some in quick_s for cell in some)
    for source, numbers in published.items():
        yield f"published: {source}", "", "", *(cell for name in DEVICES for cell in (f"{numbers[name]:,}", "", ""))
