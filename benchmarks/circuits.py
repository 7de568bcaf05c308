"""Extra CX gates of layout and routing, side by side with Qiskit and tket."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from qiskit import QuantumCircuit
from qiskit.transpiler import CouplingMap, PassManager, Target, generate_preset_pass_manager
from qiskit.transpiler.passes import CheckMap, SabreLayout

import tiger
from benchmarks.devices import Case, cases, load_circuits
from benchmarks.peers import is_installed
from tests.circuits.equivalence import find_difference, replay

SEEDS = (0,)
THREADS = 2
HEAD = ("circuits", "Qiskit O3", "SABRE, time of level 3", "tket", "tiger, level 1", "tiger, level 3")


class Run(NamedTuple):
    """Hold a routed circuit and the seconds it took."""

    circuit: QuantumCircuit
    seconds: float


def table(say: Callable[[str], None], data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield geometric means of extra CX over those of Qiskit's level 3, and mean seconds, family by family."""
    yield HEAD
    families: dict[str, list[list[tuple[float, float] | None]]] = defaultdict(list)
    for case in (*cases(SEEDS[0]), *(load_circuits(data) if data else ())):
        say(f"{case.name} on {case.coupling.size} qubits")
        row = _measure(case)
        families[case.family].append(row)
        families["**all**"].append(row)
    for family in sorted(families, key=lambda name: name == "**all**"):
        rows = families[family]
        yield f"{family} ({len(rows)})", *(_cell([row[k] for row in rows], [row[0] for row in rows]) for k in range(5))


def _measure(case: Case) -> list[tuple[float, float] | None]:
    """Return mean extra CX and seconds of every method, None for one that is not installed."""
    ours = [[_layout(case, level, seed) for seed in SEEDS] for level in (1, 3)]
    limit = sum(found.seconds for found in ours[1]) / len(SEEDS)
    peers = [[_preset(case, seed) for seed in SEEDS], [_sabre(case, seed, limit) for seed in SEEDS]]
    tket = [_tket(case)] if is_installed("pytket.extensions.qiskit") else None
    return [None if runs is None else _mean(case, runs) for runs in (*peers, tket, *ours)]


def _mean(case: Case, runs: list[Run]) -> tuple[float, float]:
    """Return the means over seeds."""
    extra = [_cx(found.circuit) - _cx(case.circuit) for found in runs]
    return sum(extra) / len(runs), sum(found.seconds for found in runs) / len(runs)


def _cx(circuit: QuantumCircuit) -> int:
    """Count CX gates, a SWAP being three."""
    count = circuit.count_ops()
    return int(count.get("cx", 0) + 3 * count.get("swap", 0))


def _preset(case: Case, seed: int) -> Run:
    """Run the layout and routing stages of Qiskit's level 3."""
    target = Target.from_configuration(["u", "cx", "swap"], case.coupling.size, _device(case))
    begun = time.perf_counter()
    whole = generate_preset_pass_manager(optimization_level=3, target=target, seed_transpiler=seed)
    stages = PassManager()
    for stage in (whole.layout, whole.routing):
        stages += stage
    found = Run(stages.run(case.circuit), time.perf_counter() - begun)
    _check(case, found.circuit, find_difference(case.circuit, found.circuit))
    return found


def _layout(case: Case, level: int, seed: int) -> Run:
    """Run TIGER's layout and routing, which count extra CX, where the plugin counts what later stages leave.

    Gates that commute may change places, which peers leave alone.
    """
    begun = time.perf_counter()
    report = tiger.layout(case.circuit, _device(case), level=level, seed=seed, threads=THREADS)
    found = Run(report.circuit, time.perf_counter() - begun)
    qubits = range(case.circuit.num_qubits)
    start, end = ([at[qubit] for qubit in qubits] for at in (report.initial_layout, report.final_layout))
    _check(case, found.circuit, replay(case.circuit, found.circuit, start, end))
    return found


def _check(case: Case, routed: QuantumCircuit, wrong: str) -> None:
    """Raise where a circuit differs from the original, or has a gate on no edge."""
    check = CheckMap(_device(case))
    check(routed)
    if wrong := wrong or ("" if check.property_set["is_swap_mapped"] else "a gate is on no edge"):
        raise RuntimeError(f"{case.name}: {wrong}")


def _sabre(case: Case, seed: int, limit: float) -> Run:
    """Run SABRE with more and more trials for as long as the limit allows, and keep the fewest SWAPs."""
    begun, trials, best, turn = time.perf_counter(), 20, case.circuit, 0
    while True:
        started = time.perf_counter()
        sabre = SabreLayout(_device(case), seed=seed + turn, layout_trials=trials, swap_trials=20, max_iterations=4)
        routed = PassManager([sabre]).run(case.circuit)
        best = routed if best is case.circuit or _cx(routed) < _cx(best) else best
        now = time.perf_counter()
        left, turn = limit - (now - begun), turn + 1
        trials = min(2 * trials, int(trials * left / (now - started)))
        if trials < 1:
            return Run(best, now - begun)


def _tket(case: Case) -> Run:
    """Run tket's default mapping on the qubits in use, as idle ones can abort it; a BRIDGE becomes four CX."""
    from pytket.architecture import Architecture
    from pytket.extensions.qiskit import qiskit_to_tk, tk_to_qiskit
    from pytket.passes import DefaultMappingPass

    busy = {qubit for each in case.circuit.data for qubit in each.qubits}
    used = {qubit: k for k, qubit in enumerate(qubit for qubit in case.circuit.qubits if qubit in busy)}
    slim = QuantumCircuit(len(used))
    for each in case.circuit.data:
        slim.append(each.operation, [used[qubit] for qubit in each.qubits])
    circuit, begun = qiskit_to_tk(slim), time.perf_counter()
    DefaultMappingPass(Architecture(case.coupling.edges.tolist()), False).apply(circuit)
    seconds = time.perf_counter() - begun
    routed = tk_to_qiskit(circuit, replace_implicit_swaps=True)
    unknown = set(routed.count_ops()) - {"u", "u3", "cx", "swap"}
    return Run(routed.decompose(list(unknown)) if unknown else routed, seconds)


def _device(case: Case) -> CouplingMap:
    """Return the coupling map in both directions."""
    pairs = case.coupling.edges.tolist()
    return CouplingMap([*pairs, *(pair[::-1] for pair in pairs)])


def _cell(found: list[tuple[float, float] | None], base: list[tuple[float, float] | None]) -> str:
    """Return the geometric mean of extra CX over the base's, and the mean seconds."""
    both = [(mine, theirs) for mine, theirs in zip(found, base, strict=True) if mine and theirs and theirs[0]]
    if not both:
        return "" if any(found) else "not installed"
    ratio = exp(sum(log(max(mine[0], 1) / theirs[0]) for mine, theirs in both) / len(both))
    seconds = sum(mine[1] for mine, _ in both) / len(both)
    return f"{ratio:.3f} ({seconds:.2f} s)"
