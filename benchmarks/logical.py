"""Two-qubit gates after the whole transpile of circuits that can be written in other ways, beside peers that do so."""

import time
from collections.abc import Callable, Iterator
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from qiskit import QuantumCircuit, qasm2, transpile
from qiskit.circuit.library import PauliEvolutionGate, QFTGate, real_amplitudes
from qiskit.quantum_info import SparsePauliOp
from qiskit.synthesis import LieTrotter
from qiskit.transpiler import CouplingMap, PassManager, Target, generate_preset_pass_manager
from qiskit.transpiler.passes import CollectLinearFunctions, HighLevelSynthesis, HLSConfig

from benchmarks.clocks import processor_clock
from benchmarks.delivered import measure
from benchmarks.peers import is_installed
from benchmarks.programs import programs
from tiger.circuits.entry.hardware import read_device
from tiger.circuits.transpiler.target import coupling_of
from tiger.circuits.warm import warm

SEED, LEVEL, REPEATS = 0, 3, 2
# What linear functions are synthesised by: for all pairs, and for neighbours on a line.
METHODS = ("pmh", "kms")
# Products of Paulis of an excitation of one electron, and of two, with their signs.
SINGLES = {"XY": 1, "YX": -1}
DOUBLES = {"XXXY": 1, "XXYX": 1, "XYXX": -1, "YXXX": -1, "YYYX": -1, "YYXY": -1, "YXYY": 1, "XYYY": 1}
HEAD = (
    *("device", "circuit", "Qiskit level 3", "its linear functions collected", "tket", "tiger"),
    "seconds of a processor",
)


class Output(NamedTuple):
    """Hold the two-qubit gates of a circuit, their depth, and the seconds of a processor that it took."""

    gates: int
    depth: int
    seconds: float


def table(say: Callable[[str], None], _data: Path | None) -> Iterator[tuple[str, ...]]:
    """Yield gates and depth of every circuit on every device that holds it, and seconds of each method in order."""
    yield HEAD
    warm(say)
    for device, target in devices():
        for name, circuit in circuits():
            if circuit.num_qubits > target.num_qubits:
                continue
            say(f"{name} on {device}")
            with processor_clock():
                found = [method(circuit, target) for method in (_qiskit, _collect_linear, _tket, _tiger)]
            cells = ["not installed" if each is None else f"{each.gates} ({each.depth})" for each in found]
            yield device, name, *cells, ", ".join(f"{each.seconds:.2f}" for each in found if each is not None)


def devices() -> Iterator[tuple[str, Target]]:
    """Yield a line, a grid and a heavy-hexagon lattice with CX gates both ways."""
    hexagons = coupling_of(read_device("heavy-hex:5"))
    for name, pairs in (
        ("line of 24", CouplingMap.from_line(24)),
        ("grid of 4x4", CouplingMap.from_grid(4, 4)),
        (f"heavy-hex of {hexagons.size}", CouplingMap([*map(tuple, hexagons.edges.tolist())])),
    ):
        pairs.make_symmetric()
        yield name, Target.from_configuration(["u", "cx", "measure"], pairs.size(), pairs)


def circuits() -> Iterator[tuple[str, QuantumCircuit]]:
    """Yield circuits of 8 to 24 qubits that have other forms: ansatzes, transforms, Cliffords, rotations and others."""
    rng = np.random.default_rng(SEED)
    for shape in ("full", "linear", "circular"):
        ansatz = real_amplitudes(14, entanglement=shape, reps=REPEATS)
        yield f"{shape} ansatz 14", ansatz.assign_parameters(rng.random(ansatz.num_parameters))
    for width in (8, 16, 24):
        transform = QuantumCircuit(width)
        transform.append(QFTGate(width), range(width))
        yield f"QFT {width}", transform
    for width in (8, 14):
        yield f"Clifford {width}", draw_clifford(width, 10 * width, rng)
    known = dict(programs(SEED))
    for name in ("QAOA 12", "triangles 9"):
        yield name, known[name].remove_final_measurements(inplace=False)
    star = QuantumCircuit(14)
    star.h(0)
    star.cx(0, range(1, 14))
    yield "GHZ 14 by a star", star
    yield "permutations 12", draw_permutations(12, rng)
    yield "excitations 8", write_excitations(8, 2, rng)
    yield "Heisenberg ring 10", write_trotter_steps(10, 2)


def draw_clifford(width: int, gates: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return CX gates on random pairs, each with a Clifford gate on its control."""
    circuit = QuantumCircuit(width)
    for _ in range(gates):
        pair = rng.choice(width, 2, replace=False).tolist()
        circuit.cx(*pair)
        getattr(circuit, str(rng.choice(["h", "s", "sx"])))(pair[0])
    return circuit


def draw_permutations(width: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return layers of gates on random pairs, with the qubits changing places by CX gates between."""
    circuit = QuantumCircuit(width)
    for _ in range(3):
        for a, b in rng.permutation(width).reshape(-1, 2).tolist():
            circuit.cx(a, b)
            circuit.cx(b, a)
            circuit.cx(a, b)
        circuit.ry(0.3, range(width))
        for a, b in rng.permutation(width).reshape(-1, 2).tolist():
            circuit.rzz(0.4, a, b)
    return circuit


def write_excitations(width: int, electrons: int, rng: np.random.Generator) -> QuantumCircuit:
    """Return the singles and doubles of unitary coupled clusters after Jordan and Wigner as rotations."""
    filled, empty = range(electrons), range(electrons, width)
    pairs = product(combinations(filled, 2), combinations(empty, 2))
    terms = list[tuple[str, list[int], float]]()
    for orbitals in (*product(filled, empty), *((*below, *above) for below, above in pairs)):
        between = [*range(orbitals[0] + 1, orbitals[1]), *range(orbitals[-2] + 1, orbitals[-1])]
        signs, zs = SINGLES if len(orbitals) == 2 else DOUBLES, sorted({*between} - {*orbitals})
        angle = float(rng.uniform(0.1, 0.4))
        terms += [(letters + "Z" * len(zs), [*orbitals, *zs], sign * angle) for letters, sign in signs.items()]
    return _evolve(width, terms, 1)


def write_trotter_steps(width: int, steps: int) -> QuantumCircuit:
    """Return steps of first order of the Heisenberg model on a ring."""
    ring = [[k, (k + 1) % width] for k in range(width)]
    return _evolve(width, [(pauli, pair, 0.3) for pauli in ("XX", "YY", "ZZ") for pair in ring], steps)


def _evolve(width: int, terms: list[tuple[str, list[int], float]], steps: int) -> QuantumCircuit:
    """Return rotations about the Paulis of a Hamiltonian, in order."""
    circuit, operator = QuantumCircuit(width), SparsePauliOp.from_sparse_list(terms, width)
    circuit.append(PauliEvolutionGate(operator, 0.5, synthesis=LieTrotter(steps)), range(width))
    return circuit


def _qiskit(circuit: QuantumCircuit, target: Target) -> Output:
    """Run Qiskit's level 3."""
    return _of(*measure(circuit, target, LEVEL, None, None, SEED))


def _tiger(circuit: QuantumCircuit, target: Target) -> Output:
    """Run Qiskit's level 3 with our layout and routing."""
    return _of(*measure(circuit, target, LEVEL, "tiger", None, SEED))


def _of(gates: int, depth: int, _loss: float, seconds: float) -> Output:
    """Return what is compared of a delivery."""
    return Output(gates, depth, seconds)


def _collect_linear(circuit: QuantumCircuit, target: Target) -> Output:
    """Run Qiskit's level 3 on linear functions that its passes collect and synthesise; the better of two methods."""
    found, begun = list[Output](), time.process_time()
    for method in METHODS:
        config = HLSConfig(linear_function=[method], qft=["line" if method == "kms" else "full"])
        preset = generate_preset_pass_manager(LEVEL, target=target, seed_transpiler=SEED, hls_config=config)
        preset.pre_layout = PassManager([CollectLinearFunctions(), HighLevelSynthesis(config, target=None)])
        made = preset.run(circuit)
        found.append(Output(made.num_nonlocal_gates(), made.depth(lambda each: len(each.qubits) == 2), 0.0))
    return min(found)._replace(seconds=time.process_time() - begun)


def _tket(circuit: QuantumCircuit, target: Target) -> Output | None:
    """Run tket's peephole optimization, mapping and synthesis; None where it is not installed."""
    if not is_installed("pytket"):
        return None
    from pytket.architecture import Architecture
    from pytket.circuit import OpType
    from pytket.passes import (
        DecomposeSwapsToCXs,
        DefaultMappingPass,
        FullPeepholeOptimise,
        SequencePass,
        SynthesiseTket,
    )
    from pytket.qasm import circuit_from_qasm_str

    device = Architecture([tuple(pair) for pair in target.build_coupling_map().get_edges()])
    plain = transpile(circuit, basis_gates=["u3", "cx"], optimization_level=0)
    made, begun = circuit_from_qasm_str(qasm2.dumps(plain)), time.process_time()
    stages = [FullPeepholeOptimise(), DefaultMappingPass(device, delay_measures=False)]
    SequencePass([*stages, DecomposeSwapsToCXs(device), SynthesiseTket()]).apply(made)
    return Output(made.n_2qb_gates(), made.depth_by_type(OpType.CX), time.process_time() - begun)
